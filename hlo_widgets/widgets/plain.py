"""Data as a browser can take it: nothing is rounded, turned round or refused on the way."""

from __future__ import annotations

import math
import re
from typing import Any

__all__ = ["plain", "plain_text"]

# Lone surrogates cannot be sent at all, control characters cannot be seen, and direction overrides
# would show the rest of a line backwards.
_UNSHOWABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_EXACT_IN_JAVASCRIPT = 2**53


def plain_text(text: str) -> str:
    """Return a text with every character that cannot be shown written as an escape."""
    return _UNSHOWABLE.sub(lambda found: ascii(found[0])[1:-1], text)


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
