"""The walk of a replay: records and passes, one after the other, change the kernels."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hlo_widgets.analysis.decisions.passes import PassRecord
from hlo_widgets.analysis.decisions.record import FusionDecision
from hlo_widgets.analysis.decisions.replay.contents import Contents, PassCheck, check_kernels
from hlo_widgets.analysis.decisions.replay.grouping import Grouping, Kernel, kernel_instructions
from hlo_widgets.analysis.decisions.replay.later_passes import follow_pass
from hlo_widgets.analysis.decisions.replay.start import ReplayStart
from hlo_widgets.hlo import HloModule

__all__ = ["ReplayStep", "Walk"]


@dataclass(frozen=True, eq=False)
class ReplayStep:
    """One step: a fusion that the record tells, or a later pass that changed kernels.

    Attributes:
        number: Its number, from 1.
        decision: The record of the fusion; None for a pass.
        producer: The kernel that was fused into the other one, as it was before; None where the
            module before fusion does not have it, and for a pass.
        consumer: The kernel that took it in, as it was before; None as for the producer.
        made: The kernel after it; None for a pass.
        lives_on: Whether the producer stays beside it for other readers, so that what it computes
            is computed twice.
        pass_name: The pass, where it is one.
        merged: Of a pass, the names of the kernels that became one, by its name.
        renamed: Of a pass, the new names of kernels by their old ones.
        dropped: Of a pass, the names of kernels that it took out, as nothing reads them.
        changes: What was taken out (None) and put in, by name, in order.
    """

    number: int
    decision: FusionDecision | None = None
    producer: Kernel | None = None
    consumer: Kernel | None = None
    made: Kernel | None = None
    lives_on: bool = False
    pass_name: str = ""
    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    changes: tuple[tuple[str, Kernel | None], ...] = field(default=(), repr=False)


class Walk:
    """Follows the records, and each pass when its turn comes.

    Args:
        start: The module before fusion and what to follow.
        module: That module.

    Attributes:
        first: The kernels before the first step, by name.
        steps: The steps.
        checks: How the kernels compare with the dumped modules.
        unknown: How many records name an op that nothing tells, by its name.
        untold: Names of fusions of which nothing tells what they were made of.
    """

    def __init__(self, start: ReplayStart, module: HloModule) -> None:
        self.steps: list[ReplayStep] = []
        self.checks: list[PassCheck] = []
        self.unknown: Counter[str] = Counter()
        self.untold: dict[str, None] = {}
        self._grouping = Grouping.of_module(module)
        self.first: dict[str, Kernel] = dict(self._grouping.kernels)
        self._contents = Contents(with_names=start.has_names)
        self._passes = deque(start.passes)
        self._settled: set[str] = set()
        for decision in start.fusions:
            # The records of a queue are of one pass; others go on where a later pass leaves off.
            if not start.has_queue:
                self._catch_up(decision)
            self._fuse(decision)
        while self._passes:
            self._follow(self._passes.popleft())
        if self.steps:
            last = self.steps[-1]
            self.steps[-1] = replace(last, changes=(*last.changes, *self._journal()))

    @property
    def _number(self) -> int:
        return len(self.steps) + 1

    def _journal(self) -> tuple[tuple[str, Kernel | None], ...]:
        changes = tuple(self._grouping.journal)
        self._grouping.journal.clear()
        return changes

    def _catch_up(self, decision: FusionDecision) -> None:
        """Follow the passes up to the one that made what a record names."""
        missing = {n for n in _names(decision) if n not in self._grouping.kernels}
        if not missing:
            return
        for count, record in enumerate(self._passes, 1):
            if missing <= {op.name for op in kernel_instructions(record.module)}:
                for _ in range(count):
                    self._follow(self._passes.popleft())
                return

    def _fuse(self, decision: FusionDecision) -> None:
        kernels = self._grouping.kernels
        names = _names(decision)
        self.unknown.update(name for name in names if name not in kernels)
        producer, consumer = (kernels.get(name) for name in (names[0], names[-1]))
        if (producer is None and consumer is None) or len(names) < 2 or not decision.fusion_name:
            return
        if decision.siblings and producer is not None and consumer is not None:
            made = self._grouping.merge(names, decision.fusion_name, self._number)
        else:
            made = self._grouping.fuse(names[0], names[-1], decision.fusion_name, self._number)
        self.steps.append(
            ReplayStep(
                self._number,
                decision,
                producer,
                consumer,
                made,
                lives_on=producer is not None and kernels.get(producer.name) is producer,
                changes=self._journal(),
            )
        )

    def _follow(self, record: PassRecord) -> None:
        effect = follow_pass(
            self._grouping, record.module, self._contents, self._number, self._settled
        )
        self.untold |= dict.fromkeys(effect.untold)
        self._settled.update(effect.untold, effect.lost)
        if effect:
            self.steps.append(
                ReplayStep(
                    self._number,
                    pass_name=record.name,
                    merged=effect.merged,
                    renamed=effect.renamed,
                    dropped=effect.dropped,
                    changes=self._journal(),
                )
            )
        if record.changes or not self.checks:
            kernels, number = self._grouping.kernels, len(self.steps)
            self.checks.append(
                check_kernels(kernels, record.module, self._contents, record.name, number)
            )


def _names(decision: FusionDecision) -> tuple[str, ...]:
    """Return producer and consumer; where none is named, the fusion that may have grown."""
    consumer = decision.consumer or decision.fusion_name
    return (decision.producer,) if consumer is None else (decision.producer, consumer)
