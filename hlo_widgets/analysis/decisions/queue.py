"""The priority queue of a GPU compile, replayed from its dump.

Each update puts a producer in the queue at its priority, or takes it out when that is negative; the
compiler takes the highest, fuses it into its consumers, and updates those that this touches. The
dump leaves some of it out. A producer that was never ranked in it can be fused all the same, as
bitcasts and constants are; and where a fusion that stands already takes a producer in, the last
update priced only what was new. The order of such steps cannot be checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict

__all__ = ["QueuePlace", "QueueStep", "queue_place", "replay_queue"]

# Costs are printed with as many digits as they need; sums of them differ in the last.
_SAME = 1e-6


@dataclass(frozen=True)
class QueuePlace:
    """Where a producer stood in the queue.

    Attributes:
        rank: Its place, 1 for the highest priority; None when it was not queued, as its priority
            was negative.
        length: How many producers were queued.
        highest: Producer with the highest priority then, with it; None for an empty queue.
    """

    rank: int | None
    length: int
    highest: tuple[str, float] | None


@dataclass(frozen=True)
class QueueStep:
    """One fusion and the queue that it was taken from.

    Attributes:
        decision: The fusion.
        queue: Producers and priorities at that moment, highest first.
        was_highest: Whether the producer had the highest priority; None where the record does not
            allow that check.
    """

    decision: FusionDecision
    queue: tuple[tuple[str, float], ...]
    was_highest: bool | None


def replay_queue(decisions: Iterable[FusionDecision]) -> tuple[QueueStep, ...]:
    """Replay the queue of one priority dump.

    Args:
        decisions: The decisions of one GPU priority dump, in its order.

    Returns:
        One step a fusion.
    """
    queue = _Queue()
    steps = []
    for decision in decisions:
        if decision.verdict is Verdict.FUSED:
            goes_on = queue.current == decision.producer
            unclear = goes_on or decision.consumer == decision.fusion_name
            highest = None if unclear else queue.is_highest(decision)
            steps.append(QueueStep(decision, queue.entries(), highest))
        queue.apply(decision)
    return tuple(steps)


def queue_place(decisions: Iterable[FusionDecision], decision: FusionDecision) -> QueuePlace:
    """Return where the producer of a ranked decision stood once the queue held it.

    The compiler ranks many producers before it takes the first: the place counts all that are
    ranked before the next fusion.

    Args:
        decisions: The decisions of the same priority dump, in its order.
        decision: One of them, of the verdict `RANKED`.
    """
    queue = _Queue()
    passed = False
    for other in decisions:
        if passed and other.verdict is Verdict.FUSED:
            break
        queue.apply(other)
        passed = passed or other is decision or other.step == decision.step
    entries = queue.entries()
    names = [name for name, _ in entries]
    rank = names.index(decision.producer) + 1 if decision.producer in names else None
    return QueuePlace(rank, len(entries), entries[0] if entries else None)


class _Queue:
    def __init__(self) -> None:
        self._priorities: dict[str, float] = {}
        # The producer that is being fused into its consumers, one record each.
        self.current: str | None = None

    def apply(self, decision: FusionDecision) -> None:
        if decision.verdict is Verdict.FUSED:
            self.current = decision.producer
            self._priorities.pop(decision.producer, None)
            if decision.consumer is not None and decision.consumer != decision.fusion_name:
                # The consumer is now inside of a fusion of another name.
                self._priorities.pop(decision.consumer, None)
            return
        self.current = None
        self._priorities.pop(decision.producer, None)
        priority = decision.priority if decision.verdict is Verdict.RANKED else None
        if priority is not None and priority >= 0:
            self._priorities[decision.producer] = priority

    def entries(self) -> tuple[tuple[str, float], ...]:
        return tuple(sorted(self._priorities.items(), key=lambda entry: -entry[1]))

    def is_highest(self, decision: FusionDecision) -> bool | None:
        own = self._priorities.get(decision.producer)
        if own is None:
            return None
        return own >= max(self._priorities.values()) - _SAME
