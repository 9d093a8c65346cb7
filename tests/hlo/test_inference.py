"""Shapes that a text leaves out: what XLA infers, and what only follows from the operands."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlo_widgets.hlo import parse_hlo_module
from tests.hlo.agreement import differences

FOLDER = Path(__file__).parent / "inferred"
# A module with all kinds of operands, but for the root and the closing brace; and the roots.
BEFORE = (FOLDER / "before.hlo").read_text(encoding="utf-8")
LINES = (FOLDER / "lines.txt").read_text(encoding="utf-8").splitlines()


def write(line: str) -> str:
    return f"{BEFORE}  ROOT r = {line}\n}}\n"


@pytest.mark.parametrize("line", LINES)
def test_is_what_xla_infers(oracle, line: str) -> None:
    text = write(line)
    answer = oracle.structure(text)
    assert isinstance(answer, dict), "XLA's parser does not read this text"
    module = parse_hlo_module(text)
    assert differences(module, answer) == []
    assert module.instruction("r").shape.element_type != "opaque"


@pytest.mark.parametrize(
    "line",
    [
        "convert(p)",
        "bitcast(p)",
        "reshape(p)",
        "slice(p), slice={[0:4],[0:16]}",
        'custom-call(p), custom_call_target="t"',
        "get-tuple-element(t), index=9",
        "reduce-window(p, z), window={size=3}, to_apply=add",
        "convolution(img, ker), window={size=3x3}, dim_labels=odd",
        "transpose(p), dimensions={5,0}",
        "gather(p, idx)",
        "fft(p), fft_type=FFT",
        "topk(p)",
        "scan(v, z), dimensions={0}, num_carries=1, to_apply=add",
    ],
)
def test_is_opaque_where_nothing_says_it(line: str) -> None:
    assert str(parse_hlo_module(write(line)).instruction("r").shape) == "opaque[]"


def test_follows_from_the_operands_where_xla_refuses() -> None:
    for line, shape in (
        ("opt-barrier(t)", "(f32[8,16]{0,1}, s32[4])"),
        ("all-reduce(p, q), to_apply=add", "(f32[8,16]{0,1}, f32[8,16])"),
        ("fusion(p), kind=kLoop, calls=body", "f32[8,16]{0,1}"),
        ("copy-done(t)", "f32[8,16]{0,1}"),
    ):
        assert str(parse_hlo_module(write(line)).instruction("r").shape) == shape


def test_shapes_that_follow_from_each_other_do_not_nest() -> None:
    # Each computation maps the next over its parameter, ten thousand deep.
    parts = ["c0 {\n  p = f32[2] parameter(0)\n  ROOT r = negate(p)\n}\n"]
    parts += [
        f"c{n + 1} {{\n  p = f32[2] parameter(0)\n  ROOT r = map(p), to_apply=c{n}\n}}\n"
        for n in range(10_000)
    ]
    assert (
        str(parse_hlo_module("".join(parts)).entry_computation.root_instruction.shape) == "f32[2]"
    )
