"""Numbers, sizes and long texts as a person reads them."""

from __future__ import annotations

import math
import re

__all__ = ["bytes_in_words", "cost_words", "counted", "cut", "figure_words", "plain_text"]

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")

# Lone surrogates cannot be sent at all, control characters cannot be seen, and direction overrides
# would show the rest of a line backwards.
_UNSHOWABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_DIGITS = 6
"""Digits of a figure: as many as compilers print of a cost."""

_NOTHING, _UNREADABLE = 1e-9, 1e15
"""Below: what rounding leaves of a difference of nothing. From: nobody reads so many digits."""


def bytes_in_words(count: int) -> str:
    """Return a byte count in the largest binary unit of which it has at least one: `1.09 MiB`."""
    if count < 1024:
        return f"{count} byte{'s' if count != 1 else ''}"
    # A damaged shape can have more bytes than a float can say.
    power = min((count.bit_length() - 1) // 10, len(_UNITS))
    if count >= 1 << 200:
        return f"about 2^{count.bit_length() - 1} bytes"
    return f"{count / (1 << 10 * power):.4g} {_UNITS[power - 1]}"


def counted(count: int, what: str) -> str:
    """Return a number with its noun: `1 cycle`, `5,604 cycles`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def figure_words(value: float) -> str:
    """Return a figure with six digits, and with all that stand before the point: `1,234,567`.

    Zeros at the end are left out, and a minus is a minus sign, not a hyphen.
    """
    if not math.isfinite(value) or abs(value) >= _UNREADABLE:
        text = f"{value:.{_DIGITS}g}"
    elif abs(value) < _NOTHING:
        text = "0"
    else:
        places = max(_DIGITS - 1 - math.floor(math.log10(abs(value))), 0)
        text = f"{value:,.{places}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "\u2212")


def cost_words(value: float, unit: str | None) -> str:
    """Return a cost with its unit: `1,234,567 cycles`, `9.517 us`.

    Args:
        value: The cost, or a difference of two.
        unit: "cycles" or "us"; None, where the record names none, gives the figure alone.
    """
    return f"{figure_words(value)} {unit or ''}".rstrip()


def cut(text: str, longest: int) -> str:
    """Return at most `longest` characters of a text; where that is not all, say how many it has."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} \u2026 ({len(text):,} characters)"


def plain_text(text: str) -> str:
    """Return a text with every character that cannot be shown written as an escape."""
    return _UNSHOWABLE.sub(lambda found: ascii(found[0])[1:-1], text)
