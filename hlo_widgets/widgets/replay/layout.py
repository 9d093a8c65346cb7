"""Places for the moments of a replay, made from one layout of the ops before fusion.

A box keeps its row and column: only stripes in which no box is left are taken out. So nothing
jumps from one moment to the next, and no layout program runs for it.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hlo_widgets.drawing import Layout, Line, Rectangle
from hlo_widgets.graph import Graph

__all__ = ["moment_layout"]

MOST_GAP = (26.0, 34.0)
"""Widest empty stripe, across and down, in points; arbitrary, about the layout program's own."""

_MARGIN = 4.0
# How far a line that would run over a box is bent aside at its start and its end, in points, the
# least first: arbitrary.
_ASIDE = (0.0, 50.0, -50.0, 100.0, -100.0, 170.0, -170.0, 260.0, -260.0)
_BENDS = tuple(
    sorted(itertools.product(_ASIDE, _ASIDE), key=lambda bend: abs(bend[0]) + abs(bend[1]))
)
_AWAY = 5.0
_SAME = 0.05
_ALONG = np.arange(1, 24) / 24
# How much each of the four points of a curve counts at each place along it.
_WEIGHTS = np.stack(
    [
        (1 - _ALONG) ** 3,
        3 * _ALONG * (1 - _ALONG) ** 2,
        3 * _ALONG**2 * (1 - _ALONG),
        _ALONG**3,
    ],
    axis=1,
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

_Point = tuple[float, float]
_Array = npt.NDArray[Any]


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
    curves = _Curves(boxes)
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


class _Curves:
    """Lines between boxes that run over no other box, where a simple one can.

    Args:
        boxes: All boxes by id.
    """

    def __init__(self, boxes: Mapping[str, Rectangle]) -> None:
        self._boxes = boxes
        self._index = {key: number for number, key in enumerate(boxes)}
        sides = [(b.x - _AWAY, b.x + b.width + _AWAY, b.y, b.y + b.height) for b in boxes.values()]
        self._sides = np.array(sides or np.empty((0, 4)))

    def path(self, tail: str, head: str) -> str:
        """Return the line from one box to another one."""
        if tail not in self._boxes or head not in self._boxes:
            return "M0 0"
        start, end = _ends(self._boxes[tail], self._boxes[head])
        others = np.delete(self._sides, [self._index[tail], self._index[head]], axis=0)
        top, bottom = sorted((start[1], end[1]))
        near = others[(others[:, 2] <= bottom) & (others[:, 3] >= top)]
        bend = _BENDS[0]
        if _hits(_points(start, end, _BENDS[:1]), near)[0]:
            free = np.flatnonzero(~_hits(_points(start, end, _BENDS), near))
            bend = _BENDS[free[0]] if free.size else bend
        x, y = start
        third = (end[1] - y) / 3
        rest = ((x + bend[0], y + third), (end[0] + bend[1], end[1] - third), end)
        return f"M{x:.1f} {y:.1f}C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in rest)


def _ends(tail: Rectangle, head: Rectangle) -> tuple[_Point, _Point]:
    middles = (tail.x + tail.width / 2, head.x + head.width / 2)
    if tail.y + tail.height <= head.y:
        return (middles[0], tail.y + tail.height), (middles[1], head.y)
    if head.y + head.height <= tail.y:
        return (middles[0], tail.y), (middles[1], head.y + head.height)
    heights = (tail.y + tail.height / 2, head.y + head.height / 2)
    if middles[0] <= middles[1]:
        return (tail.x + tail.width, heights[0]), (head.x, heights[1])
    return (tail.x, heights[0]), (head.x + head.width, heights[1])


def _points(start: _Point, end: _Point, bends: Iterable[_Point]) -> _Array:
    """Return points along a curve for each bend: an array of bends, points and coordinates."""
    third = (end[1] - start[1]) / 3
    controls = np.array(
        [
            (start, (start[0] + a, start[1] + third), (end[0] + b, end[1] - third), end)
            for a, b in bends
        ]
    )
    return np.einsum("sc,bcx->bsx", _WEIGHTS, controls)


def _hits(points: _Array, sides: _Array) -> _Array:
    """Return for each bend whether one of its points lies in one of the boxes."""
    x, y = points[:, :, None, 0], points[:, :, None, 1]
    inside = (x >= sides[:, 0]) & (x <= sides[:, 1]) & (y >= sides[:, 2]) & (y <= sides[:, 3])
    hits: _Array = inside.any(axis=(1, 2))
    return hits
