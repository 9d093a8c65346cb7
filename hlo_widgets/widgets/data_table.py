"""Tables for the eye: sort, filter, select one row. What the tables of an Explorer share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from itables.javascript import JavascriptFunction
from itables.widget import ITable

__all__ = ["PAGE", "Column", "data_table", "table_options"]

PAGE = 10
"""Rows of a page, and those that need no search; arbitrary, one screen."""


@dataclass(frozen=True)
class Column:
    """How a column looks.

    Attributes:
        share: Its share of the table's width, in any unit.
        missing: What a cell says where there is no number; None for a column of text.
        places: Digits after a number's point, at most; None for six digits in all, as
            `figure_words` gives them.
        is_folded: Whether a narrow page has no room for it. The cells of a row that are there tell
            it to the pointer. Such columns are the last ones; the style sheet knows how many stay.
    """

    share: float
    missing: str | None = None
    places: int | None = None
    is_folded: bool = False


def data_table(frame: pd.DataFrame, options: Mapping[str, Any]) -> ITable:
    """Return the widget of a table; no text in it becomes markup.

    Args:
        frame: The rows: texts, and numbers as floats, NaN where there is none. An integer that is
            missing would be sent as text, and the column sorted as text.
        options: What `table_options` gives for it. For other rows, give `update` of the widget new
            ones.
    """
    return ITable(
        frame,
        select={"style": "single", "keys": True},
        selected_rows=[],
        showIndex=False,
        allow_html=False,
        format_floats_in_python=False,
        autoWidth=False,
        text_in_header_can_be_selected=False,  # a click on a header sorts
        style="width:100%;margin:0",
        **options,
    )


def table_options(
    frame: pd.DataFrame,
    columns: Mapping[str, Column],
    order: Sequence[tuple[str, str]] = (),
    most_unpaged: int = PAGE,
) -> dict[str, Any]:
    """Return the options of the widget that depend on its rows and columns.

    Args:
        frame: The rows.
        columns: How each column looks, by its name; those that the frame lacks are passed over.
        order: Columns to sort by, each with "asc" or "desc"; () keeps the order of the rows.
        most_unpaged: Rows up to which all stand on one page.
    """
    names = [str(name) for name in frame.columns]
    shown = {name: columns[name] for name in names}
    kept = sum(not column.is_folded for column in shown.values())
    folds = f" hw-folds hw-keeps-{kept}" if kept < len(shown) else ""
    return {
        # All rows, of an update too: by default it would send a part, and say so in its own words.
        "maxBytes": 0,
        "maxRows": 0,
        "columnDefs": _definitions(shown),
        "order": [[names.index(name), way] for name, way in order],
        "paging": len(frame) > most_unpaged,
        "pageLength": PAGE,
        "layout": {"topStart": "search" if len(frame) > PAGE else None, "topEnd": None},
        "classes": f"display compact nowrap hw-table{folds}",
    }


def _definitions(columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    share = 100 / sum(column.share for column in columns.values())
    titles = {at: name for at, (name, one) in enumerate(columns.items()) if one.is_folded}
    tell = _telling(titles)
    return [
        {"targets": at, "width": f"{column.share * share:.4g}%", "createdCell": tell}
        | _of_numbers(column)
        | {"className": _classes(column)}
        for at, column in enumerate(columns.values())
    ]


def _classes(column: Column) -> str:
    of_number = "dt-right" if column.missing is not None else ""
    return f"{of_number} {'hw-folded' if column.is_folded else ''}".strip()


def _of_numbers(column: Column) -> dict[str, Any]:
    if column.missing is None:
        return {}
    return {
        "render": _number(column.missing, column.places),
        "orderSequence": ["desc", "asc", ""],
    }


# Of what follows only constants of our own become code, nothing of a program's text.


def _telling(folded: Mapping[int, str]) -> JavascriptFunction:
    """Return what puts the whole text of a cell into its tooltip, with what is folded away."""
    return JavascriptFunction(
        "function (cell, value, row) {"
        f" const folded = {json.dumps(list(folded.items()))};"
        " const told = (one) => one !== null && one !== '' && !Number.isNaN(one);"
        " const rest = folded.filter(([at]) => told(row[at]))"
        ".map(([at, name]) => name + ': ' + row[at]);"
        " cell.title = [cell.textContent, ...rest].join('\\n'); }"
    )


def _number(missing: str, places: int | None) -> JavascriptFunction:
    """Return how a number is shown, and that a missing one sorts below every other."""
    digits = "size < 1e5 ? { maximumSignificantDigits: 6 } : { maximumFractionDigits: 0 }"
    tiny = "if (size < 1e-9) return '0';"
    if places is not None:
        least = f"{10**-places:.{places}f}"
        digits = f"{{ maximumFractionDigits: {places} }}"
        tiny = f"if (value > 0 && value < {least}) return '< {least}';"
    return JavascriptFunction(
        "function (value, type) {"
        " const known = typeof value === 'number' && !Number.isNaN(value);"
        " if (type === 'sort' || type === 'type') return known ? value : -Infinity;"
        f" if (!known) return {json.dumps(missing)};"
        f" const size = Math.abs(value); {tiny}"
        f" return value.toLocaleString('en-US', {digits}).replace('-', '\\u2212'); }}"
    )
