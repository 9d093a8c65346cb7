"""Compilers' shorthand in our own words, for whoever reads what a compiler wrote.

What is said here is ours, and is shown as ours: the compilers explain none of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Term", "explained_terms"]


class Term(NamedTuple):
    """A word of a compiler, explained.

    Attributes:
        word: The word.
        meaning: What it means, in our words.
    """

    word: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.word}: {self.meaning}"


def _term(pattern: str, word: str, meaning: str) -> tuple[re.Pattern[str], Term]:
    return re.compile(pattern, re.IGNORECASE), Term(word, meaning)


# Longer terms before words that are parts of them.
_TERMS = (
    _term(
        r"\bMOF\b",
        "MOF",
        "multi-output fusion: one kernel that returns several results, such as two ops that read"
        " one value",
    ),
    _term(
        r"\bmulti-output fusion\b",
        "multi-output fusion",
        "one kernel that returns several results, such as two ops that read one value",
    ),
    _term(
        r"\bJFF\b",
        "JFF",
        "what the cost lines of the TPU compiler's fusion pass begin with; it does not say what the"
        " letters stand for",
    ),
    _term(
        r"\bduplicat|may_duplicate",
        "to duplicate",
        "to compute an op again inside each kernel that reads it, so that its result need not be"
        " written to memory",
    ),
    _term(
        r"\bexpensive\b",
        "expensive",
        "an op that the compiler would rather not compute a second time, by a list of its own",
    ),
    _term(
        r"\bprofitable\b",
        "profitable",
        "worth it by the compiler's own estimate or rule",
    ),
    _term(
        r"\bnon-elementwise\b|\belementwise\b",
        "elementwise",
        "each element of the result needs only the elements at its place in the operands",
    ),
    _term(
        r"\bnot (?:loop-)?fusible\b|\bnot legal to fuse\b",
        "not fusible",
        "this pass does not take the op in this role; the words do not say by which rule",
    ),
    _term(
        r"\bloop[- ]fus",
        "loop fusion",
        "one loop over the result, in which all ops are computed for one element after the other"
        " (kLoop)",
    ),
    _term(
        r"(?<!multi-)\boutput fusion\b",
        "output fusion",
        "a matrix multiplication or convolution together with what goes on working on its result"
        " (kOutput)",
    ),
    _term(
        r"\bconnected\b",
        "connected",
        "data of one gets to the other by some way: as two results of one kernel they would wait"
        " for each other",
    ),
    _term(
        r"\bcycle when fused\b",
        "cycle",
        "the kernel would need what it computes itself before it could begin",
    ),
    _term(
        r"\bbitcast\b",
        "bitcast",
        "the same bytes under another shape or type: nothing is computed",
    ),
    _term(
        r"\breductions?\b|\breduce\b(?!['.\w])",
        "reduce",
        "folds many elements into one, as a sum or a maximum does",
    ),
    _term(
        r"\bin-?place update\b",
        "inplace update",
        "an op that writes a part of its operand anew and leaves the rest where it is",
    ),
    _term(
        r"\bfusion root\b",
        "root",
        "the op whose value a fusion returns",
    ),
    _term(
        r"\bloop shapes\b",
        "loop shape",
        "the range that the loop of a kernel runs over",
    ),
    _term(
        r"\bis tuple\b",
        "tuple",
        "several values that are handed on under one name",
    ),
    _term(
        r"\bcustom (?:fusions|calls)\b",
        "custom fusion, custom call",
        "a kernel that comes from elsewhere, such as a library",
    ),
    _term(
        r"\bproducer\b|\bconsumer\b",
        "producer, consumer",
        "the op whose value is read, and the op that reads it",
    ),
    _term(
        r"\busers?\b",
        "user",
        "an op that reads the value",
    ),
    _term(
        r"\bat: \S+:\d+",
        "at: file:line",
        "the line of the compiler's source that said no: a place, and no reason in words",
    ),
)


@lru_cache(maxsize=1024)
def _in_words(words: str) -> tuple[Term, ...]:
    return tuple(term for pattern, term in _TERMS if pattern.search(words))


def explained_terms(words: Iterable[str]) -> tuple[Term, ...]:
    """Return the terms in a compiler's words that can be explained, each once.

    Args:
        words: What the compiler wrote.
    """
    return tuple(dict.fromkeys(term for text in words for term in _in_words(text)))
