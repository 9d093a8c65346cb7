"""An explanation and the records about an op, as the plain data of the detail panel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision
from hlo_widgets.analysis.decisions.queue import QueuePlace
from hlo_widgets.analysis.why import Evidence, Explanation
from hlo_widgets.analysis.words import cost_words, counted, cut
from hlo_widgets.widgets.decisions.missing import NO_RECORD
from hlo_widgets.widgets.decisions.verdicts import joined_words, reason_of, told_first

__all__ = [
    "Link",
    "describe_decisions",
    "describe_explanation",
    "gain_words",
    "price_words",
]

Link = Callable[[str], dict[str, str]]
"""From the name of a final instruction to its link: id ("" where none leads there), name, about."""

MOST_NAMES = 40
"""Links of one piece of evidence or connection; arbitrary, what a person reads."""

MOST_RECORDS = 30
"""Records listed of one op; arbitrary, the tab Decisions has all."""

LONGEST_WORDS = 4_000
"""Characters of one piece of evidence; arbitrary, far more than compilers write."""


def describe_explanation(
    answer: Explanation, link: Link, log: DecisionLog | None, asked: tuple[str, str]
) -> dict[str, Any]:
    """Return an explanation for the detail panel, every value text or a list of links.

    Args:
        answer: The explanation.
        link: Makes a link of a name.
        log: The decisions that it rests on; None for the graph alone.
        asked: The two names that were asked about, which may be inside of kernels.
    """
    return {
        "ops": [link(name) for name in asked],
        "kernels": [link(name) for name in answer.kernels],
        "kind": answer.kind.value,
        "headline": answer.headline,
        "evidence": [_evidence(item, link, set(answer.kernels)) for item in answer.evidence],
        "connection": _links(answer.connection, link),
        "blockers": _links(answer.blockers, link),
        "facts": _facts(answer),
        "note": "" if log is not None else NO_RECORD,
    }


def describe_decisions(
    decisions: Iterable[FusionDecision], names: Iterable[str], link: Link, body: str = ""
) -> dict[str, Any]:
    """Return the records about an op for the detail panel, refusals first, what repeats once.

    Args:
        decisions: The records.
        names: The names of the op: of a pair those of all its members.
        link: Makes a link of a name.
        body: The computation that the op stands in, where that is the body of a fusion: there a
            record is known by the op's name alone, and this is said. "" for an op that runs.
    """
    own = frozenset(names)
    told: dict[tuple[object, ...], dict[str, Any]] = {}
    for decision in sorted(decisions, key=told_first):
        words = (reason_of(decision), price_words(decision))
        key = (decision.producer, decision.consumers, decision.verdict, *words)
        if key in told:
            told[key]["times"] += 1
        else:
            told[key] = _record(decision, own, link)
            if body:
                told[key]["joined"] = f"by name, in {body}"
    shown = list(told.values())[:MOST_RECORDS]
    return {"shown": shown, "left_out": len(told) - len(shown)}


def price_words(decision: FusionDecision) -> str:
    """Return what a record says of the cost; "" where it gives none."""
    apart, as_one, unit = decision.unfused_cost, decision.fused_cost, decision.cost_unit
    if apart is None or as_one is None:
        return ""
    costs = f"unfused {cost_words(apart, unit)}, fused {cost_words(as_one, unit)}"
    return f"{costs}: {gain_words(apart - as_one, unit)}"


def gain_words(gain: float, unit: str | None) -> str:
    """Return a difference of costs in words."""
    if gain == 0:
        return "the same"
    return f"fused {cost_words(abs(gain), unit)} {'faster' if gain > 0 else 'slower'}"


def _record(decision: FusionDecision, own: frozenset[str], link: Link) -> dict[str, Any]:
    join = decision.join
    producers, consumers = (join.producers, join.consumers) if join else ((), ())
    as_producer = bool(own & {decision.producer, *producers})
    others = [name for name in (consumers if as_producer else producers) if name not in own]
    inside = as_producer and bool(own & set(consumers))
    if decision.siblings:
        role, other = "beside", decision.consumer if as_producer else decision.producer
    elif as_producer and not inside:
        role, other = "into", ", ".join(decision.consumers)
    else:
        role, other = "takes in", decision.producer
    if inside:
        role, other, others = "inside", f"{decision.producer} into {decision.consumer}", []
    if not other:
        role, other = "of it alone", ""
    return {
        "verdict": decision.verdict.value,
        "role": role,
        "other": cut(other, LONGEST_WORDS),
        "links": _links(tuple(others[:3]), link),
        "words": cut(reason_of(decision), LONGEST_WORDS),
        "price": price_words(decision),
        "joined": joined_words(decision),
        "times": 1,
        "ask": link(others[0])["id"] if others else "",
    }


def _facts(answer: Explanation) -> list[tuple[str, str]]:
    facts = []
    if answer.gain is not None:
        words = f"unfused − fused = {cost_words(answer.gain, answer.unit)}"
        facts.append(("price", f"{words}: {gain_words(answer.gain, answer.unit)}"))
    if answer.queue is not None:
        facts.append(("queue", _queue_words(answer.queue, answer.unit)))
    if answer.needed_fusion is not None:
        facts.append(("needed", answer.needed_fusion))
    return facts


def _queue_words(place: QueuePlace, unit: str | None) -> str:
    best = ""
    if place.highest is not None:
        best = f"; the highest was {place.highest[0]} at {cost_words(place.highest[1], unit)}"
    if place.rank is None:
        others = counted(place.length, "producer")
        return f"not queued, as its priority was negative; {others} were{best}"
    return f"place {place.rank:,} of {place.length:,}{best}"


def _evidence(item: Evidence, link: Link, told: set[str]) -> dict[str, Any]:
    source = ""
    if item.decision is not None:
        source = f"{item.decision.source}, record {item.decision.step:,}"
        if item.decision.pass_name:
            source = f"{item.decision.pass_name}; {source}"
        source += f"; joined: {joined_words(item.decision)}"
    return {
        "mark": item.mark,
        "text": cut(item.text, LONGEST_WORDS),
        "source": source,
        "links": _links(tuple(name for name in item.instructions if name not in told), link),
    }


def _links(names: tuple[str, ...], link: Link) -> list[dict[str, str]]:
    return [link(name) for name in names[:MOST_NAMES]]
