"""FusionDecision: one thing that a compiler wrote down about fusing one op into another."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hlo_widgets.analysis.decisions.reasons import reason_parts, without_names

__all__ = ["DecisionJoin", "Exactness", "FusionDecision", "Verdict"]


class Verdict(StrEnum):
    """What the record says was decided."""

    FUSED = "fused"
    """The producer was fused into the consumer."""
    REFUSED = "refused"
    """The pair was looked at and left apart."""
    INELIGIBLE = "ineligible"
    """The producer was taken out of the queue; the record names no consumer."""
    RANKED = "ranked"
    """The pair was given a cost and a priority; this alone decides nothing."""
    CONSIDERED = "considered"
    """The pair was looked at, and the record does not say with what result."""

    __repr__ = str.__repr__  # for people, who see it in counts and tables: 'refused'


class Exactness(StrEnum):
    """How surely the names of a decision were found in the final module."""

    EXACT = "exact"
    """By the name, through recorded fusions, or by who computes its value now."""
    INEXACT = "inexact"
    """By the op that a relabelling led to, or by a name of JAX's that several ops may share."""
    NOT_JOINED = "not joined"
    """One of the names, at least, leads to nothing in the final module."""

    __repr__ = str.__repr__


@dataclass(frozen=True)
class DecisionJoin:
    """Where the two sides of a decision are in a final module.

    Attributes:
        exactness: How surely, of the less sure side.
        producers: Names of the instructions that run what the producer computed; several where it
            was duplicated.
        consumers: The same for the consumer, or for all consumers that the record names.
    """

    exactness: Exactness
    producers: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()


@dataclass(frozen=True)
class FusionDecision:
    """One record of a compiler about fusing a producer into a consumer.

    Nothing in it is ours but `verdict` and `join`: what the compiler did not write is None or
    empty.

    Attributes:
        producer: Name of the op whose value is read, without `%`, as it was at that moment.
        consumer: Name of the op that reads it; None where the record names none, or several.
        verdict: What was decided.
        reason: The compiler's words, verbatim; empty where it gave none.
        remarks: What else the compiler wrote while it looked at the pair, verbatim.
        source: The file that the record stands in.
        pass_name: The pass, as far as the record names it.
        step: Position of the record in its source, from 0.
        consumers: All consumers that the record names; one where `consumer` is set.
        fusion_name: Name of the op that a fusion made or grew.
        unfused_cost: Estimated time when apart, in `cost_unit`.
        fused_cost: Estimated time as one, in `cost_unit`.
        cost_unit: "cycles" (TPU) or "us" (GPU, microseconds); None without costs.
        priority: What the compiler ranked by: `unfused_cost - fused_cost`, or its own figure.
        siblings: Whether both sides read one value and neither reads the other: then `producer` is
            the first and `consumer` the second.
        module: Name of the module, where the source names it.
        join: Where the two are in a final module; None before a join.
    """

    producer: str
    consumer: str | None
    verdict: Verdict
    reason: str = ""
    remarks: tuple[str, ...] = ()
    source: str = ""
    pass_name: str | None = None
    step: int = 0
    consumers: tuple[str, ...] = ()
    fusion_name: str | None = None
    unfused_cost: float | None = None
    fused_cost: float | None = None
    cost_unit: str | None = None
    priority: float | None = None
    siblings: bool = False
    module: str | None = None
    join: DecisionJoin | None = None

    @property
    def reason_parts(self) -> tuple[str, ...]:
        """The compiler's words without places in its source, one a thing that it says.

        Those of the reason, else of the remarks; () where it named only places, or nothing.
        """
        told = reason_parts(self.reason)
        return told or tuple(
            dict.fromkeys(part for remark in self.remarks for part in reason_parts(remark))
        )

    @property
    def reason_words(self) -> str:
        """The same in one line, joined by "; "."""
        return "; ".join(self.reason_parts)

    @property
    def reason_group(self) -> str:
        """The same without names of ops: what refusals are counted under.

        Where the compiler named only a place in its source, that place.
        """
        return without_names(self.reason_words or self.reason, (self.producer, *self.consumers))

    @property
    def gain(self) -> float | None:
        """`unfused_cost - fused_cost` in `cost_unit`; None where one of them is not known."""
        if self.unfused_cost is None or self.fused_cost is None:
            return None
        return self.unfused_cost - self.fused_cost

    def with_join(self, join: DecisionJoin) -> FusionDecision:
        """Return the same record with where its two sides are."""
        # As `replace` does, in a fifth of the time: a log has 100,000 of them.
        other = object.__new__(FusionDecision)
        other.__dict__.update(self.__dict__, join=join)
        return other
