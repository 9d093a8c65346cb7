"""Reading line by line: the fast path, for text as compilers print it.

One regular expression cuts every line into name, opcode, operands and attributes, many lines a
call, so that only the joining is left to Python. A line that is not as compilers print it sends
its whole computation to the careful path in `grammar`; `tests/hlo/test_paths_agree.py` shows that
both read the same.
"""

from __future__ import annotations

import re

from hlo_widgets.hlo.attributes import CALLING_ATTRIBUTES, split_attributes
from hlo_widgets.hlo.builder import ComputationDraft, ModuleBuilder
from hlo_widgets.hlo.grammar import GrammarReader
from hlo_widgets.hlo.instruction import HloInstruction
from hlo_widgets.hlo.module import HloComputation
from hlo_widgets.hlo.opcode import APPLIES, ENDS_OF_PAIRS, NEVER_CALLS, SUGARED_STARTS
from hlo_widgets.hlo.operands import ALL_PERCENT, PERCENT_NAME, resolve_operands
from hlo_widgets.hlo.scanner import is_balanced
from hlo_widgets.hlo.statement import scan_statement

# Text without parentheses, with one level of them, with two, with three: what shapes and operands
# have. Every quantifier is possessive: no line, however odd, makes the pattern try a second way.
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
_LINE = re.compile(
    rf"(?:[ \t]*+(ROOT )?%?+([^\s=(){{}}\[\],\"'%/]++) = (?:\({_THREE}\)|{_ARRAY})"
    rf" ([a-z][a-z0-9-]*+)\(({_TWO})\)(.*+)|(.*+))(?:\n|(?<=[^\n])\Z)"
)
_HEADER = re.compile(r"(ENTRY )?%?([^\s=(){}\[\],\"'%/]++)(?<!:) ")
_CLOSING = re.compile(r"\}(, execution_thread=\"[^\"]*+\")?+\s*+(?://.*+)?+")
# Characters that are cut at a time: few after a change from the careful path, which may come again
# at once, then more and more. The last bounds the memory that the pieces take.
_FIRST_CHUNK = 512
_LAST_CHUNK = 16_384

_PLAIN, _LEAF, _FUSION, _APPLY, _CALLS, _SUGARED = range(6)
_KINDS = {
    **dict.fromkeys(NEVER_CALLS | ENDS_OF_PAIRS, _PLAIN),
    **dict.fromkeys(SUGARED_STARTS, _SUGARED),
    **dict.fromkeys(APPLIES, _APPLY),
    "fusion": _FUSION,
    "parameter": _LEAF,
    "constant": _LEAF,
    "iota": _LEAF,
}
# With one string for each opcode, so that thousands of instructions do not hold thousands.
_CLASSES = {opcode: (kind, opcode) for opcode, kind in _KINDS.items()}


class LineReader:
    """Reads the computations of a module, fast where it can and carefully where it must."""

    def __init__(self, builder: ModuleBuilder) -> None:
        self._builder = builder
        self._source = builder.module.source
        self._begin = 0
        self.grammar = GrammarReader(builder)

    def read(self, position: int) -> int:
        """Read computations from `position` on; return where they or another module end them.

        Raises:
            HloParseError: A computation is no HLO.
        """
        size = len(self._source)
        while position < size:
            self._begin = position
            position = self._read_lines(position)
            if position < size:
                after = self.grammar.read_item(position)
                if after == position:
                    break
                position = after
        return position

    def _read_lines(self, position: int) -> int:  # noqa: C901, PLR0912, PLR0915
        """Read whole lines until the end or an odd line; return where the careful path must go on.

        One long loop on purpose: it runs once a line, and a call that it would make for a line
        costs as much as the rest of that line.
        """
        builder = self._builder
        module = builder.module
        source = self._source
        size = len(source)
        line = module.line_at(position) - 1
        classes = _CLASSES.copy()

        def unknown(opcode: str) -> tuple[int, str]:
            return classes.setdefault(opcode, (_CALLS, opcode))

        draft: ComputationDraft | None = None
        # What `draft` holds, once more as locals: set with it, and read only while it is open.
        computation: HloComputation | None = None
        named: dict[str, HloInstruction] = {}
        find = named.__getitem__
        nowhere: list[HloInstruction] = []
        append = nowhere.append
        chunk = _FIRST_CHUNK
        while position < size:
            end = source.find("\n", min(position + chunk, size)) + 1 or size
            chunk = min(2 * chunk, _LAST_CHUNK)
            rows = _LINE.findall(source, position, end)
            for marker, name, opcode, operands, attributes, other in rows:
                line += 1
                if opcode:
                    if (
                        draft is None
                        or computation is None
                        or (
                            attributes
                            and (
                                attributes[0] != ","
                                or attributes.count("{") != attributes.count("}")
                                or attributes.count('"') & 1
                            )
                        )
                    ):
                        return self._odd(draft, line)
                    kind, opcode = classes.get(opcode) or unknown(opcode)  # noqa: PLW2901
                    instruction = HloInstruction(name, opcode, computation, line)
                    if operands and kind != _LEAF:
                        try:
                            if operands[0] == "%":
                                instruction.operands = (*map(find, operands[1:].split(", %")),)
                            else:
                                instruction.operands = (*map(find, operands.split(", ")),)
                        except KeyError:
                            if not self._operands(draft, instruction, operands):
                                return self._odd(draft, line)
                    if kind == _FUSION:
                        builder.note_fusion(instruction, attributes)
                    elif kind == _APPLY:
                        builder.note_apply(instruction, attributes)
                    elif kind >= _CALLS:
                        builder.note_calls(instruction, attributes)
                        if kind == _SUGARED:
                            draft.sugared.append(instruction)
                    named[name] = instruction
                    append(instruction)
                    if marker:
                        draft.root = instruction
                    continue
                text = other.strip()
                if not text or text.startswith("//"):
                    continue
                if draft is not None:
                    closing = _CLOSING.fullmatch(text)
                    if closing is None or not draft.instructions or self._is_odd(draft, line):
                        return self._odd(draft, line)
                    draft.computation.trailer = closing[1] or ""
                    builder.finish_computation(draft)
                    draft = None
                    continue
                computation = self._header(text, line)
                if computation is None:
                    return self._odd(None, line)
                draft = ComputationDraft(computation)
                named = draft.named
                find = named.__getitem__
                append = draft.instructions.append
            position = end
        return size if draft is None else self._odd(draft, line)

    def _odd(self, draft: ComputationDraft | None, line: int) -> int:
        """Return where to read carefully: where the computation begins, else the line."""
        if draft is not None:
            self._builder.forget_calls(draft)
            line = draft.computation.line
        # What was read already may end in the middle of a line.
        return max(self._begin, self._builder.module.line_starts[line - 1])

    def _header(self, text: str, line: int) -> HloComputation | None:
        """Read `ENTRY %name (parameters) -> shape {`; None where the line is anything else."""
        match = _HEADER.match(text)
        if match is None or text[-1] != "{":
            return None
        signature = text[match.end() : -1]
        if signature and (signature[0] != "(" or " -> " not in signature or " = " in signature):
            return None
        computation = HloComputation(match[2], self._builder.module, line, text[:-1].rstrip())
        computation.is_entry_computation = match[1] is not None
        return computation

    def _operands(
        self, draft: ComputationDraft, instruction: HloInstruction, operands: str
    ) -> bool:
        """Find operands with types, comments or a later definition; False for what is none."""
        if ALL_PERCENT.fullmatch(operands) is not None:
            named = draft.named
            found = [named.get(name) for name in PERCENT_NAME.findall(operands)]
            known = tuple(item for item in found if item is not None)
            if len(known) == len(found):
                instruction.operands = known
                return True
        if "(" in operands and "%" not in operands:
            return False
        draft.set_operands(instruction, resolve_operands(draft, operands))
        return True

    def _is_odd(self, draft: ComputationDraft, line: int) -> bool:
        """Return whether a line of a whole computation holds more than its one instruction.

        Lines that hold `=` between spaces more than once are looked at again; nearly no
        computation has one.
        """
        module = self._builder.module
        starts = module.line_starts
        first = draft.computation.line
        start, end = starts[first], starts[line - 1]
        # Braces in a string may make a line look whole whose value goes on to the closing brace.
        if not is_balanced(self._source[starts[line - 2] : end]):
            return True
        if self._source.count(" = ", start, end) == len(draft.instructions):
            return False
        for item in draft.instructions:
            text = module.instruction_text(item)
            if text.count(" = ") < 2 or item in module.texts:
                continue
            statement = scan_statement(text, 0)
            attributes = split_attributes(text, statement.end)
            written = sum(len(key) + len(value) + 3 for key, value in attributes.items())
            in_place = any(
                value.startswith("{") and " = " in value
                for key, value in attributes.items()
                if key in CALLING_ATTRIBUTES
            )
            if in_place or statement.end + written != len(text):
                return True
        return False
