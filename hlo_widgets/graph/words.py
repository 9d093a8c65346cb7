"""Names, numbers and sizes as a person reads them."""

from __future__ import annotations

from hlo_widgets.analysis.words import bytes_in_words, counted

__all__ = ["LONGEST_LINE", "bytes_in_words", "counted", "one_line", "percent"]

LONGEST_LINE = 42
"""Characters of any other line in a box; arbitrary."""


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Return text as one line of at most `longest` characters that no renderer can misread.

    Control characters are written as escapes. What does not fit is cut in the middle, where two
    names of one program differ least.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    if len(text) <= longest:
        return text
    head = (longest - 3) * 2 // 3
    return text[:head] + "..." + text[len(text) - (longest - 3 - head) :]


def percent(change: float) -> str:
    """Return a change by its sign, 0.123 for an eighth more: `+12.3%`, `−5.0%`."""
    return f"{change:+,.1%}".replace("-", "\u2212")
