"""Which records the user wants to see, and how the browser says so."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlo_widgets.analysis.decisions import FusionDecision, Verdict
from hlo_widgets.analysis.why import PairVerdict

__all__ = ["ANY", "PRICES", "DecisionFilter", "filter_of"]

ANY = ""
"""In a filter: whatever it is."""

PRICES: dict[str, Callable[[float | None], bool]] = {
    ANY: lambda _: True,
    "priced": lambda gain: gain is not None,
    "slower": lambda gain: gain is not None and gain < 0,
    "faster": lambda gain: gain is not None and gain > 0,
    "none": lambda gain: gain is None,
}
"""What a filter can ask of a record's price, by its name."""


@dataclass(frozen=True)
class DecisionFilter:
    """Which records are meant.

    Attributes:
        verdict: A verdict's word; "" for all.
        reason: The compiler's words without names of ops, as `DecisionLog.by_reason` counts them;
            None for all.
        price: A key of `PRICES`.
        least: The least difference between unfused and fused cost, in the record's unit; 0 for all.
    """

    verdict: str = ANY
    reason: str | None = None
    price: str = ANY
    least: float = 0.0

    def __bool__(self) -> bool:
        return self != DecisionFilter()

    def passes(self, decision: FusionDecision) -> bool:
        """Return whether a record is meant."""
        gain = decision.gain
        return (
            self.verdict in (ANY, decision.verdict.value)
            and (self.reason is None or self.reason == decision.reason_group)
            and PRICES[self.price](gain)
            and (self.least <= 0 or (gain is not None and abs(gain) >= self.least))
        )

    def shows(self, verdict: PairVerdict) -> bool:
        """Return whether a record about two kernels is meant."""
        return any(self.passes(decision) for decision in verdict.decisions)


def filter_of(chosen: Mapping[str, Any], reasons: Sequence[str]) -> DecisionFilter:
    """Return the filter that the browser means; what is no choice is left open.

    Args:
        chosen: What it sent.
        reasons: The reasons that it was told, keys of `by_reason`: it names one by its place.
            Words could come back changed, as a page cannot show every character.
    """
    verdict, reason = chosen.get("verdict", ANY), chosen.get("reason")
    price, least = chosen.get("price", ANY), chosen.get("least", 0)
    is_place = isinstance(reason, int) and not isinstance(reason, bool)
    is_number = isinstance(least, int | float) and math.isfinite(least)
    return DecisionFilter(
        verdict if verdict in [v.value for v in Verdict] else ANY,
        reasons[reason] if is_place and 0 <= reason < len(reasons) else None,
        price if isinstance(price, str) and price in PRICES else ANY,
        float(max(least, 0)) if is_number else 0.0,
    )
