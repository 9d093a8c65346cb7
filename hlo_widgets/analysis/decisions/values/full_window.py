"""The reduce-window that a TPU compiler makes of a reduce whose result is broadcast again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloInstruction, Shape

__all__ = ["ReduceAndBroadcast", "as_reduce_and_broadcast"]

_NO_PAD = "0_0"


class ReduceAndBroadcast(NamedTuple):
    """What the two ops are told apart by, beside their operands.

    Attributes:
        reduce: Of the reduce; its dimensions last.
        broadcast: Of the broadcast; its dimensions last.
        reduced: Extents of what the reduce gives.
    """

    reduce: tuple[str, ...]
    broadcast: tuple[str, ...]
    reduced: tuple[int | None, ...]


def as_reduce_and_broadcast(op: HloInstruction) -> ReduceAndBroadcast | None:
    """Return the two ops that compute what a reduce-window does.

    These are where each window holds all there is along some dimensions, and one element along the
    others: "size=1x511 pad=0_0x255_255" of 256 columns. None for any other one.
    """
    try:
        shape = op.shape
    except HloParseError:
        return None
    covered = None if shape.is_tuple else _covered(op.attributes.get("window", "{}"), shape)
    if not covered:
        return None
    kept = [position for position in range(len(shape.dimensions)) if position not in covered]
    reduced = tuple(shape.dimensions[position] for position in kept)
    extents = ",".join(map(str, reduced))
    return ReduceAndBroadcast(
        ("reduce", f"{shape.element_type}[{extents}]", "", f"dimensions={_braced(covered)}"),
        ("broadcast", shape.to_string(with_layout=False), "", f"dimensions={_braced(kept)}"),
        reduced,
    )


def _covered(text: str, shape: Shape) -> list[int] | None:
    """Return the dimensions that each window covers; None where one of them is covered in part."""
    window = dict(part.partition("=")[::2] for part in text.strip("{}").split())
    extents = shape.dimensions
    sizes = window.pop("size", "").split("x")
    pads = window.pop("pad", "x".join([_NO_PAD] * len(extents))).split("x")
    if window or not len(sizes) == len(pads) == len(extents):
        return None
    covered = []
    for position, (extent, size, pad) in enumerate(zip(extents, sizes, pads, strict=True)):
        if extent is None:
            return None
        if size == str(2 * extent - 1) and pad == f"{extent - 1}_{extent - 1}" and extent > 1:
            covered.append(position)
        elif (size, pad) != ("1", _NO_PAD):
            return None
    return covered


def _braced(numbers: Iterable[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"
