"""Text that cannot be read: where, in what window, and in which words."""

from __future__ import annotations

import pytest

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import parse_hlo_module

GOOD = "HloModule m\n\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT q = f32[2] negate(p)\n}\n"


def error_of(text: str) -> HloParseError:
    with pytest.raises(HloParseError) as caught:
        parse_hlo_module(text)
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "words"),
    [
        ("p = f32[2] parameter(0)", "p = f32[2] parameter", 4, 14, "an opcode and its operands"),
        ("p = f32[2] parameter(0)", "p f32[2] parameter(0)", 4, 5, "expected '='"),
        (
            "p = f32[2] parameter(0)",
            "p = f32[2] parameter(0) , ,a=1",
            4,
            29,
            "expected an attribute",
        ),
        ("p = f32[2] parameter(0)", "p = ??? parameter(0)", 4, 7, "a shape or an opcode"),
        ("negate(p)\n}", "negate(p), a=(\nx {\n y = f32[] parameter(0)\n}", 5, 32, "never closed"),
        ("HloModule m", "HloModule m, =", 1, 13, "expected an attribute of the module"),
        ("HloModule m", "HloModule ,", 1, 11, "the name of the module"),
        (
            "  p = f32[2] parameter(0)\n  ROOT q = f32[2] negate(p)\n",
            "",
            4,
            1,
            "needs an instruction",
        ),
    ],
)
def test_the_place_is_right(old: str, new: str, line: int, column: int, words: str) -> None:
    error = error_of(GOOD.replace(old, new))
    assert words in error.reason
    assert (error.line, error.column) == (line, column)
    text = GOOD.replace(old, new).split("\n")[line - 1]
    assert error.excerpt in text
    assert error.excerpt[error.caret :] == text[column - 1 :][: len(error.excerpt) - error.caret]


def test_long_lines_are_shown_through_a_window() -> None:
    text = GOOD.replace("f32[2] parameter(0)", "(" + "f32[2], " * 6_000 + "f32[2]) !")
    error = error_of(text)
    assert len(str(error)) < 400
    assert error.column > 48_000
    assert error.excerpt[error.caret :] == "!"


@pytest.mark.parametrize(
    "text", ["", "\n\n", "hello", "{}", "HloModule m", "HloModule m\n\n// nothing\n", "}"]
)
def test_what_holds_no_computation(text: str) -> None:
    assert str(error_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "module @jit_f attributes {mhlo.x = 1 : i32} {\n  func.func public @main() {\n  }\n}\n",
        "#loc = loc(unknown)\nmodule {\n  %0 = stablehlo.add %a, %b : tensor<2xf32>\n}\n",
        "func.func @main(%arg0: tensor<f32>) -> tensor<f32> {\n  return %arg0 : tensor<f32>\n}\n",
    ],
)
def test_mlir_is_named(text: str) -> None:
    error = error_of(text)
    assert "MLIR" in error.reason
    assert "as_text()" in error.reason


def test_what_jax_lowers_to_is_named() -> None:
    jax = pytest.importorskip("jax")
    text = jax.jit(lambda x: x + 1).lower(1.0).as_text()
    assert "MLIR" in error_of(text).reason


@pytest.mark.parametrize("shape", ["f32[4{0}", "f32[8,128]{1,0:T(8,128)", "f32[4]{0}}", "f32[4]x"])
def test_a_damaged_shape_on_a_usual_line_hurts_that_shape_alone(shape: str) -> None:
    module = parse_hlo_module(
        f'e {{\n  p = f32[4] parameter(0)\n  a = {shape} negate(p), x={{"b]": [1]}}\n'
        "  ROOT b = f32[4] abs(a)\n}\n"
    )
    with pytest.raises(HloParseError, match="in %a"):
        _ = module.instruction("a").shape
    assert [str(item.shape) for item in module.instructions() if item.name != "a"] == ["f32[4]"] * 2
    assert module.instruction("b").operands == (module.instruction("a"),)
