"""An explanation as the plain data of the detail panel."""

from __future__ import annotations

from typing import Any

from hlo_widgets.analysis.decisions import Verdict
from hlo_widgets.analysis.decisions.final_names import FinalNames
from hlo_widgets.analysis.decisions.queue import QueuePlace
from hlo_widgets.analysis.why import Evidence, Explanation
from hlo_widgets.analysis.words import cost_words, counted, cut
from hlo_widgets.widgets.decisions.missing import NO_RECORD
from hlo_widgets.widgets.details.quoting import LONGEST_WORDS, Link, Quoting, gain_words

__all__ = ["describe_explanation"]

MOST_NAMES = 40
"""Links of one piece of evidence or connection; arbitrary, what a person reads."""


def describe_explanation(
    answer: Explanation, link: Link, finals: FinalNames | None, asked: tuple[str, str]
) -> dict[str, Any]:
    """Return an explanation for the detail panel, every value text or a list of links.

    Args:
        answer: The explanation.
        link: Makes a link of a name.
        finals: Knows what became of names in the record that it rests on; None for the graph alone.
        asked: The two names that were asked about, which may be inside of kernels.
    """
    quoting = Quoting(link, finals)
    told = set(answer.kernels)
    return {
        "ops": [link(name) for name in asked],
        "kernels": [link(name) for name in answer.kernels],
        "notes": list(answer.notes),
        "kind": answer.kind.value,
        "mark": answer.mark,
        "headline": answer.headline,
        "refusal": [cut(words, LONGEST_WORDS) for words in answer.refusal],
        "terms": quoting.terms((*answer.says, *answer.refusal)),
        "evidence": [_evidence(item, link, quoting, told) for item in answer.evidence],
        "connection": _links(answer.connection, link),
        "blockers": _links(answer.blockers, link),
        "facts": _facts(answer, quoting),
        "note": "" if finals is not None else NO_RECORD,
    }


def _facts(answer: Explanation, quoting: Quoting) -> list[tuple[str, str]]:
    facts = []
    if answer.gain is not None:
        words = f"unfused − fused = {cost_words(answer.gain, answer.unit)}"
        facts.append(("price", f"{words}: {gain_words(answer.gain, answer.unit)}"))
    if answer.queue is not None:
        facts.append(("queue", _queue_words(answer.queue, answer.unit, quoting)))
    if answer.needed_fusion is not None:
        facts.append(("needed", answer.needed_fusion))
    return facts


def _queue_words(place: QueuePlace, unit: str | None, quoting: Quoting) -> str:
    best = ""
    if place.highest is not None:
        name, priority = place.highest
        best = f"; the highest was {quoting.in_words(name)} at {cost_words(priority, unit)}"
    if place.rank is None:
        others = counted(place.length, "producer")
        return f"not queued, as its priority was negative; {others} were{best}"
    return f"place {place.rank:,} of {place.length:,}{best}"


def _evidence(item: Evidence, link: Link, quoting: Quoting, told: set[str]) -> dict[str, Any]:
    row = {
        "mark": item.mark,
        "text": cut(item.text, LONGEST_WORDS),
        "links": _links(tuple(name for name in item.instructions if name not in told), link),
    }
    if item.decision is None:
        return row
    sentence = quoting.sides(item.decision)
    if item.decision.verdict is Verdict.FUSED:
        sentence.insert(0, {"text": "fused "})
        if item.decision.fusion_name:
            sentence.append({"text": f", as {item.decision.fusion_name}"})
    return row | {"sentence": sentence, **quoting.block(item.records)}


def _links(names: tuple[str, ...], link: Link) -> list[dict[str, str]]:
    return [link(name) for name in names[:MOST_NAMES]]
