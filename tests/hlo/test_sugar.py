"""Starts written short: what the text shows, and what XLA makes of it."""

from __future__ import annotations

from hlo_widgets.hlo import HloModule, parse_hlo_module
from tests.hlo.grammar_cases import CASES


def sugared() -> HloModule:
    return parse_hlo_module(CASES["async_sugar_calls"])


def test_a_start_calls_a_computation_of_one_instruction() -> None:
    module = sugared()
    start = module.instruction("ds")
    (wrapped,) = start.called_computations
    assert [item.text for item in wrapped.instructions] == [
        "%async_param = f32[8] parameter(0)",
        "%async_param.1 = s32[] parameter(1)",
        (
            "%dynamic-slice = f32[4] dynamic-slice(%async_param, %async_param.1),"
            " dynamic_slice_sizes={4}"
        ),
    ]
    assert wrapped.root_instruction is start.async_wrapped_instruction
    assert wrapped.root_instruction.users == ()
    assert [item.users for item in wrapped.parameters] == [(wrapped.root_instruction,)] * 2
    assert wrapped.callers == (start,)
    assert (start.opcode, start.line) == ("dynamic-slice-start", wrapped.line)


def test_what_the_text_names_is_kept_apart_from_what_xla_calls() -> None:
    module = sugared()
    start, body = module.instruction("fs"), module.computation("body")
    assert start.named_computations == (body,)
    assert start.called_by_attribute == {"calls": (body,)}
    (wrapped,) = start.called_computations
    fusion = wrapped.root_instruction
    assert fusion.called_computations == fusion.named_computations == (body,)
    assert fusion.fusion_kind == "kLoop"
    assert body.is_fusion_computation
    call = module.instruction("cs").async_wrapped_instruction
    assert body.callers == (fusion, call)
    assert body.named_by == (start, module.instruction("cs"))
    assert module.instruction("p").async_wrapped_instruction is None


def test_what_concerns_the_start_alone_stays_with_it() -> None:
    module = sugared()
    call = module.instruction("cs")
    assert call.control_predecessors == (module.instruction("n"),)
    assert list(call.async_wrapped_instruction.attributes) == ["to_apply"]
    other = module.instruction("xs")
    assert "async_execution_thread" in other.attributes
    assert other.async_wrapped_instruction.backend_config == {"a": "b, c"}


def test_the_computations_are_not_printed() -> None:
    module = sugared()
    assert len(module.computations) == 8
    printed = module.to_string()
    assert "async_wrapped" not in printed
    assert len(parse_hlo_module(printed).computations) == 8


def test_names_of_the_text_are_left_alone() -> None:
    module = parse_hlo_module(CASES["async_wrapped_name"])
    assert [item.name for item in module.computations] == [
        "async_wrapped.1",
        "async_wrapped",
        "async_wrapped.2",
        "e",
    ]


def test_a_start_that_xla_would_not_read_stays_alone() -> None:
    text = "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT s = SHAPE OPCODE(p)\n}\n"
    for shape, opcode in (
        ("f32[4]", "slice-start"),
        ("(f32[4])", "slice-start"),
        ("((f32[4]), f32[4])", "warp-drive-start"),
        ("((f32[4]), f32[4])", "copy-start"),
    ):
        module = parse_hlo_module(text.replace("SHAPE", shape).replace("OPCODE", opcode))
        assert len(module.computations) == 1
        assert module.instruction("s").called_computations == ()


def test_the_ends_of_a_pair_call_nothing() -> None:
    module = parse_hlo_module(CASES["async_wrapped_name"])
    body = module.computation("async_wrapped.1")
    assert body.callers == (module.instruction("c"),)
    assert module.instruction("c").async_wrapped_instruction is body.root_instruction
