"""A compiler's words for a refusal: their parts, the names in them, and what counts as one reason.

A reason such as "fusion.61 and fusion.27 are connected" names ops, so that each pair would be a
reason of its own: counted is "… and … are connected".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["NAME_LEFT_OUT", "names_in", "reason_parts", "reason_words", "without_names"]

NAME_LEFT_OUT = "…"
"""Stands for the name of an op in words from which names are taken out."""

_PLACE = re.compile(r"\s*\bat: \S+:\d+")
# What the compiler writes where a function of it said no and no more.
_NO_WORDS = frozenset({"Not allowed", ""})

# A name is marked as one, or has a number after a dot as only names have, or stands where a
# sentence of the compiler has a name. "fusion" and "reduce" are names and words, too: nothing else
# tells them apart.
_NAME = re.compile(
    r"(?<=')[\w.-]+(?=')"
    r"|(?<=stack_frame_id=)\d+"
    r"|(?<=\|)[^|\s]+(?=\|)"
    r"|(?<=%)[\w.-]+"
    r"|(?<![\w./%-])[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*\.\d+(?:\.\w+)*(?![\w/-])"
    # With an end, as text without spaces would be searched again from each of its letters.
    r"|(?<!\S)\S{1,200}(?= and \S{1,200} are connected)"
    r"|(?<= and )\S{1,200}(?= are connected)"
    r"|(?<!\S)\S{1,200}(?= would introduce a cycle)"
)


@lru_cache(maxsize=4096)
def reason_parts(reason: str) -> tuple[str, ...]:
    """Return the parts of a reason that are words, each once, without places in the source.

    Args:
        reason: A reason as the compiler wrote it; several are joined by ` ; `.
    """
    parts = (_PLACE.sub("", part).strip() for part in reason.split(" ; "))
    return tuple(dict.fromkeys(part for part in parts if part not in _NO_WORDS))


def reason_words(reason: str) -> str:
    """Return a reason without source places: "Not fusing MOF" of "Not fusing MOF at: a.cc:5784".

    Args:
        reason: A reason as the compiler wrote it; several are joined by ` ; `.

    Returns:
        The parts that are words, joined by "; ". A bare "Not allowed at: file:line" is no words.
    """
    return "; ".join(reason_parts(reason))


def names_in(words: str, own: Iterable[str] = ()) -> list[str]:
    """Return the names of ops in a compiler's words, each once, in their order.

    Args:
        words: The words.
        own: Names that the record is about; those with an underscore, which no word of a sentence
            has, are found wherever they stand.
    """
    return list(dict.fromkeys(found[0] for found in _pattern(_told(own, words)).finditer(words)))


def without_names(words: str, own: Iterable[str] = ()) -> str:
    """Return a compiler's words with `NAME_LEFT_OUT` in the place of each name of an op.

    Args:
        words: The words.
        own: As `names_in` takes it.
    """
    return _without(words, _told(own, words))


@lru_cache(maxsize=4096)
def _without(words: str, own: tuple[str, ...]) -> str:
    return _pattern(own).sub(NAME_LEFT_OUT, words)


def _told(own: Iterable[str], words: str) -> tuple[str, ...]:
    """Return the names without a mark that may stand in words: of many records about few do."""
    return tuple(name for name in own if "_" in name and name in words)


@lru_cache(maxsize=4096)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    if not names:
        return _NAME
    # The longest first: one name may begin another.
    own = "|".join(re.escape(name) for name in sorted(set(names), key=len, reverse=True))
    return re.compile(rf"(?<![\w.%-])(?:{own})(?![\w-]|\.\w)|{_NAME.pattern}")
