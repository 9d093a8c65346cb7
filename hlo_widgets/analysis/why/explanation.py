"""Explanation: an answer to "why are these two ops not one kernel?", with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hlo_widgets.analysis.decisions.queue import QueuePlace
from hlo_widgets.analysis.decisions.record import FusionDecision

__all__ = ["COMPILER", "INFERRED", "Evidence", "Explanation", "WhyKind"]

COMPILER, INFERRED = "compiler", "inferred"


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


@dataclass(frozen=True)
class Evidence:
    """One thing that speaks for an answer.

    Attributes:
        mark: "compiler" for the compiler's words, verbatim; "inferred" for what follows from the
            graph.
        text: The words.
        instructions: Names of the final instructions that it is about.
        decision: The record that the words stand in; None for what is inferred.
    """

    mark: str
    text: str
    instructions: tuple[str, ...] = ()
    decision: FusionDecision | None = None

    def __str__(self) -> str:
        return f"[{self.mark}] {self.text}"


@dataclass(frozen=True)
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

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the two that run the ops, or of the one that runs both."""
        return tuple(dict.fromkeys((self.producer, self.consumer)))

    def __str__(self) -> str:
        lines = [f"{self.producer} and {self.consumer}: {self.kind}. {self.headline}"]
        if self.needed_fusion:
            lines.append(f"  What would be needed: {self.needed_fusion}")
        return "\n".join([*lines, *(f"  {item}" for item in self.evidence)])
