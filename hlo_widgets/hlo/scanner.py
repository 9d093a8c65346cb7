"""The smallest pieces of reading: places in a text, space and comments, brackets and strings.

Every loop here moves forward only and no pattern can backtrack (the quantifiers are possessive),
so the time is linear in the text whatever the text is.
"""

from __future__ import annotations

import re

from hlo_widgets.errors import HloParseError

# Characters of a line that an error shows, half before the place and half after it. Arbitrary:
# what fits beside a caret on a terminal.
EXCERPT_WIDTH = 80

# XLA's lexer takes a colon at the end of a name for no part of it, and old texts have one.
NAME = re.compile(r"%?([^\s=(){}\[\],\"'%/:]++(?::++[^\s=(){}\[\],\"'%/:]++)*+):*+")
# An unclosed comment or string goes on to the end of the text: were it no match, each later one
# would be tried and would read to the end again.
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|//[^\n]*+"
# White space and comments, where XLA's lexer lets them stand.
GAP = rf"(?:\s++|{_COMMENT})*+"
_DOUBLE = r"\"[^\"\\]*+(?:\\.[^\"\\]*+)*+"
# XLA's strings may stand between single quotes, too. An apostrophe may stand alone, so that a
# length must bound what is tried for each.
_SINGLE = r"'(?:[^'\\\n]|\\.){0,500}+'"
_SPACE = re.compile(GAP)
STRING = re.compile(rf"{_DOUBLE}\"|{_SINGLE}", re.DOTALL)
_SKIPPED = rf"{_DOUBLE}(?:\"|\\?\Z)|{_SINGLE}|{_COMMENT}"
_BRACKET = re.compile(rf"{_SKIPPED}|[(){{}}\[\]]", re.DOTALL)
_COMMA_OR_BRACKET = re.compile(rf"{_SKIPPED}|[(){{}}\[\],]", re.DOTALL)
COMMENTS = re.compile(_COMMENT)


def _braces(depth: int) -> str:
    inner = rf"|{_braces(depth - 1)}" if depth else ""
    return rf"\{{(?:[^{{}}\"'/]++|{_DOUBLE}\"|/(?![*/]){inner})*+\}}"


# Braces in braces, eight deep, with strings and without comments: what nearly every value is.
BRACES = _braces(8)
_BRACES = re.compile(BRACES, re.DOTALL)
# A value outside of brackets and strings; a slash that begins no comment belongs to it.
_PLAIN_VALUE = re.compile(r"[^\"'(){}\[\],\s/]*+(?:/(?![*/])[^\"'(){}\[\],\s/]*+)*+")

_BALANCED = re.compile(
    rf"(?:[^{{}}\"'/]++|{_DOUBLE}\"|/(?![*/])|/\*[^*{{}}\"]*+\*/|{BRACES})*+", re.DOTALL
)
_SHAPE_BEFORE_LITERAL = re.compile(r"[a-z]\w*+\[[^\]]*+\](?:\{[^{}]*+\}(?=[ \t]))?+[ \t]*+")
_GOES_ON = re.compile(rf"(?=[\s/]){GAP}(?=[\[({{]|<=\s*+\[)")
_DEVICE_IDS = re.compile(rf"{GAP},{GAP}device_ids=(?=\()")
_AXES = re.compile(rf"{GAP}(?=\{{)")


def shorten(text: str) -> str:
    """Return text as a message can show it: the beginning and the end of what is long."""
    return text if len(text) <= 60 else f"{text[:40]}...{text[-15:]}"


def parse_error(text: str, position: int, reason: str) -> HloParseError:
    """Make the error for a place in a text, with the line, the column and a window of the line."""
    position = min(position, len(text))
    line = text.count("\n", 0, position) + 1
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    first = max(start, position - EXCERPT_WIDTH // 2)
    excerpt = text[first : min(end, first + EXCERPT_WIDTH)].replace("\t", " ")
    return HloParseError(reason, line, position - start + 1, excerpt, position - first)


def skip_space(text: str, position: int) -> int:
    """Return the position after white space and comments of both kinds."""
    match = _SPACE.match(text, position)
    return match.end() if match else position


def find_closing(text: str, position: int) -> int:
    """Return the position after the bracket that closes the one at `position`; -1 where none does.

    Brackets inside strings and comments do not count. A closing bracket of another kind counts as
    one: `[0:8)` is somebody's notation, not our mistake.
    """
    if text.startswith("{", position):
        quick = _BRACES.match(text, position)
        if quick is not None:
            return quick.end()
        # XLA counts braces alone in what a backend writes; in anything else it is the same.
        opening, closing = "{", "}"
    else:
        opening, closing = "([{", ")]}"
    depth = 0
    for match in _BRACKET.finditer(text, position):
        token = match.group()
        if token in opening:
            depth += 1
        elif token in closing:
            depth -= 1
            if depth == 0:
                return match.end()
    return -1


def closes_later(text: str, position: int) -> bool:
    """Return whether a `}` after `position` closes what was open there."""
    depth = 0
    for match in _BRACKET.finditer(text, position):
        token = match.group()
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            if depth < 0:
                return True
    return False


def scan_attribute(text: str, key: str, position: int) -> int:
    """Return the position after the value of the attribute `key`; -1 where it has no end."""
    if key == "literal":
        # A shape, then its elements: `literal=f32[2]{0} {1, 2}`.
        shape = _SHAPE_BEFORE_LITERAL.match(text, position)
        if shape is not None:
            position = shape.end()
    return scan_value(text, position)


def is_balanced(text: str) -> bool:
    """Return whether a text closes its braces and strings; False also where it is unusual."""
    return _BALANCED.fullmatch(text) is not None


def scan_value(text: str, position: int) -> int:
    """Return the position after the attribute value at `position`; -1 where it has no end.

    A value ends at a comma, at white space or at a closing bracket that belongs to something
    around it.
    """
    size = len(text)
    while True:
        match = _PLAIN_VALUE.match(text, position)
        if match is not None:
            position = match.end()
        if position >= size:
            return position
        character = text[position]
        if character in "([{":
            is_mesh = character == "[" and text.endswith("mesh", 0, position)
            position = find_closing(text, position)
            if position > 0 and is_mesh:
                position = _mesh_end(text, position)
            if position < 0:
                return -1
        elif character in "\"'":
            string = STRING.match(text, position)
            if string is None:
                return -1 if character == '"' else position + 1
            position = string.end()
        else:
            # A gap may stand inside of a value: no instruction begins with one of these.
            more = _GOES_ON.match(text, position)
            if more is None:
                return position
            position = more.end()


def _mesh_end(text: str, position: int) -> int:
    """Return the position after what follows the axes of a mesh; -1 where it has no end.

    The one value with a comma and with spaces outside of brackets:
    `mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'x'}`.
    """
    devices = _DEVICE_IDS.match(text, position)
    if devices is not None:
        position = find_closing(text, devices.end())
    axes = _AXES.match(text, position) if position >= 0 else None
    return position if axes is None else find_closing(text, axes.end())


def split_top_level(text: str) -> list[str]:
    """Split text at the commas outside of brackets, strings and comments; "" has no piece."""
    pieces = []
    depth = start = 0
    for match in _COMMA_OR_BRACKET.finditer(text):
        token = match.group()
        if token == ",":
            if depth == 0:
                pieces.append(text[start : match.start()])
                start = match.end()
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
    last = text[start:]
    if pieces or last.strip():
        pieces.append(last)
    return pieces
