"""Attributes of an instruction or a header: `dimensions={1}, to_apply=%add, metadata={...}`."""

from __future__ import annotations

import re

from hlo_widgets.hlo.scanner import BRACES, NAME, scan_attribute, skip_space

# The attributes whose values name computations. Any of them may stand on any instruction.
CALLING_ATTRIBUTES = (
    "calls",
    "to_apply",
    "body",
    "condition",
    "branch_computations",
    "true_computation",
    "false_computation",
    "called_computations",
    "select",
    "scatter",
    "comparator",
)
# A name of a calling attribute has one of these in it.
CALLING_WORDS = (
    "calls=",
    "to_apply=",
    "body=",
    "condition=",
    "computation",
    "select=",
    "scatter=",
    "comparator=",
)
HAS_CALLING_ATTRIBUTE = re.compile(rf"(?<![\w.-])(?:{'|'.join(CALLING_ATTRIBUTES)})=(?!\s*+[\"\[])")
FUSION_CALL = re.compile(r", kind=(k[A-Za-z]++), calls=%?([\w.$-]++)(?=,|$)")
# The one call of an instruction that applies a computation, past attributes without strings.
APPLY_CALL = re.compile(
    r"(?:, (?!to_apply=)[\w-]++=(?:\{[^{}\"]*+\}|[^,{}\"\s]++))*+, to_apply=%?([\w.$-]++)(?=,|$)"
)
# An attribute as nearly all are: plain, a string, or braces in braces.
_USUAL = re.compile(
    rf", ([\w.$-]++)=({BRACES}|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|[^\"'(){{}}\[\],\s/]++)(?=, |\Z)",
    re.DOTALL,
)
ATTRIBUTE_NAME = re.compile(r"([\w.$-]++)=")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def attributes_end(text: str, position: int) -> int:
    """Return where the attributes at `position` end: the end of the text where all is well."""
    return skip_space(text, _split(text, position, is_strict=True)[1])


def split_attributes(text: str, position: int = 0) -> dict[str, str]:
    """Split attributes into names and verbatim values, in order.

    Args:
        text: Text such as `, dimensions={1}, to_apply=%add`.
        position: Where to begin.

    Returns:
        Name to value; a name that comes twice keeps its first value. Reading stops quietly where
        the text is no attribute: what a reader of damaged text still can tell is more useful than
        an error.
    """
    return _split(text, position)[0]


def _split(text: str, position: int, is_strict: bool = False) -> tuple[dict[str, str], int]:
    attributes: dict[str, str] = {}
    size = len(text)
    while position < size:
        usual = _USUAL.match(text, position)
        if usual is not None:
            attributes.setdefault(usual[1], usual[2])
            position = usual.end()
            continue
        start = skip_space(text, position)
        if text.startswith(",", start):
            start = skip_space(text, start + 1)
        elif is_strict:
            break
        key = ATTRIBUTE_NAME.match(text, start)
        if key is None:
            break
        start = skip_space(text, key.end())
        end = scan_attribute(text, key[1], start)
        if end < 0:
            attributes.setdefault(key[1], text[start:])
            break
        attributes.setdefault(key[1], text[start:end])
        position = end
    return attributes, position


def computation_names(value: str) -> list[str]:
    """Names in the value of a calling attribute: `%body`, `{%a, %b}`."""
    return NAME.findall(_COMMENT.sub(" ", value) if "/*" in value else value)
