"""The records of a decision log as a table for the eye."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from itables.widget import ITable

from hlo_widgets.analysis.decisions import FusionDecision
from hlo_widgets.analysis.words import cut
from hlo_widgets.widgets.data_table import Column, data_table, table_options
from hlo_widgets.widgets.decisions.verdicts import joined_words, reason_of, short_places
from hlo_widgets.widgets.plain import plain_text

__all__ = ["MOST_RECORDS", "decision_frame", "decision_options", "decision_view"]

MOST_RECORDS = 2_000
"""Rows sent to the browser; arbitrary, a table of that size opens within a second."""

LONGEST_CELL = 300
"""Characters of a cell; arbitrary, the explanation of a pair has all."""

_NOT_GIVEN = "\u2013"
_COSTS = ("gain", "unfused", "fused", "unit")
_COLUMNS = {
    "step": Column(5, _NOT_GIVEN),
    "producer": Column(11),
    "consumer": Column(11),
    "verdict": Column(8.5),
    "reason": Column(20),
    "gain": Column(7.5, _NOT_GIVEN),
    "unfused": Column(8, _NOT_GIVEN, is_folded=True),
    "fused": Column(7.5, _NOT_GIVEN, is_folded=True),
    "unit": Column(6, is_folded=True),
    "joined": Column(13, is_folded=True),
    "source": Column(8, is_folded=True),
}


def decision_frame(decisions: Iterable[FusionDecision]) -> pd.DataFrame:
    """Return one row a record, in their order; numbers as floats, NaN where not given.

    The columns of costs are there only where a record has one.
    """
    rows = [_row(decision) for decision in decisions]
    columns = list(_COLUMNS)
    if all(row["gain"] is None for row in rows):
        columns = [column for column in columns if column not in _COSTS]
    frame = pd.DataFrame(rows, columns=columns)
    for column in (name for name in columns if _COLUMNS[name].missing is not None):
        frame[column] = frame[column].astype("float64")
    return frame


def decision_view(decisions: Sequence[FusionDecision]) -> ITable:
    """Return the table widget of records, at most `MOST_RECORDS`."""
    return data_table(*decision_options(decisions))


def decision_options(decisions: Sequence[FusionDecision]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return what the widget shows of records, and the options that depend on them."""
    frame = decision_frame(decisions)
    return frame, table_options(frame, _COLUMNS)


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
    texts = {column: plain_text(cut(text, LONGEST_CELL)) for column, text in cells.items()}
    return texts | {
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
