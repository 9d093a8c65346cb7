"""One piece of syntax a test: read without complaint, printed and read again, as XLA reads it."""

from __future__ import annotations

import pytest

from hlo_widgets.hlo import parse_hlo_module
from tests.hlo.agreement import differences
from tests.hlo.grammar_cases import CASES, REFUSED_BY_XLA

# A single instruction is given a computation, and the reader says so.
SINGLE = {"single", "single2", "single3", "single4"}


@pytest.mark.parametrize("name", CASES)
def test_is_read_and_printed(name: str) -> None:
    module = parse_hlo_module(CASES[name])
    assert len(module.warnings) == (1 if name in SINGLE else 0)
    printed = module.to_string()
    again = parse_hlo_module(printed)
    assert again.warnings == ()
    assert again.to_string() == printed
    for computation, same in zip(module.computations, again.computations, strict=True):
        assert computation.name == same.name
        assert computation.trailer.split() == same.trailer.split()
    for item, other in zip(module.instructions(), again.instructions(), strict=True):
        assert (item.name, item.opcode, item.shape) == (other.name, other.opcode, other.shape)
        assert list(item.attributes) == list(other.attributes)
        assert [x.name for x in item.operands] == [x.name for x in other.operands]
        assert [x.name for x in item.users] == [x.name for x in other.users]


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_xla(oracle, name: str) -> None:
    text = CASES[name]
    answer = oracle.structure(text)
    if answer is None or answer == "crash":
        assert name in REFUSED_BY_XLA
        return
    module = parse_hlo_module(text)
    assert differences(module, answer) == []
    for options in ({}, {"metadata": False, "backend_config": False}, {"operand_shapes": True}):
        printed = module.to_string(**options)
        answer = oracle.structure(printed)
        assert isinstance(answer, dict), f"XLA refuses what we print:\n{printed}"
        assert differences(parse_hlo_module(printed), answer) == []


def test_a_difference_is_found(oracle) -> None:
    answer = oracle.structure(CASES["names"])
    swapped = CASES["names"].replace("kLoop", "kInput")
    assert any("kind" in text for text in differences(parse_hlo_module(swapped), answer))
    renamed = CASES["names"].replace("negate(", "abs(")
    assert any("opcode" in text for text in differences(parse_hlo_module(renamed), answer))
    twice = CASES["mixed_pct"].replace("add(%p, q)", "add(%p, p)")
    found = differences(parse_hlo_module(twice), oracle.structure(CASES["mixed_pct"]))
    assert any("operands" in text for text in found)
    assert any("users" in text for text in found)
    moved = CASES["no_root"].replace("p = ", "ROOT p = ")
    found = differences(parse_hlo_module(moved), oracle.structure(CASES["no_root"]))
    assert any("root" in text for text in found)


def test_compact_elements_are_instructions() -> None:
    module = parse_hlo_module(
        "HloModule m\nENTRY e {\n  p = (f32[2], (s32[], f32[3])) parameter(0)\n"
        "  a = f32[2] negate(%p#0)\n"
        "  b = f32[3] negate(%p#1#1)\n  ROOT t = (f32[2], f32[3]) tuple(a, b)\n}"
    )
    assert module.warnings == ()
    inner = module.instruction("b").operands[0]
    assert (inner.opcode, inner.name, str(inner.shape)) == ("get-tuple-element", "p#1#1", "f32[3]")
    assert inner.operands[0].operands[0] is module.instruction("p")
    assert "negate(%p#1#1)" in module.to_string()
    assert "%p#1#1 =" not in module.to_string()


def test_names_may_begin_with_digits() -> None:
    module = parse_hlo_module(CASES["leading_digit"])
    assert module.instruction("2q").operands[0].name == "1p"


def test_unknown_attributes_and_opcodes_are_kept() -> None:
    text = (
        "ENTRY e {\n  p = f32[2] parameter(0)\n"
        '  ROOT q = f32[2] warp-drive(p), speed={ {9}, "x, y" }, to_apply=w\n}'
    )
    module = parse_hlo_module(text + "\nw {\n  ROOT p = f32[2] parameter(0)\n}\n")
    root = module.entry_computation.root_instruction
    assert root.attributes == {"speed": '{ {9}, "x, y" }', "to_apply": "w"}
    assert root.called_computations == (module.computation("w"),)


def test_control_predecessors() -> None:
    module = parse_hlo_module(CASES["control"])
    assert [x.name for x in module.instruction("c").control_predecessors] == ["a", "b"]
    assert module.instruction("a").control_predecessors == ()


def test_called_by_attribute_keeps_the_roles_apart() -> None:
    module = parse_hlo_module(CASES["while"])
    called = module.instruction("w").called_by_attribute
    assert {key: [x.name for x in value] for key, value in called.items()} == {
        "condition": ["c"],
        "body": ["b"],
    }
    same = parse_hlo_module(CASES["cond_same"]).instruction("w")
    assert [x.name for x in same.called_by_attribute["branch_computations"]] == ["c", "c"]
    in_place = parse_hlo_module(CASES["inline"]).instruction("r")
    assert in_place.called_by_attribute == {"to_apply": in_place.called_computations}
    assert in_place.called_computations[0].root_instruction.name == "s"
