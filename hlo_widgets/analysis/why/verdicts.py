"""What stands on record about every pair of kernels, at hand for a whole picture."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from hlo_widgets.analysis.async_pairs import done_of, pair_members
from hlo_widgets.analysis.connections import Reach, shortest_connection
from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.reasons import without_names
from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict
from hlo_widgets.analysis.execution import executed_computations
from hlo_widgets.analysis.why.answer import explain_pair
from hlo_widgets.analysis.why.explanation import (
    COMPILER,
    INFERRED,
    NOT_KNOWN,
    Explanation,
    WhyKind,
    quotation,
)
from hlo_widgets.analysis.why.record_index import RecordIndex
from hlo_widgets.analysis.why.records import Edge, records_of, refusal_words
from hlo_widgets.analysis.words import cost_words
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["PairVerdict", "PairVerdicts"]

# Arbitrary: a record about an op that lives on in so many kernels says little of any two of them.
_MOST_PAIRS = 64


@dataclass(frozen=True)
class PairVerdict:
    """Why two kernels stayed apart, in a few words.

    Attributes:
        producer: Name of the one whose value is read, or of the first of two siblings.
        consumer: Name of the other.
        kind: The kind of reason.
        words: The reason in short: the compiler's words or its price, else what the graph tells. Of
            several things that the compiler says the first, and how many more; names of ops, which
            the two are, are left out of it.
        whole: The same in full, and whose words it is.
        mark: "compiler", "inferred" or "not known": whose the words are.
        gain: `time_unfused - time_fused` in `unit`; None without a figure.
        unit: "cycles" or "us"; None without a figure.
        decisions: The records about the two, in the order of the log.
    """

    producer: str
    consumer: str
    kind: WhyKind
    words: str
    whole: str
    mark: str
    gain: float | None = None
    unit: str | None = None
    decisions: tuple[FusionDecision, ...] = field(default=(), repr=False)


class PairVerdicts:
    """The verdicts on the kernels of one module, each made when it is first asked for.

    Args:
        module: The module.
        log: Decisions joined with it.
    """

    def __init__(self, module: HloModule, log: DecisionLog) -> None:
        self.module = module
        self.log = log
        self._kept: dict[tuple[HloInstruction, HloInstruction], PairVerdict | None] = {}
        self._reaches: dict[HloComputation, Reach] = {}

    def kernel(self, op: HloInstruction) -> HloInstruction:
        """Return the instruction that runs an op; of a pair the done."""
        for _ in self.module.computations:
            if op.parent in self._running or not op.parent.callers:
                break
            op = op.parent.callers[0]
        return done_of(op) or op

    def of(self, first: HloInstruction, second: HloInstruction) -> PairVerdict | None:
        """Return the verdict on two kernels; None where no record is about them.

        Args:
            first: An instruction that runs, as `kernel` gives it.
            second: Another one, which may read the first.
        """
        key = (first, second)
        if key not in self._kept:
            self._kept[key] = None if first is second else self._verdict(first, second)
        return self._kept[key]

    def are_connected(self, first: HloInstruction, second: HloInstruction) -> bool:
        """Return whether data of one of two instructions gets to the other."""
        return self._leads(first, second) or self._leads(second, first)

    def about(self, names: Iterable[str]) -> list[FusionDecision]:
        """Return the records about kernels of these final names, in the order of the log."""
        return self._index.about(names)

    def refused_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the final names of all pairs that a record refuses, as producer and consumer."""
        seen: set[tuple[str, str]] = set()
        for decision in self.log.decisions:
            join = decision.join
            if decision.verdict is not Verdict.REFUSED or join is None:
                continue
            if len(join.producers) * len(join.consumers) > _MOST_PAIRS:
                continue
            # Where both sides ended in one kernel, the record is about its inside.
            producers = [name for name in join.producers if name not in join.consumers]
            consumers = [name for name in join.consumers if name not in join.producers]
            for pair in itertools.product(producers, consumers):
                if pair not in seen and pair[::-1] not in seen:
                    seen.add(pair)
                    yield pair

    @cached_property
    def _running(self) -> frozenset[object]:
        return frozenset(executed.computation for executed in executed_computations(self.module))

    @cached_property
    def _index(self) -> RecordIndex:
        return RecordIndex(self.log)

    def _leads(self, start: HloInstruction, end: HloInstruction) -> bool:
        if start.parent not in self._reaches:
            self._reaches[start.parent] = Reach(start.parent)
        return self._reaches[start.parent].leads(start, end)

    def _verdict(self, first: HloInstruction, second: HloInstruction) -> PairVerdict | None:
        # Asked first: to find that there is no way, every way has to be gone.
        way = (self._leads(first, second) and shortest_connection(first, second)) or ()
        if way and any(self._is_kernel(op) for op in way[1:-1]):
            way = ()
        # A record may name the start of a pair, or the plumbing in between.
        own = [op.name for op in pair_members(first)]
        others = [op.name for op in (*pair_members(second), *way[1:-1])]
        via = (*own, *others)
        some = replace(
            self.log, decisions=tuple(self._index.between((first.name, second.name), via))
        )
        records = records_of(some, Edge(first.name, second.name, tuple(dict.fromkeys(via))))
        if not records:
            return None
        answer = explain_pair(first, second, some)
        # By the object: to compare records field by field takes seconds where there are hundreds.
        order = {id(decision): place for place, decision in enumerate(some.decisions)}
        records.sort(key=lambda decision: order[id(decision)])
        return _in_short(answer, tuple(records))

    def _is_kernel(self, op: HloInstruction) -> bool:
        return op.opcode not in opcodes.RELABELS


def _in_short(answer: Explanation, records: tuple[FusionDecision, ...]) -> PairVerdict:
    words, whole, mark = _words(answer, records)
    return PairVerdict(
        answer.producer,
        answer.consumer,
        answer.kind,
        words,
        whole,
        mark,
        answer.gain,
        answer.unit,
        records,
    )


def _words(answer: Explanation, records: tuple[FusionDecision, ...]) -> tuple[str, str, str]:
    """Return the reason in short, in full, and whose words it is."""
    if answer.gain is not None and answer.gain < 0:
        words = f"fused it takes {cost_words(-answer.gain, answer.unit)} longer"
        return words, f"{words}, by the compiler's estimate", COMPILER
    says = answer.says
    if not says and not answer.connection and answer.kind is not WhyKind.NOT_KNOWN:
        siblings = (d.reason_parts for d in reversed(records) if d.siblings)
        says = next((parts for parts in siblings if parts), ())
    if says:
        return _shortened(says), f"the compiler says {quotation(says)}", COMPILER
    if answer.kind is not WhyKind.NOT_KNOWN:
        headline = answer.headline.rstrip(".")
        words, whole = headline.partition(":")[0], f"inferred from the graph: {headline}"
        if refused := refusal_words(records):
            words += " (the compiler refused, too)"
            whole += f". The compiler refused it, too: {quotation(refused)}"
        return words, whole, INFERRED
    words = "looked at, nothing decided"
    if any(d.verdict is Verdict.REFUSED for d in records):
        words = "refused, no words given"
    return words, words, NOT_KNOWN


def _shortened(says: tuple[str, ...]) -> str:
    """Return the first of several reasons without names of ops, and how many more there are."""
    more = f" (+{len(says) - 1} more)" if len(says) > 1 else ""
    return without_names(says[0]) + more
