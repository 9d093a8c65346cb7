"""Asynchronous pairs, and what a caller hands to what it calls."""

from __future__ import annotations

import pytest

from hlo_widgets.analysis import (
    binds_operands,
    done_of,
    fused_computation,
    is_memory_move,
    pair_members,
    parameter_bindings,
    start_of,
    trivial_reducer,
    wrapped_opcode,
)
from hlo_widgets.hlo import parse_hlo_module

PAIRS = """HloModule pairs

%wrapped (w: f32[4]) -> f32[4] {
  %w = f32[4] parameter(0)
  ROOT %r = f32[4] negate(%w)
}

ENTRY %main (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %token = token[] after-all()
  %send = (f32[4], u32[], token[]) send(%p, %token), channel_id=1
  %sent = token[] send-done(%send), channel_id=1
  %copy-start = (f32[4]{0:S(1)}, f32[4], u32[]) copy-start(%p)
  %copy-done = f32[4]{0:S(1)} copy-done(%copy-start)
  %fs = ((f32[4]), f32[4], u32[]) fusion-start(%p), kind=kLoop, calls=%wrapped
  %fd = f32[4] fusion-done(%fs)
  %start = ((f32[4]), f32[4], u32[]) async-start(%p), calls=%wrapped
  %update = ((f32[4]), f32[4], u32[]) async-update(%start)
  %update.1 = ((f32[4]), f32[4], u32[]) async-update(%update)
  ROOT %done = f32[4] async-done(%update.1)
}
"""


def names(instructions):
    return [instruction.name for instruction in instructions]


@pytest.fixture(scope="module")
def pairs():
    return parse_hlo_module(PAIRS)


@pytest.mark.parametrize(
    ("done", "members", "does"),
    [
        ("sent", ["send", "sent"], "send"),
        ("copy-done", ["copy-start", "copy-done"], "copy"),
        ("fd", ["fs", "fd"], "fusion"),
        ("done", ["start", "update", "update.1", "done"], "negate"),
    ],
)
def test_a_pair_is_known_from_each_of_its_members(pairs, done, members, does):
    assert names(pair_members(pairs.instruction(done))) == members
    start = pairs.instruction(members[0])
    assert start_of(start) is None
    for name in members[1:]:
        assert start_of(pairs.instruction(name)) is start
        assert wrapped_opcode(pairs.instruction(name)) == does
    for name in members[:-1]:
        assert done_of(pairs.instruction(name)).name == done


def test_what_is_no_pair_stands_alone(pairs):
    p = pairs.instruction("p")
    assert pair_members(p) == (p,)
    assert start_of(p) is None
    assert done_of(p) is None
    assert wrapped_opcode(p) == "parameter"


def test_a_done_without_its_start_stands_alone():
    text = "HloModule m\n\nENTRY %m {\n  %p = f32[4] parameter(0)\n"
    text += "  ROOT %d = f32[4] copy-done(%p)\n}\n"
    done = parse_hlo_module(text).instruction("d")
    assert start_of(done) is None
    assert pair_members(done) == (done,)


def test_updates_in_a_circle_end():
    text = "HloModule m\n\nENTRY %m {\n  %a = f32[4] async-update(%b)\n"
    text += "  %b = f32[4] async-update(%a)\n  ROOT %d = f32[4] async-done(%b)\n}\n"
    module = parse_hlo_module(text)
    assert pair_members(module.instruction("d")) == (module.instruction("d"),)
    assert start_of(module.instruction("a")) is None


def test_only_copies_and_slices_between_memories_are_moves(pairs):
    moves = [i.name for i in pairs.instructions() if is_memory_move(i)]
    assert moves == ["copy-start", "copy-done"]


def test_a_fusion_and_its_pair_have_their_computation(pairs):
    assert fused_computation(pairs.instruction("fs")).name == "wrapped"
    assert fused_computation(pairs.instruction("start")) is None


def bound(text, caller, place=0):
    instruction = parse_hlo_module(text).instruction(caller)
    return [(p.name, o.name) for p, o in parameter_bindings(instruction, place)]


def test_a_pair_binds_as_its_start_does(pairs):
    for name in ("done", "fd"):
        instruction = pairs.instruction(name)
        assert [(p.name, o.name) for p, o in parameter_bindings(instruction)] == [("w", "p")]


BRANCHES = """HloModule branches

%left (l: f32[4]) -> f32[4] {
  %l = f32[4] parameter(0)
  ROOT %up = f32[4] negate(%l)
}

%apply (b: f32[4], a: f32[4]) -> f32[4] {
  %b = f32[4] parameter(1)
  %a = f32[4] parameter(0)
  ROOT %d = f32[4] subtract(%a, %b)
}

ENTRY %main (p: pred[], u: f32[4], v: f32[4]) -> f32[4] {
  %p = pred[] parameter(0)
  %u = f32[4] parameter(1)
  %v = f32[4] parameter(2)
  %both = f32[4] call(%u, %v), to_apply=%apply
  ROOT %pick = f32[4] conditional(%p, %u, %v), true_computation=%left, false_computation=%left
}
"""


def test_each_branch_reads_its_own_operand_even_where_both_are_one_computation():
    assert bound(BRANCHES, "pick", 0) == [("l", "u")]
    assert bound(BRANCHES, "pick", 1) == [("l", "v")]


def test_parameters_are_bound_by_their_number_not_by_their_place():
    assert bound(BRANCHES, "both") == [("a", "u"), ("b", "v")]


REDUCER = """HloModule m

%reducer (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %r = f32[] {root}
}}

ENTRY %main (x: f32[4], z: f32[]) -> f32[] {{
  %x = f32[4] parameter(0)
  %z = f32[] parameter(1)
  ROOT %o = f32[] reduce(%x, %z), dimensions={{0}}, to_apply=%reducer
}}
"""


@pytest.mark.parametrize(
    ("root", "word"),
    [
        ("add(%a, %b)", "add"),
        ("maximum(%b, %a)", "maximum"),
        ("subtract(%a, %b)", "subtract"),
        ("subtract(%b, %a)", None),
        ("add(%a, %a)", None),
        ("negate(%a)", None),
    ],
)
def test_a_trivial_reducer_is_one_op_on_its_two_parameters(root, word):
    instruction = parse_hlo_module(REDUCER.format(root=root)).instruction("o")
    assert trivial_reducer(instruction) == word
    assert not binds_operands(instruction)


def test_a_sort_keeps_its_comparator():
    text = REDUCER.format(root="add(%a, %b)").replace("reduce(%x, %z)", "sort(%x, %z)")
    assert trivial_reducer(parse_hlo_module(text).instruction("o")) is None
