"""One instruction's text, cut into its parts: `ROOT %name = shape opcode(operands), attributes`."""

from __future__ import annotations

import re
from typing import NamedTuple

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo.scanner import COMMENTS, GAP, NAME, find_closing, parse_error, skip_space

_ROOT = re.compile(r"ROOT(?=[\s%/])")
_OPCODE = re.compile(rf"([A-Za-z_][\w.-]*+){GAP}(?=\()")
# A brace after a shape begins a layout only before a number or a colon: it may begin a
# computation, too.
_TUPLE = re.compile(rf"(?:b{GAP})?+(?=\()")
_SHAPE_WORD = re.compile(
    rf"[a-z][a-z0-9]*+{GAP}\[(?:[^\]/]++|{COMMENTS.pattern})*+\](?:{GAP}(?=(\{{){GAP}[-0-9:])|(?=(\{{)\}}))?+"
)


# An instruction as compilers print it. No layout and no type of an operand nests deeper.
_FLAT = r"[^()\n]*+"
_ONE = rf"{_FLAT}(?:\({_FLAT}\){_FLAT})*+"
_TWO = rf"{_FLAT}(?:\({_ONE}\){_FLAT})*+"
_THREE = rf"{_FLAT}(?:\({_TWO}\){_FLAT})*+"
# A damaged one is everything up to the space, so that it alone is lost; but an opcode without a
# space before it is none of it.
_ARRAY = (
    r"[a-z][a-z0-9]*+\[(?:[0-9,<=?]*+\](?:\{[0-9A-Za-z,:()*#]*+\})?+(?= )"
    r"|(?!\S*?[\]}][a-z][a-z0-9-]*+\()\S*+)"
)
USUAL = (
    rf"(ROOT )?%?([^\s=(){{}}\[\],\"'%/]++) = (\({_THREE}\)|{_ARRAY})"
    rf" ([a-z][a-z0-9-]*+)\(({_TWO})\)"
)
_USUAL = re.compile(USUAL)


class Statement(NamedTuple):
    """The parts of an instruction's text, each verbatim.

    Attributes:
        is_root: Whether it is marked ROOT.
        name: Name without `%`; empty for an operand that is written as an instruction of its own.
        shape: The shape; empty where the text leaves it to be inferred.
        opcode: The opcode.
        operands: The text between the parentheses.
        end: The position after the closing parenthesis.
    """

    is_root: bool
    name: str
    shape: str
    opcode: str
    operands: str
    end: int


def scan_statement(text: str, position: int) -> Statement:
    """Cut the instruction at `position` into its parts, up to where its attributes begin.

    Raises:
        HloParseError: There is no instruction at this place.
    """
    position = skip_space(text, position)
    root = _ROOT.match(text, position)
    if root is not None:
        position = skip_space(text, root.end())
    name = NAME.match(text, position)
    if name is None:
        raise parse_error(text, position, "expected the name of an instruction")
    position = skip_space(text, name.end())
    if not text.startswith("=", position):
        raise parse_error(text, position, "expected '=' after the name of an instruction")
    return scan_value_side(text, position + 1, root is not None, name[1])


def read_statement(text: str) -> Statement:
    """Cut the whole text of one instruction into its parts; the name may be missing.

    Raises:
        HloParseError: The text is no instruction.
    """
    usual = _USUAL.match(text)
    if usual is not None:
        root, name, shape, opcode, operands = usual.groups()
        return Statement(root is not None, name, shape, opcode, operands, usual.end())
    if starts_instruction(text, skip_space(text, 0)):
        return scan_statement(text, 0)
    return scan_value_side(text, 0, False, "")


def starts_instruction(text: str, position: int) -> bool:
    """Return whether an instruction with a name begins at `position`, judged by its first words."""
    root = _ROOT.match(text, position)
    if root is not None:
        position = skip_space(text, root.end())
    name = NAME.match(text, position)
    return name is not None and text.startswith("=", skip_space(text, name.end()))


def starts_value(text: str, position: int) -> bool:
    """Return whether a shape and an opcode begin at `position`: an instruction without a name."""
    word = _SHAPE_WORD.match(text, position)
    if word is None or starts_instruction(text, position):
        return False
    try:
        end = skip_shape(text, position)
    except HloParseError:
        return False
    return _OPCODE.match(text, skip_space(text, end)) is not None


def scan_value_side(text: str, position: int, is_root: bool, name: str) -> Statement:
    """Cut what stands after `name =`: shape, opcode and operands.

    Raises:
        HloParseError: One of them is missing.
    """
    start = skip_space(text, position)
    end = skip_shape(text, start)
    position = skip_space(text, end)
    opcode = _OPCODE.match(text, position)
    if opcode is None:
        what = (
            "an opcode and its operands in parentheses" if end > start else "a shape or an opcode"
        )
        raise parse_error(text, position, f"expected {what}")
    closing = find_closing(text, opcode.end())
    if closing < 0:
        raise parse_error(text, opcode.end(), "this parenthesis is never closed")
    operands = text[opcode.end() + 1 : closing - 1]
    return Statement(is_root, name, text[start:end], opcode[1], operands, closing)


def skip_shape(text: str, position: int) -> int:
    """Return the position after the shape at `position`; `position` where there is none.

    Raises:
        HloParseError: A bracket of the shape is never closed.
    """
    opened = _TUPLE.match(text, position)
    if opened is not None:
        end = find_closing(text, opened.end())
        if end < 0:
            raise parse_error(text, position, "this parenthesis is never closed")
        return end
    word = _SHAPE_WORD.match(text, position)
    if word is None:
        return position
    if word[1] is None and word[2] is None:
        return word.end()
    end = find_closing(text, word.end())
    if end < 0:
        raise parse_error(text, word.end(), "this brace is never closed")
    return end
