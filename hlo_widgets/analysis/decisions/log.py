"""DecisionLog: all that was read from a compiler's records, and how much of them could not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from hlo_widgets.analysis.decisions.record import Exactness, FusionDecision, Verdict

if TYPE_CHECKING:
    from hlo_widgets.analysis.decisions.joining import Lineage
    from hlo_widgets.analysis.decisions.passes import PassRecord
    from hlo_widgets.hlo import HloModule

__all__ = ["DecisionLog", "DecisionSource", "QuotedFusion", "merge_sources"]


class QuotedFusion(NamedTuple):
    """A fusion as a source quotes it at one moment: it may be gone by the end of the pass.

    Attributes:
        text: Text of the instruction.
        body: Text of the computation that it calls.
    """

    text: str
    body: str


@dataclass(frozen=True)
class DecisionSource:
    """One file of records.

    Attributes:
        name: Name of the file.
        kind: "TPU fusion visualisation", "fusion visualisation page", "GPU priority fusion dump" or
            "TPU compiler log".
        decisions: What was read from it, in its order.
        records: How many records of each kind it holds, by the compiler's word for them, such as
            "About to fuse". A fusion may take two records.
        unread: How many records of a fusion pass could not be understood, by how they begin.
        texts: Instruction texts that the source quotes, by name: what older names stood for.
        fusions: What it quotes of fusions, by name.
        module_text: HLO text of the module before fusion, where the source carries it.
    """

    name: str
    kind: str
    decisions: tuple[FusionDecision, ...]
    records: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    fusions: Mapping[str, QuotedFusion] = field(default_factory=dict, repr=False)
    module_text: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class DecisionLog:
    """Fusion decisions of one or several sources.

    Attributes:
        decisions: All decisions, source by source. What two sources say alike is there once.
        sources: The files that were read.
        repeated: How many records a second source repeated.
        notes: What the reader should know, such as files that could not be read.
        passes: The passes that changed the module, in order, where modules were dumped around
            them.
        before: The module before the first of them.
        lineage: Where names lead in the final module; None before a join.
    """

    decisions: tuple[FusionDecision, ...] = ()
    sources: tuple[DecisionSource, ...] = ()
    repeated: int = 0
    notes: tuple[str, ...] = ()
    passes: tuple[PassRecord, ...] = field(default=(), repr=False)
    before: HloModule | None = field(default=None, repr=False, compare=False)
    lineage: Lineage | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.decisions)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {verdict}" for verdict, count in self.by_verdict.items())
        return f"<DecisionLog of {len(self):,} records{f': {counts}' if counts else ''}>"

    @property
    def unread(self) -> dict[str, int]:
        """How many records could not be understood, by how they begin, over all sources."""
        counts: Counter[str] = Counter()
        for source in self.sources:
            counts.update(source.unread)
        return dict(counts.most_common())

    @property
    def by_verdict(self) -> dict[Verdict, int]:
        """How many decisions there are of each verdict, most frequent first."""
        return dict(Counter(decision.verdict for decision in self.decisions).most_common())

    @property
    def by_reason(self) -> dict[str, int]:
        """How many refusals and ineligible producers there are by the compiler's words.

        Names of ops are taken out of the words, each to "…": what differs in names alone is one
        reason. `reason_examples` has the words as they were. A reason that is only a place in the
        compiler's source stands under that place.
        """
        return dict(Counter(d.reason_group for d in self._refusals()).most_common())

    @property
    def reason_examples(self) -> dict[str, str]:
        """The words of the first record of each reason, verbatim, by the keys of `by_reason`."""
        examples: dict[str, str] = {}
        for decision in self._refusals():
            examples.setdefault(decision.reason_group, decision.reason_words or decision.reason)
        return examples

    def _refusals(self) -> Iterator[FusionDecision]:
        refused = (Verdict.REFUSED, Verdict.INELIGIBLE)
        return (decision for decision in self.decisions if decision.verdict in refused)

    @property
    def by_exactness(self) -> dict[Exactness, int]:
        """How many decisions were joined with a final module, how surely; all 0 before a join."""
        counts = Counter(d.join.exactness for d in self.decisions if d.join is not None)
        return {exactness: counts[exactness] for exactness in Exactness}

    def about(self, name: str) -> tuple[FusionDecision, ...]:
        """Return the decisions that name an op, by its name then or by its final name."""
        return tuple(d for d in self.decisions if name in _names(d))

    def between(self, producer: str, consumer: str) -> tuple[FusionDecision, ...]:
        """Return the decisions about one edge, by names then or final names."""
        return tuple(
            d
            for d in self.decisions
            if producer in _sides(d)[0] and consumer in _sides(d)[1] and d.verdict != "ineligible"
        )


def _sides(decision: FusionDecision) -> tuple[set[str], set[str]]:
    producers, consumers = {decision.producer}, set(decision.consumers)
    if decision.join is not None:
        # Where the join was possible, the names of then may mean something else by now.
        if decision.join.producers:
            producers = set(decision.join.producers)
        if decision.join.consumers:
            consumers = set(decision.join.consumers)
    return producers, consumers


def _names(decision: FusionDecision) -> set[str]:
    producers, consumers = _sides(decision)
    return {decision.producer, *decision.consumers} | producers | consumers


def merge_sources(sources: list[DecisionSource], notes: tuple[str, ...] = ()) -> DecisionLog:
    """Put sources together, the most telling first, and drop what a later one repeats.

    Args:
        sources: The sources; of two records that agree, that of the earlier source is kept.
        notes: What the reader should know.
    """
    kept: list[FusionDecision] = []
    seen: Counter[tuple[object, ...]] = Counter()
    repeated = 0
    for source in sources:
        earlier, own = seen.copy(), Counter[tuple[object, ...]]()
        for decision in source.decisions:
            key = _key(decision)
            own[key] += 1
            if own[key] <= earlier[key]:
                repeated += 1
            else:
                kept.append(decision)
        seen |= own
    return DecisionLog(tuple(kept), tuple(sources), repeated, notes)


def _key(decision: FusionDecision) -> tuple[object, ...]:
    # A fused pair is the same event whatever is written beside it; a refusal is its reason.
    told = decision.reason if decision.verdict is not Verdict.FUSED else decision.fusion_name
    return (decision.module, decision.producer, decision.consumers, decision.verdict, told)
