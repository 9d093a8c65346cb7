"""Estimated cycles of one run of the module: the figures of its instructions times their runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hlo_widgets.analysis.backend_config import LARGEST_INT64
from hlo_widgets.analysis.control_flow import is_control_flow
from hlo_widgets.analysis.cost import CostEstimate, cost_estimate
from hlo_widgets.analysis.execution import executed_computations
from hlo_widgets.analysis.work import does_work
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["Work", "comparable_source", "cycles_inside", "run_cycles", "work_rows"]


@dataclass(frozen=True, slots=True)
class Work:
    """One instruction that does work, with what its estimate and its runs are.

    Attributes:
        instruction: The instruction.
        trip_count: How often one run of the module runs it; None where the text does not say, or
            says a number of more than 64 bits.
        estimate: The estimated cost of one run of the instruction.
    """

    instruction: HloInstruction
    trip_count: int | None
    estimate: CostEstimate

    @property
    def run_cycles(self) -> int | None:
        """Estimated cycles of all its runs in one run of the module; None where one is unknown."""
        one = self.estimate.estimated_cycles
        return None if one is None or self.trip_count is None else one * self.trip_count


def work_rows(module: HloModule) -> tuple[Work, ...]:
    """Return the instructions of a run that do work: the rows of the cost table, in its order."""
    rows = []
    for executed in executed_computations(module):
        trips = executed.trip_count
        known = None if trips is None or trips > LARGEST_INT64 else trips
        rows += [
            Work(instruction, known, cost_estimate(instruction))
            for instruction in executed.computation.instructions
            if does_work(instruction)
        ]
    return tuple(rows)


def comparable_source(rows: Iterable[Work]) -> str | None:
    """Return the source with the most estimates, the first of several; None where there is none.

    Cost models differ by a factor of up to a hundred thousand on one fusion, so only figures of one
    model are compared or added up, and it is the one that says the most.
    """
    counts = Counter(row.estimate.source for row in rows if row.run_cycles is not None)
    most = counts.most_common(1)
    return most[0][0] if most else None


def run_cycles(module: HloModule) -> Mapping[HloInstruction, int]:
    """Return the estimated cycles of each instruction over one run of the module.

    Args:
        module: The module. Each call reads it anew: keep the result.

    Returns:
        Estimated cycles times runs, in the table's order, of the instructions for which both are
        known. Where the text has figures of several GPU cost models, which do not compare, only
        those of the model with the most of them.
    """
    rows = work_rows(module)
    source = comparable_source(rows)
    return {
        row.instruction: cycles
        for row in rows
        if row.estimate.source == source and (cycles := row.run_cycles) is not None
    }


def cycles_inside(loop: HloInstruction, cycles: Mapping[HloInstruction, int]) -> int | None:
    """Return the estimated cycles of all that a loop or call runs, over one run of the module.

    Args:
        loop: An instruction whose called computations are run.
        cycles: What `run_cycles` gives for the module.

    Returns:
        The sum of what is known; None where nothing is. Of a computation that others call too it
        holds their runs as well.
    """
    waiting, seen, known = [loop], {loop.parent}, []
    while waiting:
        for computation in waiting.pop().named_computations:
            if computation not in seen:
                seen.add(computation)
                known += [cycles[one] for one in computation.instructions if one in cycles]
                waiting += [one for one in computation.instructions if is_control_flow(one)]
    return sum(known) if known else None
