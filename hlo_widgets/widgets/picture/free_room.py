"""Where in a laid-out picture there is room for words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from hlo_widgets.drawing import Rectangle

__all__ = ["FreeRoom"]

_Array = npt.NDArray[Any]

# Side of a cell in points, and the most cells; arbitrary: finer than half a line of words, and few
# enough that adding them up takes some milliseconds.
_LEAST_CELL, _MOST_CELLS = 4.0, 4_000_000
_AWAY = (-2.0, -2.0, 2.0, 2.0)  # from boxes, in points; twice as far from other words
_AROUND = 400.0  # of the picture, in points: words may stand beside it
# Cells of lines that words may cover, arbitrary: about one line across them, none along them.
_MOST_CROSSED = 8
# Boxes that words would cover count more than lines.
_BOX_WEIGHT = 3


class FreeRoom:
    """What is taken in a picture, on a raster; an area is a row of left, top, right and bottom.

    Args:
        size: Width and height of the picture, in points.
        boxes: What words shall not cover.
        lines: Points along each line, close enough together to leave out no cell.
        most: How many areas can be taken.
    """

    def __init__(
        self,
        size: tuple[float, float],
        boxes: Iterable[Rectangle],
        lines: Iterable[_Array],
        most: int,
    ) -> None:
        wide, high = (length + 2 * _AROUND for length in size)
        self._cell = max(_LEAST_CELL, math.sqrt(wide * high / _MOST_CELLS))
        columns, rows = int(wide / self._cell) + 1, int(high / self._cell) + 1
        self._last = np.array([columns - 1, rows - 1])
        solid, crossed = (np.zeros((rows, columns), np.int32) for _ in range(2))
        for box in boxes:
            sides = [box.x, box.y, box.x + box.width, box.y + box.height]
            sides = [side + away for side, away in zip(sides, _AWAY, strict=True)]
            left, top, right, bottom = self._cells(np.array([sides]))[0]
            solid[top:bottom, left:right] = 1
        for line in lines:
            cells = self._cells(line)
            # A line crosses a cell once, however many of its points follow one another there.
            is_news = np.append(True, (np.diff(cells, axis=0) != 0).any(axis=1))
            x, y = cells[is_news].T
            np.add.at(crossed, (y, x), 1)
        self._solid, self._crossed = _sums(solid), _sums(crossed)
        self._taken = np.empty((most, 4))
        self._count = 0

    def take(self, areas: _Array, *, over_boxes: bool = False) -> int | None:
        """Take the best of some areas, the first of equals, and return which; None for none.

        Args:
            areas: The areas, the most wanted first.
            over_boxes: Allow those over boxes and many lines, too.
        """
        cells = self._cells(areas)
        solid, crossed = _inside(self._solid, cells), _inside(self._crossed, cells)
        usable = np.full(len(areas), True) if over_boxes else solid == 0
        if not over_boxes:
            usable &= crossed <= _MOST_CROSSED
        cost = np.arange(len(areas)) + crossed + _BOX_WEIGHT * solid
        # The cheapest first: to compare all of them with all that is taken takes seconds.
        for number in np.argsort(cost, kind="stable"):
            if usable[number] and self._is_untaken(areas[number]):
                self._taken[self._count] = areas[number]
                self._count += 1
                return int(number)
        return None

    def _is_untaken(self, area: _Array) -> bool:
        one, others = area + 2 * np.array(_AWAY), self._taken[: self._count]
        meets = (one[:2] < others[:, 2:]) & (others[:, :2] < one[2:])
        return not meets.all(axis=1).any()

    def _cells(self, places: _Array) -> _Array:
        """Return the cells that coordinates lie in, x and y in turn."""
        last = np.tile(self._last, places.shape[1] // 2)
        cells: _Array = np.clip((places + _AROUND) / self._cell, 0, last).astype(int)
        return cells


def _sums(grid: _Array) -> _Array:
    """Return for each cell the sum of all above and left of it: any area then takes four."""
    return np.pad(grid.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))


def _inside(sums: _Array, cells: _Array) -> _Array:
    left, top, right, bottom = cells.T
    found: _Array = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
    return found
