"""Which nodes of something large a view of limited size shows."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

__all__ = ["BUSY_NEIGHBOURS", "Linked", "nearest"]

NodeT = TypeVar("NodeT", bound=Hashable)

BUSY_NEIGHBOURS = 16
"""A node with more neighbours than this is drawn but not walked through: it is near everything."""


class Linked(Protocol[NodeT]):
    """Nodes and what the arrows join, such as a `FoldedComputation`."""

    @property
    def drawn(self) -> Sequence[NodeT]:
        """The nodes, in text order."""

    @property
    def neighbours(self) -> Mapping[NodeT, Sequence[NodeT]]:
        """The nodes that an arrow joins to each node."""


def nearest(folded: Linked[NodeT], seeds: Iterable[NodeT], limit: int) -> set[NodeT]:
    """Return the at most `limit` nodes nearest to any of `seeds`, along the arrows.

    The seeds themselves come first, in their order. Nodes that no arrow joins to them come last, in
    text order, so that a view is only smaller than its limit when the computation is.
    """
    first = list(dict.fromkeys(seeds))[: max(limit, 1)]
    chosen = set(first)
    waiting = deque(first)
    while waiting and len(chosen) < limit:
        node = waiting.popleft()
        around = folded.neighbours.get(node, [])
        if len(around) > BUSY_NEIGHBOURS and node not in first:
            continue
        for other in around:
            if other not in chosen and len(chosen) < limit:
                chosen.add(other)
                waiting.append(other)
    for node in folded.drawn:
        if len(chosen) >= limit:
            break
        chosen.add(node)
    return chosen
