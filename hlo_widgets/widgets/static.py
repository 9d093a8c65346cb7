"""The picture and the table as plain HTML, for where no kernel runs."""

from __future__ import annotations

import base64
import html
import math

import pandas as pd

from hlo_widgets.drawing import render_dot
from hlo_widgets.errors import DrawingError
from hlo_widgets.graph import Graph, graph_to_dot
from hlo_widgets.widgets.cost.view import (
    EMPTY_CELL,
    NOT_KNOWN,
    NUMBERS,
    left_out_words,
    readable_table,
    shown_rows,
)

__all__ = ["static_html"]

MOST_STATIC_ROWS = 50
"""Rows of the static table; arbitrary, so that a saved notebook stays small."""


def static_html(name: str, graph: Graph, table: pd.DataFrame) -> str:
    """Return an image of a picture and the costliest rows of the table; all text escaped.

    The picture is an `<img>` with its data inside, in which no browser runs anything.
    """
    return f"<div>{_image(name, graph)}{_table(table)}</div>"


def _image(name: str, graph: Graph) -> str:
    try:
        svg = render_dot(graph_to_dot(graph))
    except DrawingError as error:
        return f"<pre>{html.escape(str(error))}</pre>"
    data = base64.b64encode(svg.encode()).decode()
    name = html.escape(name, quote=True)
    return (
        f'<img alt="Graph of {name}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
    )


def _table(table: pd.DataFrame) -> str:
    rows = shown_rows(table, MOST_STATIC_ROWS)
    shown = readable_table(rows)
    left_out = len(table) - len(shown)
    rest = f"{left_out:,} more rows are left out of this static picture." if left_out else ""
    told = [note for note in (left_out_words(rows), rest) if note]
    written = {
        column: [_number(value, EMPTY_CELL.get(column, NOT_KNOWN)) for value in shown[column]]
        for column in shown.columns
        if column in NUMBERS
    }
    markup: str = shown.assign(**written).to_html(index=False, escape=True, border=0)
    return markup + "".join(f"<p>{html.escape(note)}</p>" for note in told)


def _number(value: float, missing: str) -> str:
    if math.isnan(value):
        return missing
    if 0 < value < 0.01:
        return "< 0.01"
    return f"{int(value):,}" if value.is_integer() else f"{value:,.2f}"
