"""Shapes that the text leaves out because they follow from the operands.

XLA's parser accepts `%sum = add(%a, %b)`. Inferred here is what people write so; the shape of
anything else is "opaque", which says nothing about its size.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from hlo_widgets.hlo.opcode import ELEMENTWISE
from hlo_widgets.hlo.shape import Layout, Shape

if TYPE_CHECKING:
    from hlo_widgets.hlo.instruction import HloInstruction

_UNKNOWN = Shape("opaque")
_SAME_AS_OPERAND = ELEMENTWISE | frozenset(
    "add-dependency all-reduce all-to-all bitcast broadcast collective-permute copy copy-done"
    " domain dynamic-update-slice opt-barrier reverse scatter select-and-scatter sort while".split()
)
_FIXED = {
    **dict.fromkeys(("after-all", "outfeed", "send-done"), Shape("token")),
    **dict.fromkeys(("partition-id", "replica-id"), Shape("u32")),
    "get-dimension-size": Shape("s32"),
}
_COMPLEX = {"f32": "c64", "f64": "c128"}
_PARTS = {value: key for key, value in _COMPLEX.items()}


def infer_shape(instruction: HloInstruction) -> Shape:
    """Infer the shape of an instruction whose text has none, and of all that it follows from.

    Without recursion, and each shape once: a long chain of such instructions is read in one walk.
    """
    stack = [instruction]
    seen: set[HloInstruction] = set()
    while stack:
        item = stack[-1]
        if item.written_shape is not None:
            stack.pop()
            continue
        unknown = [other for other in _sources(item) if other.written_shape is None]
        # Where a text goes in circles, an instruction is met again before its sources are known.
        if unknown and item not in seen:
            seen.add(item)
            stack += unknown
            continue
        item.keep_shape(_infer(item))
        stack.pop()
    return instruction.written_shape or _UNKNOWN


def _sources(instruction: HloInstruction) -> tuple[HloInstruction, ...]:
    """Return the instructions from whose shapes that of this one follows."""
    called = instruction.called_computations
    if instruction.opcode in {"call", "fusion", "conditional"} and called:
        return (called[0].root_instruction,)
    return instruction.operands


def _infer(instruction: HloInstruction) -> Shape:
    opcode = instruction.opcode
    fixed = _FIXED.get(opcode)
    if fixed is not None:
        return fixed
    shapes = [item.written_shape or _UNKNOWN for item in _sources(instruction)]
    if opcode == "tuple" or (opcode == "sort" and len(shapes) > 1):
        return Shape("tuple", tuple_shapes=tuple(shapes))
    if opcode in {"call", "fusion", "conditional"} and shapes and instruction.called_computations:
        return shapes[0]
    return _from_operands(instruction, shapes) if shapes else _UNKNOWN


def _from_operands(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    opcode = instruction.opcode
    first = shapes[0]
    if opcode == "get-tuple-element":
        return _element(instruction.attributes.get("index", ""), first)
    # The first operand of a selection chooses, that of a clamp bounds.
    main = shapes[1] if opcode in {"select", "clamp"} and len(shapes) > 1 else first
    if not main.is_array:
        return main if opcode in _SAME_AS_OPERAND else _UNKNOWN
    special = _SPECIAL.get(opcode)
    if special is not None:
        try:
            return special(instruction, shapes)
        except (IndexError, ValueError, TypeError):
            # Numbers that do not fit the operands: somebody's mistake, and not one to stop at.
            return _UNKNOWN
    return main if opcode in _SAME_AS_OPERAND else _UNKNOWN


def _element(index: str, operand: Shape) -> Shape:
    known = index.isdecimal() and len(index) < 10 and int(index) < len(operand.tuple_shapes)
    return operand.tuple_shapes[int(index)] if known else _UNKNOWN


def _array(element_type: str, sizes: list[int | None]) -> Shape:
    return Shape(element_type, tuple(sizes), (False,) * len(sizes))


def _numbers(instruction: HloInstruction, key: str) -> list[int]:
    return [
        int(number) for number in re.findall(r"[0-9]{1,9}", instruction.attributes.get(key, ""))
    ]


def _with_type(element_type: str | None, shape: Shape) -> Shape:
    if element_type is None:
        return shape
    return Shape(element_type, shape.dimensions, shape.dynamic_dimensions, shape.layout)


def _transpose(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    operand = shapes[0]
    order = _numbers(instruction, "dimensions")
    if sorted(order) != list(range(len(operand.dimensions))):
        return _UNKNOWN
    sizes = tuple(operand.dimensions[number] for number in order)
    dynamic = tuple(operand.dynamic_dimensions[number] for number in order)
    before = operand.layout.minor_to_major if operand.layout else range(len(order) - 1, -1, -1)
    layout = Layout(tuple(order.index(number) for number in before))
    return Shape(operand.element_type, sizes, dynamic, layout)


def _dot(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    left, right = shapes[0], shapes[1]
    batch = _numbers(instruction, "lhs_batch_dims")
    gone_left = {*batch, *_numbers(instruction, "lhs_contracting_dims")}
    gone_right = {
        *_numbers(instruction, "rhs_batch_dims"),
        *_numbers(instruction, "rhs_contracting_dims"),
    }
    sizes = [left.dimensions[number] for number in batch]
    sizes += [size for n, size in enumerate(left.dimensions) if n not in gone_left]
    sizes += [size for n, size in enumerate(right.dimensions) if n not in gone_right]
    return _array(left.element_type, sizes)


def _reduce(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    gone = _numbers(instruction, "dimensions")
    reduced = [
        _array(shape.element_type, [s for n, s in enumerate(shape.dimensions) if n not in gone])
        for shape in shapes[: len(shapes) // 2]
    ]
    return reduced[0] if len(reduced) == 1 else Shape("tuple", tuple_shapes=tuple(reduced))


def _concatenate(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    along = _numbers(instruction, "dimensions")[0]
    sizes = list(shapes[0].dimensions)
    sizes[along] = sum(shape.dimensions[along] or 0 for shape in shapes)
    return _array(shapes[0].element_type, sizes)


def _pad(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    sizes: list[int | None] = []
    paddings = instruction.attributes.get("padding", "").split("x")
    for size, padding in zip(shapes[0].dimensions, paddings, strict=True):
        low, high, *interior = (int(number) for number in padding.split("_"))
        within = max((size or 0) - 1, 0) * (interior[0] if interior else 0)
        sizes.append((size or 0) + low + high + within)
    return _array(shapes[0].element_type, sizes)


def _set_dimension_size(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    changed = _numbers(instruction, "dimensions")[0]
    operand = shapes[0]
    dynamic = [known or n == changed for n, known in enumerate(operand.dynamic_dimensions)]
    return Shape(operand.element_type, operand.dimensions, tuple(dynamic), operand.layout)


_SPECIAL: dict[str, Callable[[HloInstruction, list[Shape]], Shape]] = {
    "abs": lambda _, shapes: _with_type(_PARTS.get(shapes[0].element_type), shapes[0]),
    "compare": lambda _, shapes: _with_type("pred", shapes[0]),
    "complex": lambda _, shapes: _with_type(_COMPLEX.get(shapes[0].element_type), shapes[0]),
    "concatenate": _concatenate,
    "dot": _dot,
    "imag": lambda _, shapes: _with_type(_PARTS.get(shapes[0].element_type), shapes[0]),
    "is-finite": lambda _, shapes: _with_type("pred", shapes[0]),
    "pad": _pad,
    "real": lambda _, shapes: _with_type(_PARTS.get(shapes[0].element_type), shapes[0]),
    "reduce": _reduce,
    "set-dimension-size": _set_dimension_size,
    "transpose": _transpose,
}
