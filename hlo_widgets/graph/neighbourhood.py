"""Which boxes of a large computation a view of limited size shows."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from hlo_widgets.graph.folding import FoldedComputation
from hlo_widgets.hlo import HloInstruction

__all__ = ["BUSY_USERS", "nearest"]

BUSY_USERS = 16
"""A box with more users than this is drawn but not walked through: it neighbours everything."""


def nearest(folded: FoldedComputation, seeds: Sequence[HloInstruction], limit: int) -> set[int]:
    """Return the `id()` of the at most `limit` boxes nearest to any of `seeds`, along the arrows.

    The seeds themselves come first, in their order.

    Boxes that no arrow joins to the focus come last, in text order, so that a view is only smaller
    than its limit when the computation is.
    """
    neighbours = _neighbours(folded)
    chosen = {id(seed) for seed in seeds[:limit]}
    waiting = deque(seeds[:limit])
    while waiting and len(chosen) < limit:
        box = waiting.popleft()
        around = neighbours.get(id(box), [])
        if len(around) > BUSY_USERS and box not in seeds:
            continue
        for other in around:
            if id(other) not in chosen and len(chosen) < limit:
                chosen.add(id(other))
                waiting.append(other)
    for box in folded.drawn:
        if len(chosen) >= limit:
            break
        chosen.add(id(box))
    return chosen


def _neighbours(folded: FoldedComputation) -> dict[int, list[HloInstruction]]:
    neighbours: dict[int, list[HloInstruction]] = {}
    for box in folded.drawn:
        for _, source in folded.inputs(box):
            neighbours.setdefault(id(box), []).append(source.instruction)
            neighbours.setdefault(id(source.instruction), []).append(box)
    return neighbours
