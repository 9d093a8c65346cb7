"""Curves between boxes whose places are settled: no layout program runs for them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hlo_widgets.drawing import Rectangle

__all__ = ["Curves"]

# How far a line that would run over a box is bent aside at its start and its end, in points, the
# least first: arbitrary.
_ASIDE = (0.0, 50.0, -50.0, 100.0, -100.0, 170.0, -170.0, 260.0, -260.0)
_BENDS = tuple(
    sorted(itertools.product(_ASIDE, _ASIDE), key=lambda bend: abs(bend[0]) + abs(bend[1]))
)
_AWAY = 5.0
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

_Point = tuple[float, float]
_Array = npt.NDArray[Any]


class Curves:
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
