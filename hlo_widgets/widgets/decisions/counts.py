"""How many records there are of each kind, and how many are shown, as plain data of their bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict
from hlo_widgets.graph.words import counted
from hlo_widgets.widgets.decisions.filter import ANY
from hlo_widgets.widgets.decisions.verdicts import short_places

__all__ = ["headline", "log_notes", "summary_of", "told_of"]

MOST_REASONS = 200
"""Reasons told; arbitrary, the most seen is 20. Names in a reason can make many of one."""

_PRICE_WORDS = {
    ANY: "any cost",
    "priced": "with a cost",
    "slower": "fused is slower",
    "faster": "fused is faster",
    "none": "without a cost",
}


def summary_of(log: DecisionLog) -> dict[str, Any]:
    """Return the counts of a log for the bar, its reasons in the order of `log.by_reason`."""
    reasons = log.by_reason
    shown = [(words, short_places(words), n) for words, n in reasons.items()][:MOST_REASONS]
    return {
        "headline": headline(log),
        "verdicts": [[verdict.value, count] for verdict, count in log.by_verdict.items()],
        "reasons": shown,
        "left_out": len(reasons) - len(shown),
        "prices": list(_PRICE_WORDS.items()),
        "unit": next((d.cost_unit for d in log.decisions if d.cost_unit), ""),
        "notes": log_notes(log),
    }


def headline(log: DecisionLog) -> str:
    """Return how many pairs were refused and producers ineligible: what the reasons count."""
    verdicts = log.by_verdict
    parts = [f"{verdicts.get(Verdict.REFUSED, 0):,} refused"]
    if Verdict.INELIGIBLE in verdicts:
        alone = counted(verdicts[Verdict.INELIGIBLE], "producer")
        parts.append(f"{alone} ineligible")
    return " and ".join(parts)


def log_notes(log: DecisionLog) -> list[str]:
    """Return what the reader should know of a log: its files, what was not joined or read."""
    files = ", ".join(source.name for source in log.sources)
    of_files = f" of {counted(len(log.sources), 'file')}: {files}" if files else ""
    notes = [counted(len(log), "record") + of_files]
    joined = ", ".join(f"{count:,} {exactness}" for exactness, count in log.by_exactness.items())
    notes.append(f"Joined with the final module: {joined}.")
    if log.repeated:
        notes.append(f"{counted(log.repeated, 'record')} that a second file repeats are left out.")
    if log.unread:
        kinds = ", ".join(f"{count:,} × “{start}”" for start, count in log.unread.items())
        unread = counted(sum(log.unread.values()), "record")
        notes.append(f"{unread} of an unknown kind, counted but not understood: {kinds}.")
    else:
        notes.append("No record of an unknown kind.")
    return [*notes, *log.notes]


def told_of(shown: int, passed: Sequence[FusionDecision], log: DecisionLog) -> str:
    """Return how many records a filter leaves and the table shows."""
    words = f"{len(passed):,} of {counted(len(log), 'record')}"
    if shown < len(passed):
        words += f"; the table holds the first {shown:,}: filter to see the others"
    return words
