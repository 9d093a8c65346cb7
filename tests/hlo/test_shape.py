"""Shapes and layouts, on their own."""

from __future__ import annotations

import pytest

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import parse_hlo_module
from hlo_widgets.hlo.shape import Layout, Shape, Tile, parse_shape


@pytest.mark.parametrize(
    ("text", "byte_size"),
    [
        ("f32[]", 4),
        ("bf16[1024,512]{1,0:T(8,128)(2,1)S(1)}", 1024 * 512 * 2),
        ("s4[3]", 2),
        ("u1[9]", 2),
        ("pred[7]", 7),
        ("c128[2,2]", 64),
        ("f8e4m3b11fnuz[5]", 5),
        ("f32[0,8]", 0),
        ("f32[<=8,2]", 64),
        ("f32[?,2]", None),
        ("token[]", 0),
        ("opaque[]", None),
        ("strange9[2]", None),
        ("(f32[2], (s32[], token[]), ())", 12),
        ("()", 0),
        ("(f32[], opaque[])", None),
        ("b(f32[3])", 12),
    ],
)
def test_byte_size(text: str, byte_size: int | None) -> None:
    assert parse_shape(text).byte_size == byte_size


@pytest.mark.parametrize(
    "text",
    [
        "f32[8,128]{1,0}",
        "f32[8,128]{1,0:T(8,128)(2,1)L(4)E(4)S(1)M(16)}",
        "f32[8,128]{1,0:T(*,128)}",
        "f32[8,128]{1,0:D(D,C)}",
        "f32[8,128]{1,0:#(u32)*(u16)}",
        "f32[8]{0:SC(1:4)S(5)}",
        "f32[]{:T(256)}",
        "f32[<=8,?]{1,0}",
        "(f32[8]{0}, ((), token[]), b(s32[2]{0}))",
        "opaque[]",
    ],
)
def test_written_as_read(text: str) -> None:
    shape = parse_shape(text)
    assert str(shape) == text
    assert parse_shape(str(shape)) == shape


def test_parts() -> None:
    shape = parse_shape("bf16[1024,<=512]{0,1:T(8,128)(2,1)E(4)S(1)}")
    assert shape == Shape(
        "bf16",
        (1024, 512),
        (False, True),
        Layout((0, 1), (Tile((8, 128)), Tile((2, 1))), 1, ("E(4)",)),
    )
    assert shape.memory_space == 1
    assert shape.element_count == 1024 * 512
    assert shape.is_array
    assert not shape.is_scalar
    assert shape.to_string(with_layout=False) == "bf16[1024,<=512]"
    assert parse_shape("f32[ 2 , 3 ] { 1 , 0 }") == parse_shape("f32[2,3]{1,0}")
    assert parse_shape("(f32[2], /*index=1*/f32[3])").tuple_shapes[1].dimensions == (3,)
    assert parse_shape("token[]").element_count is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "f32",
        "f32[",
        "f32[2,]",
        "f32[x]",
        "(f32[2]",
        "f32[2]{0",
        "f32[2]{0:Q!}",
        "f32[-]",
        "f32[2] x",
    ],
)
def test_what_is_no_shape(text: str) -> None:
    with pytest.raises(HloParseError):
        parse_shape(text)


def test_numbers_that_are_none() -> None:
    assert parse_shape("f32[8]{0:T(--8,x)}").layout == Layout((0,), (Tile((None, None)),))
    assert parse_shape("f32[8]{0:S(-)}").layout == Layout((0,), suffixes=("S(-)",))


def test_deep_tuples_do_not_recurse() -> None:
    depth = 10_000
    shape = parse_shape("(" * depth + "f32[2]" + ")" * depth)
    assert shape.byte_size == 8
    assert str(shape).count("(") == depth


def test_long_chains_without_shapes_are_inferred_once() -> None:
    lines = "".join(f"  x{n + 1} = add(x{n}, x{n})\n" for n in range(3_000))
    module = parse_hlo_module(f"ENTRY e {{\n  x0 = f32[2] parameter(0)\n{lines}}}\n")
    assert str(module.entry_computation.root_instruction.shape) == "f32[2]"


def test_circles_without_shapes_end() -> None:
    module = parse_hlo_module("ENTRY e {\n  a = negate(b)\n  b = abs(a)\n}\n")
    assert str(module.instruction("a").shape) == "opaque[]"


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("complex(a, a)", "c64[2,10]"),
        ("real(complex(a, a))", "f32[2,10]"),
        ("clamp(z, a, z)", "f32[2,10]{1,0}"),
        ("dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[2,3]"),
        ("reduce(a, z), dimensions={0}", "f32[10]"),
        ("reduce(a, a, z, z), dimensions={0}", "(f32[10], f32[10])"),
        ("concatenate(a, a), dimensions={1}", "f32[2,20]"),
        ("concatenate(a, a), dimensions={7}", "opaque[]"),
        ("pad(a, z), padding=1_2x0_0_1", "f32[5,19]"),
        ("pad(a, z), padding=1_2", "opaque[]"),
        ("set-dimension-size(a, z), dimensions={0}", "f32[<=2,10]{1,0}"),
        ("transpose(a), dimensions={1,0}", "f32[10,2]{0,1}"),
        ("transpose(a), dimensions={1}", "opaque[]"),
        ("get-tuple-element(tuple(a, z)), index=1", "f32[]"),
        ("get-tuple-element(tuple(a, z)), index=2", "opaque[]"),
        ("get-dimension-size(a), dimensions={0}", "s32[]"),
        ("after-all()", "token[]"),
        ("custom-call(a)", "opaque[]"),
    ],
)
def test_inference(line: str, shape: str) -> None:
    module = parse_hlo_module(
        "ENTRY e {\n  a = f32[2,10]{1,0} parameter(0)\n  b = f32[10,3] parameter(1)\n"
        f"  z = f32[] constant(0)\n  ROOT x = {line}\n}}\n"
    )
    found = module.entry_computation.root_instruction.shape
    assert str(found) == shape or found.to_string(with_layout=False) == shape


@pytest.mark.parametrize("text", ["f32[-5]", "f32[-5,-5]", "(f32[8], f32[-1])"])
def test_a_dimension_below_zero_gives_no_size(text):
    assert parse_shape(text).byte_size is None
