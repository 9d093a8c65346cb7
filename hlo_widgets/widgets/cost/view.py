"""The cost table as a widget: sort, filter, select one row."""

from __future__ import annotations

from typing import Any

import pandas as pd
from itables.javascript import JavascriptFunction
from itables.widget import ITable

from hlo_widgets.widgets.plain import plain_text

__all__ = [
    "MAIN_COLUMNS",
    "MOST_ROWS",
    "cost_options",
    "cost_view",
    "readable_table",
    "shown_rows",
]

MAIN_COLUMNS = {
    "name": "name",
    "fusion_kind": "kind",
    "root_opcode": "root",
    "instruction_count": "ops",
    "trip_count": "runs",
    "estimated_cycles": "cycles",
    "cycles_share": "share %",
    "vmem_bytes": "scoped VMEM",
    "bytes_in": "bytes in",
    "bytes_out": "bytes out",
    "collective_bytes": "exchanged",
    "output_memory_space": "output in",
    "source": "source",
}
"""The columns shown, with their titles: what fits a notebook's width. `cost_table` has them all."""

SHORT = 10
"""Rows that need no search and no order; arbitrary, one screen."""

MOST_ROWS = 5_000
"""Rows sent to the browser; arbitrary, a table of that size opens within a second."""

NUMBERS = {
    "ops",
    "runs",
    "cycles",
    "share %",
    "scoped VMEM",
    "bytes in",
    "bytes out",
    "exchanged",
}
NOT_KNOWN = "not known"
# Shares of the widget's width: no table is wider than its notebook.
_WIDTHS = {
    "name": 14,
    "kind": 8,
    "root": 8,
    "ops": 4.5,
    "runs": 4.5,
    "cycles": 9.5,
    "share %": 7.5,
    "scoped VMEM": 9.5,
    "bytes in": 10,
    "bytes out": 10,
    "exchanged": 10,
    "output in": 7,
    "source": 7.5,
}
# A fusion alone has a body to count, and a collective alone exchanges data with other devices; for
# other rows an empty cell says "does not apply".
EMPTY_CELL = {"ops": "", "root": "", "exchanged": ""}


def shown_rows(table: pd.DataFrame, most: int = MOST_ROWS) -> pd.DataFrame:
    """Return all rows of a table, or the costliest `most`, in the table's order."""
    if len(table) <= most:
        return table
    by_cost = table["cycles_share"].sort_values(ascending=False, na_position="last", kind="stable")
    return table.loc[sorted(by_cost.index[:most])]


def cost_view(table: pd.DataFrame) -> ITable:
    """Return the table widget of a cost table.

    Args:
        table: What `cost_table` gives, at most `MOST_ROWS` rows.
    """
    frame, options = cost_options(table)
    return ITable(
        frame,
        select={"style": "single", "keys": True},
        selected_rows=[],
        showIndex=False,
        maxBytes=0,
        maxRows=0,
        allow_html=False,
        format_floats_in_python=False,
        autoWidth=False,
        text_in_header_can_be_selected=False,  # a click on a header sorts
        classes="display compact nowrap hw-table",
        style="width:100%;margin:0",
        **options,
    )


def cost_options(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return what the widget shows of a cost table, and the options that depend on its rows."""
    frame = readable_table(table)
    options: dict[str, Any] = {
        "columnDefs": _column_definitions(list(frame.columns)),
        # A long table starts with what costs most; a short one reads as the program does.
        "order": [] if len(frame) <= SHORT else [[list(frame.columns).index("cycles"), "desc"]],
        "paging": len(frame) > 100,
        "pageLength": 10,
        "layout": {"topStart": "search" if len(frame) > SHORT else None, "topEnd": None},
    }
    return frame, options


def readable_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the main columns under their titles, numbers as floats (NaN where not known)."""
    table = table.assign(
        fusion_kind=table["fusion_kind"].fillna(table["opcode"]),
        cycles_share=table["cycles_share"] * 100,
    )
    frame = table[list(MAIN_COLUMNS)].rename(columns=MAIN_COLUMNS)
    for column in frame.columns:
        if column in NUMBERS:
            # itables sends a missing integer as text, which would sort the column as text.
            frame[column] = frame[column].astype("float64")
        else:
            missing = EMPTY_CELL.get(column, NOT_KNOWN)
            frame[column] = frame[column].fillna(missing).map(plain_text)
    idle = [] if (frame["runs"] != 1).any() else ["runs"]
    idle += [] if table["collective"].notna().any() else ["exchanged"]
    return frame.drop(columns=idle)


def _column_definitions(columns: list[str]) -> list[dict[str, Any]]:
    definitions: list[dict[str, Any]] = []
    all_widths = sum(_WIDTHS[column] for column in columns)
    for index, column in enumerate(columns):
        definition: dict[str, Any] = {
            "targets": index,
            "width": f"{100 * _WIDTHS[column] / all_widths:.4g}%",
            "createdCell": _WHOLE_TEXT,
        }
        if column in NUMBERS:
            missing = EMPTY_CELL.get(column, NOT_KNOWN)
            # Our own constants only: nothing of the program's text becomes code.
            definition |= {
                "render": _number_cell(missing),
                "className": "dt-right",
                "orderSequence": ["desc", "asc", ""],
            }
        definitions.append(definition)
    return definitions


# A cell that is cut by its column shows everything to the pointer.
_WHOLE_TEXT = JavascriptFunction("function (cell) { cell.title = cell.textContent; }")


def _number_cell(missing: str) -> JavascriptFunction:
    """Return how a number is shown, and that a missing one sorts below every other."""
    return JavascriptFunction(
        "function (value, type) {"
        " const known = typeof value === 'number' && !Number.isNaN(value);"
        " if (type === 'sort' || type === 'type') return known ? value : -1;"
        " if (value > 0 && value < 0.01) return '< 0.01';"
        " const digits = { maximumFractionDigits: 2 };"
        f" return known ? value.toLocaleString('en-US', digits) : '{missing}'; }}"
    )
