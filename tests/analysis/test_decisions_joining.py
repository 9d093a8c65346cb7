"""Names of then and instructions of now: exactly, likely, or not at all, and every one counted."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from hlo_widgets.analysis.decisions import Exactness, join_decisions, read_decisions
from hlo_widgets.analysis.decisions.joining import Ways
from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.passes import PassChain, read_pass_chain
from hlo_widgets.analysis.decisions.record import DecisionJoin, FusionDecision, Verdict
from hlo_widgets.analysis.decisions.renames import HandedOn, compare_passes
from hlo_widgets.analysis.decisions.values import running_ops
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


# Of these a kernel may compute the value in other words, or nothing computes it.
NOT_COMPUTED = frozenset(
    "bitcast broadcast constant copy get-tuple-element parameter reduce reshape tuple".split()
)


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_that_an_op_is_joined_with_exactly_holds_an_op_of_its_kind(name):
    # By opcode and by JAX's name, which the join does not ask for: who computes the same value by
    # chance, or in a backward pass once more, is another op.
    log, module = decisions_of(name), module_of(name)
    if log.before is None:
        return
    modules = [log.before, *(one.module for one in log.passes if not one.changes)]
    ops = {op.name: op for one in modules for op in running_ops(one)}
    checked = 0
    for decision in log.decisions:
        op = ops.get(decision.producer)
        named = op is not None and op.opcode not in NOT_COMPUTED and op.opcode != "fusion"
        if not named or not op.metadata.op_name or decision.join.exactness != Exactness.EXACT:
            continue
        for final in decision.join.producers:
            inside = [module.instruction(final)]
            for one in inside:
                if one.opcode == "fusion":
                    inside.extend(i for c in one.called_computations for i in c.instructions)
            kinds = {(one.opcode, one.metadata.op_name) for one in inside}
            assert (op.opcode, op.metadata.op_name) in kinds, (decision.producer, final)
            checked += 1
    assert checked > 100 or name not in ("train_step.v6e", "heads_gradient.v6e")


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


def compare(after, before=BEFORE):
    return compare_passes(parse_hlo_module(before), parse_hlo_module(after))


def test_an_op_that_computes_the_same_under_another_name_is_renamed():
    step = compare(BEFORE.replace("fusion.1", "loop_sine_fusion").replace("body", "fused_sine"))
    assert step.renames == {"fusion.1": "loop_sine_fusion"}
    assert (step.merged, step.passed_on, step.made, step.gone) == ({}, {}, (), ())


def test_twins_are_renamed_in_text_order():
    after = BEFORE.replace("%a", "%c").replace("%b ", "%d ").replace("%b)", "%d)")
    assert compare(after).renames == {"a": "c", "b": "d"}


def test_what_is_computed_from_an_op_that_was_written_anew_is_still_found():
    before = BEFORE.replace("fusion.1, %a, %b", "fusion.1, %a, %a").replace("%b = ", "%unread = ")
    after = before.replace("%a", "%c").replace("sine(%p)", "tan(%p)")
    assert compare(after, before).renames == {"a": "c"}
    # The same value twice, now once: none of the two was renamed, both are computed by the one.
    step = compare(after.replace("%unread = f32[4] cosine(", "%unread = f32[4] negate("), before)
    assert step.renames == {"a": "c"}
    assert "unread" not in step.merged


def test_a_bitcast_that_only_changes_the_layout_has_two_sides():
    before = BEFORE.replace("%a = f32[4] cosine", "%a = f32[4] bitcast")
    after = before.replace("tuple(%fusion.1, %a, %b)", "tuple(%fusion.1, %fusion.1, %b)")
    after = "\n".join(line for line in after.splitlines() if not line.startswith("  %a = "))
    step = compare(after, before)
    assert step.passed_on == {"a": HandedOn(("fusion.1",), ("t",))}
    assert (step.renames, step.merged, step.gone) == ({}, {}, ("a",))


def test_layers_that_are_alike_are_told_apart_by_what_they_read():
    step = compare(MERGED_LAYERS, LAYERS)
    assert step.merged == {
        "wave.1": ("first",),
        "wave.2": ("second",),
        "a": ("first",),
        "b": ("second",),
    }


def test_what_is_copied_into_each_of_its_readers_is_in_all_of_them():
    after = """HloModule m
%one (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %s = f32[4] sine(%p), metadata={op_name="sin"}
  ROOT %c = f32[4] cosine(%s), metadata={op_name="cos"}
}
%two (p: f32[4]) -> (f32[4], f32[4]) {
  %p = f32[4] parameter(0)
  %s = f32[4] sine(%p), metadata={op_name="sin"}
  %c = f32[4] cosine(%s), metadata={op_name="cos"}
  ROOT %t = (f32[4], f32[4]) tuple(%s, %c)
}
ENTRY %e (x: f32[4]) -> (f32[4], f32[4], f32[4]) {
  %x = f32[4] parameter(0)
  %fusion.2 = f32[4] fusion(%x), kind=kLoop, calls=%one
  %fusion.3 = (f32[4], f32[4]) fusion(%x), kind=kLoop, calls=%two
  %g = f32[4] get-tuple-element(%fusion.3), index=0
  %h = f32[4] get-tuple-element(%fusion.3), index=1
  ROOT %t = (f32[4], f32[4], f32[4]) tuple(%g, %fusion.2, %h)
}
"""
    step = compare(after)
    assert step.renames == {}
    assert step.merged == dict.fromkeys(("fusion.1", "a", "b"), ("fusion.2", "fusion.3"))


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


def test_a_long_chain_of_names_is_walked_once():
    asked = []

    def following(name):
        asked.append(name)
        return (f"n{int(name[1:]) + 1}",)

    ways = Ways(frozenset({"n1000"}), following)
    for number in reversed(range(1000)):
        assert ways.ends(f"n{number}") == ("n1000",)
    assert len(asked) == 1000


def test_names_that_lead_in_a_circle_lead_nowhere():
    ways = Ways(frozenset({"end"}), lambda name: {"a": "b", "b": "a"}[name])
    assert ways.ends("a") == ways.ends("b") == ()
    ways = Ways(frozenset({"end"}), lambda name: {"a": ("b",), "b": ("a", "end")}[name])
    assert ways.ends("a") == ways.ends("b") == ("end",)


def test_records_of_one_chain_are_joined_last_first():
    module = parse_hlo_module(BEFORE)
    names = [f"step.{number}" for number in range(500)] + ["fusion.1"]
    records = tuple(
        FusionDecision(
            f"op.{step}", one, Verdict.FUSED, step=step, consumers=(one,), fusion_name=other
        )
        for step, (one, other) in enumerate(itertools.pairwise(names))
    )
    log = join_decisions(DecisionLog(records), module)
    assert [decision.step for decision in log.decisions] == list(range(500))
    assert {decision.join for decision in log.decisions} == {
        DecisionJoin(Exactness.EXACT, ("fusion.1",), ("fusion.1",))
    }
