"""The walk of a replay: records and passes, one after the other, change the kernels."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from hlo_widgets.analysis.decisions.passes import PassRecord
from hlo_widgets.analysis.decisions.record import FusionDecision
from hlo_widgets.analysis.decisions.replay.contents import Contents, PassCheck, check_kernels
from hlo_widgets.analysis.decisions.replay.grouping import Grouping, Kernel, kernel_instructions
from hlo_widgets.analysis.decisions.replay.later_passes import LaterPasses
from hlo_widgets.analysis.decisions.replay.start import ReplayStart
from hlo_widgets.hlo import HloModule
from hlo_widgets.hlo.collection import collection_held_back

__all__ = ["ReplayStep", "Walk"]


@dataclass(frozen=True, eq=False)
class ReplayStep:
    """One step: a fusion that the record tells, or a later pass that changed kernels.

    Attributes:
        number: Its number, from 1.
        decision: The record of the fusion; None for a pass.
        producer: The kernel that was fused into the other one, as it was before; None where the
            module before fusion does not have it, and for a pass.
        consumer: The kernel that took it in, as it was before; None as for the producer, and where
            the fusion is of the producer alone.
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
        # By the number of a pass; what names nothing asks for all of them.
        self._names: dict[int, frozenset[str]] = {}
        self._later = LaterPasses(module, self._contents)
        self._last_named = {
            name: at for at, decision in enumerate(start.fusions) for name in _names(decision)
        }
        for at, decision in enumerate(start.fusions):
            # The records of a queue are of one pass; others go on where a later pass leaves off.
            if not start.has_queue:
                self._catch_up(decision)
            self._fuse(decision, at)
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
        """Follow the passes that were over when a record was made."""
        names = set(_names(decision))
        missing = names - self._grouping.kernels.keys()
        if missing:
            # The pass that made what the record names.
            over = self._first_pass(missing)
        else:
            # The pass before the one that the record's fusion is of.
            over = self._first_pass({decision.fusion_name} - {None}) - 1
            if over >= 0 and not names <= self._names_after(self._passes[over]):
                return
        for _ in range(over + 1):
            self._follow(self._passes.popleft())

    def _first_pass(self, names: Collection[str | None]) -> int:
        """Return the place of the first pass ahead whose module has all names; -1 for none."""
        ahead = enumerate(self._passes)
        return next((at for at, one in ahead if self._names_after(one).issuperset(names)), -1)

    def _names_after(self, record: PassRecord) -> frozenset[str]:
        if record.number not in self._names:
            kernels = kernel_instructions(record.module)
            self._names[record.number] = frozenset(op.name for op in kernels)
        return self._names[record.number]

    def _fuse(self, decision: FusionDecision, at: int) -> None:
        kernels = self._grouping.kernels
        names = _names(decision)
        self.unknown.update(name for name in names if name not in kernels)
        producer, consumer = (kernels.get(name) for name in (names[0], names[-1]))
        if (producer is None and consumer is None) or len(names) < 2 or not decision.fusion_name:
            return
        if decision.siblings and producer is not None and consumer is not None:
            made = self._grouping.merge(names, decision.fusion_name, self._number)
        elif producer is not None and self._stays(decision, at):
            consumer = None
            made = self._grouping.wrap(names[0], decision.fusion_name, self._number)
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

    def _stays(self, decision: FusionDecision, at: int) -> bool:
        """Return whether a consumer is named again after it was fused.

        Then the fusion is of what it reads: a TPU compiler makes one of a reduction and its
        broadcast so.
        """
        name = decision.consumer
        return name not in (None, decision.fusion_name) and self._last_named[name or ""] > at

    def _follow(self, record: PassRecord) -> None:
        # One pass at a time: modules that were followed are garbage.
        with collection_held_back():
            module = record.module
            effect = self._later.follow(self._grouping, module, self._number)
        self.untold |= dict.fromkeys(effect.untold)
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
            self.checks.append(check_kernels(kernels, module, self._contents, record.name, number))


def _names(decision: FusionDecision) -> tuple[str, ...]:
    """Return producer and consumer; where none is named, the fusion that may have grown."""
    consumer = decision.consumer or decision.fusion_name
    return (decision.producer,) if consumer is None else (decision.producer, consumer)
