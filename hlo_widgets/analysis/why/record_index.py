"""The records of a long log that can be about two kernels, found without reading through it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict

__all__ = ["RecordIndex"]

_Index = dict[str, set[int]]


class RecordIndex:
    """Positions in a log by the names that its records lead to.

    Args:
        log: Decisions joined with a module.
    """

    def __init__(self, log: DecisionLog) -> None:
        self._decisions = log.decisions
        self._producing: _Index = defaultdict(set)
        self._consuming: _Index = defaultdict(set)
        self._alone: _Index = defaultdict(set)
        # By the names at that time: which ops went into another one.
        self._fused: _Index = defaultdict(set)
        for position, decision in enumerate(log.decisions):
            self._add(position, decision)

    def about(self, names: Iterable[str]) -> list[FusionDecision]:
        """Return the records about kernels of these final names, in the order of the log."""
        wanted = tuple(names)
        return self._in_order(_any(self._producing, wanted) | _any(self._consuming, wanted))

    def between(self, ends: Iterable[str], via: Iterable[str]) -> list[FusionDecision]:
        """Return the records that can be about two kernels, in the order of the log.

        Those with one of the names on either side; those about an end alone; and what tells that
        such an op went into another one later.

        Args:
            ends: The final names of the two.
            via: Names that a record may have in their place: starts of pairs, plumbing between.
        """
        kernels = tuple(ends)
        names = (*kernels, *via)
        alone = _any(self._alone, kernels)
        gone = _any(self._fused, {self._decisions[at].producer for at in alone})
        both = _any(self._producing, names) & _any(self._consuming, names)
        return self._in_order(both | alone | gone)

    def _add(self, position: int, decision: FusionDecision) -> None:
        if decision.verdict is Verdict.FUSED:
            for name in (decision.producer, *decision.consumers):
                self._fused[name].add(position)
        join = decision.join
        if join is None:
            return
        for name in join.producers:
            self._producing[name].add(position)
        for name in join.consumers:
            self._consuming[name].add(position)
        if len(join.producers) == 1:
            self._alone[join.producers[0]].add(position)

    def _in_order(self, positions: set[int]) -> list[FusionDecision]:
        return [self._decisions[position] for position in sorted(positions)]


def _any(index: _Index, names: Iterable[str]) -> set[int]:
    """Return the positions of any of the names."""
    return set().union(*(index[name] for name in names if name in index))
