"""The HLO text as a part of an Explorer: the selection is marked, and a line selects its op."""

from __future__ import annotations

from itertools import count
from typing import Any

from hlo_widgets.analysis import done_of, pair_members
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.closing import close_widget
from hlo_widgets.widgets.message import Message
from hlo_widgets.widgets.part import Go
from hlo_widgets.widgets.shown import Shown
from hlo_widgets.widgets.text.lines import TextLines
from hlo_widgets.widgets.text.view import TextView

__all__ = ["TextPart"]

HEIGHT = "440px"
"""Of the text; arbitrary, some twenty lines."""

FIRST_LINES = 100
"""Lines that come with the document itself, without being asked for; arbitrary, a few screens."""

MOST_LINES = 600
"""Lines in one answer; arbitrary, more than a screen holds."""


class TextPart:
    """The text of a module, of which the browser has only what it shows.

    Args:
        go: Called with the op on a line that the user selects.
    """

    title = "HLO text"

    def __init__(self, go: Go) -> None:
        self._go = go
        self._fold = True
        self._keys = count(1)
        self._texts = count(1)
        self._text = 0
        self._lines: TextLines | None = None
        self._selected: HloInstruction | None = None
        self.widget = TextView(layout={"width": "100%", "height": HEIGHT})
        self.widget.on_msg(lambda _, message, __: self._on_message(message))

    def show(self, shown: Shown) -> None:
        """Show the text of another module."""
        self._lines = TextLines(shown.module)
        self._text = next(self._texts)
        self._selected = None
        self.widget.marked = {}
        # What comes first in a text is tables of files and small functions.
        self._open(shown.module.entry_computation.line)

    def select(self, instruction: HloInstruction | None) -> None:
        """Mark the lines of an op, of a pair those of all its members."""
        self._selected = instruction
        self.widget.marked = self._marks()

    def forget(self) -> None:
        """Let go of the module; the lines that the browser has stay there."""
        self._lines = self._selected = None

    def close(self) -> None:
        """Close the widget, for good."""
        self.forget()
        close_widget(self.widget)

    def _open(self, line: int) -> None:
        """Send the document anew, with the lines around one of them."""
        if self._lines is None:
            return
        first = max(1, line - FIRST_LINES // 2)
        self.widget.document = {
            "key": next(self._keys),
            "text": self._text,
            "count": self._lines.count,
            "fold": self._fold,
            "start": line,
            "first": first,
            "lines": self._window(first, first + FIRST_LINES - 1),
        }

    def _marks(self) -> dict[str, Any]:
        if self._lines is None or self._selected is None:
            return {}
        members = pair_members(done_of(self._selected) or self._selected)
        ranges = [self._lines.lines_of(member) for member in members]
        at = self._lines.lines_of(self._selected)[0]
        return {"ranges": [list(one) for one in ranges if one[0]], "at": at} if at else {}

    def _window(self, first: int, last: int) -> list[list[Any]]:
        if self._lines is None:
            return []
        lines = self._lines.window(first, last, fold=self._fold)
        return [[line.text, line.is_op] for line in lines]

    # What the browser sends is not trusted to make sense, and nothing may raise.

    def _on_message(self, content: object) -> None:
        message = Message(content)
        line = _line_number(message, "line")
        key, fold = message.number("key"), message.flag("fold")
        if message.kind == "lines" and key is not None and key == self.widget.document.get("key"):
            last = min(_line_number(message, "last"), line + MOST_LINES - 1)
            lines = self._window(line, last)
            self.widget.send({"type": "lines", "key": key, "first": line, "lines": lines})
        elif message.kind == "fold" and fold is not None:
            self._fold = fold
            self._open(line)
        elif message.kind == "go" and self._lines is not None:
            instruction = self._lines.op_at(line)
            if instruction is not None:
                self._go(instruction)


def _line_number(message: Message, name: str) -> int:
    value = message.number(name)
    return value if value is not None and 0 < value < 1 << 40 else 1
