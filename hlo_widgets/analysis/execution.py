"""Which computations a run of the module steps through, and how often: see `control_flow`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_widgets.analysis.control_flow import is_control_flow
from hlo_widgets.analysis.loops import trip_count
from hlo_widgets.analysis.work import does_work
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule

__all__ = ["ExecutedComputation", "executed_computations", "work_instructions"]


@dataclass(frozen=True)
class ExecutedComputation:
    """A computation that a run of the module steps through.

    Attributes:
        computation: The computation.
        trip_count: How often one run of the module runs it: 1 for the entry, a loop's trip count
            for its body (one more for its condition), products of these for loops in loops, sums
            where several instructions call it. None where the text does not say, as for a loop that
            ends on data and for the branches of a conditional.
    """

    computation: HloComputation
    trip_count: int | None


def executed_computations(module: HloModule) -> tuple[ExecutedComputation, ...]:
    """Return the computations that a run steps through: the entry first, callers before callees.

    Args:
        module: A module of any compiler.

    Returns:
        Each such computation once, with how often it runs.
    """
    order, calls = _callers_first(module.entry_computation)
    place = {computation: index for index, computation in enumerate(order)}
    counts: dict[HloComputation, int | None] = dict.fromkeys(order, 0)
    counts[module.entry_computation] = 1
    for caller in order:
        for callee, times in calls[caller]:
            # Text that calls itself in a circle is not HLO, but it can be read: no count holds
            # there.
            if place[callee] <= place[caller]:
                counts[callee] = None
                continue
            counts[callee] = _plus(counts[callee], _times(counts[caller], times))
    return tuple(ExecutedComputation(computation, counts[computation]) for computation in order)


def work_instructions(module: HloModule) -> Iterator[HloInstruction]:
    """Yield the instructions of a run that do work: the rows of the cost table, in its order."""
    for executed in executed_computations(module):
        yield from filter(does_work, executed.computation.instructions)


_Calls = list[tuple[HloComputation, int | None]]


def _callers_first(
    entry: HloComputation,
) -> tuple[list[HloComputation], dict[HloComputation, _Calls]]:
    """Sort what is reachable from `entry` topologically, without recursion: nesting can be deep."""
    calls: dict[HloComputation, _Calls] = {entry: _calls_of(entry)}
    finished: list[HloComputation] = []
    # Callees are visited last first, so that the reversed order lists them as the text does.
    stack = [(entry, iter(calls[entry][::-1]))]
    while stack:
        computation, rest = stack[-1]
        callee = next((callee for callee, _ in rest if callee not in calls), None)
        if callee is None:
            finished.append(computation)
            stack.pop()
        else:
            calls[callee] = _calls_of(callee)
            stack.append((callee, iter(calls[callee][::-1])))
    return finished[::-1], calls


def _calls_of(computation: HloComputation) -> _Calls:
    return [
        call
        for instruction in computation.instructions
        if is_control_flow(instruction)
        for call in _calls_by(instruction)
    ]


def _calls_by(instruction: HloInstruction) -> Iterator[tuple[HloComputation, int | None]]:
    what = instruction.opcode.removesuffix("-start")
    if what != "while":
        # One branch of a conditional runs, and the text does not say which.
        times = None if what == "conditional" else 1
        yield from ((callee, times) for callee in instruction.named_computations)
        return
    trips = trip_count(instruction)
    for attribute, callees in instruction.called_by_attribute.items():
        # The condition is asked once more than the body runs.
        extra = 1 if attribute == "condition" else 0
        yield from ((callee, None if trips is None else trips + extra) for callee in callees)


def _plus(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right


def _times(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left * right
