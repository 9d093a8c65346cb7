"""Metadata of an instruction: where in the user's program it came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hlo_widgets.hlo.scanner import scan_value, skip_space

_KEY = re.compile(r"([\w.-]++)=")
_STRING = r"\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\""
# Metadata as compilers print it: names with strings or numbers, one space between.
_USUAL = re.compile(rf"\{{(?:\w++=(?:{_STRING}|[0-9]++)(?: |(?=\}})))*+\}}", re.DOTALL)
_FIELD = re.compile(rf"(\w++)=({_STRING}|[0-9]++)", re.DOTALL)
_ESCAPE = re.compile(r"\\([abfnrtv\\'\"?])|((?:\\x[0-9a-fA-F]{1,2}|\\[0-7]{1,3})++)")
_CODE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3}))")
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True, slots=True)
class OpMetadata:
    """What the metadata of an instruction says; None is what it does not say.

    Attributes:
        op_name: The framework's path to the operation: "jit(f)/reduce_sum".
        op_type: The framework's kind of operation.
        source_file: File of the user's program, in texts without source tables.
        source_line: Line in that file, from 1.
        stack_frame_id: Key of `HloModule.source_frames`.
        extra: Everything else, verbatim.
    """

    op_name: str | None = None
    op_type: str | None = None
    source_file: str | None = None
    source_line: int | None = None
    stack_frame_id: int | None = None
    extra: Mapping[str, str] = field(default_factory=dict)


def unquote(text: str) -> str:
    r"""Undo the quotes and C escapes of an HLO string; text without quotes is returned as it is."""
    if not text.startswith('"'):
        return text
    inner = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(match: re.Match[str]) -> str:
    letter, codes = match.groups()
    if letter is not None:
        return _SIMPLE.get(letter, letter)
    # XLA writes a character outside of ASCII as one escape for each byte of its UTF-8.
    found = bytes(int(h, 16) & 0xFF if h else int(o, 8) & 0xFF for h, o in _CODE.findall(codes))
    try:
        return found.decode()
    except UnicodeDecodeError:
        return found.decode("latin-1")


def parse_metadata(text: str | None) -> OpMetadata:
    """Read the value of a `metadata=` attribute, braces included; None gives empty metadata."""
    if text is None:
        return OpMetadata()
    if _USUAL.fullmatch(text) is not None:
        values: dict[str, str] = {}
        for key, value in _FIELD.findall(text):
            values.setdefault(key, value)
    else:
        values = _fields(text)
    return OpMetadata(
        op_name=_string(values.pop("op_name", None)),
        op_type=_string(values.pop("op_type", None)),
        source_file=_string(values.pop("source_file", None)),
        source_line=_number(values.pop("source_line", None)),
        stack_frame_id=_number(values.pop("stack_frame_id", None)),
        extra=values,
    )


def _string(text: str | None) -> str | None:
    return None if text is None else unquote(text)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 19 else None


def _fields(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    position = 1
    while True:
        position = skip_space(text, position)
        if text.startswith(",", position):
            position = skip_space(text, position + 1)
        key = _KEY.match(text, position)
        if key is None:
            break
        start = skip_space(text, key.end())
        end = scan_value(text, start)
        if end < 0:
            end = len(text)
        values.setdefault(key[1], text[start:end])
        position = end
    return values
