"""The cost table as a part of an Explorer: a row selects its op, and the op its row."""

from __future__ import annotations

import ipywidgets

from hlo_widgets.analysis import pair_members, work_instructions
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.cost.view import cost_options, cost_view, shown_rows
from hlo_widgets.widgets.part import Go
from hlo_widgets.widgets.shown import Shown

__all__ = ["CostPart"]


class CostPart:
    """The costliest rows of the cost table.

    Args:
        shown: What to show first: the table widget needs its columns when it is made.
        go: Called with the op of a row that the user selects.
    """

    title = "Cost table"

    def __init__(self, shown: Shown, go: Go) -> None:
        self._go = go
        self._selected: HloInstruction | None = None
        self._keep(shown)
        self.table = cost_view(self._rows)
        self._note = ipywidgets.Label(self._left_out())
        self.widget = ipywidgets.VBox([self._note, self.table], layout={"width": "100%"})
        self._set_note()
        self.table.observe(lambda change: self._on_rows(change["new"]), "selected_rows")

    def show(self, shown: Shown) -> None:
        """Replace the rows."""
        if shown is self._shown:
            return
        self._keep(shown)
        self._selected = None
        frame, options = cost_options(self._rows)
        self.table.update(frame, selected_rows=[], **options)
        self._set_note()

    def select(self, instruction: HloInstruction | None) -> None:
        """Select the row of an op, where it has one."""
        self._selected = instruction
        self.table.selected_rows = self._rows_of(instruction)

    def _keep(self, shown: Shown) -> None:
        self._shown = shown
        self._rows = shown_rows(shown.table)
        self._work = list(work_instructions(shown.module))

    def _set_note(self) -> None:
        self._note.value = self._left_out()
        self._note.layout.display = None if self._note.value else "none"

    def _left_out(self) -> str:
        left_out = len(self._shown.table) - len(self._rows)
        if not left_out:
            return ""
        shown = f"The table shows the {len(self._rows):,} costliest rows; {left_out:,} more are"
        return f"{shown} in the Explorer's `table`."

    def _on_rows(self, rows: list[int]) -> None:
        if rows and rows != self._rows_of(self._selected) and rows[0] < len(self._rows):
            # The table has the same instructions in the same order.
            self._go(self._work[int(self._rows.index[rows[0]])])

    def _rows_of(self, instruction: HloInstruction | None) -> list[int]:
        if instruction is None:
            return []
        # The row of a pair is its start's.
        names = [member.name for member in pair_members(instruction)]
        same = self._rows["computation"] == instruction.parent.name
        found = self._rows["name"].isin(names) & same
        return [int(row) for row in found.to_numpy().nonzero()[0][:1]]
