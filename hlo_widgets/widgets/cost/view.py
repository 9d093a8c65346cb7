"""The cost table as a widget: sort, filter, select one row."""

from __future__ import annotations

from typing import Any

import pandas as pd
from itables.widget import ITable

from hlo_widgets.widgets.data_table import PAGE, Column, data_table, table_options
from hlo_widgets.widgets.plain import plain_text

__all__ = [
    "MAIN_COLUMNS",
    "MOST_ROWS",
    "cost_options",
    "cost_view",
    "left_out_words",
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

MOST_UNPAGED = 100
"""Rows that stand on one page; arbitrary."""

MOST_ROWS = 5_000
"""Rows sent to the browser; arbitrary, a table of that size opens within a second."""

NOT_KNOWN = "not known"
# A fusion alone has a body to count, and a collective alone exchanges data with other devices; for
# other rows an empty cell says "does not apply".
EMPTY_CELL = {"ops": "", "root": "", "exchanged": ""}
# Of no fusion the kind is its opcode. That nobody knows how often a loop runs has to be seen.
_ALWAYS_SAID = {"kind", "runs"}


def _number(column: str, share: float) -> Column:
    return Column(share, EMPTY_CELL.get(column, NOT_KNOWN), places=2)


_COLUMNS = {
    "name": Column(14),
    "kind": Column(8),
    "root": Column(8),
    "ops": _number("ops", 4.5),
    "runs": _number("runs", 4.5),
    "cycles": _number("cycles", 9.5),
    "share %": _number("share %", 7.5),
    "scoped VMEM": _number("scoped VMEM", 9.5),
    "bytes in": _number("bytes in", 10),
    "bytes out": _number("bytes out", 10),
    "exchanged": _number("exchanged", 10),
    "output in": Column(7),
    "source": Column(7.5),
}
NUMBERS = {title for title, column in _COLUMNS.items() if column.missing is not None}


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
    return data_table(*cost_options(table))


def cost_options(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return what the widget shows of a cost table, and the options that depend on its rows."""
    frame = readable_table(table)
    # A long table starts with what costs most; a short one reads as the program does.
    order = [("cycles", "desc")] if len(frame) > PAGE and "cycles" in frame else []
    # The row of the op that is selected has to be in view: most programs stand on one page.
    return frame, table_options(frame, _COLUMNS, order, most_unpaged=MOST_UNPAGED)


def readable_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the main columns under their titles, numbers as floats (NaN where not known).

    A column that says nothing of any row is not there; `left_out_words` names those not known.
    """
    table = table.assign(
        fusion_kind=table["fusion_kind"].fillna(table["opcode"]),
        cycles_share=table["cycles_share"] * 100,
    )
    idle = [] if (table["trip_count"].fillna(0) != 1).any() else ["runs"]
    idle += _unknown(table)
    frame = table[list(MAIN_COLUMNS)].rename(columns=MAIN_COLUMNS).drop(columns=idle)
    for column in frame.columns:
        if column in NUMBERS:
            # itables sends a missing integer as text, which would sort the column as text.
            frame[column] = frame[column].astype("float64")
        else:
            missing = EMPTY_CELL.get(column, NOT_KNOWN)
            frame[column] = frame[column].fillna(missing).map(plain_text)
    return frame


def left_out_words(table: pd.DataFrame) -> str:
    """Return which columns are left out as nothing is known of any row; "" for none.

    Args:
        table: What `readable_table` was given.
    """
    columns = [title for title in _unknown(table) if title not in EMPTY_CELL]
    return f"Not known of any row, so not shown: {', '.join(columns)}." if columns else ""


def _unknown(table: pd.DataFrame) -> list[str]:
    """Return the titles of the columns without a value."""
    return [
        title
        for column, title in MAIN_COLUMNS.items()
        if title not in _ALWAYS_SAID and len(table) and table[column].isna().all()
    ]
