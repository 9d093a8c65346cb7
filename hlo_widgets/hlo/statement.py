"""One instruction's text, cut into its parts: `ROOT %name = shape opcode(operands), attributes`."""

from __future__ import annotations

import re
from typing import NamedTuple

from hlo_widgets.hlo.scanner import find_closing, parse_error, skip_space

NAME = re.compile(r"%?([^\s=(){}\[\],\"%]++)")
OPCODE = re.compile(r"([a-z][a-z0-9_-]*+)\s*+(?=\()")
_SHAPE_WORD = re.compile(r"[a-z][a-z0-9]*+\s*+\[[^\]]*+\]")


class Statement(NamedTuple):
    """The parts of an instruction's text, each verbatim."""

    is_root: bool
    name: str
    shape: str
    opcode: str
    operands: str
    attributes: str


def read_statement(text: str) -> Statement:
    """Cut the text of one instruction into its parts.

    Raises:
        HloParseError: The text is no instruction.
    """
    position = skip_space(text, 0)
    is_root = text.startswith("ROOT", position) and text[position + 4 : position + 5].isspace()
    if is_root:
        position = skip_space(text, position + 4)
    name = NAME.match(text, position)
    if name is None:
        raise parse_error(text, position, "expected the name of an instruction")
    position = skip_space(text, name.end())
    if not text.startswith("=", position):
        raise parse_error(text, position, "expected '=' after the name of an instruction")
    start = skip_space(text, position + 1)
    end = skip_shape(text, start)
    position = skip_space(text, end)
    opcode = OPCODE.match(text, position)
    if opcode is None:
        raise parse_error(text, position, "expected an opcode and its operands in parentheses")
    closing = find_closing(text, opcode.end())
    if closing < 0:
        raise parse_error(text, opcode.end(), "this parenthesis is never closed")
    operands = text[opcode.end() + 1 : closing - 1]
    return Statement(is_root, name[1], text[start:end], opcode[1], operands, text[closing:])


def skip_shape(text: str, position: int) -> int:
    """Return the position after the shape at `position`, without reading it; `position` where there is none."""
    if text.startswith("(", position):
        end = find_closing(text, position)
        if end < 0:
            raise parse_error(text, position, "this parenthesis is never closed")
        return end
    word = _SHAPE_WORD.match(text, position)
    if word is None:
        if text.startswith("b(", position):
            end = find_closing(text, position + 1)
            if end >= 0:
                return end
        return position
    end = word.end()
    if text.startswith("{", end):
        closing = find_closing(text, end)
        if closing >= 0:
            return closing
    return end
