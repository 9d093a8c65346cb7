"""Answers that a compiler's records hold about one edge."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.queue import QueuePlace, queue_place
from hlo_widgets.analysis.decisions.record import (
    Exactness,
    FusionDecision,
    Verdict,
    reason_words,
)
from hlo_widgets.analysis.decisions.tpu_log import MULTI_OUTPUT_PASS
from hlo_widgets.analysis.why.explanation import COMPILER, Evidence, Explanation, WhyKind
from hlo_widgets.analysis.words import cost_words

__all__ = ["Edge", "compiler_evidence", "price_of_edge", "records_of", "words_on_edge"]

# What the GPU compiler writes where it compared both times.
_PRICE = "slower if fused"
# Words with which compilers say that a fusion is not worth it, by a rule and not by a price.
_COST_WORDS = re.compile(r"not profitable|unprofitable|expensive")
_REFUSALS = (Verdict.REFUSED, Verdict.INELIGIBLE)
# Arbitrary: the same pair is looked at many times; the last words count.
_MOST_EVIDENCE = 6


@dataclass(frozen=True)
class Edge:
    """Two kernels by their final names, and the plumbing on the way from the first to the second.

    Attributes:
        producer: Name of the first.
        consumer: Name of the second.
        via: Names of the plumbing: a record may name a bitcast where the graph names what reads it.
    """

    producer: str
    consumer: str
    via: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, str]:
        """The two names."""
        return self.producer, self.consumer


def compiler_evidence(
    log: DecisionLog | None, edge: Edge, first: FusionDecision | None = None
) -> tuple[Evidence, ...]:
    """Quote what the compiler wrote about two kernels, the last words first.

    Args:
        log: Decisions joined with the module; None for none.
        edge: The two kernels.
        first: The decision to begin with, where one tells most.
    """
    if log is None:
        return ()
    told = records_of(log, edge)[::-1]
    quotes: dict[str, Evidence] = {}
    for decision in told if first is None else [first, *told]:
        text = _quote(decision)
        quotes.setdefault(text, Evidence(COMPILER, text, edge.names, decision))
    return tuple(quotes.values())[:_MOST_EVIDENCE]


def records_of(log: DecisionLog, edge: Edge) -> list[FusionDecision]:
    """Return the records about two kernels: the producer's own, the edge's, and as siblings.

    Args:
        log: Decisions joined with the module.
        edge: The two kernels.
    """
    return [*_alone(log, edge), *_on_edge(log, edge), *_siblings(log, edge)]


def price_of_edge(log: DecisionLog, edge: Edge) -> Explanation | None:
    """Explain an edge by the compiler's price for it; None where it is not known to be too high.

    Args:
        log: Decisions joined with the module.
        edge: The two kernels.
    """
    edges = _on_edge(log, edge)
    figure = next((d for d in reversed(edges) if d.gain is not None), None)
    slower = next((d for d in reversed(edges) if _PRICE in d.reason), None)
    gain, unit = (figure.gain, figure.cost_unit) if figure else (None, None)
    if figure is not None and gain is not None and gain < 0:
        told: FusionDecision = figure
        headline = f"The compiler expects one kernel to take {cost_words(-gain, unit)} longer."
    elif slower is not None:
        told = slower
        headline = f"The compiler expects one kernel to be slower: “{slower.reason_words}”."
    else:
        return None
    place = _place(log, figure) if figure else None
    if place is not None and place.rank is None:
        headline += (
            f" Its priority was negative, so it was not in the queue with {place.length} others."
        )
    evidence = compiler_evidence(log, edge, told)
    return Explanation(
        WhyKind.UNPROFITABLE,
        headline,
        *edge.names,
        evidence,
        edge.names,
        gain=gain,
        unit=unit,
        queue=place,
    )


def words_on_edge(log: DecisionLog, edge: Edge) -> Explanation | None:
    """Explain an edge by the words of a refusal; None where the record has none.

    The main fusion pass counts before the multi-output pass, and a record about the edge before
    one about the producer alone.

    Args:
        log: Decisions joined with the module.
        edge: The two kernels.
    """
    edges = [*_alone(log, edge), *_on_edge(log, edge)]
    refused = [d for d in edges if d.verdict in _REFUSALS and d.reason_words]
    if not refused:
        return None
    told = max(refused, key=_telling)
    evidence = compiler_evidence(log, edge, told)
    says = reason_words(next((t for t in _told(told) if _COST_WORDS.search(t)), told.reason_words))
    if _COST_WORDS.search(says):
        kind, what = WhyKind.UNPROFITABLE, "expects it to cost too much, and says"
    else:
        alone = told.verdict is Verdict.INELIGIBLE
        kind, what = WhyKind.BLOCKED, "refused it, and says" + " of the producer alone" * alone
    headline = f"The compiler {what}: “{says}”."
    return Explanation(kind, headline, *edge.names, evidence, edge.names)


def _told(decision: FusionDecision) -> tuple[str, ...]:
    return (decision.reason, *decision.remarks)


def _telling(decision: FusionDecision) -> tuple[bool, bool, bool, int]:
    """Rank a refusal: of the main pass, about the edge, about its cost, late."""
    in_main_pass = decision.pass_name != MULTI_OUTPUT_PASS
    of_cost = any(_COST_WORDS.search(text) for text in _told(decision))
    return (in_main_pass, bool(decision.consumers), of_cost, decision.step)


def _on_edge(log: DecisionLog, edge: Edge) -> list[FusionDecision]:
    """Return the records about the edge, in their order.

    A record whose producer ended in the consumer's kernel, too, is about the inside of that kernel.
    """
    starts, ends = {edge.producer, *edge.via}, {edge.consumer, *edge.via}
    return [
        d
        for d in log.decisions
        if d.join is not None
        and d.verdict not in (Verdict.FUSED, Verdict.INELIGIBLE)
        and not d.siblings
        and starts.intersection(d.join.producers)
        and ends.intersection(d.join.consumers)
        and edge.consumer not in d.join.producers
        and edge.producer not in d.join.consumers
        and not (d.join.exactness is Exactness.INEXACT and len(d.join.producers) > 1)
    ]


def _siblings(log: DecisionLog, edge: Edge) -> list[FusionDecision]:
    pairs = (edge.names, edge.names[::-1])
    return [
        d
        for d in log.decisions
        if d.siblings
        and d.join is not None
        and any(p in d.join.producers and c in d.join.consumers for p, c in pairs)
    ]


def _alone(log: DecisionLog, edge: Edge) -> list[FusionDecision]:
    """Return the last record about the producer alone: what held when the queue ended.

    A part that became the kernel is not the kernel: what was fused later does not count.
    """
    last: dict[str, FusionDecision] = {}
    gone: set[str] = set()
    for decision in log.decisions:
        if decision.join is not None and decision.join.producers == (edge.producer,):
            last[decision.producer] = decision
        if decision.verdict is Verdict.FUSED:
            gone |= {decision.producer, *decision.consumers} - {decision.fusion_name or ""}
    ends = [d for n, d in last.items() if n not in gone and d.verdict is Verdict.INELIGIBLE]
    return sorted(ends, key=lambda d: d.step)[-1:]


def _place(log: DecisionLog, figure: FusionDecision) -> QueuePlace | None:
    """Return the place in the queue; None on a TPU, whose log does not record the queue."""
    own = [d for d in log.decisions if d.source == figure.source]
    return queue_place(own, figure) if figure.cost_unit == "us" else None


def _quote(decision: FusionDecision) -> str:
    """Return the compiler's words with the names that they are about."""
    names = decision.producer
    if decision.consumers:
        names += (" and " if decision.siblings else " into ") + ", ".join(decision.consumers)
    parts = [decision.reason, *decision.remarks]
    if decision.unfused_cost is not None and decision.fused_cost is not None:
        costs = (decision.unfused_cost, decision.fused_cost)
        apart, as_one = (cost_words(cost, decision.cost_unit) for cost in costs)
        parts.insert(0, f"unfused {apart}, fused {as_one}")
    told = " | ".join(part for part in parts if part)
    return f"{names}: {told or 'looked at, no words'}"
