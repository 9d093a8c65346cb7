"""The records of a decision log as a table for the eye."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from itables.javascript import JavascriptFunction
from itables.widget import ITable

from hlo_widgets.analysis.decisions import FusionDecision
from hlo_widgets.widgets.decisions.verdicts import joined_words, reason_of, short_places
from hlo_widgets.widgets.plain import plain_text

__all__ = ["MOST_RECORDS", "decision_frame", "decision_options", "decision_view"]

MOST_RECORDS = 2_000
"""Rows sent to the browser; arbitrary, a table of that size opens within a second."""

SHORT = 10
"""Rows of a page, and those that need no search; arbitrary, one screen."""

_LONGEST_CELL = 300
_NOT_GIVEN = "\u2013"
_NUMBERS = ("step", "unfused", "fused", "gain")
_COSTS = ("unfused", "fused", "gain", "unit")
# Shares of the widget's width in percent: no table is wider than its notebook.
_WIDTHS = {
    "step": 5,
    "producer": 11,
    "consumer": 11,
    "verdict": 8.5,
    "reason": 20,
    "unfused": 8,
    "fused": 7.5,
    "gain": 7.5,
    "unit": 6,
    "joined": 13,
    "source": 8,
}


def decision_frame(decisions: Iterable[FusionDecision]) -> pd.DataFrame:
    """Return one row a record, in their order; numbers as floats, NaN where not given.

    The columns of costs are there only where a record has one.
    """
    rows = [_row(decision) for decision in decisions]
    columns = list(_WIDTHS)
    if all(row["gain"] is None for row in rows):
        columns = [column for column in columns if column not in _COSTS]
    frame = pd.DataFrame(rows, columns=columns)
    for column in frame.columns.intersection(_NUMBERS):
        frame[column] = frame[column].astype("float64")
    return frame


def decision_view(decisions: Sequence[FusionDecision]) -> ITable:
    """Return the table widget of records, at most `MOST_RECORDS`."""
    frame, options = decision_options(decisions)
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


def decision_options(decisions: Sequence[FusionDecision]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return what the widget shows of records, and the options that depend on them."""
    frame = decision_frame(decisions)
    options: dict[str, Any] = {
        "columnDefs": _definitions(list(frame.columns)),
        "order": [],
        "paging": len(frame) > SHORT,
        "pageLength": SHORT,
        "layout": {"topStart": "search" if len(frame) > SHORT else None, "topEnd": None},
    }
    return frame, options


def _row(decision: FusionDecision) -> dict[str, Any]:
    cells = {
        "producer": decision.producer,
        "consumer": ", ".join(decision.consumers) or "none named",
        "verdict": decision.verdict.value,
        "reason": short_places(reason_of(decision)) or "no words",
        "unit": decision.cost_unit or "",
        "joined": _joined(decision),
        "source": ": ".join(filter(None, (decision.pass_name, decision.source))),
    }
    cut = {column: plain_text(text[:_LONGEST_CELL]) for column, text in cells.items()}
    return cut | {
        "step": decision.step,
        "unfused": decision.unfused_cost,
        "fused": decision.fused_cost,
        "gain": decision.gain,
    }


def _joined(decision: FusionDecision) -> str:
    """Return how surely a record is joined, and with what."""
    join = decision.join
    if join is None or not (join.producers or join.consumers):
        return joined_words(decision)
    sides = (", ".join(names[:3]) for names in (join.producers, join.consumers))
    return f"{joined_words(decision)}: {' → '.join(filter(None, sides))}"


def _definitions(columns: list[str]) -> list[dict[str, Any]]:
    share = 100 / sum(_WIDTHS[column] for column in columns)
    return [_definition(at, column, share) for at, column in enumerate(columns)]


def _definition(index: int, column: str, share: float) -> dict[str, Any]:
    definition: dict[str, Any] = {
        "targets": index,
        "width": f"{_WIDTHS[column] * share:.4g}%",
        "createdCell": _WHOLE_TEXT,
    }
    if column in _NUMBERS:
        # Our own constants only: nothing of the program's text becomes code.
        definition |= {"render": _NUMBER, "className": "dt-right"}
    return definition


# A cell that is cut by its column shows everything to the pointer.
_WHOLE_TEXT = JavascriptFunction("function (cell) { cell.title = cell.textContent; }")
# Costs have the compiler's own digits; what it did not give sorts below every loss.
_NUMBER = JavascriptFunction(
    "function (value, type) {"
    " const known = typeof value === 'number' && !Number.isNaN(value);"
    " if (type === 'sort' || type === 'type') return known ? value : -Infinity;"
    " const digits = { maximumSignificantDigits: 6 };"
    f" return known ? value.toLocaleString('en-US', digits) : '{_NOT_GIVEN}'; }}"
)
