"""Reading HLO text: one pass over its lines."""

from __future__ import annotations

import re

from hlo_widgets.hlo.builder import ModuleBuilder
from hlo_widgets.hlo.instruction import HloInstruction
from hlo_widgets.hlo.module import HloComputation, HloModule
from hlo_widgets.hlo.opcode import NEVER_CALLS
from hlo_widgets.hlo.scanner import parse_error
from hlo_widgets.hlo.source_tables import TABLE_NAMES

# Text without parentheses, with one level of them, with two, with three: what shapes and operands have.
# Every quantifier is possessive: no line, however odd, makes the pattern try a second way.
_FLAT = r"[^()\n]*+"
_ONE = rf"{_FLAT}(?:\({_FLAT}\){_FLAT})*+"
_TWO = rf"{_FLAT}(?:\({_ONE}\){_FLAT})*+"
_THREE = rf"{_FLAT}(?:\({_TWO}\){_FLAT})*+"
_LINE = re.compile(
    rf"(?:[ \t]*+(ROOT )?(%?[^\s=(){{}}\[\],\"%]++) = (?:\({_THREE}\)|[a-z]\w*+\[\S*+)"
    rf" ([a-z][a-z0-9-]*+)\(({_TWO})\)(.*+)|(.*+))(?:\n|\Z)"
)
_HEADER = re.compile(r"(ENTRY )?%?([^\s=(){}\[\],\"%]++) (\(.*\) -> .* )?\{")
_MODULE = re.compile(r"\s*+HloModule\s++([^\s,]++)(.*+)")

PLAIN, CALLS, FUSION, LEAF = range(4)
_CLASSES = {
    **dict.fromkeys(NEVER_CALLS, PLAIN),
    "fusion": FUSION,
    "parameter": LEAF,
    "constant": LEAF,
    "iota": LEAF,
}


def parse_hlo_module(text: str) -> HloModule:
    """Read the text of one HLO module.

    Args:
        text: What a compiler printed or a person wrote; source tables and attributes may be missing.

    Returns:
        The module. Shapes, attributes, metadata and backend configs are read when first asked for.

    Raises:
        HloParseError: The text is not HLO.
    """
    source = text.replace("\r\n", "\n") if "\r" in text else text
    module = HloModule(text, source)
    builder = ModuleBuilder(module)
    start = _read_preamble(module)
    _read_lines(builder, start)
    if not builder.computations:
        raise parse_error(text, 0, "this text holds no HLO computation")
    return builder.finish()


def _read_preamble(module: HloModule) -> int:
    """Read the header and find the source tables; return where the computations begin."""
    source = module.source
    header = _MODULE.match(source)
    position = 0
    if header is not None:
        module.name = header[1]
        module.header = header[2]
        position = header.end()
    last = source.find(f"\n{TABLE_NAMES[-1]}\n", position)
    if last >= 0:
        end = source.find("\n\n", last + 1)
        end = len(source) if end < 0 else end
        module.tables_text = source[position:end]
        position = end
    return source.find("\n", position) + 1 if position else 0


def _read_lines(builder: ModuleBuilder, start: int) -> None:
    # One long loop on purpose: it runs once a line, and each call that it does not make is a tenth of its time.
    module = builder.module
    source = module.source
    line = source.count("\n", 0, start)
    classes = _CLASSES
    computation: HloComputation | None = None
    named: dict[str, HloInstruction] = {}
    find = named.__getitem__
    instructions: list[HloInstruction] = []
    pending: list[tuple[HloInstruction, list[str]]] = []
    root: HloInstruction | None = None
    for marker, key, opcode, operands, attributes, other in _LINE.findall(source, start):
        line += 1
        if opcode:
            if computation is None:
                raise parse_error(source, 0, f"line {line}: an instruction outside of a computation")
            name = key[1:] if key[0] == "%" else key
            instruction = HloInstruction(name, opcode, computation, line)
            kind = classes.get(opcode, CALLS)
            if kind != LEAF and operands:
                try:
                    instruction.operands = (*map(find, operands.split(", ")),)
                except KeyError:
                    instruction.operands = builder.resolve_operands(
                        operands, named, computation, pending, instruction
                    )
            if kind == FUSION:
                builder.note_fusion(instruction, attributes)
            elif kind == CALLS:
                builder.note_calls(instruction, attributes)
            named[key] = instruction
            instructions.append(instruction)
            if marker:
                root = instruction
            continue
        text = other.strip()
        if not text:
            continue
        if text[0] == "}":
            if computation is not None and instructions:
                builder.finish_computation(computation, instructions, root, pending)
            computation = None
            continue
        header = _HEADER.fullmatch(text)
        if header is None:
            raise parse_error(source, 0, f"line {line}: not understood: {text[:60]}")
        computation = HloComputation(header[2], module, line, text)
        computation.is_entry_computation = header[1] is not None
        named = {}
        find = named.__getitem__
        instructions = []
        pending = []
        root = None
