"""The parts of an Explorer that stand below its graph, one in a tab."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

import ipywidgets

from hlo_widgets.errors import HloWidgetsError
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.closing import close_widget
from hlo_widgets.widgets.plain import plain_text
from hlo_widgets.widgets.shown import Shown

__all__ = ["Go", "Part", "Tabs"]

Go = Callable[[HloInstruction | str], None]
"""What a part calls when the user picks an op in it, or the name of one: the Explorer selects and
centres that, or tells that there is none."""


class Part(Protocol):
    """One view of what is shown. Nothing that it calls back may raise.

    Attributes:
        title: What its tab is called.
        widget: What its tab holds.
    """

    title: str
    widget: ipywidgets.Widget

    def show(self, shown: Shown) -> None:
        """Show something else."""

    def select(self, instruction: HloInstruction | None) -> None:
        """Mark the op that is selected, or none."""

    def forget(self) -> None:
        """Let go of what is shown, so that it is not kept; `show` comes before it is looked at."""

    def close(self) -> None:
        """Close all widgets of it, for good."""


class Tabs:
    """Parts in tabs; only the one in view is kept up to date, so the others cost nothing.

    Args:
        parts: The parts, that of the first tab first.

    Attributes:
        widget: The tabs.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        self._shown: Shown | None = None
        self._selected: HloInstruction | None = None
        self._showing: dict[Part, Shown] = {}
        # In the place of a part that could not show something.
        self._problem = ipywidgets.Label()
        self.widget = ipywidgets.Tab(
            children=[part.widget for part in self.parts],
            titles=[part.title for part in self.parts],
            layout={"width": "100%"},
        )
        self.widget.observe(lambda _: self._bring_up_to_date(), "selected_index")

    def show(self, shown: Shown) -> None:
        """Show something else; nothing of it is selected."""
        self._shown, self._selected = shown, None
        in_view = self._in_view()
        for part in [one for one in self._showing if one is not in_view]:
            del self._showing[part]
            part.forget()
        self._bring_up_to_date()

    def select(self, instruction: HloInstruction | None) -> None:
        """Mark the op that is selected, or none."""
        self._selected = instruction
        self._bring_up_to_date()

    def open(self, part: Part) -> None:
        """Bring a part to the front."""
        self.widget.selected_index = self.parts.index(part)

    def close(self) -> None:
        """Close all parts, for good."""
        self.widget.unobserve_all()
        for part in self.parts:
            part.close()
        close_widget(self._problem)
        close_widget(self.widget)
        self._shown = self._selected = None
        self._showing.clear()

    def _in_view(self) -> Part | None:
        index = self.widget.selected_index
        return None if index is None else self.parts[index]

    def _bring_up_to_date(self) -> None:
        part, shown = self._in_view(), self._shown
        if part is None or shown is None:
            return
        try:
            if self._showing.get(part) is not shown:
                self._showing.pop(part, None)
                part.show(shown)
                self._showing[part] = shown
            part.select(self._selected)
        except Exception as error:  # noqa: BLE001 (one part that fails must not stop the others)
            self._tell_problem(part, error)
        else:
            self._put(part, part.widget)

    def _tell_problem(self, part: Part, error: Exception) -> None:
        """Say in the tab of a part what went wrong, in the place of what it showed before."""
        words = str(error)
        if not isinstance(error, HloWidgetsError):
            words = f"This cannot be shown, because of an error of ours: {error!r}"
            logging.getLogger(__name__).error(words, exc_info=error)
        self._problem.value = plain_text(words)
        self._showing.pop(part, None)
        part.forget()
        self._put(part, self._problem)

    def _put(self, part: Part, widget: ipywidgets.Widget) -> None:
        children = [one.widget for one in self.parts]
        children[self.parts.index(part)] = widget
        if children != list(self.widget.children):
            self.widget.children = children
