"""Records as the detail panel quotes them: who they are about, and the compiler's words.

Of a name that the final module does not have stands beside it what runs it now, and of a term what
it means: both are ours, and marked so where they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hlo_widgets.analysis.decisions import DecisionJoin, Exactness, FusionDecision, reason_parts
from hlo_widgets.analysis.decisions.final_names import FinalNames
from hlo_widgets.analysis.decisions.reasons import names_in
from hlo_widgets.analysis.why import Term, explained_terms
from hlo_widgets.analysis.why.quotes import final_words, verbatim_words
from hlo_widgets.analysis.words import cost_words, cut
from hlo_widgets.widgets.decisions.verdicts import joined_words

__all__ = ["Link", "Quoting", "gain_words", "price_words"]

Link = Callable[[str], dict[str, str]]
"""From the name of a final instruction to its link: id ("" where none leads there), name, about."""

Part = dict[str, Any]
"""Of a sentence: `text`; with `id` and `about` where it is a link; `now`, links to what runs it
now, and `how`, how surely that is known."""

MOST_FINAL = 3
"""Links to what runs one earlier name; arbitrary."""

MOST_SIDES = 4
"""Consumers of one record that a sentence names; arbitrary."""

MOST_VERBATIM = 6
"""Records that are quoted whole where several say the same; arbitrary."""

LONGEST_WORDS = 4_000
"""Characters of one quote; arbitrary, far more than compilers write."""

THIS_OP = "this op"


class Quoting:
    """Quotes records for one panel, and explains each term once.

    Args:
        link: Makes a link of a final name.
        finals: Knows what became of other names than a record's own; None where nobody does.
        own: Names of the op that the panel is about.
        by_name: Whether records name that op itself, as one inside of a fusion: else a record about
            another op that was called the same has another one's join.
    """

    def __init__(
        self,
        link: Link,
        finals: FinalNames | None = None,
        own: Iterable[str] = (),
        *,
        by_name: bool = False,
    ) -> None:
        self._link, self._finals = link, finals
        self._own, self._by_name = frozenset(own), by_name
        self._explained: set[Term] = set()

    def producer(self, decision: FusionDecision) -> Part:
        """Return the producer of a record."""
        join = decision.join
        return self._part(decision.producer, join, join.producers if join else ())

    def consumers(self, decision: FusionDecision) -> list[Part]:
        """Return the consumers of a record, with commas between them."""
        shown = decision.consumers[:MOST_SIDES]
        join = decision.join
        if len(decision.consumers) == 1 or self._finals is None:
            final = join.consumers if join else ()
            parts = [self._part(name, join, (name,) if name in final else final) for name in shown]
        else:
            # The record's own join is of all of them together.
            now = self._finals.of(shown)
            parts = [self._part(name, now[name], now[name].producers) for name in shown]
        told = [piece for part in parts for piece in ({"text": ", "}, part)][1:]
        left_out = len(decision.consumers) - len(shown)
        return [*told, *([{"text": f" and {left_out:,} more"}] if left_out else [])]

    def sides(self, decision: FusionDecision) -> list[Part]:
        """Return who a record is about: "a into b"."""
        if not decision.consumers:
            return [self.producer(decision)]
        between = " and " if decision.siblings else " into "
        return [self.producer(decision), {"text": between}, *self.consumers(decision)]

    def in_words(self, name: str) -> str:
        """Return any name of the record with what runs it now: "fusion.3 (now in fusion)"."""
        join = self._finals.of([name])[name] if self._finals is not None else None
        words = final_words((name,), join, join.producers if join is not None else ())
        return f"{name} ({words})" if words else name

    def block(self, records: Sequence[FusionDecision]) -> dict[str, Any]:
        """Return what records say that say the same but for places in the compiler's source.

        Args:
            records: The records, at least one.

        Returns:
            `quotes`, the words without places; `price` in words; `names` in the quotes that are
            others now; `terms`, each with its meaning; `verbatim`, all of the words; `source`,
            where the first record stands; `joined`, "" for exactly; `times`.
        """
        first = records[0]
        said = [part for text in (first.reason, *first.remarks) for part in reason_parts(text)]
        quotes = list(dict.fromkeys(said))
        verbatim = list(dict.fromkeys(filter(None, map(verbatim_words, records))))
        joined = joined_words(first)
        return {
            "quotes": [cut(words, LONGEST_WORDS) for words in quotes],
            "price": price_words(first),
            "names": self._names(first, quotes),
            "terms": self.terms(quotes),
            "verbatim": [cut(words, LONGEST_WORDS) for words in verbatim[:MOST_VERBATIM]],
            "source": _source(first),
            "joined": "" if joined == Exactness.EXACT else joined,
            "times": len(records),
        }

    def _names(self, decision: FusionDecision, quotes: Iterable[str]) -> list[Part]:
        """Return the names in a record's words that are no longer those of what runs them."""
        sides = (decision.producer, *decision.consumers)
        told = dict.fromkeys(name for words in quotes for name in names_in(words, sides))
        # The sentence above the words has what became of the two.
        others = [name for name in told if name not in sides]
        if not others or self._finals is None:
            return []
        now = self._finals.of(others)
        parts = [self._part(name, now[name], now[name].producers) for name in others]
        return [part for part in parts if part["now"] or part["how"]]

    def terms(self, quotes: Iterable[str]) -> list[tuple[str, str]]:
        """Return the terms in a compiler's words that were not explained yet, with meanings."""
        new = [term for term in explained_terms(quotes) if term not in self._explained]
        self._explained.update(new)
        return [(term.word, term.meaning) for term in new]

    def _part(self, name: str, join: DecisionJoin | None, final: tuple[str, ...]) -> Part:
        part: Part = {"text": cut(name, LONGEST_WORDS), "now": [], "how": ""}
        if name in self._own and (self._by_name or not final or self._own & {*final}):
            return part | {"text": THIS_OP}
        if join is None or final == (name,):
            return part | {key: self._link(name).get(key, "") for key in ("id", "about")}
        if not final:
            return part | {"how": "not found in the final module"}
        # The op that the panel is about is never among those that are only counted.
        final = tuple(sorted(final, key=lambda one: one not in self._own))
        links = [self._now(one) for one in final[:MOST_FINAL]]
        if len(final) > MOST_FINAL:
            links.append({"id": "", "name": f"{len(final) - MOST_FINAL:,} more", "about": ""})
        inexact = join.exactness is Exactness.INEXACT
        return part | {"now": links, "how": "joined inexactly" if inexact else ""}

    def _now(self, name: str) -> dict[str, str]:
        if name in self._own:
            return {"id": "", "name": THIS_OP, "about": ""}
        return self._link(name)


def price_words(decision: FusionDecision) -> str:
    """Return what a record says of the cost; "" where it gives none."""
    apart, as_one, unit = decision.unfused_cost, decision.fused_cost, decision.cost_unit
    if apart is None or as_one is None:
        return ""
    costs = f"unfused {cost_words(apart, unit)}, fused {cost_words(as_one, unit)}"
    return f"{costs}: {gain_words(apart - as_one, unit)}"


def gain_words(gain: float, unit: str | None) -> str:
    """Return a difference of costs in words."""
    if gain == 0:
        return "the same"
    return f"fused {cost_words(abs(gain), unit)} {'faster' if gain > 0 else 'slower'}"


def _source(decision: FusionDecision) -> str:
    source = f"{decision.source}, record {decision.step:,}"
    return f"{decision.pass_name}; {source}" if decision.pass_name else source
