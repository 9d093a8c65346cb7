"""Places for what is on record on the arrows of a large picture, whose boxes stay where they are.

No layout program makes room: that would take its time, spread the picture over twice the area and
move every box. The words stand beside their arrows near an end of them, where no box and no other
words are and few lines run. What finds no such place gets one over boxes, for words that are shown
only when they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hlo_widgets.drawing import Layout, Line, Rectangle
from hlo_widgets.graph import Cluster, Edge, Graph
from hlo_widgets.graph.dot import words_size
from hlo_widgets.widgets.curves import Curves
from hlo_widgets.widgets.picture.free_room import FreeRoom

__all__ = ["apart_distance", "decided_layout"]

_Array = npt.NDArray[Any]

# How far from an end of an arrow its words are tried, in points, the most wanted first. Arbitrary:
# the first is beside an arrow head, the last in view together with the end.
_FROM_END = np.array([16.0, 24.0, 34.0, 48.0, 66.0, 90.0, 120.0, 160.0, 210.0])
_BESIDE = 6.0
# How many times as far as right beside a line words are tried: clear of the ends of short arrows,
# and where they have to cover something, of more.
_ASIDE = (1.0, 1.7, 2.4)
_FARTHER = (*_ASIDE, 3.6)
_AROUND = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)])
_SIDES = len(_AROUND)
_STEP = 4.0
_FRAME_TITLE, _FRAME_PITCH = 8.0, 14.5  # as the front end draws them
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def apart_distance(layout: Layout, edge: Edge) -> float:
    """Return how far apart the ends of an edge lie, in points."""
    tail, head = (_middle(layout.boxes[end]) for end in (edge.tail, edge.head))
    return float(np.hypot(*(tail - head)))


def decided_layout(graph: Graph, plain: Layout) -> Layout:
    """Return a layout with places for the words on the arrows, and lines for pairs without one.

    Args:
        graph: The picture with its verdicts; its first edges are those of the plain picture.
        plain: Where the layout program put the plain picture.
    """
    lines = [*plain.edges, *_apart_lines(graph, plain)]
    points = [_points(line.d) for line in lines]
    # The shortest first: they have the fewest places to choose from.
    told = (number for number, edge in enumerate(graph.edges) if edge.words)
    waiting = sorted(told, key=lambda number: len(points[number]))
    taken = _taken(graph, plain, lines)
    room = FreeRoom((plain.width, plain.height), taken, points, len(waiting))
    for has_room in (True, False):
        for number in tuple(waiting):
            placed = _placed(lines[number], graph.edges[number], points[number], room, has_room)
            if placed is not None:
                lines[number] = placed
                waiting.remove(number)
    return replace(plain, edges=lines)


def _placed(line: Line, edge: Edge, points: _Array, room: FreeRoom, has_room: bool) -> Line | None:
    """Return the line of an edge with a place for its words; None where there is none."""
    size = words_size(edge.words)
    aside = _ASIDE if has_room else _FARTHER
    middles, leads = _middles(points, size, aside)
    half = np.array(size) / 2
    areas = np.concatenate([middles - half, middles + half], axis=1)
    best = room.take(areas, over_boxes=not has_room)
    if best is None:
        return None
    is_beside = best % (_SIDES * len(aside)) < _SIDES
    lead = None if is_beside else _pair(leads[best])
    return replace(line, middle=_pair(middles[best]), lead=lead, has_room=has_room)


def _apart_lines(graph: Graph, plain: Layout) -> Iterator[Line]:
    """Yield the lines of the edges that the plain picture does not have."""
    apart = graph.edges[len(plain.edges) :]
    ends = [end for edge in apart for end in (edge.tail, edge.head)]
    keys = dict.fromkeys((*(node.id for node in graph.all_nodes()), *ends))
    curves = Curves({key: plain.boxes[key] for key in keys if key in plain.boxes})
    return (Line(curves.path(edge.tail, edge.head), None, None) for edge in apart)


def _taken(graph: Graph, plain: Layout, lines: Sequence[Line]) -> Iterator[Rectangle]:
    """Yield what words shall not cover: boxes, titles of frames, labels at the ends of arrows."""
    for node in graph.all_nodes():
        if node.id in plain.boxes:
            yield plain.boxes[node.id]
    for frame in graph.all_clusters():
        if frame.id in plain.boxes:
            yield _title(frame, plain.boxes[frame.id])
    for edge, line in zip(graph.edges, lines, strict=True):
        yield from _labels(edge, line)


def _pair(point: _Array) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _middle(box: Rectangle) -> _Array:
    return np.array([box.x + box.width / 2, box.y + box.height / 2])


def _title(frame: Cluster, box: Rectangle) -> Rectangle:
    return replace(box, height=_FRAME_TITLE + _FRAME_PITCH * len(frame.lines))


def _labels(edge: Edge, line: Line) -> Iterator[Rectangle]:
    """Yield where the labels at the ends of an arrow are."""
    for text, place in ((edge.label, line.head_label), (edge.element, line.tail_label)):
        if text and place is not None:
            width, height = words_size((f"[{text}]",))
            yield Rectangle(place[0] - width / 2, place[1] - height / 2, width, height)


def _points(path: str) -> _Array:
    """Return points along a path of Bézier curves that may end in a straight line."""
    given = np.array([float(number) for number in _NUMBER.findall(path)]).reshape(-1, 2)
    ends_straight = "L" in path
    corners = given[:-1] if ends_straight else given
    parts = [corners[:1]]
    for start in range(0, len(corners) - 1, 3):
        a, b, c, d = corners[start : start + 4]
        length = sum(np.hypot(*step) for step in (b - a, c - b, d - c))
        t = np.linspace(0, 1, max(int(length / _STEP), 1) + 1)[1:, None]
        parts.append(
            (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t**2 * (1 - t) * c + t**3 * d
        )
    return np.concatenate([*parts, given[-1:]] if ends_straight else parts)


def _middles(
    points: _Array, size: tuple[float, float], aside: Sequence[float]
) -> tuple[_Array, _Array]:
    """Return where beside a line the middle of words can be, the most wanted first.

    Args:
        points: Points along the line.
        size: Width and height of the words.
        aside: How many times as far as right beside the line.

    Returns:
        The middles, and for each the point of the line that it is beside.
    """
    along = np.concatenate([[0.0], np.hypot(*np.diff(points, axis=0).T).cumsum()])
    total = along[-1]
    near = _FROM_END[total / 2 > _FROM_END]
    wanted = [*np.stack([total - near, near], axis=1).ravel(), total / 2]
    places = points[np.searchsorted(along, wanted).clip(0, len(points) - 1)]
    beside = np.array(size) / 2 + _BESIDE
    steps = np.concatenate([_AROUND * beside * times for times in aside])
    middles = places[:, None] + steps
    return middles.reshape(-1, 2), np.repeat(places, len(steps), axis=0)
