"""Places for the moments of a replay, made from one layout of the ops before fusion.

A box keeps its row and column: only stripes in which no box is left are taken out. So nothing
jumps from one moment to the next, and no layout program runs for it.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping

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
_SAMPLES = tuple(step / 24 for step in range(1, 24))
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

_Point = tuple[float, float]


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
    paths = (
        _moved(lines.get((edge.tail, edge.head)), across, down)
        or _curve(edge.tail, edge.head, boxes)
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


def _moved(
    path: str | None, across: Callable[[float], float], down: Callable[[float], float]
) -> str | None:
    """Return the layout program's own line at its new place; None where it would be bent."""
    numbers = [float(number) for number in _NUMBER.findall(path or "")]
    offsets = [
        {round(place(value) - value, 1) for value in values}
        for place, values in ((across, numbers[::2]), (down, numbers[1::2]))
    ]
    if path is None or any(len(offset) != 1 for offset in offsets):
        return None
    steps = [offset.pop() for offset in offsets]

    def move(found: re.Match[str]) -> str:
        step = steps[0]
        steps.reverse()  # the numbers are x and y in turn
        return f"{float(found[0]) + step:.1f}"

    return _NUMBER.sub(move, path)


def _curve(tail: str, head: str, boxes: Mapping[str, Rectangle]) -> str:
    """Return a line between two boxes that runs over no other, where a simple one can."""
    if tail not in boxes or head not in boxes:
        return "M0 0"
    start, end = _ends(boxes[tail], boxes[head])
    others = [box for key, box in boxes.items() if key not in (tail, head)]
    bends = (_bent(start, end, bend) for bend in _BENDS)
    free = (points for points in bends if not _hits(points, others))
    points = next(free, None) or _bent(start, end, _BENDS[0])
    (x, y), *rest = points
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


def _bent(start: _Point, end: _Point, bend: _Point) -> tuple[_Point, _Point, _Point, _Point]:
    third = (end[1] - start[1]) / 3
    return (
        start,
        (start[0] + bend[0], start[1] + third),
        (end[0] + bend[1], end[1] - third),
        end,
    )


def _hits(points: tuple[_Point, _Point, _Point, _Point], boxes: Iterable[Rectangle]) -> bool:
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, bottom = sorted((points[0][1], points[-1][1]))
    near = [
        box
        for box in boxes
        if box.x <= right and box.x + box.width >= left
        if box.y <= bottom and box.y + box.height >= top
    ]
    return bool(near) and any(
        box.x - 5 <= x <= box.x + box.width + 5 and box.y <= y <= box.y + box.height
        for x, y in _sampled(points)
        for box in near
    )


def _sampled(points: tuple[_Point, _Point, _Point, _Point]) -> Iterator[_Point]:
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points
    for t in _SAMPLES:
        u = 1 - t
        weights = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
        yield (
            weights[0] * x0 + weights[1] * x1 + weights[2] * x2 + weights[3] * x3,
            weights[0] * y0 + weights[1] * y1 + weights[2] * y2 + weights[3] * y3,
        )
