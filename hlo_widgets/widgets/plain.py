"""Data as a browser can take it: nothing is rounded, turned round or refused on the way."""

from __future__ import annotations

import math
from typing import Any

from hlo_widgets.analysis.words import plain_text

__all__ = ["plain", "plain_text"]

_EXACT_IN_JAVASCRIPT = 2**53


def plain(value: Any) -> Any:
    """Return JSON data with texts as `plain_text`, and as texts numbers that would be rounded."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, dict):
        return {plain_text(str(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT_IN_JAVASCRIPT:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no word for these
    return value
