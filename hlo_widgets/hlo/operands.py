"""Operands: `%a, f32[8]{0} %b, /*index=2*/%c`, or an instruction written in place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hlo_widgets.hlo.instruction import HloInstruction
from hlo_widgets.hlo.scanner import COMMENTS, NAME, parse_error, skip_space, split_top_level
from hlo_widgets.hlo.statement import Statement, read_statement, skip_shape

if TYPE_CHECKING:
    from hlo_widgets.hlo.builder import ComputationDraft

# Instructions written in place may nest so deep; XLA's parser has such a limit, too.
MAX_NESTING = 100

_COMMENT = r"(?:/\*[^*]*+\*/)?+"
_TILES = r"(?:\([^()]*+\))*+"
_LAYOUT = r"(?:\{[^{}()]*+(?:\([^()]*+\)[^{}()]*+)*+\})?+"
_ARRAY = rf"[a-z]\w*+\[[^\]]*+\]{_LAYOUT}"
_TUPLE_BODY = r"[^()]*+(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)[^()]*+)*+"
# A list in which every operand has its `%`: then the names can be picked out without any parsing.
ALL_PERCENT = re.compile(
    rf"(?:{_COMMENT}(?:(?:{_ARRAY}|\({_TUPLE_BODY}\)) )?+%[^\s=(){{}}\[\],\"'%/]++(?:, |\Z))++"
)
_PARENTHESIS = re.compile(r"[()]")
PERCENT_NAME = re.compile(r"%([^\s=(){}\[\],\"'%/]++)")


class PendingOperand(NamedTuple):
    """An operand that was not defined when it was read.

    Attributes:
        name: Its name; empty for a type that stands alone.
        shape: Its type where the text gives one.
    """

    name: str
    shape: str


def resolve_operands(
    draft: ComputationDraft, text: str, depth: int = 0
) -> list[HloInstruction | PendingOperand]:
    """Find or make the instructions that an operand list names.

    Raises:
        HloParseError: A piece of the list is no operand.
    """
    if ("/*" in text or "//" in text) and depth == 0:
        text = COMMENTS.sub("", text)
    # XLA's parser passes over commas too many.
    pieces = [piece for piece in split_top_level(text) if piece and not piece.isspace()]
    return [_resolve(draft, piece, depth) for piece in pieces]


def _resolve(draft: ComputationDraft, piece: str, depth: int) -> HloInstruction | PendingOperand:
    start = skip_space(piece, 0)
    end = skip_shape(piece, start)
    position = skip_space(piece, end)
    name = NAME.match(piece, position)
    if name is not None and skip_space(piece, name.end()) == len(piece):
        found = draft.find(name[1])
        return found if found is not None else PendingOperand(name[1], piece[start:end])
    if position == len(piece) and end > start:
        return PendingOperand("", piece[start:end])
    if depth >= MAX_NESTING or (depth == 0 and _nesting(piece) > MAX_NESTING):
        raise parse_error(piece, position, f"instructions nested more than {MAX_NESTING} deep")
    statement = read_statement(piece)
    if statement.name or skip_space(piece, statement.end) != len(piece):
        raise parse_error(piece, position, "expected an operand")
    return _instruction_in_place(draft, piece, statement, depth)


def _nesting(text: str) -> int:
    """Return how deep parentheses nest in a text."""
    if text.count("(") <= MAX_NESTING:
        return 0
    deepest = depth = 0
    for match in _PARENTHESIS.finditer(text):
        depth += 1 if match.group() == "(" else -1
        deepest = max(deepest, depth)
    return deepest


def _instruction_in_place(
    draft: ComputationDraft, piece: str, statement: Statement, depth: int
) -> HloInstruction:
    """Make the instruction that is written where its value is read, as in `add(negate(x), y)`."""
    # What stands in the parentheses of these is no operand.
    has_operands = statement.opcode not in {"parameter", "constant", "iota"}
    operands = resolve_operands(draft, statement.operands, depth + 1) if has_operands else []
    name = draft.unused_name(f"{statement.opcode}.anon")
    instruction = draft.synthetic(name, statement.opcode, f"%{name} = {piece.strip()}")
    draft.set_operands(instruction, operands)
    return instruction
