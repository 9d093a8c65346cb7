"""How often a while loop runs its body.

GPU and CPU compilers write `known_trip_count` into the loop's `backend_config`. TPU compilers leave
it out of the text after code generation, so there it is counted from the loop itself, in the one
form that `lax.scan` and `fori_loop` have: a number starts at a constant, grows by a constant in
each turn, and is compared with a constant. Anything else has no trip count.
"""

from __future__ import annotations

from typing import TypeVar

from hlo_widgets.analysis.backend_config import (
    config_fields,
    config_int,
    config_mapping,
    decimal,
)
from hlo_widgets.analysis.calls import tuple_index
from hlo_widgets.analysis.shapes import readable_shape
from hlo_widgets.hlo import HloComputation, HloInstruction

__all__ = ["trip_count"]

_LARGEST = {"s32": 2**31 - 1, "s64": 2**63 - 1, "u32": 2**32 - 1, "u64": 2**64 - 1}
# Same value, other place or shape; what a compiler puts between a counter and its use.
_PASS_THROUGH = frozenset({"copy", "bitcast"})


def trip_count(loop: HloInstruction) -> int | None:
    """Return how many times one run of a `while` instruction runs its body.

    Args:
        loop: A `while` instruction.

    Returns:
        The count that the compiler wrote down, else the one that follows from the loop's text, else
        None.
    """
    known = config_int(config_mapping(config_fields(loop), "known_trip_count"), "n")
    if known is not None and known >= 0:
        return known
    return _counted(loop)


def _counted(loop: HloInstruction) -> int | None:
    body = _only(loop.called_by_attribute.get("body", ()))
    condition = _only(loop.called_by_attribute.get("condition", ()))
    if body is None or condition is None or len(loop.operands) != 1:
        return None
    test = condition.root_instruction
    if test.opcode != "compare" or len(test.operands) != 2:
        return None
    index = _carried_index(test.operands[0], condition)
    counter = readable_shape(test.operands[0])
    largest = None if counter is None else _LARGEST.get(counter.element_type)
    if index is None or largest is None:
        return None
    start = _constant(_carried(loop.operands[0], index))
    step = _step(body, index, loop.operands[0])
    end = _value(test.operands[1], condition, body, loop.operands[0])
    if start is None or step is None or end is None or step < 1:
        return None
    return _turns(start, end, step, test.attributes.get("direction", ""), largest)


def _turns(start: int, end: int, step: int, direction: str, largest: int) -> int | None:
    if direction not in {"LT", "LE"}:
        return None
    past = end + (direction == "LE")
    turns = max(0, -((start - past) // step))
    # A counter that would wrap around never gets past the end.
    return turns if start + turns * step <= largest else None


def _step(body: HloComputation, index: int, start: HloInstruction) -> int | None:
    """Return what the body adds to the carried value `index` in each turn; None for all else."""
    added = _through(_carried(body.root_instruction, index))
    if added is None or added.opcode != "add" or len(added.operands) != 2:
        return None
    for counter, step in (added.operands, added.operands[::-1]):
        if _carried_index(counter, body) == index:
            return _value(step, body, body, start)
    return None


def _value(
    instruction: HloInstruction, within: HloComputation, body: HloComputation, start: HloInstruction
) -> int | None:
    """Return the constant behind a value in the loop: written there, or carried round it."""
    index = _carried_index(instruction, within)
    if index is None:
        return _constant(instruction)
    unchanged = _carried(body.root_instruction, index)
    if unchanged is None or _carried_index(unchanged, body) != index:
        return None
    return _constant(_carried(start, index))


def _carried_index(instruction: HloInstruction, within: HloComputation) -> int | None:
    """Return which element of the loop's carried tuple this is; None where it is none."""
    element = _through(instruction)
    if element is None or element.opcode != "get-tuple-element" or len(element.operands) != 1:
        return None
    if element.operands[0] is not _only(within.parameters):
        return None
    return tuple_index(element)


def _carried(values: HloInstruction, index: int) -> HloInstruction | None:
    if values.opcode != "tuple" or index >= len(values.operands):
        return None
    return values.operands[index]


def _constant(instruction: HloInstruction | None) -> int | None:
    source = _through(instruction)
    if source is None or source.opcode != "constant" or source.literal is None:
        return None
    return decimal(source.literal.strip())


def _through(instruction: HloInstruction | None) -> HloInstruction | None:
    # A chain of copies is short; the limit is arbitrary and only guards against circular text.
    for _ in range(16):
        if instruction is None or instruction.opcode not in _PASS_THROUGH:
            return instruction
        instruction = instruction.operands[0] if len(instruction.operands) == 1 else None
    return None


_T = TypeVar("_T")


def _only(items: tuple[_T, ...]) -> _T | None:
    return items[0] if len(items) == 1 else None
