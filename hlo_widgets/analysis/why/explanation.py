"""Explanation: an answer to "why are these two ops not one kernel?", with its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from hlo_widgets.analysis.decisions.queue import QueuePlace
from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict
from hlo_widgets.analysis.why.glossary import explained_terms
from hlo_widgets.analysis.why.quotes import place_words, quoted_words, sides_words

__all__ = [
    "COMPILER",
    "INFERRED",
    "NOT_KNOWN",
    "OURS",
    "Evidence",
    "Explanation",
    "WhyKind",
    "quotation",
]

COMPILER, INFERRED, NOT_KNOWN, OURS = "compiler", "inferred", "not known", "ours"
"""Whose words something is: the compiler's, verbatim; ours, of what follows from the graph;
nobody's; ours, of what a word of the compiler means."""


class WhyKind(StrEnum):
    """Why two ops are not one kernel."""

    STRUCTURAL = "structural"
    """The program's shape: no producer-consumer edge, or one pass cannot hold both."""
    UNPROFITABLE = "unprofitable"
    """The compiler weighed it and expects one kernel to cost more."""
    BLOCKED = "blocked"
    """Something that no fusion can hold is between them or is one of them, or a rule forbids it."""
    FUSED = "fused already"
    """They are one kernel."""
    NOT_KNOWN = "not known"
    """Neither the graph nor the record holds a cause."""

    __repr__ = str.__repr__


@dataclass(frozen=True)
class Evidence:
    """One thing that speaks for an answer.

    Attributes:
        mark: "compiler" for the compiler's words, verbatim; "inferred" for what follows from the
            graph.
        text: The words; of the compiler all of them, with the places in its source.
        instructions: Names of the final instructions that it is about.
        decision: The record that the words stand in; None for what is inferred.
        repeated: Other records that say the same of the same two, but for places in the source.
    """

    mark: str
    text: str
    instructions: tuple[str, ...] = ()
    decision: FusionDecision | None = field(default=None, repr=False)
    repeated: tuple[FusionDecision, ...] = field(default=(), repr=False)

    @property
    def records(self) -> tuple[FusionDecision, ...]:
        """All records that say so."""
        return () if self.decision is None else (self.decision, *self.repeated)

    def __str__(self) -> str:
        if self.decision is None or self.decision.verdict is Verdict.FUSED:
            return f"[{self.mark}] {self.text}"
        told = quoted_words(self.decision) or ("no words",)
        words = f"[{self.mark}] {sides_words(self.decision)}: {' | '.join(told)}"
        rest = place_words(self.records)
        return f"{words}\n    {rest}" if rest else words


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why two ops are, or are not, one kernel.

    Attributes:
        kind: The kind of reason.
        headline: The answer in a sentence, for people; built from the evidence.
        producer: Name of the instruction that runs the first op on the way of the data.
        consumer: Name of the instruction that runs the other.
        evidence: What speaks for it, the most telling first.
        connection: Names on the shortest way of data from one to the other, both included; empty
            where there is none.
        blockers: Names of what stands between them and cannot be fused.
        needed_fusion: What kind of pass would have to put them together; None where the answer does
            not call for one.
        gain: `time_unfused - time_fused` in `unit` as the compiler estimated it; negative where
            one kernel would be slower. None without a figure.
        unit: "cycles" or "us" (microseconds); None without a figure.
        queue: Where the producer stood in the queue; None where the record does not tell.
        says: The compiler's words that the headline quotes, verbatim; () where it quotes none.
        notes: What the names that were asked for stand for, where they are not the kernels' own.
    """

    kind: WhyKind
    headline: str
    producer: str
    consumer: str
    evidence: tuple[Evidence, ...] = ()
    connection: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    needed_fusion: str | None = None
    gain: float | None = None
    unit: str | None = None
    queue: QueuePlace | None = None
    says: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the two that run the ops, or of the one that runs both."""
        return tuple(dict.fromkeys((self.producer, self.consumer)))

    @property
    def mark(self) -> str:
        """Whose the headline is: "compiler", "inferred" or "not known"."""
        if self.kind is WhyKind.NOT_KNOWN:
            return NOT_KNOWN
        return self.evidence[0].mark if self.evidence else INFERRED

    @property
    def refusal(self) -> tuple[str, ...]:
        """The compiler's words against this pair where the headline is inferred, verbatim.

        Those of the most telling record; () where none has words.
        """
        if self.mark != INFERRED or self.kind is WhyKind.FUSED:
            return ()
        refused = (
            item.decision
            for item in self.evidence
            if item.decision is not None and item.decision.verdict is Verdict.REFUSED
        )
        return next((one.reason_parts for one in refused if one.reason_parts), ())

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{' and '.join(self.kernels)}: {self.kind}. {self.headline}"
        yield from (f"  {note}" for note in self.notes)
        if self.kind not in (WhyKind.FUSED, WhyKind.NOT_KNOWN):
            yield f"  This is {_WHOSE[self.mark]}."
        if self.refusal:
            yield f"  The compiler refused it, too: {quotation(self.refusal)}."
        if self.needed_fusion:
            yield f"  What would be needed: {self.needed_fusion}"
        yield from (f"  {item}" for item in self.evidence)
        yield from (f"  [{OURS}] {term}" for term in explained_terms(self._quotes()))

    def _quotes(self) -> Iterator[str]:
        for item in self.evidence:
            if item.decision is not None:
                yield from quoted_words(item.decision)


_WHOSE = {
    COMPILER: "from the compiler's record",
    INFERRED: "inferred from the graph, not the compiler's words",
}


def quotation(parts: tuple[str, ...]) -> str:
    """Return words in quotation marks: `“one” and “two”`."""
    return " and ".join(f"“{part}”" for part in parts)
