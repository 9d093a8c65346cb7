"""The lines of a module's text, and which op stands on which of them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from hlo_widgets.hlo import HloInstruction, HloModule
from hlo_widgets.widgets.plain import plain_text

__all__ = ["LONGEST_SHOWN", "Line", "TextLines"]

LONGEST_SHOWN = 4_000
"""Characters of a line that are shown; arbitrary, more than anybody reads sideways."""

FOLDED = ("metadata", "backend_config")
"""Attributes that are shown as `{...}` until somebody asks for them: most of the text is these."""


@dataclass(frozen=True)
class Line:
    """One line as it is shown.

    Attributes:
        text: Its text: one line, with what cannot be shown as escapes.
        is_op: Whether an instruction stands on it.
    """

    text: str
    is_op: bool


class TextLines:
    """The lines of one module, counted from 1 as in `HloModule.source`.

    Args:
        module: The module.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        starts = module.line_starts
        ends_with_line_end = starts[-1] == len(module.source) and len(starts) > 1
        self.count = len(starts) - ends_with_line_end
        ops: dict[int, HloInstruction] = {}
        for instruction in module.instructions():
            # What the text implies stands on the line of what implies it, which comes first.
            if instruction.line and instruction not in module.texts:
                ops.setdefault(instruction.line, instruction)
        self._ops = ops
        self._starts = sorted(ops)

    def op_at(self, line: int) -> HloInstruction | None:
        """Return the instruction that stands on a line, be it its second or third; else None."""
        place = bisect_right(self._starts, line)
        if not place:
            return None
        instruction = self._ops[self._starts[place - 1]]
        return instruction if line <= self.lines_of(instruction)[1] else None

    def lines_of(self, instruction: HloInstruction) -> tuple[int, int]:
        """Return the first and the last line of an instruction; (0, 0) where the text has none."""
        span = self._module.spans.get(instruction)
        if span is None:
            return instruction.line, instruction.line
        return instruction.line, self._module.line_at(max(span[0], span[1] - 1))

    def window(self, first: int, last: int, *, fold: bool) -> list[Line]:
        """Return some lines.

        Args:
            first: The first one.
            last: The last one; what is beyond the text's end is left out.
            fold: Whether to write metadata and backend configs as `{...}`.
        """
        return [self._line(n, fold=fold) for n in range(max(first, 1), min(last, self.count) + 1)]

    def _line(self, number: int, *, fold: bool) -> Line:
        starts, source = self._module.line_starts, self._module.source
        end = starts[number] - 1 if number < len(starts) else len(source)
        text = source[starts[number - 1] : end].rstrip("\r")
        instruction = self.op_at(number)
        if fold and instruction is not None:
            text = _folded(text, instruction)
        if len(text) > LONGEST_SHOWN:
            text = f"{text[:LONGEST_SHOWN]} ... ({len(text):,} characters)"
        return Line(plain_text(text), instruction is not None)


def _folded(text: str, instruction: HloInstruction) -> str:
    for name in FOLDED:
        value = instruction.attributes.get(name)
        if value is not None and len(value) > 2:
            text = text.replace(f"{name}={value}", f"{name}={{...}}", 1)
    return text
