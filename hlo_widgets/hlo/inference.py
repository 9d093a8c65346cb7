"""Shapes that the text leaves out because they follow from the operands.

XLA's parser accepts `%sum = add(%a, %b)`. Inferred here is what XLA infers, and what follows from
the operands alone; the shape of anything else is "opaque", which says nothing about its size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlo_widgets.hlo.shape import Shape
from hlo_widgets.hlo.shape_rules import RULES, UNKNOWN, is_taken_over

if TYPE_CHECKING:
    from hlo_widgets.hlo.instruction import HloInstruction

_FIXED = {
    **dict.fromkeys(("after-all", "outfeed", "send-done"), Shape("token")),
    **dict.fromkeys(("partition-id", "replica-id"), Shape("u32")),
    "get-dimension-size": Shape("s32"),
}
# What these return is what the root of their computation returns.
_RETURNS = frozenset({"call", "fusion", "conditional"})
# The results of these follow from their operands and from the root of what they apply.
_APPLIES = frozenset({"map", "scan"})


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
    return instruction.written_shape or UNKNOWN


def _sources(instruction: HloInstruction) -> tuple[HloInstruction, ...]:
    """Return the instructions from whose shapes that of this one follows."""
    called = instruction.called_computations
    opcode = instruction.opcode
    if opcode in _RETURNS and called:
        return (called[0].root_instruction,)
    if opcode in _APPLIES and called:
        return (*instruction.operands, called[0].root_instruction)
    return instruction.operands


def _infer(instruction: HloInstruction) -> Shape:
    opcode = instruction.opcode
    fixed = _FIXED.get(opcode)
    if fixed is not None:
        return fixed
    shapes = [item.written_shape or UNKNOWN for item in _sources(instruction)]
    if opcode in _RETURNS and instruction.called_computations:
        return shapes[0]
    if opcode == "tuple":
        return Shape("tuple", tuple_shapes=tuple(shapes))
    if not shapes:
        return UNKNOWN
    rule = RULES.get(opcode)
    if rule is None:
        return shapes[0] if is_taken_over(opcode, shapes[0]) else UNKNOWN
    try:
        return rule(instruction, shapes)
    except (IndexError, KeyError, ValueError, TypeError):
        # Numbers that do not fit the operands: somebody's mistake, and not one to stop at.
        return UNKNOWN
