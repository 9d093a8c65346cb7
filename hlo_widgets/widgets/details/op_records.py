"""What is on record about one op, each record a sentence, as plain data of the detail panel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hlo_widgets.analysis.decisions import FusionDecision, Verdict
from hlo_widgets.analysis.decisions.final_names import FinalNames
from hlo_widgets.widgets.decisions.verdicts import reason_of, told_first
from hlo_widgets.widgets.details.quoting import THIS_OP, Link, Part, Quoting, price_words

__all__ = ["describe_decisions"]

MOST_RECORDS = 30
"""Records listed of one op; arbitrary, the tab Decisions has all."""

_Told = dict[tuple[object, ...], list[FusionDecision]]


def describe_decisions(
    decisions: Iterable[FusionDecision],
    names: Iterable[str],
    link: Link,
    finals: FinalNames | None = None,
    body: str = "",
) -> dict[str, Any]:
    """Return the records about an op for the detail panel, refusals first, what repeats once.

    Args:
        decisions: The records.
        names: The names of the op: of a pair those of all its members.
        link: Makes a link of a name.
        finals: Knows what became of other names.
        body: The computation that the op stands in, where that is the body of a fusion: there a
            record is known by the op's name alone, and this is said. "" for an op that runs.
    """
    own = frozenset(names)
    told: _Told = {}
    for decision in sorted(decisions, key=lambda one: _first_read(one, own)):
        words = (reason_of(decision), price_words(decision))
        key = (decision.producer, decision.consumers, decision.verdict, *words)
        told.setdefault(key, []).append(decision)
    quoting = Quoting(link, finals, own, by_name=bool(body))
    shown = [_row(records, own, quoting) for records in list(told.values())[:MOST_RECORDS]]
    if body:
        for row in shown:
            row["joined"] = f"by name, in {body}"
    return {"shown": shown, "left_out": len(told) - len(shown)}


def _first_read(decision: FusionDecision, own: frozenset[str]) -> tuple[bool, bool, bool, int]:
    """Order for reading: refusals, those about another op too, those with words, the last."""
    refused, words, step = told_first(decision)
    join = decision.join
    is_inside = join is not None and own & {*join.producers} and own & {*join.consumers}
    return refused, bool(is_inside), words, step


def _row(records: list[FusionDecision], own: frozenset[str], quoting: Quoting) -> dict[str, Any]:
    decision = records[0]
    sentence, others = _sentence(decision, own, quoting)
    links = (one for part in others for one in (part, *part["now"]))
    return {
        "verdict": decision.verdict.value,
        "sentence": sentence,
        # With which op the user can ask about this one.
        "ask": next((one["id"] for one in links if one.get("id")), ""),
        **quoting.block(records),
    }


def _sentence(
    decision: FusionDecision, own: frozenset[str], quoting: Quoting
) -> tuple[list[Part], list[Part]]:
    """Return what a record says about an op, and the parts of it that are other ops."""
    producer, consumers = quoting.producer(decision), quoting.consumers(decision)
    others = [part for part in (producer, *consumers) if "now" in part and not _is_own(part)]
    if not decision.consumers:
        return [producer, _text(_ALONE.get(decision.verdict, " into an op without a name"))], others
    if decision.siblings:
        return [
            producer,
            _text(" and "),
            *consumers,
            _text(" as two results of one kernel"),
        ], others
    sentence = [producer, _text(" into "), *consumers]
    if decision.verdict is Verdict.CONSIDERED:
        sentence.append(_text("; the record does not say with what result"))
    made = decision.fusion_name
    known = (decision.producer, *decision.consumers, *own)
    if decision.verdict is Verdict.FUSED and made and made not in known:
        sentence.append(_text(f", as {made}"))
    return sentence, others


# A producer that is taken out of the queue goes into nothing that reads it.
_ALONE = {Verdict.INELIGIBLE: " as a producer, for whatever reads it"}


def _is_own(part: Part) -> bool:
    return part["text"] == THIS_OP or any(one["name"] == THIS_OP for one in part["now"])


def _text(text: str) -> Part:
    return {"text": text}
