"""The smallest pieces of reading: places in a text, space and comments, brackets and strings.

Every loop here moves forward only and no pattern can backtrack (the quantifiers are possessive), so the
time is linear in the text whatever the text is.
"""

from __future__ import annotations

import re

from hlo_widgets.errors import HloParseError

# Characters of a line that an error shows, half before the place and half after it. Arbitrary: what fits
# beside a caret on a terminal.
EXCERPT_WIDTH = 80

SPACE = re.compile(r"(?:\s++|/\*(?:[^*]++|\*(?!/))*+\*/|//[^\n]*+)*+")
STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKET = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|/\*(?:[^*]++|\*(?!/))*+\*/|["(){}\[\]]', re.DOTALL
)
_VALUE = re.compile(r"[^\"(){}\[\],\s/]*+(?:/(?![*/])[^\"(){}\[\],\s/]*+)*+")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


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
    match = SPACE.match(text, position)
    return match.end() if match else position


def find_closing(text: str, position: int) -> int:
    """Return the position after the bracket that closes the one at `position`; -1 where none does.

    Brackets inside strings and comments do not count. A closing bracket of another kind counts as one:
    `[0:8)` is somebody's notation, not our mistake.
    """
    depth = 0
    for match in _BRACKET.finditer(text, position):
        token = match.group()
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth == 0:
                return match.end()
        elif token == '"':
            return -1
    return -1


def scan_value(text: str, position: int) -> int:
    """Return the position after the attribute value at `position`; -1 where it has no end.

    A value ends at a comma, at white space or at a closing bracket that belongs to something around it.
    """
    size = len(text)
    while True:
        match = _VALUE.match(text, position)
        if match is not None:
            position = match.end()
        if position >= size:
            return position
        character = text[position]
        if character in "([{":
            position = find_closing(text, position)
            if position < 0:
                return -1
        elif character == '"':
            string = STRING.match(text, position)
            if string is None:
                return -1
            position = string.end()
        else:
            return position
