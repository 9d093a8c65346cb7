"""Names of then and instructions of now: exactly, likely, or not at all, and every one counted."""

from __future__ import annotations

import dataclasses

import pytest

from hlo_widgets.analysis.decisions import Exactness, join_decisions, read_decisions
from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.passes import PassChain, read_pass_chain
from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict
from hlo_widgets.analysis.decisions.renames import compare_passes
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.dumps import DATA, decisions_of, dump_folder, file_of, module_of

NAMES = sorted(path.name.removesuffix(".tar.xz") for path in DATA.glob("*.tar.xz"))


@pytest.mark.parametrize("name", NAMES)
def test_every_record_is_joined_or_counted_as_not_joined(name):
    log, module = decisions_of(name), module_of(name)
    assert sum(log.by_exactness.values()) == len(log)
    for decision in log.decisions:
        joined = (*decision.join.producers, *decision.join.consumers)
        for final in joined:
            assert not module.instruction(final).parent.is_fusion_computation
        if decision.join.exactness is not Exactness.NOT_JOINED:
            assert decision.join.producers
            assert bool(decision.join.consumers) == bool(decision.consumers)


@pytest.mark.parametrize("name", ["mlp.v6e", "mlp.h100", "row_softmax.v6e", "layer_norm.v6e"])
def test_all_of_a_small_program_is_joined_exactly(name):
    log = decisions_of(name)
    assert log.by_exactness[Exactness.EXACT] == len(log)


def joined(name, producer, consumer):
    return next(
        d.join
        for d in decisions_of(name).decisions
        if (d.producer, d.consumer) == (producer, consumer)
    )


def test_a_name_is_followed_through_fusions_and_the_renaming_pass():
    # fusion.10 of the queue is loop_multiply_fusion in the final text of the GPU compiler.
    join = joined("mlp.h100", "integer_pow.2.0", "integer_pow.3.0")
    assert join.producers == join.consumers == ("loop_multiply_fusion",)
    assert join.exactness is Exactness.EXACT


def test_a_name_is_followed_into_a_multi_output_fusion():
    join = joined("mlp.v6e", "fusion.6", "reduce")
    assert join.producers == join.consumers == ("fusion.11",)


def test_without_pass_dumps_the_op_name_is_all_there_is():
    log = read_decisions(file_of("mlp.v6e", "compiler.log"))
    assert all(d.join is None for d in log.decisions)
    assert sum(log.by_exactness.values()) == 0
    found = join_decisions(log, module_of("mlp.v6e")).by_exactness
    assert found[Exactness.EXACT] > 100
    assert found[Exactness.INEXACT] > 0
    assert sum(found.values()) == len(log)


def test_without_anything_a_name_is_not_joined():
    log = DecisionLog(
        (FusionDecision("nobody", "fusion.1", Verdict.REFUSED, consumers=("fusion.1",)),)
    )
    (decision,) = join_decisions(log, module_of("row_softmax.v6e")).decisions
    assert decision.join.exactness is Exactness.NOT_JOINED
    assert decision.join.consumers == ("fusion.1",)


def test_decisions_of_another_module_are_not_joined():
    log = join_decisions(decisions_of("mlp.v6e"), module_of("row_softmax.v6e"))
    assert log.by_exactness[Exactness.EXACT] == 0


BEFORE = """HloModule m
%body (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  ROOT %s = f32[4] sine(%p), metadata={op_name="sin"}
}
ENTRY %e (x: f32[4]) -> (f32[4], f32[4], f32[4]) {
  %x = f32[4] parameter(0)
  %fusion.1 = f32[4] fusion(%x), kind=kLoop, calls=%body
  %a = f32[4] cosine(%fusion.1), metadata={op_name="cos"}
  %b = f32[4] cosine(%fusion.1), metadata={op_name="cos"}
  ROOT %t = (f32[4], f32[4], f32[4]) tuple(%fusion.1, %a, %b)
}
"""


def compare(after):
    return compare_passes(parse_hlo_module(BEFORE), parse_hlo_module(after))


def test_a_rename_that_leaves_no_choice_is_certain():
    step = compare(BEFORE.replace("fusion.1", "loop_sine_fusion").replace("body", "fused_sine"))
    assert step.renames == {"fusion.1": "loop_sine_fusion"}
    assert (step.likely, step.merged, step.made, step.gone) == ({}, {}, (), ())


def renamed_twins(text):
    return text.replace("%a", "%c").replace("%b ", "%d ").replace("%b)", "%d)")


def test_twins_that_are_renamed_are_told_apart_by_who_reads_them():
    step = compare(renamed_twins(BEFORE))
    assert (step.renames, step.likely) == ({"a": "c", "b": "d"}, {})


def test_twins_that_nobody_reads_are_paired_by_order_alone():
    before = BEFORE.replace("tuple(%fusion.1, %a, %b)", "tuple(%fusion.1, %x, %x)")
    step = compare_passes(parse_hlo_module(before), parse_hlo_module(renamed_twins(before)))
    assert (step.renames, step.likely) == ({}, {"a": "c", "b": "d"})


def test_names_that_are_only_numbered_anew_are_certain():
    before = BEFORE.replace("tuple(%fusion.1, %a, %b)", "tuple(%fusion.1, %x, %x)")
    after = before.replace("%a ", "%a.0 ").replace("%b ", "%b.0 ")
    step = compare_passes(parse_hlo_module(before), parse_hlo_module(after))
    assert (step.renames, step.likely) == ({"a": "a.0", "b": "b.0"}, {})


def test_a_bitcast_that_is_made_anew_without_its_name_is_a_rename():
    bitcast = BEFORE.replace("%a = f32[4] cosine", "%a = f32[4] bitcast")
    after = bitcast.replace("%a", "%bitcast.9").replace(', metadata={op_name="cos"}', "", 1)
    step = compare_passes(parse_hlo_module(bitcast), parse_hlo_module(after))
    assert (step.renames, step.likely) == ({"a": "bitcast.9"}, {})


LAYERS = """HloModule m
%wave (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  ROOT %s = f32[4] sine(%p), metadata={op_name="sin"}
}
ENTRY %e (x: f32[4], y: f32[4]) -> (f32[4], f32[4], f32[4], f32[4]) {
  %x = f32[4] parameter(0)
  %y = f32[4] parameter(1)
  %wave.1 = f32[4] fusion(%x), kind=kLoop, calls=%wave
  %wave.2 = f32[4] fusion(%y), kind=kLoop, calls=%wave
  %a = f32[4] cosine(%wave.1), metadata={op_name="cos"}
  %b = f32[4] cosine(%wave.2), metadata={op_name="cos"}
  ROOT %t = (f32[4], f32[4], f32[4], f32[4]) tuple(%wave.1, %wave.2, %a, %b)
}
"""
MERGED_LAYERS = """HloModule m
%both (p: f32[4]) -> (f32[4], f32[4]) {
  %p = f32[4] parameter(0)
  %s = f32[4] sine(%p), metadata={op_name="sin"}
  %c = f32[4] cosine(%s), metadata={op_name="cos"}
  ROOT %t = (f32[4], f32[4]) tuple(%s, %c)
}
ENTRY %e (x: f32[4], y: f32[4]) -> (f32[4], f32[4], f32[4], f32[4]) {
  %x = f32[4] parameter(0)
  %y = f32[4] parameter(1)
  %second = (f32[4], f32[4]) fusion(%y), kind=kLoop, calls=%both
  %first = (f32[4], f32[4]) fusion(%x), kind=kLoop, calls=%both
  %g = f32[4] get-tuple-element(%first), index=0
  %h = f32[4] get-tuple-element(%first), index=1
  %i = f32[4] get-tuple-element(%second), index=0
  %j = f32[4] get-tuple-element(%second), index=1
  ROOT %t = (f32[4], f32[4], f32[4], f32[4]) tuple(%g, %i, %h, %j)
}
"""


def test_layers_that_are_alike_are_told_apart_by_what_they_read():
    step = compare_passes(parse_hlo_module(LAYERS), parse_hlo_module(MERGED_LAYERS))
    assert step.merged == {"wave.1": "first", "wave.2": "second", "a": "first", "b": "second"}
    assert step.likely == {}


def test_a_merge_that_leaves_no_choice_is_certain_and_one_of_twins_is_likely():
    after = """HloModule m
%both (p: f32[4]) -> (f32[4], f32[4]) {
  %p = f32[4] parameter(0)
  %s = f32[4] sine(%p), metadata={op_name="sin"}
  %c = f32[4] cosine(%s), metadata={op_name="cos"}
  ROOT %t = (f32[4], f32[4]) tuple(%s, %c)
}
ENTRY %e (x: f32[4]) -> (f32[4], f32[4], f32[4]) {
  %x = f32[4] parameter(0)
  %fusion.2 = (f32[4], f32[4]) fusion(%x), kind=kLoop, calls=%both
  %g = f32[4] get-tuple-element(%fusion.2), index=0
  %h = f32[4] get-tuple-element(%fusion.2), index=1
  ROOT %t = (f32[4], f32[4], f32[4]) tuple(%g, %h, %h)
}
"""
    step = compare(after)
    assert step.merged == {"fusion.1": "fusion.2"}
    assert step.likely == {"a": "fusion.2", "b": "fusion.2"}
    assert step.renames == {}


def test_the_chain_of_passes_names_only_those_that_changed_names():
    chain = read_pass_chain(dump_folder("mlp.h100"), "jit_mlp")
    names = [step.name for step in chain.steps]
    assert any("after_priority-fusion" in name for name in names)
    renaming = next(step for step in chain.steps if "rename_fusions" in step.name)
    assert renaming.renames["fusion.10"] == "loop_multiply_fusion"
    assert read_pass_chain(dump_folder("mlp.h100"), "jit_other") == PassChain()


def test_each_pair_of_names_is_followed_once_however_many_records_it_has():
    module = parse_hlo_module(BEFORE)
    pairs = [("a", "b"), ("fusion.1", "a"), ("x", "lost")] * 50
    records = tuple(
        FusionDecision(p, c, Verdict.REFUSED, f"reason {step}", step=step, consumers=(c,))
        for step, (p, c) in enumerate(pairs)
    )
    elsewhere = dataclasses.replace(records[0], module="another")
    log = join_decisions(DecisionLog((*records, elsewhere)), module)
    *joined_ones, other = log.decisions
    assert len({id(decision.join) for decision in joined_ones}) == 3
    assert [dataclasses.replace(d, join=None) for d in joined_ones] == list(records)
    assert joined_ones[0].join.exactness is Exactness.EXACT
    assert joined_ones[2].join.exactness is Exactness.NOT_JOINED
    assert other.join.exactness is Exactness.NOT_JOINED
    assert other.module == "another"
