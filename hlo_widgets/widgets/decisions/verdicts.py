"""What is known of why the kernels of what is shown stayed apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hlo_widgets.analysis import pair_members
from hlo_widgets.analysis.decisions import (
    DecisionLog,
    Exactness,
    FusionDecision,
    Verdict,
    joined,
)
from hlo_widgets.analysis.decisions.final_names import FinalNames
from hlo_widgets.analysis.why import Explanation, PairVerdicts, why_not_fused
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["Verdicts", "joined_with", "joined_words", "reason_of", "short_places", "told_first"]

_WORD = re.compile(r"\S+")
_PLACE = re.compile(r"[^/]{1,200}?:\d+")


def reason_of(decision: FusionDecision) -> str:
    """Return the words that a record is counted under: those of `DecisionLog.by_reason`."""
    return decision.reason_words or decision.reason


def short_places(words: str) -> str:
    """Return words with the folders of places in the compiler's source left out."""
    return _WORD.sub(_short_place, words)


def _short_place(word: re.Match[str]) -> str:
    folders, _, file = word[0].rpartition("/")
    return f"…/{file}" if "/" in folders and _PLACE.match(file) else word[0]


def joined_with(log: DecisionLog | None, module: HloModule) -> DecisionLog | None:
    """Return the decisions joined with the module; None for none."""
    return None if log is None else joined(log, module)


@dataclass(frozen=True)
class Verdicts:
    """What the compiler wrote down about the kernels of a module, if it did.

    Attributes:
        module: The module.
        log: The decisions, joined with it; None where there are none.
        pairs: The verdicts on pairs of kernels; None where there are no decisions.
        finals: What became of the names in the records; None where there are none.
    """

    module: HloModule
    log: DecisionLog | None
    pairs: PairVerdicts | None = field(init=False)
    finals: FinalNames | None = field(init=False)

    def __post_init__(self) -> None:
        pairs = PairVerdicts(self.module, self.log) if self.log is not None else None
        object.__setattr__(self, "pairs", pairs)
        finals = FinalNames(self.log, self.module) if self.log is not None else None
        object.__setattr__(self, "finals", finals)

    def explain(self, first: str, second: str) -> Explanation:
        """Explain why two ops are not one kernel.

        Raises:
            HloLookupError: There is no op of such a name.
        """
        return why_not_fused(self.module, first, second, self.log)

    def about(self, instruction: HloInstruction) -> list[FusionDecision]:
        """Return the records about an op.

        An op that runs is found by its final name. One in the body of a fusion has none: records
        that call it by its name count where that name leads into the fusion, or nowhere. What the
        name leads to elsewhere is another op that is called the same.
        """
        if self.log is None or self.pairs is None:
            return []
        if not instruction.parent.is_fusion_computation:
            return self.pairs.about(member.name for member in pair_members(instruction))
        kernel = self.pairs.kernel(instruction)
        homes = frozenset(member.name for member in pair_members(kernel))
        return [
            decision
            for decision in self.log.decisions
            if decision.module in (None, "", self.module.name)
            and any(
                not final or not homes.isdisjoint(final)
                for final in _final_names(decision, instruction.name)
            )
        ]


def _final_names(decision: FusionDecision, name: str) -> Iterator[tuple[str, ...]]:
    """Yield the final names of each side of a record that is called by a name."""
    join = decision.join
    if decision.producer == name:
        yield join.producers if join is not None else ()
    if name in decision.consumers:
        yield join.consumers if join is not None else ()


def told_first(decision: FusionDecision) -> tuple[bool, bool, int]:
    """Order records for reading: refusals, those with words, the last looks."""
    refused = decision.verdict in (Verdict.REFUSED, Verdict.INELIGIBLE)
    return (not refused, not decision.reason_words, -decision.step)


def joined_words(decision: FusionDecision) -> str:
    """Return how surely a record was found in the final module, in a word."""
    return (decision.join.exactness if decision.join else Exactness.NOT_JOINED).value
