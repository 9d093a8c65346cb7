"""The priority queue of a GPU compile, replayed from its dump.

Each update puts a producer in the queue at its priority, or takes it out when that is negative; the
compiler takes the highest, fuses it into its consumers, and updates those that this touches. The
dump leaves some of it out. A producer that was never ranked in it can be fused all the same, as
bitcasts and constants are; and where a fusion that stands already takes a producer in, the last
update priced only what was new. The order of such steps cannot be checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict

__all__ = ["QueueEntry", "QueueHistory", "QueueMoment", "QueuePlace", "queue_place"]

# Costs are printed with as many digits as they need; sums of them differ in the last.
# A priority is the difference of two times, each printed as it fits into 32 bits.
_SAME_SHARE = 1e-5
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
class QueueEntry:
    """One producer in the queue, and how it came to its place.

    Attributes:
        rank: Its place, 1 for the highest priority.
        producer: Its name.
        priority: Its priority.
        previous: Its priority at the fusion before; None when it was not queued then.
        moved: How many of the producers that were queued at both fusions it overtook (positive) or
            was overtaken by (negative); None when it was not queued then.
    """

    rank: int
    producer: str
    priority: float
    previous: float | None
    moved: int | None


@dataclass(frozen=True)
class QueueMoment:
    """The queue that one fusion was taken from.

    Attributes:
        entries: The producers, highest first.
        entered: Producers that were not queued at the fusion before.
        left: Producers that were queued at the fusion before and are not any more.
        was_highest: Whether the one taken had the highest priority; None where the record does not
            allow that check.
        unclear: Why the record does not allow it; empty where it does.
        ranked: The record that gave the one taken its priority; None where there is none.
    """

    entries: tuple[QueueEntry, ...]
    entered: tuple[str, ...]
    left: tuple[str, ...]
    was_highest: bool | None
    unclear: str = ""
    ranked: FusionDecision | None = None


# States of the queue are rebuilt from the nearest kept one: arbitrary, a millisecond between.
_KEEP_EVERY = 64


class QueueHistory:
    """The queue at each fusion of one priority dump.

    Args:
        decisions: The decisions of the dump, in its order.
    """

    def __init__(self, decisions: Iterable[FusionDecision]) -> None:
        self._decisions = tuple(decisions)
        self._fusions = [p for p, d in enumerate(self._decisions) if d.verdict is Verdict.FUSED]
        self._places = {id(self._decisions[p]): n for n, p in enumerate(self._fusions)}
        self._kept: dict[int, _Queue] = {0: _Queue()}

    def moment(self, decision: FusionDecision) -> QueueMoment:
        """Return the queue that a fusion was taken from.

        Args:
            decision: One of the decisions, a fusion: the object itself.
        """
        number = self._places[id(decision)]
        queue = self._before(self._fusions[number])
        old = dict(self._before(self._fusions[number - 1]).entries()) if number else {}
        now = queue.entries()
        names = {name for name, _ in now}
        unclear = _unclear(queue, decision)
        return QueueMoment(
            _entries(now, old),
            tuple(name for name, _ in now if name not in old),
            tuple(name for name in old if name not in names),
            None if unclear else queue.is_highest(decision),
            unclear,
            self._ranked(number),
        )

    @property
    def unit(self) -> str:
        """What the priorities are in, "us"; empty where no record says."""
        return next((d.cost_unit for d in self._decisions if d.cost_unit), "")

    def _ranked(self, number: int) -> FusionDecision | None:
        """Return the last record before a fusion that ranked its producer."""
        producer = self._decisions[self._fusions[number]].producer
        for decision in reversed(self._decisions[: self._fusions[number]]):
            if decision.producer == producer and decision.verdict is not Verdict.FUSED:
                return decision if decision.verdict is Verdict.RANKED else None
        return None

    def _before(self, position: int) -> _Queue:
        """Return the queue as it is once all decisions before a position are in it."""
        kept = max(one for one in self._kept if one <= position)
        queue = self._kept[kept].copy()
        for place in range(kept, position):
            queue.apply(self._decisions[place])
            if (place + 1) % _KEEP_EVERY == 0:
                self._kept[place + 1] = queue.copy()
        return queue


def _entries(now: tuple[tuple[str, float], ...], old: dict[str, float]) -> tuple[QueueEntry, ...]:
    stayed = [name for name, _ in now if name in old]
    at = {name: place for place, name in enumerate(stayed)}
    both = set(stayed)
    was_at = {name: place for place, name in enumerate(n for n in old if n in both)}
    return tuple(
        QueueEntry(
            rank,
            name,
            priority,
            old.get(name),
            was_at[name] - at[name] if name in both else None,
        )
        for rank, (name, priority) in enumerate(now, 1)
    )


def _unclear(queue: _Queue, decision: FusionDecision) -> str:
    """Return why the record does not tell whether a fusion takes the highest; "" where it does."""
    if queue.current == decision.producer:
        return "the record goes on with the same producer, into its next consumer"
    if not queue.holds(decision.producer):
        return "the record never ranked this producer, or took it out of the queue"
    if decision.consumer == decision.fusion_name:
        return (
            "the fusion that it goes into stood already: the last update priced only what was new"
        )
    if queue.is_ranked_in_part(decision.producer) and not queue.is_highest(decision):
        return "some of its readers had a price before: the last update may price the others only"
    return ""


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
    """The queue at one moment.

    Attributes:
        current: The producer that is being fused into its consumers, one record each.
    """

    def __init__(self) -> None:
        self._priorities: dict[str, float] = {}
        self.current: str | None = None
        self._consumers: dict[str, frozenset[str]] = {}
        self._in_part: set[str] = set()

    def copy(self) -> _Queue:
        """Return a queue of its own with the same in it."""
        other = _Queue()
        other._priorities, other.current = dict(self._priorities), self.current
        other._consumers, other._in_part = dict(self._consumers), set(self._in_part)
        return other

    def apply(self, decision: FusionDecision) -> None:
        """Take the next record in: a fusion takes producers out, an update puts one in or out."""
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
        # Of several consumers of which some were priced before, an update can price the others.
        consumers = frozenset(decision.consumers)
        known = consumers & self._consumers.get(decision.producer, frozenset())
        in_part = {decision.producer} if known and len(consumers) > 1 else set()
        self._in_part = (self._in_part - {decision.producer}) | in_part
        self._consumers[decision.producer] = consumers
        if priority is not None and priority >= 0:
            self._priorities[decision.producer] = priority

    def entries(self) -> tuple[tuple[str, float], ...]:
        """Return the producers with their priorities, highest first."""
        return tuple(sorted(self._priorities.items(), key=lambda entry: -entry[1]))

    def holds(self, name: str) -> bool:
        """Return whether a producer is queued."""
        return name in self._priorities

    def is_ranked_in_part(self, name: str) -> bool:
        """Return whether the last update may hold the price of some of the consumers only."""
        return name in self._in_part

    def is_highest(self, decision: FusionDecision) -> bool | None:
        """Return whether the producer of a fusion has the highest priority; None if not queued."""
        own = self._priorities.get(decision.producer)
        if own is None:
            return None
        highest = max(self._priorities.values())
        return own >= highest or math.isclose(own, highest, rel_tol=_SAME_SHARE, abs_tol=_SAME)
