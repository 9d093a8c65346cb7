"""The cost table as a part of an Explorer: a row selects its op, and the op its row."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets
import pandas as pd
from itables.widget import ITable

from hlo_widgets.analysis import pair_members, work_instructions
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.closing import close_widget
from hlo_widgets.widgets.cost.view import cost_options, cost_view, left_out_words, shown_rows
from hlo_widgets.widgets.part import Go
from hlo_widgets.widgets.shown import Shown

__all__ = ["CostPart"]


class CostPart:
    """The costliest rows of the cost table.

    Args:
        go: Called with the op of a row that the user selects.

    Attributes:
        widget: What the tab holds.
        table: The table; None before something is shown: it needs its columns when it is made.
    """

    title = "Cost table"

    def __init__(self, go: Go) -> None:
        self._go = go
        self._note = ipywidgets.Label(layout={"display": "none"})
        self.table: ITable | None = None
        self.widget = ipywidgets.VBox([self._note], layout={"width": "100%"})
        self.forget()

    def show(self, shown: Shown) -> None:
        """Replace the rows."""
        self._rows = shown_rows(shown.table)
        self._work = list(work_instructions(shown.module))
        self._selected = None
        if self.table is None:
            self.table = cost_view(self._rows)
            self.table.observe(lambda change: self._on_rows(change["new"]), "selected_rows")
            self.widget.children = [self._note, self.table]
        else:
            frame, options = cost_options(self._rows)
            self.table.update(frame, selected_rows=[], **options)
        self._tell(len(shown.table) - len(self._rows))

    def select(self, instruction: HloInstruction | None) -> None:
        """Select the row of an op, where it has one."""
        self._selected = instruction
        if self.table is not None:
            self.table.selected_rows = self._rows_of(instruction)

    def forget(self) -> None:
        """Let go of the module and its table."""
        self._rows = pd.DataFrame()
        self._work: Sequence[HloInstruction] = ()
        self._selected: HloInstruction | None = None

    def close(self) -> None:
        """Close the table, for good."""
        self.forget()
        close_widget(self.widget)

    def _tell(self, left_out: int) -> None:
        """Say above the table which rows and columns it leaves out."""
        notes = [left_out_words(self._rows)]
        if left_out:
            more = f"The {len(self._rows):,} costliest rows are shown, {left_out:,} more are not."
            notes.append(more)
        told = [note for note in notes if note]
        self._note.value = " ".join([*told, "The Explorer's `table` has everything."] * bool(told))
        self._note.layout.display = None if told else "none"

    def _on_rows(self, rows: list[int]) -> None:
        if rows and rows != self._rows_of(self._selected) and rows[0] < len(self._rows):
            # The table has the same instructions in the same order.
            self._go(self._work[int(self._rows.index[rows[0]])])

    def _rows_of(self, instruction: HloInstruction | None) -> list[int]:
        if instruction is None or self._rows.empty:
            return []
        # The row of a pair is its start's.
        names = [member.name for member in pair_members(instruction)]
        same = self._rows["computation"] == instruction.parent.name
        found = self._rows["name"].isin(names) & same
        return [int(row) for row in found.to_numpy().nonzero()[0][:1]]
