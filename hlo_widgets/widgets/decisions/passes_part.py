"""The passes that changed the module, as a part of an Explorer."""

from __future__ import annotations

from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.closing import close_widget
from hlo_widgets.widgets.decisions.missing import NO_PASSES, NO_RECORD
from hlo_widgets.widgets.decisions.pass_list import describe_passes
from hlo_widgets.widgets.decisions.view import PassesView
from hlo_widgets.widgets.message import Message
from hlo_widgets.widgets.part import Go
from hlo_widgets.widgets.plain import plain
from hlo_widgets.widgets.shown import Shown

__all__ = ["PassesPart"]


class PassesPart:
    """The passes that changed the module and what they did to the fusions.

    Args:
        go: Called with the name of a final op that the user follows.
    """

    title = "Passes"

    def __init__(self, go: Go) -> None:
        self._go = go
        self.widget = PassesView(layout={"width": "100%"})
        self.widget.on_msg(lambda _, message, __: self._on_message(message))

    def show(self, shown: Shown) -> None:
        """Show the passes of another module."""
        log = shown.decisions
        passes = log.passes if log is not None else ()
        if log is None:
            self.widget.note = NO_RECORD
        elif not passes:
            self.widget.note = NO_PASSES
        else:
            changing = sum(bool(one.changes) for one in passes)
            words = f"{len(passes):,} passes changed the module, {changing:,} of them its fusions."
            rest = "A name of the final module is a link; beside another stands what runs it now."
            self.widget.note = f"{words} {rest}"
        described = describe_passes(log, shown.module) if log is not None else []
        self.widget.passes = plain(described)

    def select(self, instruction: HloInstruction | None) -> None:
        """Do nothing: a pass is about many ops."""

    def forget(self) -> None:
        """Do nothing: it keeps no module."""

    def close(self) -> None:
        """Close the widget, for good."""
        close_widget(self.widget)

    def _on_message(self, content: object) -> None:
        message = Message(content)
        if message.kind == "go":
            self._go(message.text("name"))
