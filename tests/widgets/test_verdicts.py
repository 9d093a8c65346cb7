"""Which records are about an op: by where their names lead, and never by a name that is shared."""

from __future__ import annotations

import pytest

from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict, join_decisions
from hlo_widgets.analysis.why import WhyKind
from hlo_widgets.hlo import parse_hlo_module
from hlo_widgets.widgets.decisions.verdicts import Verdicts
from hlo_widgets.widgets.details.op_records import describe_decisions
from tests.analysis.dumps import module_of

# The body's add.1 and the entry's are different ops that are called the same.
TWO_OF_A_NAME = """HloModule two

%body (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %mul.7 = f32[4] multiply(%p, %p)
  ROOT %add.1 = f32[4] add(%mul.7, %p)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  %fusion = f32[4] fusion(%x), kind=kLoop, calls=%body
  %add.1 = f32[4] add(%fusion, %x)
  ROOT %end = f32[4] negate(%add.1)
}
"""


def decide(producer, consumer, verdict=Verdict.REFUSED, **more):
    return FusionDecision(producer, consumer, verdict, "no", consumers=(consumer,), **more)


@pytest.fixture
def module():
    return parse_hlo_module(TWO_OF_A_NAME)


def verdicts(module, *decisions):
    return Verdicts(module, join_decisions(DecisionLog(decisions), module))


def link(name):
    return {"id": "", "name": name, "about": ""}


def in_body(module, name):
    return next(op for op in module.computation("body").instructions if op.name == name)


CHAIN = """HloModule chain

ENTRY %main (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %op.1 = f32[4] negate(%p)
  %op.2 = f32[4] exponential(%op.1)
  ROOT %end = f32[4] sine(%op.2)
}
"""
NO_OP = "There is no op to fuse: p is an input of the program: nothing computes it"
REJECTED = "Fusion rejected: producer 'op.1' is too large ; multi-output fusion not supported"


@pytest.mark.parametrize(
    ("pair", "reason", "words", "mark", "whole"),
    [
        (
            ("op.1", "op.2"),
            REJECTED,
            "Fusion rejected: producer '…' is too large (+1 more)",
            "compiler",
            "the compiler says “Fusion rejected: producer 'op.1' is too large” and “multi-output",
        ),
        (
            ("op.1", "op.2"),
            "Not allowed at: x.cc:5",
            "refused, no words given",
            "not known",
            "refused, no words given",
        ),
        (
            ("p", "op.1"),
            "is not fusible",
            "There is no op to fuse (the compiler refused, too)",
            "inferred",
            f"inferred from the graph: {NO_OP}. The compiler refused it, too: “is not fusible”",
        ),
        (
            ("p", "op.1"),
            "Not allowed at: x.cc:5",
            "There is no op to fuse",
            "inferred",
            f"inferred from the graph: {NO_OP}",
        ),
    ],
)
def test_an_arrow_has_the_reason_in_short_in_full_and_whose_it_is(pair, reason, words, mark, whole):
    module = parse_hlo_module(CHAIN)
    record = FusionDecision(*pair, Verdict.REFUSED, reason, consumers=pair[1:])
    pairs = verdicts(module, record).pairs
    verdict = pairs.of(*map(module.instruction, pair))
    assert (verdict.words, verdict.mark) == (words, mark)
    assert verdict.whole.startswith(whole)
    assert ("too: " in whole) == ("too: " in verdict.whole)


def test_a_record_about_an_op_of_the_entry_is_not_about_its_namesake_in_a_body(module):
    known = verdicts(module, decide("add.1", "end"), decide("fusion", "add.1"))
    assert known.about(in_body(module, "add.1")) == []
    assert len(known.about(module.instruction("add.1"))) == 2


def test_a_record_whose_name_leads_into_the_fusion_is_about_the_op_in_its_body(module):
    fused = decide("mul.7", "add.9", Verdict.FUSED, fusion_name="fusion")
    known = verdicts(module, fused, decide("mul.7", "lost"), decide("lost", "mul.7"))
    assert [d.consumer for d in known.about(in_body(module, "mul.7"))] == ["add.9", "lost", "mul.7"]


def test_a_record_that_leads_nowhere_is_about_the_op_by_its_name_and_it_is_said(module):
    known = verdicts(module, decide("mul.7", "end"), decide("mul.7", "end", module="another"))
    op = in_body(module, "mul.7")
    found = known.about(op)
    assert [d.module for d in found] == [None]
    told = describe_decisions(found, [op.name], link, None, "body")
    assert [one["joined"] for one in told["shown"]] == ["by name, in body"]
    told = describe_decisions(found, [op.name], link)
    assert [one["joined"] for one in told["shown"]] == ["not joined"]


def test_real_records_of_ops_in_bodies_lead_to_their_kernels():
    module = module_of("row_softmax.v6e")
    inner = module.instruction("fusion.1").called_computations[0].root_instruction
    known = verdicts(module, decide(inner.name, "other"), decide("a", "b"))
    assert [d.producer for d in known.about(inner)] == [inner.name]


def test_fused_elsewhere_is_no_evidence_that_two_ops_are_one_kernel(module):
    elsewhere = decide("add.1", "end", Verdict.FUSED, fusion_name="gone")
    here = decide("mul.7", "add.9", Verdict.FUSED, fusion_name="fusion")
    answer = verdicts(module, elsewhere, here).explain("mul.7", "fusion")
    assert answer.kind is WhyKind.FUSED
    assert [item.decision for item in answer.evidence if item.decision] != []
    answer = verdicts(module, decide("mul.7", "x", Verdict.FUSED, fusion_name="end")).explain(
        "mul.7", "fusion"
    )
    assert [item.decision for item in answer.evidence if item.decision] == []
