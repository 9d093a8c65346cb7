"""Reading by XLA's grammar, wherever lines begin and end: the careful path.

The reader of lines hands over a computation when it meets a line that it does not know. Here white
space is only white space: a computation may stand on one line, a value may go over many, and a
computation may be written inside the attribute that calls it.
"""

from __future__ import annotations

import re

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo.attributes import ATTRIBUTE_NAME, CALLING_ATTRIBUTES
from hlo_widgets.hlo.builder import ComputationDraft, ModuleBuilder
from hlo_widgets.hlo.instruction import FUSION_KINDS, HloInstruction
from hlo_widgets.hlo.module import HloComputation
from hlo_widgets.hlo.opcode import ENDS_OF_PAIRS, SUGARED_STARTS
from hlo_widgets.hlo.operands import MAX_NESTING, resolve_operands
from hlo_widgets.hlo.scanner import (
    NAME,
    closes_later,
    find_closing,
    parse_error,
    scan_attribute,
    scan_value,
    shorten,
    skip_space,
)
from hlo_widgets.hlo.source_tables import TABLE_NAMES
from hlo_widgets.hlo.statement import (
    scan_statement,
    scan_value_side,
    skip_shape,
    starts_instruction,
    starts_value,
)

_ENTRY = re.compile(r"ENTRY(?=[\s%/])")
_WORD = re.compile(r"[A-Za-z]++")
_LINE_END = re.compile(r"[^\n]*+\n?")
_HEADER_LINE_END = re.compile(r"[^\n{]*+(?:\{(?![ \t]*+\n)[^\n{]*+)*+\{[ \t]*+\n")
_TABLES = re.compile(
    rf"(?:[ \t]*+(?:{'|'.join(TABLE_NAMES)})?+[ \t]*+(?:\n|\Z)"
    r"|[ \t]*+[0-9]++[ \t\"{][^\n]*+(?:\n|\Z))++"
)
_THREAD = re.compile(r"\s*+,\s*+([\w-]++=)")
# What the first lines after a damaged place must look like for the text to go on after it.
_GOES_ON = re.compile(
    r"^[ \t]*+(?:ROOT )?%?[\w.$-]++ = .|^[ \t]*+\}[ \t]*+\n|^HloModule |^(?:ENTRY )?%?\S++ .*\{\n",
    re.MULTILINE,
)
# A line in a computation that somebody left out, or that a logger put in.
_NO_STATEMENT = re.compile(
    r"(?:\.\.++|\u2026)[^\n=]*+(?:\n|\Z)"
    r"|[IWEFD][0-9]{4} [0-9:.]++ ++[0-9]++ [^\n\]:]++:[0-9]++\] [^\n]*+"
)
_NO_OPERANDS = {"parameter", "constant", "iota"}
# Places with a bracket that nothing closes cost a look at the whole rest of the text. Arbitrary.
_MAX_UNCLOSED = 50


class GrammarReader:
    """Reads what stands at a place of a module's text and adds it to the module."""

    def __init__(self, builder: ModuleBuilder) -> None:
        self._builder = builder
        self._source = builder.module.source
        self._unclosed = 0
        self.first_error: HloParseError | None = None

    def read_item(self, position: int) -> int:
        """Read the computation, the table or the line at `position`; return the position after it.

        The position does not move where another module begins.

        Raises:
            HloParseError: A computation is no HLO, and the text goes on after it.
        """
        source = self._source
        start = skip_space(source, position)
        if start >= len(source):
            return len(source)
        word = _WORD.match(source, start)
        if word is not None and word.group() == "HloModule":
            return position
        if word is not None and word.group() in TABLE_NAMES:
            return self._tables(start)
        if source[start] == "}":
            self._builder.warn("a '}' closes nothing: the beginning of its computation is missing")
            return start + 1
        alone = not self._builder.computations and starts_value(source, start)
        if alone or starts_instruction(source, start):
            return self._loose_instructions(start)
        body = self._header(start)
        if body is None:
            return self._skip_line(start)
        return self.read_body(body[0], body[1])

    def read_body(self, draft: ComputationDraft, position: int, depth: int = 0) -> int:
        """Read instructions up to the closing brace; return the position after its attributes."""
        source = self._source
        while True:
            position = skip_space(source, position)
            if source.startswith("}", position):
                position += 1
                break
            if position >= len(source):
                self._cut(draft, position, depth)
                break
            skipped = _NO_STATEMENT.match(source, position)
            if skipped is not None:
                self._builder.skipped_lines.append(self._builder.module.line_at(position))
                position = skipped.end()
                continue
            try:
                position = self._instruction(draft, position, depth)
            except HloParseError as error:
                if depth or self._goes_on(position):
                    raise
                self.first_error = self.first_error or error
                self._cut(draft, position, depth)
                position = len(source)
                break
        if not draft.instructions:
            if position >= len(source):
                return position
            raise parse_error(source, position - 1, "a computation needs an instruction")
        self._builder.finish_computation(draft)
        return position if depth else self._after_body(draft, position)

    def _goes_on(self, position: int) -> bool:
        """Return whether HLO follows the line at `position`, so that it is not just cut there."""
        line = _LINE_END.match(self._source, position)
        next_line = line.end() if line is not None else position
        goes_on = _GOES_ON.search(self._source, next_line) is not None
        return goes_on or closes_later(self._source, position)

    def _cut(self, draft: ComputationDraft, position: int, depth: int) -> None:
        if depth:
            raise parse_error(self._source, position, "this text ends inside of a computation")
        name = shorten(draft.computation.name)
        line = self._builder.module.line_at(position)
        if draft.root is None:
            rest = "its ROOT and what follows are missing"
        else:
            rest = "what follows is missing"
        self._builder.warn(f"the text ends in computation %{name} at line {line}: {rest}")

    def _after_body(self, draft: ComputationDraft, position: int) -> int:
        """Keep what may follow the brace: `, execution_thread="host"`."""
        source = self._source
        start = position
        while thread := _THREAD.match(source, position):
            end = scan_value(source, thread.end())
            if end < 0:
                break
            position = end
        draft.computation.trailer = source[start:position]
        return position

    def _header(self, start: int) -> tuple[ComputationDraft, int] | None:
        """Read `ENTRY %name (parameters) -> shape {`; None where no computation begins."""
        source = self._source
        entry = _ENTRY.match(source, start)
        name = NAME.match(source, skip_space(source, entry.end()) if entry else start)
        if name is None:
            return None
        position = skip_space(source, name.end())
        if source.startswith("(", position):
            after = self._signature(position)
            if after is None:
                return None
            position = after
        if not source.startswith("{", position):
            return None
        line = self._builder.module.line_at(start)
        computation = HloComputation(
            name[1], self._builder.module, line, source[start:position].rstrip()
        )
        computation.is_entry_computation = entry is not None
        return ComputationDraft(computation, start), position + 1

    def _signature(self, position: int) -> int | None:
        """Return where the brace after `(parameters) -> shape` stands; None where there is none."""
        source = self._source
        closing = find_closing(source, position)
        if closing < 0:
            self._count_unclosed(position)
        else:
            arrow = skip_space(source, closing)
            if source.startswith("->", arrow):
                start = skip_space(source, arrow + 2)
                brace = skip_space(source, skip_shape(source, start))
                if source.startswith("{", brace):
                    return brace
        # A damaged signature: nothing is read from it, so all that matters is where it ends.
        end = _HEADER_LINE_END.match(source, position)
        if end is None:
            line = _LINE_END.match(source, position)
            end = _HEADER_LINE_END.match(source, line.end()) if line is not None else None
        if end is None or " = " in source[position : end.end()]:
            return None
        self._builder.warn("the signature of a computation is damaged; nothing is read from it")
        return source.rindex("{", position, end.end())

    def _count_unclosed(self, position: int) -> None:
        self._unclosed += 1
        if self._unclosed > _MAX_UNCLOSED:
            raise self.first_error or parse_error(self._source, position, "this is never closed")

    def _instruction(
        self, draft: ComputationDraft, position: int, depth: int, name: str = ""
    ) -> int:
        source = self._source
        if name:
            statement = scan_value_side(source, position, is_root=False, name=name)
        else:
            statement = scan_statement(source, position)
        line = self._builder.module.line_at(position)
        instruction = HloInstruction(statement.name, statement.opcode, draft.computation, line)
        if statement.opcode not in _NO_OPERANDS:
            operands = resolve_operands(draft, statement.operands)
            draft.set_operands(instruction, operands)
        end = self._attributes(instruction, statement.end, depth)
        self._builder.module.spans[instruction] = (position, end)
        draft.named[statement.name] = instruction
        draft.instructions.append(instruction)
        if statement.opcode in SUGARED_STARTS:
            draft.sugared.append(instruction)
        if statement.is_root:
            draft.root = instruction
        return end

    def _attributes(self, instruction: HloInstruction, position: int, depth: int) -> int:
        """Read the attributes after the operands; return the position after the last."""
        source = self._source
        called: list[str] = []
        while True:
            comma = skip_space(source, position)
            if not source.startswith(",", comma):
                break
            start = skip_space(source, comma + 1)
            key = ATTRIBUTE_NAME.match(source, start)
            if key is None:
                raise parse_error(source, start, "expected an attribute after ','")
            start = skip_space(source, key.end())
            if key[1] in CALLING_ATTRIBUTES and not source.startswith(('"', "["), start):
                names, position = self._called(instruction, key[1], start, depth)
                called += names
                continue
            position = scan_attribute(source, key[1], start)
            if position < 0:
                raise parse_error(
                    source, start, f"the value of {shorten(key[1])!r} is never closed"
                )
            if key[1] == "kind" and instruction.opcode == "fusion":
                instruction.fusion_kind = FUSION_KINDS.get(source[start:position])
                if instruction.fusion_kind is None:
                    self._builder.warn(
                        f"fusion kind {shorten(source[start:position])!r} is not known"
                    )
        if instruction.opcode not in ENDS_OF_PAIRS:
            self._builder.add_calls(instruction, called)
        return position

    def _called(
        self, instruction: HloInstruction, key: str, start: int, depth: int
    ) -> tuple[list[str], int]:
        """Read a calling attribute's value: a name, names in braces, or computations in place."""
        source = self._source
        if not source.startswith("{", start):
            name = NAME.match(source, start)
            if name is None:
                raise parse_error(source, start, "expected the name of a computation")
            return [name[1]], name.end()
        names: list[str] = []
        if starts_instruction(source, skip_space(source, start + 1)):
            name_in_place, position = self._computation_in_place(start, depth)
            self._builder.module.inline_calls.setdefault(instruction, {})[key] = [name_in_place]
            return [name_in_place], position
        position = skip_space(source, start + 1)
        while not source.startswith("}", position):
            name = NAME.match(source, position)
            if name is not None:
                names.append(name[1])
                position = skip_space(source, name.end())
            elif source.startswith("{", position):
                name_in_place, position = self._computation_in_place(position, depth)
                names.append(name_in_place)
                position = skip_space(source, position)
            else:
                raise parse_error(source, position, "expected the name of a computation")
            if source.startswith(",", position):
                position = skip_space(source, position + 1)
        self._builder.module.inline_calls.setdefault(instruction, {})[key] = names
        return names, position + 1

    def _computation_in_place(self, brace: int, depth: int) -> tuple[str, int]:
        if depth >= MAX_NESTING:
            raise parse_error(self._source, brace, f"nested more than {MAX_NESTING} deep")
        line = self._builder.module.line_at(brace)
        computation = HloComputation("", self._builder.module, line)
        draft = ComputationDraft(computation, brace)
        end = self.read_body(draft, brace + 1, depth + 1)
        return computation.name, end

    def _loose_instructions(self, start: int) -> int:
        """Read instructions that stand in no computation, as in a snippet; make one for them."""
        source = self._source
        line = self._builder.module.line_at(start)
        name = self._builder.unused_computation_name("_")
        draft = ComputationDraft(HloComputation(name, self._builder.module, line), start)
        position = start
        nameless = starts_value(source, start)
        while starts_instruction(source, position) or (nameless and position == start):
            try:
                given = "_" if nameless and position == start else ""
                position = skip_space(source, self._instruction(draft, position, 0, given))
            except HloParseError as error:
                self.first_error = self.first_error or error
                self._count_unclosed(position)
                position = skip_space(source, self._skip_line(position))
        if len(draft.instructions) == 1 and draft.pending:
            draft.add_parameters()
        if draft.instructions:
            self._builder.finish_computation(draft)
            self._builder.warn(
                "instructions stand in no computation; they were given one, called %" + name
            )
        return position

    def _tables(self, position: int) -> int:
        """Keep the source tables at `position` as text, for whoever asks for a stack frame."""
        tables = _TABLES.match(self._source, position)
        if tables is None or tables.end() == position:
            return self._skip_line(position)
        self._builder.module.tables_text += tables.group()
        return tables.end()

    def _skip_line(self, position: int) -> int:
        source = self._source
        if self.first_error is None:
            reason = "expected HloModule, a computation or an instruction"
            self.first_error = parse_error(source, position, reason)
        self._builder.skipped_lines.append(self._builder.module.line_at(position))
        line = _LINE_END.match(source, position)
        return line.end() if line is not None else len(source)
