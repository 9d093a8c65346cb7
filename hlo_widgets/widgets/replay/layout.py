"""Places for the moments of a replay, made from one layout of the ops before fusion.

A box keeps its row and column: only stripes in which no box is left are taken out. So nothing
jumps from one moment to the next, and no layout program runs for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import lru_cache

from hlo_widgets.drawing import Layout, Line, Rectangle
from hlo_widgets.graph import Graph
from hlo_widgets.widgets.curves import Curves

__all__ = ["moment_layout"]

MOST_GAP = (26.0, 34.0)
"""Widest empty stripe, across and down, in points; arbitrary, about the layout program's own."""

_MARGIN = 4.0
_SAME = 0.05
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def moment_layout(graph: Graph, base_graph: Graph, base: Layout) -> Layout:
    """Return the places of a moment.

    Args:
        graph: The moment; its nodes have ids of `base_graph`.
        base_graph: The ops before fusion.
        base: Where the layout program put those.
    """
    old = {n.id: base.boxes[n.id] for n in graph.nodes if n.id in base.boxes}
    across = _squeeze(((b.x, b.x + b.width) for b in old.values()), MOST_GAP[0])
    down = _squeeze(((b.y, b.y + b.height) for b in old.values()), MOST_GAP[1])
    boxes = {
        key: Rectangle(across(box.x), down(box.y), box.width, box.height)
        for key, box in old.items()
    }
    drawn = zip(base_graph.edges, base.edges, strict=True)
    lines = {(edge.tail, edge.head): line.d for edge, line in drawn}
    curves = Curves(boxes)
    paths = (
        _moved(lines.get((edge.tail, edge.head)), across, down) or curves.path(edge.tail, edge.head)
        for edge in graph.edges
    )
    edges = [Line(path, None, None) for path in paths]
    width = max((box.x + box.width for box in boxes.values()), default=0.0)
    height = max((box.y + box.height for box in boxes.values()), default=0.0)
    return Layout(width + _MARGIN, height + _MARGIN, boxes, edges)


def _squeeze(intervals: Iterable[tuple[float, float]], most_gap: float) -> Callable[[float], float]:
    """Return where coordinates go when no gap between the intervals is wider than a limit."""
    merged: list[list[float]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    known, new = [0.0], [0.0]
    for start, end in merged:
        gap = start - known[-1]
        at = new[-1] + (min(gap, most_gap) if len(known) > 1 else min(gap, _MARGIN))
        known += [start, end]
        new += [at, at + end - start]

    def place(value: float) -> float:
        index = min(max(bisect_right(known, value) - 1, 0), len(known) - 1)
        if index + 1 == len(known) or value <= known[0]:
            return new[index] + value - known[index]
        length = known[index + 1] - known[index]
        share = (value - known[index]) / length if length else 0.0
        return new[index] + share * (new[index + 1] - new[index])

    return place


@lru_cache(maxsize=4096)
def _numbers(path: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the coordinates of a path across and down, each once, smallest first."""
    numbers = [float(number) for number in _NUMBER.findall(path)]
    return tuple(sorted(set(numbers[::2]))), tuple(sorted(set(numbers[1::2])))


def _moved(
    path: str | None, across: Callable[[float], float], down: Callable[[float], float]
) -> str | None:
    """Return the layout program's own line at its new place; None where it would be bent."""
    if path is None:
        return None
    steps = []
    for place, values in zip((across, down), _numbers(path), strict=True):
        # Places keep their order: between two that moved as far as one another, all did.
        first, last = (place(value) - value for value in (values[0], values[-1]))
        if abs(first - last) > _SAME:
            return None
        steps.append(first)

    def move(found: re.Match[str]) -> str:
        step = steps[0]
        steps.reverse()  # the numbers are x and y in turn
        return f"{float(found[0]) + step:.1f}"

    return _NUMBER.sub(move, path) if any(abs(step) > _SAME for step in steps) else path
