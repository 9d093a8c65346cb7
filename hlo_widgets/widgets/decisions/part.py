"""The compiler's records as a part of an Explorer: counts, a filter, and a table of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets

from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.closing import close_widget
from hlo_widgets.widgets.decisions.counts import summary_of, told_of
from hlo_widgets.widgets.decisions.filter import DecisionFilter, filter_of
from hlo_widgets.widgets.decisions.missing import NO_RECORD
from hlo_widgets.widgets.decisions.table import MOST_RECORDS, decision_options, decision_view
from hlo_widgets.widgets.decisions.view import DecisionBar
from hlo_widgets.widgets.plain import plain
from hlo_widgets.widgets.shown import Shown

__all__ = ["DecisionsPart", "GoToDecision"]

GoToDecision = Callable[[FusionDecision], None]
"""What the part calls when the user picks a record: the Explorer shows the two ops and why."""


class DecisionsPart:
    """The records of a compiler.

    Args:
        go: Called with the record of a row that the user selects.
        set_filter: Called with the filter that the user chose.
    """

    title = "Decisions"

    def __init__(self, go: GoToDecision, set_filter: Callable[[DecisionFilter], None]) -> None:
        self._go = go
        self._set_filter = set_filter
        self._log: DecisionLog | None = None
        self._rows: list[FusionDecision] = []
        self._reasons: list[str] = []
        self._is_own = False
        self.bar = DecisionBar()
        self.table: Any = None
        self.widget = ipywidgets.VBox([self.bar], layout={"width": "100%"})
        self.bar.observe(lambda change: self._on_chosen(change["new"]), "chosen")

    def show(self, shown: Shown) -> None:
        """Show the records of another module, all of them."""
        self._log = shown.decisions
        with self._own_changes():
            self.bar.chosen = {}
        if self._log is None:
            self.bar.summary = {"notes": [NO_RECORD]}
            self.widget.children = [self.bar]
            return
        self._reasons = list(self._log.by_reason)
        self.bar.summary = plain(summary_of(self._log))
        self._show_rows(DecisionFilter())
        self.widget.children = [self.bar, self.table]

    def select(self, instruction: HloInstruction | None) -> None:
        """Take away the mark of a row: what is selected is no longer its pair."""
        if instruction is not None and self.table is not None and not self._is_own:
            self.table.selected_rows = []

    def forget(self) -> None:
        """Let go of the records."""
        self._log, self._rows, self._reasons = None, [], []

    def close(self) -> None:
        """Close all widgets of it, for good."""
        self.forget()
        for widget in (self.table, self.widget):
            if widget is not None:
                close_widget(widget)

    def _show_rows(self, wanted: DecisionFilter) -> None:
        log = self._log
        if log is None:
            return
        passed = [decision for decision in log.decisions if wanted.passes(decision)]
        self._rows = passed[:MOST_RECORDS]
        if self.table is None:
            self.table = decision_view(self._rows)
            self.table.observe(lambda change: self._on_rows(change["new"]), "selected_rows")
        else:
            frame, options = decision_options(self._rows)
            self.table.update(frame, selected_rows=[], **options)
        self.bar.told = told_of(len(self._rows), passed, log)

    def _on_chosen(self, chosen: dict[str, Any]) -> None:
        if self._is_own:
            return
        wanted = filter_of(chosen, self._reasons)
        self._show_rows(wanted)
        self._set_filter(wanted)

    def _on_rows(self, rows: list[int]) -> None:
        if rows and 0 <= rows[0] < len(self._rows):
            with self._own_changes():
                self._go(self._rows[rows[0]])

    @contextmanager
    def _own_changes(self) -> Iterator[None]:
        """Take what changes meanwhile for this part's own doing, not for the user's."""
        before, self._is_own = self._is_own, True
        try:
            yield
        finally:
            self._is_own = before
