"""Shapes of instructions in text that may be damaged."""

from __future__ import annotations

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloInstruction, Shape

__all__ = ["readable_shape"]


def readable_shape(instruction: HloInstruction) -> Shape | None:
    """Return the instruction's shape; None where its text is no shape.

    Shapes are read on first use, so one line that is damaged shall cost its own figures and not
    those of thirty thousand others.
    """
    try:
        return instruction.shape
    except HloParseError:
        return None
