"""What to do about a compiler's refusal, where its words are about its release and not the program.

Which releases fit together is found out by trying, never by comparing version numbers.
"""

from __future__ import annotations

import re

__all__ = ["explained"]

_ADVICE = (
    (
        # VHLO is the form in which JAX hands a program over; an old compiler lacks its newer parts.
        re.compile(r"Failed to parse using StableHLO|found in dialect \('vhlo'\)"),
        "This compiler is older than this jax and cannot read what it writes: install a newer one.",
    ),
    (
        re.compile(r"Invalid TPU external name"),
        "This libtpu knows no such TPU; a newer one may.",
    ),
)


def explained(words: str) -> str:
    """Return a compiler's words, and below them what they come to where that is known."""
    advice = [sentence for pattern, sentence in _ADVICE if pattern.search(words)]
    return "\n".join([words.rstrip(), *advice]) if advice else words
