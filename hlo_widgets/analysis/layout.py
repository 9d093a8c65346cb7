"""Layouts in words: which dimension lies densely in memory, and how it is cut into tiles."""

from __future__ import annotations

from hlo_widgets.hlo import Layout, Shape

__all__ = ["layout_words"]


def layout_words(shape: Shape) -> str:
    """Describe how the elements of `shape` lie in memory, without its memory space.

    Args:
        shape: Any shape.

    Returns:
        Words such as "row-major, in tiles of 8×128, each in tiles of 2×1"; for a tuple how many
        elements it has; for a scalar "one element"; "no layout" where the text gives none.
    """
    if shape.is_tuple:
        return f"a tuple of {len(shape.tuple_shapes)}"
    if not shape.is_array:
        return f"{shape.element_type}, no layout"
    words = ["one element"] if shape.is_scalar else []
    if shape.layout is not None:
        words += _order_words(shape.layout) + _tile_words(shape.layout)
        if shape.layout.suffixes:
            words.append(f"also {' '.join(shape.layout.suffixes)}")
    return ", ".join(words) or "no layout"


def _order_words(layout: Layout) -> list[str]:
    order = layout.minor_to_major
    if len(order) < 2:
        return ["one dense dimension"] if order else []
    if order == tuple(range(len(order) - 1, -1, -1)):
        return ["row-major"]
    if order == tuple(range(len(order))):
        return ["column-major"]
    inward = " inside ".join(str(dimension) for dimension in order)
    return [f"dimension {inward}"]


def _tile_words(layout: Layout) -> list[str]:
    # None joins a dimension to the next one; HLO writes it so.
    tiles = [
        "×".join("*" if size is None else str(size) for size in tile.dimensions)
        for tile in layout.tiles
    ]
    return ["in tiles of " + ", each in tiles of ".join(tiles)] if tiles else []
