"""Mending text that was hurt on its way: log prefixes, fences, lines a terminal wrapped.

Every repair keeps the number of lines, so that a line number means the same before and after it.
"""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r++\n")
_FENCE = re.compile(r"^[ \t]*+(?:```|~~~)[^\n`]*+$", re.MULTILINE)
# What `cat -n`, `grep -n` and editors put before a line.
_NUMBER = re.compile(r"[ \t]*+[0-9]++(?::|\||\t) ?")
_QUOTE = re.compile(r"^> ?", re.MULTILINE)
# A log line names the source file and line that wrote it before the message: `...util.cc:72]
# HloModule`.
_LOG_PREFIX = re.compile(r"[^\n\]]{0,200}[\w.-]\.(?:cc|cpp|cu|h|py|rs|go):[0-9]{1,6}\] ?")
_STARTS = re.compile(
    r"\s*+(?:$|\}|HloModule |(?:ENTRY |ROOT )|%?[\w.$-]++ (?:= |\(|\{)|(?:FileNames|FunctionNames|"
    r"FileLocations|StackFrames)$|[0-9]++ [\"{]|//|```)"
)
# Lines at the beginning that are looked at to tell a log from a module. Arbitrary.
_LOOKED_AT = 40
# A terminal narrower than this is not a terminal.
_MIN_WIDTH = 40


def mend(text: str, unwrap: bool = False) -> tuple[str, list[str]]:
    """Mend what can be seen from the lines alone.

    Args:
        text: The text as given.
        unwrap: Whether to join lines that look wrapped, too. Only for text that cannot be read as
            it is.

    Returns:
        The text to read, and what was mended in words.
    """
    notes: list[str] = []
    if "\r" in text:
        text = _LINE_END.sub("\n", text)
        # Alone it ends a line only in old texts; but a comment it ends to XLA in every text.
        text = text.replace("\r", "\n" if "\n" not in text or "//" in text else " ")
    text = text.removeprefix("\ufeff")
    if "`" in text or "~" in text:
        plain = _FENCE.sub("", text)
        if plain != text:
            notes.append("markdown fences were taken out")
            text = plain
    head = [line for line in text[:20_000].split("\n")[:_LOOKED_AT] if line.strip()]
    if head and all(line.startswith(">") for line in head):
        notes.append("quotation marks before the lines were taken out")
        text = _QUOTE.sub("", text)
    if len(head) > 2 and all(_NUMBER.match(line) for line in head):
        notes.append("line numbers before the lines were taken out")
        text = "\n".join(_NUMBER.sub("", line, count=1) for line in text.split("\n"))
    if 2 * sum(_LOG_PREFIX.match(line) is not None for line in head) >= max(len(head), 1):
        notes.append("log prefixes before the lines were taken out")
        text = "\n".join(_without_prefix(line) for line in text.split("\n"))
    if unwrap:
        text, joined = _unwrap(text)
        if joined:
            notes.append(f"lines that a terminal had wrapped were joined ({joined})")
    return text, notes


def looks_wrapped(text: str) -> bool:
    """Return whether every line of full width goes on in a line that cannot begin anything."""
    lines = text.split("\n")
    width = max(map(len, lines))
    full = [number for number, line in enumerate(lines[:-1]) if len(line) == width]
    if width < _MIN_WIDTH or not full or any("//" in lines[number] for number in full):
        return False
    # A writer indents what goes on, a terminal does not.
    if any(_STARTS.match(lines[n + 1]) or lines[n + 1].startswith("  ") for n in full):
        return False
    # One line alone may be the longest of a value that its writer spread over lines.
    return len(full) > 1 or lines[full[0]][-1].isalnum()


def _without_prefix(line: str) -> str:
    match = _LOG_PREFIX.match(line)
    return (line[match.end() :] if match is not None else line).rstrip()


def _unwrap(text: str) -> tuple[str, int]:
    """Join a line that cannot begin anything to a full-width line before it."""
    lines = text.split("\n")
    width = max((len(line) for line in lines), default=0)
    if width < _MIN_WIDTH:
        return text, 0
    result: list[str] = []
    joined = 0
    target = -1
    parts: list[str] = []
    full = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        marked = line.endswith("$")
        if marked:
            line = _restore(line[:-1], following)  # noqa: PLW2901
        if full and not _STARTS.match(line):
            parts.append(line)
            result.append("")
            joined += 1
        else:
            if target >= 0:
                result[target] = "".join(parts)
            target = len(result)
            parts = [line]
            result.append("")
        full = marked or len(line) == width
    if target >= 0:
        result[target] = "".join(parts)
    return "\n".join(result), joined


def _restore(line: str, following: str) -> str:
    """Put back the character that a pager's `$` stands on, where there is one choice."""
    if line.endswith("["):
        return line + "]"
    return line + "." if line[-1:].isalnum() and following[:1].isalnum() else line
