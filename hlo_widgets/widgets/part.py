"""The parts of an Explorer that stand below its graph, one in a tab."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import ipywidgets

from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.shown import Shown

__all__ = ["Go", "Part", "Tabs"]

Go = Callable[[HloInstruction], None]
"""What a part calls when the user picks an op in it: the Explorer selects and centres that."""


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
        self.widget = ipywidgets.Tab(
            children=[part.widget for part in self.parts],
            titles=[part.title for part in self.parts],
            layout={"width": "100%"},
        )
        self.widget.observe(lambda _: self._bring_up_to_date(), "selected_index")

    def show(self, shown: Shown) -> None:
        """Show something else; nothing of it is selected."""
        self._shown, self._selected = shown, None
        self._bring_up_to_date()

    def select(self, instruction: HloInstruction | None) -> None:
        """Mark the op that is selected, or none."""
        self._selected = instruction
        self._bring_up_to_date()

    def open(self, part: Part) -> None:
        """Bring a part to the front."""
        self.widget.selected_index = self.parts.index(part)

    def _bring_up_to_date(self) -> None:
        index = self.widget.selected_index
        if index is None or self._shown is None:
            return
        part = self.parts[index]
        if self._showing.get(part) is not self._shown:
            self._showing[part] = self._shown
            part.show(self._shown)
        part.select(self._selected)
