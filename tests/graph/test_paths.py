"""Ids: one for each place, whatever the names are."""

from __future__ import annotations

import pytest

from hlo_widgets.errors import HloLookupError
from hlo_widgets.graph.paths import child_id, copy_id, id_of, instruction_at, resolve, without_copy
from hlo_widgets.hlo import parse_hlo_module
from tests.graph.modules import BRANCHES, LOOP

TWINS = BRANCHES.replace("(r: f32[4])", "(l: f32[4])").replace("%r", "%l").replace("%down", "%up")
TWINS = TWINS.replace("%light", "%right")


@pytest.fixture
def twins():
    """Two branches whose instructions have the same names."""
    return parse_hlo_module(TWINS)


def test_the_same_name_in_two_branches_has_two_ids(twins):
    base = twins.entry_computation
    for computation in ("left", "right"):
        for instruction in twins.computation(computation).instructions:
            node_id = id_of(base, instruction)
            assert node_id == f"pick/:{computation}/{instruction.name}"
            assert instruction_at(base, node_id) is instruction


@pytest.mark.parametrize(
    "name", ["a/b", "a%2Fb", "a%2F;b", "\ud800", "a@b", "a~2", ":op:", "50%", "%7E"]
)
def test_no_name_is_taken_for_a_part_of_an_id(name):
    module = parse_hlo_module(LOOP)
    instruction = module.computation("body").by_name["next"]
    instruction.name = name
    module.computation("body")._by_name = None
    node_id = child_id("loop", instruction, module.instruction("loop"))
    assert instruction_at(module.entry_computation, node_id) is instruction
    assert without_copy(copy_id(node_id, "loop/:body/out")) == node_id


def test_a_caller_that_nothing_leads_to_is_passed_over():
    dead = """%dead (d: f32[4]) -> f32[4] {
  %d = f32[4] parameter(0)
  ROOT %call = f32[4] call(%d), to_apply=%left
}

ENTRY"""
    module = parse_hlo_module(BRANCHES.replace("ENTRY", dead))
    up = module.computation("left").by_name["up"]
    assert id_of(module.entry_computation, up) == "pick/:left/up"


def test_computations_that_call_each_other_end():
    circle = """%one (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  ROOT %a = f32[4] call(%x), to_apply=%two
}

%two (y: f32[4]) -> f32[4] {
  %y = f32[4] parameter(0)
  ROOT %b = f32[4] call(%y), to_apply=%one
}

ENTRY"""
    module = parse_hlo_module(BRANCHES.replace("ENTRY", circle))
    assert id_of(module.entry_computation, module.instruction("b")) is None


def test_a_user_may_write_a_name_an_id_or_a_percent_sign():
    base = parse_hlo_module(LOOP).entry_computation
    for text in ("twice", "%twice", "loop/:body/twice"):
        assert resolve(base, text) == "loop/:body/twice"
    with pytest.raises(HloLookupError):
        resolve(base, "thrice")
