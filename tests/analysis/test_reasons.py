"""A compiler's words without names: what counts as one reason, and which names are in them."""

from __future__ import annotations

import pytest

from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict
from hlo_widgets.analysis.decisions.reasons import names_in, reason_parts, without_names
from hlo_widgets.analysis.why import WhyKind
from hlo_widgets.hlo import FusionKind
from tests.analysis.dumps import decisions_of


@pytest.mark.parametrize(
    ("words", "group", "names"),
    [
        (
            "Fusion rejected: producer 'reduce_max.7' is too expensive to duplicate into 'fusion'.",
            "Fusion rejected: producer '…' is too expensive to duplicate into '…'.",
            ["reduce_max.7", "fusion"],
        ),
        ("fusion.61 and fusion are connected", "… and … are connected", ["fusion.61", "fusion"]),
        (
            "fusion would introduce a cycle when fused",
            "… would introduce a cycle when fused",
            ["fusion"],
        ),
        ("see %x and |y z|, |w|", "see %… and |y z|, |…|", ["x", "w"]),
        ("mul.9.0.clone.1 again", "… again", ["mul.9.0.clone.1"]),
        ("a-b_fusion.3 and mul.9 and mul.9", "… and … and …", ["a-b_fusion.3", "mul.9"]),
        # Words, figures and places are no names.
        ("No fusing; output fusion is disabled.", None, []),
        ("Not allowed at: x/hlo/transforms/tpu_instruction_fusion.cc:5480", None, []),
        ("takes 1.5 us at 3.25, i.e. much", None, []),
        ("both the producer and the consumer contain a reduce", None, []),
        ("Don't fuse instructions from custom fusions/calls", None, []),
    ],
)
def test_names_are_taken_out_and_words_stay(words, group, names):
    assert without_names(words) == (words if group is None else group)
    assert names_in(words) == names


def test_the_names_that_a_record_is_about_are_known_without_a_number():
    words = "loop_add_fusion and fusion hold loop_add_fusion_clone"
    assert without_names(words) == words
    own = ("loop_add_fusion", "fusion")
    assert without_names(words, own) == "… and fusion hold loop_add_fusion_clone"
    assert names_in(words, own) == ["loop_add_fusion"]


@pytest.mark.parametrize(
    "piece", ["a", "a.", "a.1.", "'", "'a", "x ", "|", " and ", "a-", "%", "_x"]
)
def test_hostile_words_are_read_in_one_go(piece):
    # Square time would take minutes.
    assert without_names(piece * 200_000, ("_x",))


def test_parts_are_words_each_once():
    reason = "Not allowed at: a.cc:1 ; Not fusing MOF at: b.cc:2 at: c.h:3 ; Not fusing MOF"
    assert reason_parts(reason) == ("Not fusing MOF",)
    record = FusionDecision(
        "p", "c", Verdict.REFUSED, "Not allowed at: a.cc:1", (reason, "B at: x:9")
    )
    assert record.reason_parts == ("Not fusing MOF", "B")
    assert record.reason_words == "Not fusing MOF; B"


def refusal(number):
    words = f"Fusion rejected: producer 'dot.{number}' is too expensive."
    return FusionDecision(f"dot.{number}", "c", Verdict.REFUSED, words, consumers=("c",))


def test_what_differs_in_names_alone_is_one_reason_with_an_example_in_the_compilers_words():
    place = FusionDecision("a", "b", Verdict.REFUSED, "Not allowed at: x/y.cc:5", consumers=("b",))
    log = DecisionLog((*map(refusal, range(9)), place))
    one = "Fusion rejected: producer '…' is too expensive."
    assert log.by_reason == {one: 9, "Not allowed at: x/y.cc:5": 1}
    assert log.reason_examples[one] == "Fusion rejected: producer 'dot.0' is too expensive."
    assert list(log.reason_examples) == list(log.by_reason)


@pytest.mark.parametrize("name", ["row_softmax.v6e", "train_step.h100", "factor_between.v6e"])
def test_counts_by_reason_are_of_all_refusals_of_a_real_compile(name):
    log = decisions_of(name)
    counted = sum(log.by_verdict.get(one, 0) for one in (Verdict.REFUSED, Verdict.INELIGIBLE))
    assert sum(log.by_reason.values()) == counted
    assert all(without_names(words) == words for words in log.by_reason)


def test_verdicts_and_the_log_print_as_plain_words():
    log = decisions_of("mlp.h100")
    assert repr(log.by_verdict).startswith("{'ranked': 107, 'fused': 30, 'ineligible': 21")
    assert repr(log.by_exactness) == "{'exact': 160, 'inexact': 0, 'not joined': 0}"
    assert repr(log).startswith("<DecisionLog of 160 records: 107 ranked, 30 fused")
    assert repr(DecisionLog()) == "<DecisionLog of 0 records>"
    assert "verdict='refused'" in repr(refusal(1))
    assert repr([WhyKind.NOT_KNOWN, FusionKind.kLoop]) == "['not known', 'kLoop']"
