"""Building a module while its text is read: names, forward references, placeholders, calls."""

from __future__ import annotations

import re

from hlo_widgets.hlo.attributes import (
    CALLING_ATTRIBUTES,
    FUSION_CALL,
    HAS_CALLING_ATTRIBUTE,
    computation_names,
    split_attributes,
)
from hlo_widgets.hlo.instruction import FUSION_KINDS, HloInstruction
from hlo_widgets.hlo.module import HloComputation, HloModule
from hlo_widgets.hlo.scanner import find_closing

_LAST_WORD = re.compile(r"%?([^\s=(){}\[\],\"%]++)\s*+$")
_OPERAND_END = re.compile(r"[,(\[{]|\Z")
_COMMENT = re.compile(r"/\*(?:[^*]++|\*(?!/))*+\*/|//[^\n]*+")


class ModuleBuilder:
    """A module that is being read.

    Attributes:
        module: The module; complete after `finish`.
    """

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.computations: list[HloComputation] = []
        # Calls by name, joined to their computations at the end: a callee may stand after its caller.
        self.calls: list[tuple[HloInstruction, list[str]]] = []
        self.warnings: dict[str, None] = {}
        self.entry: HloComputation | None = None

    def warn(self, text: str) -> None:
        """Note something for the user, once however often it happens."""
        self.warnings.setdefault(text)

    def note_fusion(self, instruction: HloInstruction, attributes: str) -> None:
        """Read the kind and the computation of a fusion."""
        match = FUSION_CALL.match(attributes)
        if match is not None:
            instruction.fusion_kind = FUSION_KINDS.get(match[1])
            self.calls.append((instruction, [match[2]]))
            return
        values = split_attributes(attributes)
        instruction.fusion_kind = FUSION_KINDS.get(values.get("kind", ""))
        self.note_calls(instruction, attributes)

    def note_calls(self, instruction: HloInstruction, attributes: str) -> None:
        """Read which computations an instruction names in its attributes."""
        if HAS_CALLING_ATTRIBUTE.search(attributes) is None:
            return
        names: list[str] = []
        for key, value in split_attributes(attributes).items():
            if key in CALLING_ATTRIBUTES and value[:1] not in {'"', "["}:
                names += computation_names(value)
        if names:
            self.calls.append((instruction, names))

    def resolve_operands(
        self,
        text: str,
        named: dict[str, HloInstruction],
        computation: HloComputation,
        pending: list[tuple[HloInstruction, list[str]]],
        instruction: HloInstruction,
    ) -> tuple[HloInstruction, ...]:
        """Find operands that are not plain names: with types, comments, or defined further down."""
        names = operand_names(text)
        found = []
        for name in names:
            operand = named.get("%" + name) or named.get(name)
            if operand is None:
                pending.append((instruction, names))
                return ()
            found.append(operand)
        return tuple(found)

    def finish_computation(
        self,
        computation: HloComputation,
        instructions: list[HloInstruction],
        root: HloInstruction | None,
        pending: list[tuple[HloInstruction, list[str]]],
    ) -> None:
        """Close a computation: its root, its forward references, its users."""
        if pending:
            self._resolve_pending(computation, instructions, pending)
        computation.instructions = tuple(instructions)
        computation.root_instruction = root or instructions[-1]
        self.computations.append(computation)
        if computation.is_entry_computation:
            self.entry = computation
        users: dict[HloInstruction, list[HloInstruction]] = {}
        for item in instructions:
            for operand in item.operands:
                readers = users.get(operand)
                if readers is None:
                    users[operand] = [item]
                elif readers[-1] is not item:
                    readers.append(item)
        for operand, readers in users.items():
            operand.users = tuple(readers)

    def _resolve_pending(
        self,
        computation: HloComputation,
        instructions: list[HloInstruction],
        pending: list[tuple[HloInstruction, list[str]]],
    ) -> None:
        by_name = {item.name: item for item in instructions}
        for instruction, names in pending:
            operands = []
            for name in names:
                operand = by_name.get(name)
                if operand is None:
                    operand = by_name[name] = HloInstruction(name, "missing", computation, 0)
                    self.warn(f"operand %{name} is read and never defined; a placeholder stands for it")
                operands.append(operand)
            instruction.operands = tuple(operands)

    def finish(self) -> HloModule:
        """Join the calls to their computations and hand over the module."""
        module = self.module
        module.computations = tuple(self.computations)
        module.entry_computation = self.entry or self.computations[-1]
        by_name: dict[str, HloComputation] = {}
        for computation in self.computations:
            by_name.setdefault(computation.name, computation)
        for instruction, names in self.calls:
            called = []
            for name in names:
                target = by_name.get(name)
                if target is None:
                    self.warn(f"computation %{name} is called and not in the text")
                else:
                    called.append(target)
            instruction.called_computations = tuple(called)
        module.warnings = tuple(self.warnings)
        return module


def operand_names(text: str) -> list[str]:
    """Names of the operands between the parentheses, with or without types and comments."""
    if "/*" in text or "//" in text:
        text = _COMMENT.sub("", text)
    names = []
    start = position = 0
    for match in _OPERAND_END.finditer(text):
        # A bracket opens a type: go on after it.
        if match.start() < position:
            continue
        if match.group() in {",", ""}:
            word = _LAST_WORD.search(text, start, match.start())
            if word is not None:
                names.append(word[1])
            start = position = match.end()
        else:
            end = find_closing(text, match.start())
            position = len(text) if end < 0 else end
    return names
