"""How the shape of a result follows from the shapes of the operands, opcode by opcode.

The rules are XLA's: its parser infers a shape that the text leaves out, and the tests compare with
it. A rule may raise IndexError, KeyError, ValueError or TypeError where the numbers do not fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from hlo_widgets.hlo.opcode import ELEMENTWISE, ELEMENTWISE_BINARY
from hlo_widgets.hlo.shape import Layout, Shape
from hlo_widgets.hlo.window_rules import convolution, gather, reduce_window

if TYPE_CHECKING:
    from hlo_widgets.hlo.instruction import HloInstruction

Rule = Callable[["HloInstruction", list[Shape]], Shape]

UNKNOWN = Shape("opaque")
# The element type of these does not follow from the operand.
_CHANGES_TYPE = frozenset({"bitcast-convert", "convert", "stochastic-convert"})
_SAME_AS_OPERAND = (ELEMENTWISE - _CHANGES_TYPE) | frozenset(
    "add-dependency all-reduce all-to-all batch-norm-inference cholesky collective-permute copy"
    " domain dynamic-update-slice opt-barrier reverse scatter select-and-scatter sort while".split()
)
_OF_ANY_KIND = frozenset("add-dependency copy domain opt-barrier while".split())
_COMPLEX = {"f32": "c64", "f64": "c128"}
_PARTS = {value: key for key, value in _COMPLEX.items()}


def is_taken_over(opcode: str, operand: Shape) -> bool:
    """Return whether the result has the shape of the first operand, layout included."""
    return opcode in _SAME_AS_OPERAND and (operand.is_array or opcode in _OF_ANY_KIND)


def _numbers(instruction: HloInstruction, key: str) -> list[int]:
    return [int(n) for n in re.findall(r"[0-9]{1,9}", instruction.attributes.get(key, ""))]


def _tuple(shapes: list[Shape]) -> Shape:
    return Shape("tuple", tuple_shapes=tuple(shapes))


def _kept(shape: Shape, dimensions: list[int]) -> Shape:
    """Return an array of some dimensions of another, in the default layout."""
    sizes = tuple(shape.dimensions[n] for n in dimensions)
    return Shape(shape.element_type, sizes, tuple(shape.dynamic_dimensions[n] for n in dimensions))


def _either(left: Shape, right: Shape) -> Shape:
    """Return the first of two shapes of one rank, dynamic where one of them is."""
    dynamic = map(any, zip(left.dynamic_dimensions, right.dynamic_dimensions, strict=True))
    return replace(left, dynamic_dimensions=tuple(dynamic))


def _with_type(types: dict[str, str]) -> Rule:
    """Make the rule of an opcode that changes some element types and nothing else."""

    def rule(_: HloInstruction, shapes: list[Shape]) -> Shape:
        element_type = types.get(shapes[0].element_type)
        return shapes[0] if element_type is None else replace(shapes[0], element_type=element_type)

    return rule


def _binary(_: HloInstruction, shapes: list[Shape]) -> Shape:
    left, right = shapes
    if len(left.dimensions) == len(right.dimensions):
        return _either(left, right)
    # A scalar is spread over the other.
    longer = max(left, right, key=lambda shape: len(shape.dimensions))
    return replace(longer, element_type=left.element_type, layout=None)


def _predicate(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    shape = _binary(instruction, shapes) if len(shapes) == 2 else shapes[0]
    return replace(shape, element_type="pred")


def _complex(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    shape = _binary(instruction, shapes)
    return replace(shape, element_type=_COMPLEX[shape.element_type])


def _select(_: HloInstruction, shapes: list[Shape]) -> Shape:
    if shapes[0].is_scalar or not shapes[1].is_array:
        return shapes[1]
    return replace(_either(shapes[1], shapes[2]), layout=None)


def _map(_: HloInstruction, shapes: list[Shape]) -> Shape:
    # The last shape is that of the applied computation's root.
    return replace(shapes[0], element_type=shapes[-1].element_type, layout=None)


def _element(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    index = instruction.attributes["index"]
    return shapes[0].tuple_shapes[int(index)] if index.isdecimal() and len(index) < 10 else UNKNOWN


def _transpose(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    operand = shapes[0]
    order = _numbers(instruction, "dimensions")
    if sorted(order) != list(range(len(operand.dimensions))):
        return UNKNOWN
    layout = operand.layout or Layout(tuple(range(len(order) - 1, -1, -1)))
    turned = tuple(order.index(number) for number in layout.minor_to_major)
    return replace(_kept(operand, order), layout=replace(layout, minor_to_major=turned))


def _dot(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    left, right = shapes[0], shapes[1]
    batch = _numbers(instruction, "lhs_batch_dims")
    gone = {*batch, *_numbers(instruction, "lhs_contracting_dims")}
    gone_right = {
        *_numbers(instruction, "rhs_batch_dims"),
        *_numbers(instruction, "rhs_contracting_dims"),
        *_numbers(instruction, "rhs_group_dims"),
    }
    first = _kept(left, [*batch, *(n for n in range(len(left.dimensions)) if n not in gone)])
    second = _kept(right, [n for n in range(len(right.dimensions)) if n not in gone_right])
    return Shape(
        left.element_type,
        first.dimensions + second.dimensions,
        first.dynamic_dimensions + second.dynamic_dimensions,
    )


def _ragged_dot(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    result = _dot(instruction, shapes)
    ragged = _numbers(instruction, "lhs_ragged_dims")
    if not set(ragged) <= set(_numbers(instruction, "lhs_contracting_dims")):
        return result
    # Ragged along what is summed up: one product for each group.
    groups = shapes[2].dimensions[-1]
    return Shape(
        result.element_type, (groups, *result.dimensions), (False, *result.dynamic_dimensions)
    )


def _reduce(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    gone = _numbers(instruction, "dimensions")
    reduced = [
        _kept(shape, [n for n in range(len(shape.dimensions)) if n not in gone])
        for shape in shapes[: len(shapes) // 2]
    ]
    return reduced[0] if len(reduced) == 1 else _tuple(reduced)


def _concatenate(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    along = _numbers(instruction, "dimensions")[0]
    sizes = list(shapes[0].dimensions)
    sizes[along] = sum(shape.dimensions[along] or 0 for shape in shapes)
    dynamic = map(any, zip(*(shape.dynamic_dimensions for shape in shapes), strict=True))
    return Shape(shapes[0].element_type, tuple(sizes), tuple(dynamic))


def _pad(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    sizes: list[int | None] = []
    paddings = instruction.attributes["padding"].split("x")
    for size, padding in zip(shapes[0].dimensions, paddings, strict=True):
        low, high, *interior = (int(number) for number in padding.split("_"))
        within = max((size or 0) - 1, 0) * (interior[0] if interior else 0)
        sizes.append((size or 0) + low + high + within)
    return replace(shapes[0], dimensions=tuple(sizes), layout=None)


def _set_dimension_size(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    changed = _numbers(instruction, "dimensions")[0]
    dynamic = [known or n == changed for n, known in enumerate(shapes[0].dynamic_dimensions)]
    return replace(shapes[0], dynamic_dimensions=tuple(dynamic))


def _broadcast(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    # XLA takes the numbers for sizes to put before the operand's: right for `dimensions={}`, and
    # what it reads in other texts all the same.
    added = _numbers(instruction, "dimensions")
    operand = shapes[0]
    sizes, dynamic = (*added, *operand.dimensions), operand.dynamic_dimensions
    return Shape(operand.element_type, sizes, (False,) * len(added) + dynamic)


def _fft(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    operand, kind = shapes[0], instruction.attributes["fft_type"]
    length = _numbers(instruction, "fft_length")[-1]
    if kind == "RFFT":
        last, types = length // 2 + 1 if length else 0, _COMPLEX
    elif kind == "IRFFT":
        last, types = length, _PARTS
    else:
        return operand
    sizes = (*operand.dimensions[:-1], last)
    return replace(operand, element_type=types[operand.element_type], dimensions=sizes)


def _batch_norm(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    feature = _kept(shapes[0], _numbers(instruction, "feature_index"))
    return _tuple([shapes[0], feature, feature])


def _topk(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    sizes = (*shapes[0].dimensions[:-1], _numbers(instruction, "k")[0])
    values = replace(shapes[0], dimensions=sizes, layout=None)
    return _tuple([values, replace(values, element_type="s32")])


def _scan(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    """Stack what one step returns along the scanned dimension, but for what is carried."""
    # The last shape is that of the step's root.
    step = shapes[-1].tuple_shapes
    if not step:
        return UNKNOWN
    along = _numbers(instruction, "dimensions")[0]
    stacked = len(step) - _numbers(instruction, "num_carries")[0]
    size = shapes[0].dimensions[along]
    outputs = []
    for shape in step[:stacked]:
        sizes = (*shape.dimensions[:along], size, *shape.dimensions[along:])
        outputs.append(Shape(shape.element_type, sizes, (False,) * len(sizes)))
    return _tuple([*outputs, *step[stacked:]])


def _of_each(_: HloInstruction, shapes: list[Shape]) -> Shape:
    return shapes[0] if len(shapes) == 1 else _tuple(shapes)


def _scatter(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    return _of_each(instruction, shapes[: len(shapes) // 2])


RULES: dict[str, Rule] = {
    **dict.fromkeys(ELEMENTWISE_BINARY, _binary),
    **dict.fromkeys(("dot", "scaled-dot"), _dot),
    **dict.fromkeys(("batch-norm-grad", "batch-norm-training"), _batch_norm),
    **dict.fromkeys(("all-reduce", "sort"), _of_each),
    **dict.fromkeys(("abs", "imag", "real"), _with_type(_PARTS)),
    **dict.fromkeys(("compare", "is-finite"), _predicate),
    "broadcast": _broadcast,
    "clamp": lambda _, shapes: shapes[1],
    "complex": _complex,
    "concatenate": _concatenate,
    "convolution": convolution,
    "copy-done": lambda _, shapes: shapes[0].tuple_shapes[0],
    "fft": _fft,
    "gather": gather,
    "get-tuple-element": _element,
    "map": _map,
    "pad": _pad,
    "ragged-dot": _ragged_dot,
    "reduce": _reduce,
    "reduce-window": reduce_window,
    "scan": _scan,
    "scatter": _scatter,
    "select": _select,
    "set-dimension-size": _set_dimension_size,
    "topk": _topk,
    "transpose": _transpose,
    "triangular-solve": lambda _, shapes: shapes[1],
}
