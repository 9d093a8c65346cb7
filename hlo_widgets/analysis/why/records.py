"""Answers that a compiler's records hold about one edge."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.queue import QueuePlace, queue_place
from hlo_widgets.analysis.decisions.reasons import reason_parts
from hlo_widgets.analysis.decisions.record import (
    Exactness,
    FusionDecision,
    Verdict,
)
from hlo_widgets.analysis.decisions.tpu_log import MULTI_OUTPUT_PASS
from hlo_widgets.analysis.why.explanation import (
    COMPILER,
    Evidence,
    Explanation,
    WhyKind,
    quotation,
)
from hlo_widgets.analysis.why.quotes import quoted_words, verbatim_words
from hlo_widgets.analysis.words import cost_words, counted

__all__ = [
    "Edge",
    "compiler_evidence",
    "price_of_edge",
    "records_of",
    "refusal_words",
    "words_on_edge",
]

# What the GPU compiler writes where it compared both times.
_PRICE = "slower if fused"
# Words with which compilers say that a fusion is not worth it, by a rule and not by a price.
_COST_WORDS = re.compile(r"not profitable|unprofitable|expensive")
_REFUSALS = (Verdict.REFUSED, Verdict.INELIGIBLE)
# Arbitrary: the same pair is looked at many times, mostly with the same words.
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
    """Quote what the compiler wrote about two kernels, the most telling first.

    Records that say the same, but for places in the compiler's source, are one piece of evidence.

    Args:
        log: Decisions joined with the module; None for none.
        edge: The two kernels.
        first: The decision to begin with, where one tells most.
    """
    if log is None:
        return ()
    told = sorted(records_of(log, edge), key=_telling, reverse=True)
    said: dict[tuple[object, ...], list[FusionDecision]] = {}
    for decision in told if first is None else [first, *told]:
        words = quoted_words(decision)
        key = (decision.producer, decision.consumers, decision.siblings, words)
        said.setdefault(key, []).append(decision)
    quotes = (list({id(one): one for one in same}.values()) for same in said.values())
    return tuple(
        Evidence(COMPILER, _quote(one), edge.names, one, tuple(more)) for one, *more in quotes
    )[:_MOST_EVIDENCE]


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
        longer = f"to take {cost_words(-gain, unit)} longer"
        headline = f"The compiler expects one kernel {longer}."
        if len(figure.consumers) > 1:
            # A queue prices a producer with all that read it, or with those that are new.
            headline = (
                f"The compiler expects it {longer} to put {figure.producer} into"
                f" {counted(len(figure.consumers), 'op')} that read it, each of them:"
                f" {' and '.join(edge.names)} alone have no price."
            )
    elif slower is not None:
        told = slower
        headline = (
            f"The compiler expects one kernel to be slower: {quotation(slower.reason_parts)}."
        )
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
        says=() if gain is not None and gain < 0 else told.reason_parts,
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
    of_cost = next((text for text in _told(told) if _COST_WORDS.search(text)), None)
    says = told.reason_parts if of_cost is None else reason_parts(of_cost)
    if any(_COST_WORDS.search(part) for part in says):
        kind, what = WhyKind.UNPROFITABLE, "expects it to cost too much, and says"
    else:
        alone = told.verdict is Verdict.INELIGIBLE
        kind, what = WhyKind.BLOCKED, "refused it, and says" + " of the producer alone" * alone
    headline = f"The compiler {what}: {quotation(says)}."
    return Explanation(kind, headline, *edge.names, evidence, edge.names, says=says)


def refusal_words(records: Iterable[FusionDecision]) -> tuple[str, ...]:
    """Return the compiler's words of the most telling refusal that has some; () for none."""
    refused = [d for d in records if d.verdict is Verdict.REFUSED and d.reason_parts]
    return max(refused, key=_telling).reason_parts if refused else ()


def _told(decision: FusionDecision) -> tuple[str, ...]:
    return (decision.reason, *decision.remarks)


def _telling(decision: FusionDecision) -> tuple[bool, bool, bool, bool, int]:
    """Rank a record: of the main pass, about the edge, in words, about its cost, late."""
    in_main_pass = decision.pass_name != MULTI_OUTPUT_PASS
    of_cost = any(_COST_WORDS.search(text) for text in _told(decision))
    has_words = bool(decision.reason_parts)
    return (in_main_pass, bool(decision.consumers), has_words, of_cost, decision.step)


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
    """Return the compiler's words, verbatim, with the names that they are about."""
    names = decision.producer
    if decision.consumers:
        names += (" and " if decision.siblings else " into ") + ", ".join(decision.consumers)
    return f"{names}: {verbatim_words(decision) or 'looked at, no words'}"
