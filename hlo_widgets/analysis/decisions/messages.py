"""Protocol buffers without a schema: text and binary form to fields, as little as a dump needs.

A message is a list of (field, value): the field is a name in text form and a number in binary
form; the value is a number, text, bytes or, in text form, a message.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

__all__ = ["TextMessage", "WireValue", "read_text_message", "read_wire_fields"]

TextMessage = list[tuple[str, "str | TextMessage"]]
WireValue = int | float | bytes

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<word>[A-Za-z0-9_.+\-]+)
      | (?P<mark>[{}:<>\[\],;/])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPED = {
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
}
# Arbitrary: a fusion dump is three messages deep.
_DEEPEST = 64


def read_text_message(text: str) -> TextMessage:
    """Read a text-format message.

    Args:
        text: The text.

    Returns:
        The fields in order. A string is unquoted; a number or an enum's name is its text.

    Raises:
        ValueError: The text is not in this format; the message names the place.
    """
    root: TextMessage = []
    stack = [root]
    name: str | None = None
    for kind, value, position in _tokens(text):
        if kind == "mark":
            if value == "{" and name is not None:
                stack.append(_open(stack, name, position))
                name = None
            elif value == "}" and len(stack) > 1 and name is None:
                stack.pop()
            elif value not in ":,;":
                raise ValueError(f"unexpected {value!r} at character {position}")
        elif name is None and kind == "word":
            name = value
        elif name is not None:
            stack[-1].append((name, value))
            name = None
        elif not _continue_string(stack[-1], value):
            raise ValueError(f"text without a field at character {position}")
    if len(stack) > 1 or name is not None:
        raise ValueError("it ends in the middle of a message")
    return root


def _open(stack: list[TextMessage], name: str, position: int) -> TextMessage:
    if len(stack) > _DEEPEST:
        raise ValueError(f"messages nest too deeply at character {position}")
    inner: TextMessage = []
    stack[-1].append((name, inner))
    return inner


def _continue_string(message: TextMessage, value: str) -> bool:
    """Add a string to the string before it, as two strings in a row are one."""
    if not message or not isinstance(message[-1][1], str):
        return False
    name, before = message[-1]
    message[-1] = (name, f"{before}{value}")
    return True


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"unexpected {text[position]!r} at character {position}")
        kind = match.lastgroup or ""
        if kind == "string":
            yield kind, _unescape(match[0][1:-1]), position
        elif kind != "space":
            yield kind, match[0], position
        position = match.end()


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    # Escapes are of bytes: "\303\274" is one character.
    return _ESCAPE.sub(_byte, text.encode()).decode("utf-8", errors="replace")


def _byte(match: re.Match[bytes]) -> bytes:
    octal, hexadecimal, other = match.groups()
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal is not None:
        return bytes([int(hexadecimal, 16)])
    return _ESCAPED.get(other, other)


def read_wire_fields(data: bytes) -> Iterator[tuple[int, WireValue]]:
    """Yield the fields of a binary message: number and value, in order.

    Args:
        data: The message.

    Raises:
        ValueError: The bytes are no message.
    """
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise ValueError(f"field number 0 at byte {position}")
        if wire_type == 0:
            value, position = _varint(data, position)
            yield number, value
        elif wire_type == 2:
            size, position = _varint(data, position)
            yield number, _slice(data, position, size)
            position += size
        elif wire_type in (1, 5):
            size, form = (8, "<d") if wire_type == 1 else (4, "<f")
            yield number, struct.unpack(form, _slice(data, position, size))[0]
            position += size
        else:
            raise ValueError(f"wire type {wire_type} at byte {position}")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for count in range(10):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, position
    raise ValueError(f"a number does not end at byte {position}")


def _slice(data: bytes, start: int, size: int) -> bytes:
    if size > len(data) - start:
        raise ValueError(f"a field of {size} bytes reaches past the end at byte {start}")
    return data[start : start + size]
