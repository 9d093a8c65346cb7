"""How data gets from one op to another, outside the bodies of fusions."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from hlo_widgets.analysis.execution import executed_computations
from hlo_widgets.analysis.obstacles import carries_value, is_obstacle
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule
from hlo_widgets.hlo import opcode as opcodes

__all__ = [
    "Reach",
    "running_instruction",
    "shared_operands",
    "shortest_connection",
    "without_plumbing",
]

# A connection is the shorter, the fewer ops on it compute something; the other numbers only break
# ties, and are small enough that a thousand of them do not add up to one op that computes.
_COMPUTES, _OBSTACLE, _CARRIES = 1_000_000, 999_000, 1_000


def running_instruction(module: HloModule, op: HloInstruction) -> HloInstruction:
    """Return the instruction that runs an op: the fusion around it, else the op itself.

    Args:
        module: The module.
        op: Any instruction of it; one in the body of a fusion, or in the small function of a
            reduction, runs as a part of what calls that.
    """
    running = {executed.computation for executed in executed_computations(module)}
    for _ in module.computations:
        if op.parent in running or not op.parent.callers:
            break
        op = op.parent.callers[0]
    return op


class Reach:
    """Which ops of one computation data of which others gets to, at hand for many pairs.

    Args:
        computation: The computation.
    """

    def __init__(self, computation: HloComputation) -> None:
        ops = computation.instructions
        self._bits = {op: 1 << number for number, op in enumerate(ops)}
        # Of each op the bits of all whose data gets to it, its own included.
        self._sources: dict[HloInstruction, int] = {}
        # Operands first: a text may name an op before it defines it.
        waiting = list(reversed(ops))
        begun = set()
        while waiting:
            op = waiting[-1]
            if op not in begun:
                begun.add(op)
                waiting += [o for o in op.operands if o in self._bits and o not in begun]
            elif waiting.pop() not in self._sources:
                self._sources[op] = self._bits[op]
                for operand in op.operands:
                    self._sources[op] |= self._sources.get(operand, 0)

    def leads(self, start: HloInstruction, end: HloInstruction) -> bool:
        """Return whether data of one op gets to another one."""
        return bool(self._bits.get(start, 0) & self._sources.get(end, 0))


def shortest_connection(
    start: HloInstruction, end: HloInstruction
) -> tuple[HloInstruction, ...] | None:
    """Return the way from one instruction to another on which the fewest ops compute something.

    Args:
        start: An instruction.
        end: An instruction of the same computation.

    Returns:
        The instructions from `start` to `end`, both included, plumbing (get-tuple-element, tuple,
        bitcast) too; None where no data of `start` gets to `end`.
    """
    if start.parent is not end.parent:
        return None
    order = {op: number for number, op in enumerate(start.parent.instructions)}
    came_from: dict[HloInstruction, HloInstruction | None] = {}
    # Length of the way, place of the op, place of the op before it.
    waiting = [(0, order[start], -1)]
    while waiting:
        length, number, before = heapq.heappop(waiting)
        op = start.parent.instructions[number]
        if op in came_from:
            continue
        came_from[op] = start.parent.instructions[before] if before >= 0 else None
        if op is end:
            return tuple(_way_back(op, came_from))[::-1]
        for user in op.users:
            if user in order and user not in came_from:
                heapq.heappush(waiting, (length + _weight(user), order[user], number))
    return None


def _way_back(
    op: HloInstruction | None, came_from: dict[HloInstruction, HloInstruction | None]
) -> Iterator[HloInstruction]:
    while op is not None:
        yield op
        op = came_from[op]


def _weight(op: HloInstruction) -> int:
    if op.opcode in opcodes.PLUMBING:
        return 1
    if carries_value(op):
        return _CARRIES
    return _OBSTACLE if is_obstacle(op) else _COMPUTES


def without_plumbing(ops: tuple[HloInstruction, ...]) -> tuple[HloInstruction, ...]:
    """Return what is left of a connection when plumbing between its ends is left out."""
    inside = (op for op in ops[1:-1] if op.opcode not in opcodes.PLUMBING or is_obstacle(op))
    return (ops[0], *inside, *ops[-1:]) if len(ops) > 1 else ops


def shared_operands(a: HloInstruction, b: HloInstruction) -> tuple[HloInstruction, ...]:
    """Return what both instructions read, through plumbing and copies, in the order of `a`."""
    of_b = set(_read(b))
    return tuple(dict.fromkeys(op for op in _read(a) if op in of_b))


def _read(op: HloInstruction) -> Iterator[HloInstruction]:
    waiting = list(op.operands[::-1])
    seen = set(waiting)
    while waiting:
        source = waiting.pop()
        passes = source.opcode in opcodes.PLUMBING - {"constant", "parameter"}
        if not (passes or carries_value(source)):
            # Everybody reads constants: they tie nothing together.
            if source.opcode != "constant":
                yield source
            continue
        for operand in source.operands:
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)
