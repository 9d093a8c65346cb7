"""What is found for a pair of kernels without reading a whole log or going every way."""

from __future__ import annotations

import itertools

import pytest

from hlo_widgets.analysis import work_instructions
from hlo_widgets.analysis.connections import Reach, shortest_connection
from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict, join_decisions
from hlo_widgets.analysis.why import PairVerdicts, why_not_fused
from hlo_widgets.analysis.why.record_index import RecordIndex
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.dumps import decisions_of, module_of
from tests.graph.modules import BRANCHES, LOOP, chain

BACKWARDS = """HloModule backwards

ENTRY %main (p: f32[4]) -> f32[4] {
  %last = f32[4] negate(%middle)
  %middle = f32[4] negate(%first)
  %first = f32[4] negate(%p)
  %p = f32[4] parameter(0)
  ROOT %beside = f32[4] negate(%p)
}
"""


@pytest.mark.parametrize("text", [LOOP, BRANCHES, BACKWARDS, chain(4)])
def test_what_data_gets_to_is_what_a_way_leads_to(text):
    for computation in parse_hlo_module(text).computations:
        reach = Reach(computation)
        for start, end in itertools.product(computation.instructions, repeat=2):
            assert reach.leads(start, end) is (shortest_connection(start, end) is not None)


def test_a_text_that_runs_in_a_circle_comes_to_an_end():
    lines = ["HloModule circle", "", "ENTRY %main () -> f32[4] {"]
    lines += ["  %a = f32[4] negate(%b)", "  ROOT %b = f32[4] negate(%a)", "}", ""]
    module = parse_hlo_module("\n".join(lines))
    a, b = module.instruction("a"), module.instruction("b")
    reach = Reach(module.entry_computation)
    assert reach.leads(a, b) or reach.leads(b, a)


def test_nothing_leads_into_another_computation():
    module = parse_hlo_module(LOOP)
    reach = Reach(module.entry_computation)
    assert not reach.leads(module.instruction("y"), module.instruction("twice"))


@pytest.mark.parametrize("name", ["train_step.h100", "train_step.v6e", "norms.h100", "mlp.v6e"])
def test_a_pair_is_told_what_the_whole_record_tells_of_it(name):
    module, log = module_of(name), decisions_of(name)
    verdicts = PairVerdicts(module, log)
    kernels = {verdicts.kernel(op) for op in work_instructions(module)}
    told = 0
    for first, second in itertools.permutations(sorted(kernels, key=lambda op: op.name), 2):
        verdict = verdicts.of(first, second)
        if verdict is not None:
            told += 1
            assert verdict.kind == why_not_fused(module, first.name, second.name, log).kind
    assert told > 3


def refusal(producer, consumer):
    return FusionDecision(producer, consumer, Verdict.REFUSED, "no", consumers=(consumer,))


def test_of_a_long_record_only_what_can_be_about_the_pair_is_looked_at():
    module = parse_hlo_module(chain(40))
    pairs = list(itertools.pairwise(f"op.{n}" for n in range(40)))
    alone = FusionDecision("op.7", None, Verdict.INELIGIBLE, "never")
    gone = FusionDecision("op.3", "op.7", Verdict.FUSED, "", consumers=("op.7",))
    elsewhere = FusionDecision("op.20", "op.21", Verdict.FUSED, "", consumers=("op.21",))
    decisions = (*(refusal(*pair) for pair in pairs), alone, gone, elsewhere)
    log = join_decisions(DecisionLog(decisions), module)
    found = RecordIndex(log).between(("op.7", "op.8"), ())
    # Either may be the producer; what became of one of them later counts.
    told = [("op.7", "op.8"), ("op.8", "op.9"), ("op.7", None), ("op.3", "op.7")]
    assert [(d.producer, d.consumer) for d in found] == told
    about = [d.producer for d in RecordIndex(log).about(["op.7"])]
    assert about == ["op.6", "op.7", "op.7", "op.3"]
