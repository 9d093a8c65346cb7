"""The fusion of a module replayed: from its ops, step by step, to the kernels of the end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.queue import QueueHistory, QueueMoment
from hlo_widgets.analysis.decisions.replay.contents import PassCheck
from hlo_widgets.analysis.decisions.replay.grouping import Kernel
from hlo_widgets.analysis.decisions.replay.start import ReplayStart, find_start
from hlo_widgets.analysis.decisions.replay.walk import ReplayStep, Walk
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["Replay", "ReplayStep", "replay_decisions"]

# States are rebuilt from the nearest kept one: arbitrary, some milliseconds of work between.
_KEEP_EVERY = 64


class Replay:
    """All steps, and the kernels before, between and after them.

    Args:
        start: The module before fusion and the records.
        walk: The walk along them; None where there is nothing to walk along.

    Attributes:
        module: The module before fusion; None where none was dumped.
        steps: The steps.
        checks: How the kernels compare with the modules that the compiler dumped.
        unknown: How many records name an op that nothing tells, by its name.
        untold: Names of fusions of which nothing tells what they were made of.
        notes: What the record does not allow to say.
    """

    def __init__(self, start: ReplayStart, walk: Walk | None = None) -> None:
        self.module: HloModule | None = start.module
        self.steps: tuple[ReplayStep, ...] = tuple(walk.steps) if walk else ()
        self.checks: tuple[PassCheck, ...] = tuple(walk.checks) if walk else ()
        self.unknown: dict[str, int] = dict(walk.unknown) if walk else {}
        self.untold: tuple[str, ...] = tuple(walk.untold) if walk else ()
        self.notes = start.notes
        self._queue = QueueHistory(start.decisions) if start.has_queue else None
        self._kept: dict[int, dict[str, Kernel]] = {0: dict(walk.first) if walk else {}}

    @property
    def has_queue(self) -> bool:
        """Whether the record tells the queue that the fusions were taken from."""
        return self._queue is not None

    @property
    def queue_unit(self) -> str:
        """What the priorities of the queue are in; empty where nothing tells."""
        return self._queue.unit if self._queue is not None else ""

    def kernels(self, number: int) -> Mapping[str, Kernel]:
        """Return the kernels after a step, by name.

        Args:
            number: Number of the step; 0 for before the first.
        """
        kept = max(one for one in self._kept if one <= number)
        kernels = dict(self._kept[kept])
        for step in self.steps[kept:number]:
            for name, kernel in step.changes:
                if kernel is None:
                    kernels.pop(name, None)
                else:
                    kernels[name] = kernel
            if step.number % _KEEP_EVERY == 0:
                self._kept[step.number] = dict(kernels)
        return kernels

    def queue(self, number: int) -> QueueMoment | None:
        """Return the queue that a step was taken from; None where nothing tells it.

        Args:
            number: Number of the step, from 1.
        """
        decision = self.steps[number - 1].decision
        if self._queue is None or decision is None:
            return None
        return self._queue.moment(decision)

    @cached_property
    def final(self) -> Mapping[str, Kernel]:
        """The kernels after the last step, by name."""
        return self.kernels(len(self.steps))

    def home_of(self, kernel: Kernel) -> str | None:
        """Return the name of the kernel of the end that holds what a kernel computes.

        Where what it computes was put into several, it is one of them; None where it is gone.
        """
        ops = [op for op in kernel.gives if op in self._homes] or kernel.ops
        return next((self._homes[op] for op in ops if op in self._homes), None)

    @cached_property
    def _homes(self) -> dict[HloInstruction, str]:
        return {op: name for name, kernel in self.final.items() for op in kernel.ops}

    def steps_of(self, name: str) -> tuple[int, ...]:
        """Return the numbers of the steps that made a kernel of the end; () where none is known."""
        kernel = self.final.get(name)
        return kernel.steps if kernel is not None else ()


def replay_decisions(log: DecisionLog) -> Replay:
    """Replay the fusions that a compiler recorded.

    On a GPU the priority dump tells every fusion and the queue that it was taken from. On a TPU the
    fusion visualisation tells every fusion in its order, and no queue; the log, where nothing was
    drawn, tells a part of them. What else was done, such as multi-output fusion, is told by the
    modules that were dumped around the passes. A record of an op that neither names is counted and
    left out.

    Args:
        log: The decisions, with the passes where modules were dumped.

    Returns:
        The replay; without steps where the log has no such record.
    """
    start = find_start(log)
    if start.module is None:
        return Replay(start)
    return Replay(start, Walk(start, start.module))
