"""A record as it is quoted: who it is about, the compiler's words, and the places in its source."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hlo_widgets.analysis.decisions.reasons import reason_parts
from hlo_widgets.analysis.decisions.record import DecisionJoin, Exactness, FusionDecision
from hlo_widgets.analysis.words import cost_words, counted

__all__ = ["final_words", "place_words", "quoted_words", "sides_words", "verbatim_words"]

_PLACE = re.compile(r"\bat: (?:\S*/)?(\S+:\d+)")

MOST_FINAL = 3
"""Final names that are told of one earlier name; arbitrary."""

MOST_PLACES = 4
"""Places in the compiler's source that a line tells; arbitrary."""


def quoted_words(decision: FusionDecision) -> tuple[str, ...]:
    """Return the costs and words of a record, without places in the source; () for none."""
    parts = [part for text in (decision.reason, *decision.remarks) for part in reason_parts(text)]
    return (*_costs(decision), *dict.fromkeys(parts))


def verbatim_words(decision: FusionDecision) -> str:
    """Return all that the compiler wrote in a record, places in its source too; "" for nothing."""
    told = (*_costs(decision), decision.reason, *decision.remarks)
    return " | ".join(part for part in told if part)


def sides_words(decision: FusionDecision) -> str:
    """Return who a record is about, with what runs them now: "fusion.10 (now in x) into y"."""
    join = decision.join
    told = _named((decision.producer,), join, join.producers if join else ())
    if decision.consumers:
        told += " and " if decision.siblings else " into "
        told += _named(decision.consumers, join, join.consumers if join else ())
    return told


def final_words(names: tuple[str, ...], join: DecisionJoin | None, final: tuple[str, ...]) -> str:
    """Return where the final module runs what names of the record stood for.

    Args:
        names: The names.
        join: How surely the final names were found; None where nobody looked.
        final: The final names.

    Returns:
        "" where it still has these names, or nobody looked.
    """
    if join is None or set(final) == set(names):
        return ""
    if not final:
        return "not found in the final module"
    # Of one name all that run what it computed are told; of several, which ones are new.
    changed = [name for name in final if len(names) == 1 or name not in names]
    if not changed:
        return ""
    # Of a record of which one side is found nowhere, nothing tells how surely the other one is.
    sure = ", joined inexactly" if join.exactness is Exactness.INEXACT else ""
    more = f" and {len(changed) - MOST_FINAL} more" if len(changed) > MOST_FINAL else ""
    return f"now in {', '.join(changed[:MOST_FINAL])}{more}{sure}"


def place_words(decisions: Iterable[FusionDecision]) -> str:
    """Return how many records there are, and where in its source the compiler said it."""
    told = list(decisions)
    found = {
        place: None
        for one in told
        for text in (one.reason, *one.remarks)
        for place in _PLACE.findall(text)
    }
    places = list(found)
    left_out = len(places) - MOST_PLACES
    more = f" and {left_out} more" if left_out > 0 else ""
    at = f"in its source: {', '.join(places[:MOST_PLACES])}{more}" if places else ""
    times = counted(len(told), "record") if len(told) > 1 else ""
    return "; ".join(filter(None, (times, at)))


def _named(names: tuple[str, ...], join: DecisionJoin | None, final: tuple[str, ...]) -> str:
    words = final_words(names, join, final)
    return ", ".join(names) + (f" ({words})" if words else "")


def _costs(decision: FusionDecision) -> tuple[str, ...]:
    apart, as_one = decision.unfused_cost, decision.fused_cost
    if apart is None or as_one is None:
        return ()
    unit = decision.cost_unit
    return (f"unfused {cost_words(apart, unit)}, fused {cost_words(as_one, unit)}",)
