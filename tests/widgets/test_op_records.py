"""What is on record about an op as sentences, and the compiler's words in them."""

from __future__ import annotations

import json

import pytest

from hlo_widgets.analysis.decisions import (
    DecisionJoin,
    Exactness,
    FusionDecision,
    Verdict,
)
from hlo_widgets.analysis.decisions.final_names import FinalNames
from hlo_widgets.widgets.details.op_records import describe_decisions
from hlo_widgets.widgets.details.quoting import MOST_SIDES, Quoting
from tests.analysis.dumps import decisions_of, module_of
from tests.widgets.test_decisions_on_graph import said


def link(name):
    return {"id": f"id of {name}", "name": name, "about": "op"}


def record(producer, consumers, verdict=Verdict.REFUSED, join=None, **more):
    """Make a record; `join` is the final names of both sides, and how surely they are."""
    names = (consumers,) if isinstance(consumers, str) else tuple(consumers)
    consumer = names[0] if len(names) == 1 else None
    made = FusionDecision(producer, consumer, verdict, consumers=names, **more)
    if join is None:
        return made
    producers, finals, *exactness = join
    return made.with_join(DecisionJoin(*(exactness or [Exactness.EXACT]), producers, finals))


def sentence(decision, own=("me",), **more):
    (row,) = describe_decisions([decision], own, link, **more)["shown"]
    return f"{row['verdict']}: {said(row['sentence'])}"


ME, OTHER = ("me",), ("other",)


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (record("me", "other", join=(ME, OTHER)), "refused: this op into other"),
        (record("other", "me", join=(OTHER, ME)), "refused: other into this op"),
        (record("old", "me", join=(OTHER, ME)), "refused: old (now in other) into this op"),
        (record("old", "other", join=(ME, OTHER)), "refused: old (now in this op) into other"),
        (
            record("old", "lost", join=(ME, (), Exactness.NOT_JOINED)),
            "refused: old (now in this op) into lost (not found in the final module)",
        ),
        (
            record("me", "old", join=(ME, OTHER, Exactness.INEXACT)),
            "refused: this op into old (now in other, joined inexactly)",
        ),
        (
            record("me", "old", join=(ME, ("a", "b", "c", "d", "e"))),
            "refused: this op into old (now in a, b, c, 2 more)",
        ),
        (
            record("other", "old", join=(OTHER, ("a", "b", "c", "d", "me"))),
            "refused: other into old (now in this op, a, b, 2 more)",
        ),
        (
            record("me", "other", siblings=True, join=(ME, OTHER)),
            "refused: this op and other as two results of one kernel",
        ),
        (
            record("me", (), Verdict.INELIGIBLE, (ME, ())),
            "ineligible: this op as a producer, for whatever reads it",
        ),
        (
            record("me", (), Verdict.FUSED, (ME, ()), fusion_name="me"),
            "fused: this op into an op without a name",
        ),
        (
            record("other", "old", Verdict.FUSED, (OTHER, ME), fusion_name="f.3"),
            "fused: other into old (now in this op), as f.3",
        ),
        (
            record("other", "me", Verdict.FUSED, (OTHER, ME), fusion_name="me"),
            "fused: other into this op",
        ),
        (
            record("me", "other", Verdict.CONSIDERED, (ME, OTHER)),
            "considered: this op into other; the record does not say with what result",
        ),
        (record("me", "other", Verdict.RANKED, (ME, OTHER)), "ranked: this op into other"),
        (
            record("me", "abcdef", Verdict.RANKED, (ME, OTHER)),
            "ranked: this op into abcdef (now in other)",
        ),
        (
            record("me", tuple("uvwxyz"), Verdict.RANKED, (ME, tuple("uvwxyz"))),
            "ranked: this op into u, v, w, x and 2 more",
        ),
        # Nobody has looked where they are.
        (record("me", "other"), "refused: this op into other"),
        # Another op that was called the same then.
        (
            record("me", "old", join=(OTHER, ME)),
            "refused: me (now in other) into old (now in this op)",
        ),
    ],
)
def test_each_record_is_a_sentence(decision, words):
    assert sentence(decision) == words


def test_of_several_consumers_each_has_its_own_place():
    module, log = module_of("mlp.h100"), decisions_of("mlp.h100")
    ranked = next(d for d in log.decisions if 1 < len(d.consumers) <= MOST_SIDES)
    finals = FinalNames(log, module)
    parts = Quoting(link, finals).consumers(ranked)
    now = finals.of(ranked.consumers)
    named = [part for part in parts if "now" in part]
    assert [part["text"] for part in named] == list(ranked.consumers)
    for part in named:
        found = now[part["text"]].producers
        assert [one["name"] for one in part["now"]] == (
            [] if found == (part["text"],) else [*found]
        )


def test_a_record_offers_the_other_op_to_ask_about():
    def ask(decision):
        (row,) = describe_decisions([decision], ME, link)["shown"]
        return row["ask"]

    assert ask(record("me", "other", join=(ME, OTHER))) == "id of other"
    assert ask(record("old", "me", join=(OTHER, ME))) == "id of other"
    assert ask(record("old", "older", join=(ME, ME))) == ""
    assert ask(record("me", "lost", join=(ME, (), Exactness.NOT_JOINED))) == ""
    assert ask(record("me", (), Verdict.INELIGIBLE, (ME, ()))) == ""


def test_records_of_what_is_inside_come_after_those_about_others():
    inside = record("a", "b", Verdict.RANKED, (ME, ME), step=9)
    outside = record("a", "other", Verdict.RANKED, (ME, OTHER), step=3)
    refused = record("a", "b", join=(ME, ME), step=1)
    rows = describe_decisions([inside, outside, refused], ME, link)["shown"]
    assert [(row["verdict"], said(row["sentence"])[-8:]) for row in rows] == [
        ("refused", " this op)"[-8:]),
        ("ranked", "to other"),
        ("ranked", " this op)"[-8:]),
    ]


MOF = "Not fusing MOF at: a/b/c.cc:5784 ; Not allowed at: a/b/c.cc:52"


def test_words_come_first_and_everything_as_it_was_written_is_kept():
    first = record("me", "other", reason=MOF, join=(ME, OTHER), source="x.log", step=7)
    again = record("me", "other", reason=MOF.replace("5784", "99"), join=(ME, OTHER))
    (row,) = describe_decisions([first, again], ME, link)["shown"]
    assert row["quotes"] == ["Not fusing MOF"]
    assert row["times"] == 2
    assert row["verbatim"] == [MOF, MOF.replace("5784", "99")]
    assert row["source"] == "x.log, record 7"
    assert row["terms"][0][0] == "MOF"
    assert row["joined"] == ""


def test_a_record_that_names_only_places_has_no_words():
    (row,) = describe_decisions([record("me", "o", reason="Not allowed at: c.cc:5")], ME, link)[
        "shown"
    ]
    assert (row["quotes"], row["terms"], row["price"]) == ([], [], "")
    assert row["verbatim"] == ["Not allowed at: c.cc:5"]


def test_a_term_is_explained_once_a_panel():
    records = [record("me", name, reason="Not fusing MOF", join=(ME, OTHER)) for name in "abc"]
    rows = describe_decisions(records, ME, link)["shown"]
    assert [bool(row["terms"]) for row in rows] == [True, False, False]


def test_names_in_the_words_that_are_no_sides_have_what_runs_them_now():
    module, log = module_of("mlp.h100"), decisions_of("mlp.h100")
    words = "fusion.10 and fusion.999 and gemm_fusion_dot.1 stand before 'me' and 'x.1'"
    decision = record("me", "other", reason=words, join=(ME, OTHER))
    block = Quoting(link, FinalNames(log, module)).block([decision])
    assert [said([part]) for part in block["names"]] == [
        "fusion.10 (now in loop_multiply_fusion)",
        "fusion.999 (not found in the final module)",
        "gemm_fusion_dot.1 (not found in the final module)",
    ]
    assert Quoting(link).block([decision])["names"] == []


def test_costs_are_told_in_the_compilers_figures():
    decision = record("me", "o", Verdict.RANKED, unfused_cost=4.5, fused_cost=3.0, cost_unit="us")
    (row,) = describe_decisions([decision], ME, link)["shown"]
    assert row["price"] == "unfused 4.5 us, fused 3 us: fused 1.5 us faster"
    assert row["verbatim"] == ["unfused 4.5 us, fused 3 us"]


@pytest.mark.parametrize("name", ["mlp.h100", "row_softmax.v6e", "train_step.h100"])
def test_every_record_of_a_real_compile_can_be_told(name):
    module, log = module_of(name), decisions_of(name)
    finals = FinalNames(log, module)
    for op in module.entry_computation.instructions:
        records = [
            d for d in log.decisions if d.join and op.name in (*d.join.producers, *d.join.consumers)
        ]
        told = describe_decisions(records, [op.name], link, finals)
        json.dumps(told, allow_nan=False)
        for row in told["shown"]:
            assert "this op" in said(row["sentence"])
