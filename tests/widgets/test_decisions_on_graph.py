"""Why it fused, why it did not, in an Explorer without a browser."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

import hlo_widgets as hw
from hlo_widgets.analysis.decisions import (
    DecisionLog,
    DecisionSource,
    Exactness,
    FusionDecision,
    Verdict,
    join_decisions,
)
from hlo_widgets.analysis.decisions.final_names import FinalNames
from hlo_widgets.analysis.decisions.reasons import without_names
from hlo_widgets.analysis.why import PairVerdicts, why_not_fused
from hlo_widgets.drawing import lay_out
from hlo_widgets.errors import DecisionFileError, HloLookupError
from hlo_widgets.graph import GraphBuilder, ViewState
from hlo_widgets.graph.view import DEFAULT_NODE_LIMIT
from hlo_widgets.widgets.decisions.counts import headline, log_notes, summary_of
from hlo_widgets.widgets.decisions.filter import DecisionFilter, filter_of
from hlo_widgets.widgets.decisions.missing import NO_RECORD
from hlo_widgets.widgets.decisions.part import DecisionsPart
from hlo_widgets.widgets.decisions.pass_list import describe_passes
from hlo_widgets.widgets.decisions.table import MOST_RECORDS, decision_frame
from hlo_widgets.widgets.decisions.verdicts import short_places
from hlo_widgets.widgets.picture.verdict_picture import verdicts_of
from hlo_widgets.widgets.shown import Shown
from tests.analysis.dumps import decisions_of, dump_folder, module_of
from tests.graph.modules import chain

NAMES = ("mlp.v6e", "mlp.h100", "row_softmax.v6e", "attention.v6e", "train_step.h100")


@pytest.fixture
def explore():
    """Show a program, or a kept one by its name with its records; all are closed at the end."""
    shown = []

    def explore(program, **arguments):
        if isinstance(program, str) and program in NAMES:
            arguments = {"decisions": decisions_of(program)} | arguments
            program = module_of(program)
        shown.append(hw.explore(program, **arguments))
        return shown[-1]

    yield explore
    for explorer in shown:
        explorer.close()


@pytest.fixture
def mlp(explore):
    return explore("mlp.h100")


def decide(explorer):
    explorer._picture.on_message({"type": "option", "name": "show_decisions", "value": True})


def part(explorer, title):
    """Bring a tab to the front and return its part."""
    (found,) = (one for one in explorer._tabs.parts if one.title == title)
    explorer._tabs.open(found)
    return found


def told(explorer):
    return [
        (a["tail"], a["head"]) for a in explorer._picture.widget.picture["arrows"] if "verdict" in a
    ]


def said(parts):
    """Return a sentence of the details as it is read."""
    words = ""
    for part in parts:
        now = ", ".join(one["name"] for one in part.get("now", ()))
        rest = ", ".join(filter(None, (f"now in {now}" if now else "", part.get("how"))))
        words += part["text"] + (f" ({rest})" if rest else "")
    return words


def refusal(producer, consumer, reason="no", **more):
    return FusionDecision(
        producer, consumer, Verdict.REFUSED, reason, consumers=(consumer,), **more
    )


def test_the_mode_says_on_each_arrow_what_is_on_record(mlp):
    assert told(mlp) == []
    assert mlp._picture.widget.picture["decisions"] is False
    decide(mlp)
    assert ("loop_multiply_fusion", "gemm_fusion_dot") in told(mlp)
    counts = {kind["kind"]: kind["count"] for kind in mlp._picture.widget.picture["kinds"]}
    assert counts["unprofitable"] == 2
    assert counts["structural"] == 0
    json.dumps(mlp._picture.widget.picture, allow_nan=False)


@pytest.mark.parametrize("name", NAMES)
def test_an_arrow_says_what_its_explanation_says(explore, name):
    explorer = explore(name)
    decide(explorer)
    arrows = [a for a in explorer._picture.widget.picture["arrows"] if "verdict" in a]
    assert arrows
    for arrow in arrows:
        tail = arrow["tail"].partition("@")[0]
        answer = why_not_fused(module_of(name), tail, arrow["head"], decisions_of(name))
        assert answer.kind.value == arrow["verdict"]["kind"], arrow
        assert arrow["verdict"]["mark"] == answer.mark or not answer.connection
        # In short beside the arrow, in full for the pointer.
        words, label = arrow["verdict"]["words"], " ".join(arrow["verdict"]["lines"]).strip()
        assert all(f"“{part}”" in words for part in answer.says)
        assert words.startswith("inferred from the graph: ") == (
            arrow["verdict"]["mark"] == "inferred"
        )
        if answer.says and label and not label.endswith("…"):
            first, _, more = label.partition(" (+")
            assert without_names(answer.says[0]).startswith(first.partition(": ")[2])
            assert more == (f"{len(answer.says) - 1} more)" if len(answer.says) > 1 else "")


def test_asking_opens_the_explanation_and_selecting_closes_it(mlp):
    mlp.select("gemm_fusion_dot")
    mlp._picture.widget.asked = ["loop_multiply_fusion", "input_reduce_fusion"]
    assert mlp.selected == ""
    why = mlp._details.widget.detail["why"]
    assert why["kind"] == "unprofitable"
    facts = dict(why["facts"])
    assert facts["price"].startswith("unfused − fused = −126.8 us")
    assert facts["queue"] == (
        "not queued, as its priority was negative; 8 producers were; the highest was"
        " fusion.14 (now in fusion.13) at 1.0085 us"
    )
    assert {item["mark"] for item in why["evidence"]} == {"compiler"}
    assert [op["name"] for op in why["connection"]] == [
        "loop_multiply_fusion",
        "input_reduce_fusion",
    ]
    mlp._details.on_message({"type": "go", "id": why["ops"][1]["id"]})
    assert mlp._picture.widget.asked == []
    assert mlp._details.widget.detail["name"] == "input_reduce_fusion"
    mlp._picture.widget.asked = ["loop_multiply_fusion", "input_reduce_fusion"]
    mlp._picture.widget.asked = []
    assert "summary" in mlp._details.widget.detail


def test_why_not_fused_by_name_shows_what_it_returns(mlp, sent):
    messages = sent(mlp)
    answer = mlp.why_not_fused("loop_multiply_fusion", "input_reduce_fusion")
    assert answer.kind == mlp._details.widget.detail["why"]["kind"]
    assert messages[-1]["type"] == "center_pair"
    with pytest.raises(HloLookupError):
        mlp.why_not_fused("loop_multiply_fusion", "nothing")


def test_what_lies_in_a_fusion_is_answered_by_its_kernel(explore):
    explorer = explore(hw.captures.load("row_softmax", "v6e"), expanded=["fusion.1"])
    inner = next(box["id"] for box in explorer._picture.widget.picture["boxes"] if "/" in box["id"])
    explorer._picture.widget.asked = [inner, "copy-done"]
    why = explorer._details.widget.detail["why"]
    assert [op["name"] for op in why["ops"]] == [inner.rpartition("/")[2], "copy-start"]
    assert "fusion.1" in [op["name"] for op in why["kernels"]]


@pytest.mark.parametrize("ids", [["x"], ["no", "such"], ["", ""], ["a", "b", "c"], ["/", "@"]])
def test_asking_for_what_is_not_there_is_told_and_never_raises(mlp, sent, ids):
    messages = sent(mlp)
    mlp._picture.widget.asked = ids
    assert [message["type"] for message in messages] == ["problem"]
    assert "why" not in mlp._details.widget.detail


def test_picking_starts_in_the_details(mlp, sent):
    messages = sent(mlp)
    mlp._details.on_message({"type": "pick", "id": "gemm_fusion_dot"})
    assert messages == [{"type": "pick", "id": "gemm_fusion_dot", "name": "gemm_fusion_dot"}]
    mlp._details.on_message({"type": "pick", "id": "nowhere"})
    mlp._details.on_message({"type": "why", "ids": ["nowhere", "gemm_fusion_dot"]})
    assert [message["type"] for message in messages] == ["pick", "problem"]
    mlp._details.on_message({"type": "why", "ids": ["gemm_fusion_dot", "fusion.13"]})
    assert mlp._details.widget.detail["why"]["kind"] == "blocked"


def test_the_details_list_the_records_of_an_op(mlp):
    mlp.select("loop_multiply_fusion")
    records = mlp._details.widget.detail["decisions"]
    first = records["shown"][0]
    assert first["verdict"] == "refused"
    assert first["quotes"] == ["will execute slower if fused"]
    assert said(first["sentence"]) == (
        "fusion.10 (now in this op) into fusion.15 (now in input_reduce_fusion)"
    )
    assert first["ask"] == "input_reduce_fusion"
    assert records["left_out"] > 0
    mlp.select("x.1")
    assert mlp._details.widget.detail["decisions"] == {"shown": [], "left_out": 0}


def test_without_a_record_the_graph_speaks_and_it_is_said(explore):
    explorer = explore(hw.captures.load("row_softmax", "v6e"))
    decide(explorer)
    assert explorer._picture.widget.picture["note"] == NO_RECORD
    explorer._picture.widget.asked = ["x.1", "fusion.1"]
    why = explorer._details.widget.detail["why"]
    assert (why["kind"], why["note"]) == ("blocked", NO_RECORD)
    assert {item["mark"] for item in why["evidence"]} == {"inferred"}
    assert part(explorer, "Decisions").bar.summary == {"notes": [NO_RECORD]}
    assert part(explorer, "Passes").widget.note == NO_RECORD


def test_a_dump_can_be_given_as_a_path(explore, tmp_path):
    explorer = explore(module_of("mlp.v6e"), decisions=dump_folder("mlp.v6e"))
    assert len(explorer._shown.decisions) == len(decisions_of("mlp.v6e"))
    with pytest.raises(DecisionFileError):
        explore(module_of("mlp.v6e"), decisions=tmp_path)


def test_counts_by_reason_stand_at_the_top():
    log = decisions_of("mlp.h100")
    assert headline(log) == "2 refused and 21 producers ineligible"
    summary = summary_of(log)
    words = "the producer is not fusible"
    assert summary["reasons"][0] == (words, words, 13, words)
    assert ["ranked", 107] in summary["verdicts"]
    assert headline(decisions_of("mlp.v6e")) == "157 refused"


def test_reasons_that_differ_in_names_are_one_button_that_filters_all_of_them(explore):
    explorer = explore("row_softmax.v6e")
    decisions = part(explorer, "Decisions")
    reasons = decisions.bar.summary["reasons"]
    words, _, count, example = next(one for one in reasons if "too expensive" in one[0])
    assert count == 12
    assert "producer '…' is too expensive to duplicate into '…'" in words
    assert "producer 'reduce_max.7' is too expensive to duplicate into 'fusion.1'" in example
    decisions.bar.chosen = {"reason": [one[0] for one in reasons].index(words)}
    assert decisions.bar.told == f"12 of {len(decisions_of('row_softmax.v6e'))} records"
    assert {row.consumer for row in decisions._rows} == {"fusion.1", "fusion"}


def test_words_of_verdicts_and_reasons_are_explained_beside_the_counts():
    terms = dict(summary_of(decisions_of("mlp.h100"))["terms"])
    assert terms["ineligible"].startswith("the producer was taken out of the queue")
    assert terms["ranked"].startswith("the pair was given a cost")
    assert terms["not fusible"].startswith("this pass does not take the op")
    assert "MOF" not in terms
    # What nobody understood is shown by its first words, too.
    unread = DecisionSource("a.log", "TPU compiler log", (), unread={"x.cc: JFF new words": 3})
    assert "JFF" in dict(summary_of(DecisionLog((), (unread,)))["terms"])


def test_what_was_not_joined_or_read_is_counted_and_said():
    module = hw.parse_hlo_module(chain(3))
    source = DecisionSource("a.log", "TPU compiler log", (), unread={"Odd line": 3, "Other": 1})
    log = DecisionLog((refusal("op.1", "op.2"), refusal("x", "y")), (source,), 2, ("a note",))
    notes = log_notes(join_decisions(log, module))
    assert notes == [
        "2 records of 1 file: a.log",
        "Joined with the final module: 1 exact, 0 inexact, 1 not joined.",
        "2 records that a second file repeats are left out.",
        "4 records of an unknown kind, counted but not understood: 3 × “Odd line”, 1 × “Other”.",
        "a note",
    ]


def test_a_filter_leaves_rows_and_arrows(mlp):
    decide(mlp)
    everything = told(mlp)
    decisions = part(mlp, "Decisions")
    decisions.bar.chosen = {"price": "slower"}
    assert told(mlp) == [
        ("loop_multiply_fusion", "input_reduce_fusion"),
        ("loop_multiply_fusion", "gemm_fusion_dot"),
    ]
    assert all(row.gain < 0 for row in decisions._rows)
    assert decisions.bar.told.startswith(f"{len(decisions._rows)} of 160 records")
    assert "2 of 6 verdicts" in mlp._picture.widget.picture["note"]
    decisions.bar.chosen = {}
    assert told(mlp) == everything
    assert mlp._picture.widget.picture["note"] == ""


SIBLINGS = """HloModule two

ENTRY %main (p: f32[4]) -> (f32[4], f32[4]) {
  %p = f32[4] parameter(0)
  %a = f32[4] negate(%p)
  %b = f32[4] exponential(%p)
  ROOT %both = (f32[4], f32[4]) tuple(%a, %b)
}
"""


def test_a_filter_takes_the_lines_of_siblings_away(explore):
    log = DecisionLog((refusal("a", "b", "User is connected", siblings=True),))
    explorer = explore(SIBLINGS, decisions=log)
    decide(explorer)
    assert told(explorer) == [("a", "b")]
    arrows = len(explorer._picture.widget.picture["arrows"])
    part(explorer, "Decisions").bar.chosen = {"verdict": "fused"}
    assert told(explorer) == []
    assert len(explorer._picture.widget.picture["arrows"]) == arrows - 1


@pytest.mark.parametrize(
    ("chosen", "count"),
    [
        ({}, 160),
        ({"verdict": "ineligible"}, 21),
        ({"verdict": "ineligible", "reason": 0}, 13),
        ({"reason": 0}, 13),
        ({"price": "none"}, 53),
        ({"price": "priced"}, 107),
        ({"least": 100}, 10),
        ({"verdict": "fused", "price": "priced"}, 0),
    ],
)
def test_filters(chosen, count):
    log = decisions_of("mlp.h100")
    wanted = filter_of(chosen, list(log.by_reason))
    assert bool(wanted) is (chosen != {})
    assert sum(wanted.passes(d) for d in log.decisions) == count


@pytest.mark.parametrize(
    "chosen",
    [
        {"verdict": "no such verdict"},
        {"verdict": 3, "reason": 4, "price": [], "least": "x"},
        {"reason": -1},
        {"reason": True},
        {"reason": "one"},
        {"reason": 1.0},
        {"least": float("nan")},
        {"least": float("inf")},
        {"least": -5},
        {"price": {}},
    ],
)
def test_a_filter_that_is_no_choice_leaves_everything(chosen):
    assert filter_of(chosen, ["one", "two"]) == DecisionFilter()


def test_a_row_leads_to_the_two_ops_or_the_one_or_says_that_there_is_none(mlp, sent):
    decisions = part(mlp, "Decisions")
    messages = sent(mlp)
    ineligible, pair = (
        next(n for n, d in enumerate(decisions._rows) if d.verdict is verdict)
        for verdict in (Verdict.INELIGIBLE, Verdict.REFUSED)
    )
    decisions.table.selected_rows = [pair]
    assert len(mlp._picture.widget.asked) == 2
    assert mlp._details.widget.detail["why"]["kind"] == "unprofitable"
    decisions.table.selected_rows = [ineligible]
    assert mlp._picture.widget.asked == []
    assert mlp.selected == decisions._rows[ineligible].join.producers[0]
    assert decisions.table.selected_rows == [ineligible]
    mlp.select("x.1")
    assert decisions.table.selected_rows == []
    mlp._go_to_decision(refusal("lost", "gone"))
    assert messages[-1]["type"] == "problem"


def test_records_about_plumbing_lead_to_the_arrow_that_hides_it(explore):
    explorer = explore("mlp.v6e")
    decide(explorer)
    decision = next(
        d
        for d in decisions_of("mlp.v6e").decisions
        if d.reason_words == "No fusing: producer is tuple."
    )
    assert all(name.startswith("get-tuple-element") for name in decision.join.consumers)
    explorer._go_to_decision(decision)
    assert tuple(explorer._picture.widget.asked) in told(explorer)


def test_of_words_in_one_place_the_first_are_drawn():
    module = hw.parse_hlo_module(chain(5))
    log = join_decisions(DecisionLog((refusal("op.1", "op.2"), refusal("op.2", "op.3"))), module)
    builder = GraphBuilder(module, None, PairVerdicts(module, log))
    graph = builder.build(ViewState(show_decisions=True))
    layout = lay_out(graph)
    drawn = verdicts_of(graph, layout, lambda _: True)
    assert [bool(one and one["lines"]) for one in drawn] == [False, True, True, False]
    heap = [replace(line, middle=(50.0, 50.0)) for line in layout.edges]
    drawn = verdicts_of(graph, replace(layout, edges=heap), lambda _: True)
    assert [bool(one and one["lines"]) for one in drawn] == [False, True, False, False]
    assert drawn[2]["kind"] == "blocked"


def test_words_never_lie_on_one_another_in_a_view_of_the_most_nodes(explore):
    count = DEFAULT_NODE_LIMIT - 20
    lines = ["HloModule big", "", "ENTRY %main (p: f32[4]) -> f32[4] {"]
    lines += ["  %op.0 = f32[4] parameter(0)"]
    pairs = [(max(0, n - 1 - n * 7 % 11), n - 1) for n in range(1, count)]
    for number, (a, b) in enumerate(pairs, 1):
        root = "ROOT " if number == count - 1 else ""
        lines.append(f"  {root}%op.{number} = f32[4] add(%op.{a}, %op.{b})")
    records = (
        refusal(f"op.{a}", f"op.{number}", f"operand {number} can not be duplicated; Not fusing")
        for number, pair in enumerate(pairs, 1)
        for a in pair
    )
    explorer = explore("\n".join([*lines, "}", ""]), decisions=DecisionLog(tuple(records)))
    decide(explorer)
    verdicts = [a["verdict"] for a in explorer._picture.widget.picture["arrows"] if "verdict" in a]
    areas = [
        (x - 60, y - 11.5, x + 60, y + 11.5)
        for x, y in (verdict["at"] for verdict in verdicts if verdict["lines"])
    ]
    assert len(areas) > 200
    for one, other in itertools.combinations(areas, 2):
        apart = one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
        assert apart, (one, other)


def test_a_large_log_is_bounded_and_says_so(explore):
    pairs = [(f"op.{n}", f"op.{n + 1}") for n in range(8)]
    records = tuple(
        refusal(*pairs[n % 8], f"reason {n % 300}", step=n) for n in range(MOST_RECORDS + 500)
    )
    explorer = explore(chain(10), decisions=DecisionLog(records))
    decisions = part(explorer, "Decisions")
    assert len(decisions._rows) == MOST_RECORDS
    assert "the table holds the first 2,000" in decisions.bar.told
    assert decisions.bar.summary["left_out"] == 100
    place = list(explorer._shown.decisions.by_reason).index("reason 299")
    decisions.bar.chosen = {"reason": place}
    assert decisions.bar.told == "8 of 2,500 records"


def test_the_table_keeps_what_is_missing_missing():
    frame = decision_frame(decisions_of("mlp.h100").decisions)
    assert frame["gain"].isna().sum() == 53
    assert frame.loc[0, "joined"] == "exact: gemm_fusion_dot_general.2"
    assert frame.loc[0, "consumer"] == "none named"
    assert "gain" not in decision_frame([refusal("a", "b")]).columns


def test_folders_of_source_places_are_left_out():
    place = "Not allowed at: platforms/xla/service/tpu_instruction_fusion.cc:5480"
    assert short_places(place) == "Not allowed at: …/tpu_instruction_fusion.cc:5480"
    assert short_places("one / two of a/b") == "one / two of a/b"


def test_passes_tell_what_became_of_fusions_and_lead_to_the_final_op(mlp):
    passes = part(mlp, "Passes")
    renamed = next(one for one in passes.widget.passes if one["name"] == "rename_fusions")
    (group,) = renamed["groups"]
    assert group["what"] == "renamed"
    old, new = group["names"][0]
    assert (old["name"], old["final"]) == ("fusion.10", "loop_multiply_fusion")
    assert new["joined"] == "exact"
    passes._on_message({"type": "go", "name": old["final"]})
    assert mlp.selected == "loop_multiply_fusion"
    passes._on_message({"type": "go", "name": "nothing"})
    passes._on_message({})
    assert mlp.selected == "loop_multiply_fusion"


def test_a_name_that_leads_nowhere_has_no_final_op():
    module, log = module_of("mlp.h100"), decisions_of("mlp.h100")
    found = FinalNames(log, module).of(["fusion.10", "never"])
    assert found["fusion.10"].producers == ("loop_multiply_fusion",)
    assert found["never"].exactness is Exactness.NOT_JOINED
    numbers = [one["number"] for one in describe_passes(log, module)]
    assert numbers == sorted(numbers)
    assert len(numbers) == len(log.passes)


def test_hostile_words_arrive_as_text(explore):
    bad = "<script>\u202e\ud800 'x' </text>" + "y" * 9_000
    log = DecisionLog((refusal("op.1", "op.2", bad, source=bad, pass_name=bad),), notes=(bad,))
    explorer = explore(chain(3), decisions=log)
    decide(explorer)
    part(explorer, "Decisions")
    explorer._picture.widget.asked = ["op.1", "op.2"]
    words = json.dumps([explorer._picture.widget.picture, explorer._details.widget.detail]).encode()
    assert b"<script>" in words
    assert b"\\u202e" not in words.replace(b"\\\\u202e", b"")
    explorer.select("op.1")
    json.dumps(explorer._details.widget.detail).encode()


def test_another_result_closes_what_was_open(mlp):
    decide(mlp)
    part(mlp, "Decisions").bar.chosen = {"price": "slower"}
    mlp._picture.widget.asked = ["loop_multiply_fusion", "input_reduce_fusion"]
    result = hw.CompilationResult(module_of("row_softmax.h100").text, "h100", {}, 0.0)
    mlp.show_result(result)
    assert mlp._picture.widget.asked == []
    assert "why" not in mlp._details.widget.detail
    assert mlp.view.show_decisions
    assert mlp._picture._filter == DecisionFilter()
    assert part(mlp, "Decisions").bar.chosen == {}


def test_the_button_of_a_reason_filters_by_it_whatever_characters_it_has(explore):
    reasons = ["bad \x1b thing", "bad \\x1b thing", "\u202eturned", "plain"]
    records = (refusal("op.1", "op.2", reason, step=n) for n, reason in enumerate(reasons))
    log = DecisionLog(tuple(records))
    explorer = explore(chain(3), decisions=log)
    decisions = part(explorer, "Decisions")
    for place, reason in enumerate(reasons):
        decisions.bar.chosen = {"reason": place}
        assert [row.reason for row in decisions._rows] == [reason]
        assert decisions.bar.told == "1 of 4 records"


def test_a_record_that_cannot_be_gone_to_leaves_the_list_as_it_works():
    filters = []

    def fail(decision):
        raise HloLookupError("op", decision.producer)

    list_of = DecisionsPart(fail, filters.append)
    list_of.show(Shown.of_module(module_of("mlp.h100"), decisions=decisions_of("mlp.h100")))
    assert filters == []  # what it chooses itself is nobody's choice
    with pytest.raises(HloLookupError):
        list_of.table.selected_rows = [3]
    list_of.select(module_of("mlp.h100").entry_computation.root_instruction)
    assert list_of.table.selected_rows == []
    list_of.bar.chosen = {"price": "slower"}
    assert filters == [DecisionFilter(price="slower")]
    list_of.close()
