"""How many records there are of each kind, and how many are shown, as plain data of their bar."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict
from hlo_widgets.analysis.why import explained_terms
from hlo_widgets.analysis.words import counted, cut
from hlo_widgets.widgets.decisions.filter import ANY
from hlo_widgets.widgets.decisions.verdicts import short_places

__all__ = ["headline", "log_notes", "summary_of", "told_of"]

MOST_REASONS = 200
"""Reasons told; arbitrary, the most seen is 20."""

LONGEST_EXAMPLE = 4_000
"""Characters of an example; arbitrary, far more than compilers write."""

_VERDICTS = {
    Verdict.FUSED: "the producer went into the consumer",
    Verdict.REFUSED: "the two were looked at and left apart",
    Verdict.INELIGIBLE: "the producer was taken out of the queue; the record names no consumer",
    Verdict.RANKED: "the pair was given a cost, which alone decides nothing",
    Verdict.CONSIDERED: "the two were looked at; the record does not say with what result",
}

_PRICE_WORDS = {
    ANY: "any cost",
    "priced": "with a cost",
    "slower": "fused is slower",
    "faster": "fused is faster",
    "none": "without a cost",
}


def summary_of(log: DecisionLog) -> dict[str, Any]:
    """Return the counts of a log for the bar.

    Returns:
        Among others `reasons`, in the order of `log.by_reason`: the words without names of ops, the
        same without folders, how often, and an example as it was; and `terms`, what words of the
        verdicts and reasons mean, in ours.
    """
    reasons, examples = log.by_reason, log.reason_examples
    shown = [
        (words, short_places(words), count, cut(examples[words], LONGEST_EXAMPLE))
        for words, count in itertools.islice(reasons.items(), MOST_REASONS)
    ]
    verdicts = log.by_verdict
    return {
        "headline": headline(log),
        "verdicts": [[verdict.value, count] for verdict, count in verdicts.items()],
        "reasons": shown,
        "terms": [
            *((verdict.value, _VERDICTS[verdict]) for verdict in verdicts),
            *((term.word, term.meaning) for term in explained_terms((*reasons, *log.unread))),
        ],
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
