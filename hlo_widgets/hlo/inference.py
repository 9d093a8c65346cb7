"""Shapes that the text leaves out because they follow from the operands.

XLA's parser accepts `%sum = add(%a, %b)`. What is inferred here covers the opcodes for which it
does; the shape of anything else is "opaque", which says nothing about its size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlo_widgets.hlo.opcode import ELEMENTWISE
from hlo_widgets.hlo.shape import Layout, Shape

if TYPE_CHECKING:
    from hlo_widgets.hlo.instruction import HloInstruction

_UNKNOWN = Shape("opaque")
_SAME_AS_OPERAND = ELEMENTWISE | frozenset(
    "all-reduce all-to-all bitcast collective-permute copy copy-done domain dynamic-update-slice"
    " opt-barrier reverse scatter select-and-scatter while".split()
)
_PREDICATES = frozenset({"compare", "is-finite"})
# A chain of instructions without shapes is followed so far; arbitrary, and far beyond what people
# write.
_MAX_CHAIN = 200


def infer_shape(instruction: HloInstruction) -> Shape:
    """Infer the shape of an instruction whose text has none."""
    return _infer(instruction, 0)


def _infer(instruction: HloInstruction, depth: int) -> Shape:
    written = instruction.written_shape
    if written is not None:
        return written
    if depth > _MAX_CHAIN:
        return _UNKNOWN
    opcode = instruction.opcode
    operands = instruction.operands
    if opcode in {"tuple", "sort"} and (opcode == "tuple" or len(operands) > 1):
        return Shape("tuple", tuple_shapes=tuple(_infer(item, depth + 1) for item in operands))
    if opcode in {"after-all", "outfeed", "send-done"}:
        return Shape("token")
    if opcode in {"partition-id", "replica-id"}:
        return Shape("u32")
    if opcode in {"call", "fusion", "conditional"} and instruction.called_computations:
        return _infer(instruction.called_computations[0].root_instruction, depth + 1)
    if not operands:
        return _UNKNOWN
    operand = _infer(operands[1 if opcode == "select" and len(operands) > 1 else 0], depth + 1)
    return _from_operand(instruction, operand)


def _from_operand(instruction: HloInstruction, operand: Shape) -> Shape:
    opcode = instruction.opcode
    if opcode == "get-tuple-element":
        index = instruction.attributes.get("index", "")
        shapes = operand.tuple_shapes
        known = index.isdecimal() and len(index) < 10 and int(index) < len(shapes)
        return shapes[int(index)] if known else _UNKNOWN
    if opcode in _PREDICATES and operand.is_array:
        return Shape("pred", operand.dimensions, operand.dynamic_dimensions, operand.layout)
    if opcode == "transpose" and operand.is_array:
        return _transposed(instruction.attributes.get("dimensions", ""), operand)
    return operand if opcode in _SAME_AS_OPERAND or opcode == "sort" else _UNKNOWN


def _transposed(permutation: str, operand: Shape) -> Shape:
    order = [
        int(number) for number in permutation.strip("{} ").split(",") if number.strip().isdecimal()
    ]
    if sorted(order) != list(range(len(operand.dimensions))):
        return _UNKNOWN
    sizes = tuple(operand.dimensions[number] for number in order)
    dynamic = tuple(operand.dynamic_dimensions[number] for number in order)
    minor_to_major = (
        operand.layout.minor_to_major if operand.layout else range(len(sizes) - 1, -1, -1)
    )
    layout = Layout(tuple(order.index(number) for number in minor_to_major))
    return Shape(operand.element_type, sizes, dynamic, layout)
