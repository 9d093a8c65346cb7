"""What a box says of the collectives that it is or that run inside it."""

from __future__ import annotations

from hlo_widgets.analysis import Collective, collectives_in, wrapped_opcode
from hlo_widgets.graph.words import bytes_in_words
from hlo_widgets.hlo import HloInstruction

__all__ = ["exchange_lines"]

MOST_COLLECTIVES = 3
"""Collectives told one by one; arbitrary, a box shall stay a box."""


def exchange_lines(instruction: HloInstruction) -> list[str]:
    """Return of each collective who takes part and how many bytes reach a device."""
    found = collectives_in(instruction)
    lines = []
    for one in found[:MOST_COLLECTIVES]:
        lines.append(_what(one, is_named=wrapped_opcode(instruction) == one.kind))
        if one.bytes_moved is not None:
            lines.append(f"{bytes_in_words(one.bytes_moved)} into each device")
    if len(found) > MOST_COLLECTIVES:
        lines.append(f"{len(found) - MOST_COLLECTIVES:,} more collectives")
    return lines


def _what(one: Collective, *, is_named: bool) -> str:
    if one.part in {"middle", "done"}:
        return one.title
    return one.who if is_named else f"{one.title}: {one.who}"
