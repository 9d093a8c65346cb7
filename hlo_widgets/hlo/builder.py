"""Building a module while its text is read: names, forward references, placeholders, calls."""

from __future__ import annotations

import re

from hlo_widgets.hlo.attributes import (
    APPLY_CALL,
    CALLING_ATTRIBUTES,
    CALLING_WORDS,
    FUSION_CALL,
    HAS_CALLING_ATTRIBUTE,
    computation_names,
    split_attributes,
)
from hlo_widgets.hlo.instruction import FUSION_KINDS, HloInstruction
from hlo_widgets.hlo.module import HloComputation, HloModule
from hlo_widgets.hlo.operands import PendingOperand
from hlo_widgets.hlo.scanner import shorten
from hlo_widgets.hlo.sugar import wrapped_computation

# Users up to which a new tuple is made for each. Arbitrary.
_MANY = 4
_ASYNC_WRAPPED = re.compile(r"async_wrapped[\w.-]*+(?=\s*+[({])")
_ELEMENT_OF = re.compile(r"(.+)#([0-9]{1,9})")


class ComputationDraft:
    """A computation that is being read.

    Attributes:
        computation: The computation; complete after `ModuleBuilder.finish_computation`.
        named: Its instructions by name, without `%`.
        instructions: Its instructions so far.
        sugared: Its instructions that XLA reads as a start and a computation of one instruction.
        pending: Operand lists with a name that was not defined yet.
        root: The instruction marked ROOT.
        start: Where its text begins.
    """

    __slots__ = ("computation", "instructions", "named", "pending", "root", "start", "sugared")

    def __init__(self, computation: HloComputation, start: int = 0) -> None:
        self.computation = computation
        self.start = start
        self.named: dict[str, HloInstruction] = {}
        self.instructions: list[HloInstruction] = []
        self.pending: list[tuple[HloInstruction, list[HloInstruction | PendingOperand]]] = []
        self.sugared: list[HloInstruction] = []
        self.root: HloInstruction | None = None

    def find(self, name: str) -> HloInstruction | None:
        """Return the instruction of this name, with or without `%`, if it is defined already."""
        return self.named.get(name) or self._element_of(name)

    def unused_name(self, base: str) -> str:
        """Return `base`, or the first of `base.1`, `base.2` and so on that nothing has."""
        name, number = base, 0
        while name in self.named:
            number += 1
            name = f"{base}.{number}"
        return name

    def synthetic(self, name: str, opcode: str, text: str) -> HloInstruction:
        """Add an instruction that the text implies and does not write as a statement of its own."""
        instruction = HloInstruction(name, opcode, self.computation, self.computation.line)
        self.computation.parent.texts[instruction] = text
        self.named[name] = instruction
        self.instructions.append(instruction)
        return instruction

    def set_operands(
        self, instruction: HloInstruction, operands: list[HloInstruction | PendingOperand]
    ) -> None:
        """Give an instruction its operands, now or, where one is not defined yet, at the end."""
        known = [item for item in operands if isinstance(item, HloInstruction)]
        if len(known) == len(operands):
            instruction.operands = tuple(known)
        else:
            self.pending.append((instruction, operands))

    def add_parameters(self) -> bool:
        """Make parameters of what one instruction reads, as XLA does; False without types."""
        pending = [item for _, items in self.pending for item in items]
        if any(isinstance(item, PendingOperand) and not item.shape for item in pending):
            return False
        rest = self.instructions[:]
        self.instructions.clear()
        made: dict[str, HloInstruction] = {}
        for item in pending:
            if isinstance(item, PendingOperand) and (not item.name or item.name not in made):
                name = item.name or f"_{len(made)}"
                text = f"%{name} = {item.shape} parameter({len(made)})"
                made[name] = self.synthetic(name, "parameter", text)
        unnamed = iter(item for name, item in made.items() if name.startswith("_"))
        for instruction, items in self.pending:
            instruction.operands = tuple(
                item
                if isinstance(item, HloInstruction)
                else (made[item.name] if item.name else next(unnamed))
                for item in items
            )
        self.pending.clear()
        self.instructions += rest
        return True

    def _element_of(self, name: str) -> HloInstruction | None:
        """Make the get-tuple-element that `p#1` stands for; `p#1#0` is one of one."""
        match = _ELEMENT_OF.fullmatch(name)
        if match is None or name.count("#") > 100:
            return None
        whole = self.find(match[1])
        if whole is None:
            return None
        text = f"%{name} = get-tuple-element(%{match[1]}), index={match[2]}"
        element = self.synthetic(name, "get-tuple-element", text)
        element.operands = (whole,)
        return element


class ModuleBuilder:
    """A module that is being read.

    Attributes:
        module: The module; complete after `finish`.
        computations: The computations that are complete.
        skipped_lines: Lines that were no HLO and were passed over.
    """

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.computations: list[HloComputation] = []
        self.skipped_lines: list[int] = []
        self._names: set[str] = set()
        self._given: set[str] = set()
        self._written_names: set[str] | None = None
        self._entry: HloComputation | None = None
        # Calls by name, joined to their computations at the end: a callee may stand after its
        # caller.
        self._calls: list[tuple[HloInstruction, list[str]]] = []
        self._warnings: dict[str, None] = {}

    def warn(self, text: str) -> None:
        """Note something for the user, once however often it happens."""
        self._warnings.setdefault(text)

    def unused_computation_name(self, base: str) -> str:
        """Return `base` or the first of `base.1` and so on that no computation has; keep it."""
        name, number = base, 0
        while name in self._names or name in self._given:
            number += 1
            name = f"{base}.{number}"
        self._given.add(name)
        return name

    def note_fusion(self, instruction: HloInstruction, attributes: str) -> None:
        """Read the kind and the computation of a fusion."""
        match = FUSION_CALL.match(attributes)
        if match is not None:
            instruction.fusion_kind = FUSION_KINDS.get(match[1])
            if instruction.fusion_kind is not None:
                self._calls.append((instruction, [match[2]]))
                return
        kind = split_attributes(attributes).get("kind", "")
        instruction.fusion_kind = FUSION_KINDS.get(kind)
        if instruction.fusion_kind is None:
            self.warn(
                f"fusion kind {shorten(kind)!r} is not known" if kind else "a fusion names no kind"
            )
        self.note_calls(instruction, attributes)

    def note_apply(self, instruction: HloInstruction, attributes: str) -> None:
        """Read the computation of an instruction whose only call is `to_apply=`."""
        match = APPLY_CALL.match(attributes)
        if match is not None:
            self._calls.append((instruction, [match[1]]))
        else:
            self.note_calls(instruction, attributes)

    def note_calls(self, instruction: HloInstruction, attributes: str) -> None:
        """Read which computations an instruction names in its attributes."""
        # Some attributes are long, and nearly all without any of these words.
        for word in CALLING_WORDS:
            if word in attributes:
                break
        else:
            return
        if HAS_CALLING_ATTRIBUTE.search(attributes) is None:
            return
        names: list[str] = []
        for key, value in split_attributes(attributes).items():
            if key in CALLING_ATTRIBUTES:
                names += computation_names(value)
        if names:
            self._calls.append((instruction, names))

    def add_calls(self, instruction: HloInstruction, names: list[str]) -> None:
        """Note the computations that an instruction calls."""
        if names:
            self._calls.append((instruction, names))

    def forget_calls(self, draft: ComputationDraft) -> None:
        """Undo what was noted for a computation that is going to be read again."""
        drop = set(draft.instructions)
        while self._calls and self._calls[-1][0] in drop:
            self._calls.pop()

    def finish_computation(self, draft: ComputationDraft) -> None:
        """Close a computation: its root, its forward references, its users."""
        computation = draft.computation
        instructions = draft.instructions
        # XLA names what is written in place when it ends: the innermost first.
        computation.name = computation.name or self.unused_computation_name("_")
        if draft.pending:
            self._resolve_pending(draft)
        if len(draft.named) < len(instructions):
            name = shorten(computation.name)
            self.warn(f"names repeat in computation %{name}; all instructions are kept")
        if computation.name in self._names:
            self.warn(
                f"computation %{shorten(computation.name)} stands more than once; calls go to the"
                " first"
            )
        self._names.add(computation.name)
        for item in draft.sugared:
            self._wrap(item)
        computation.instructions = tuple(instructions)
        computation.root_instruction = draft.root or instructions[-1]
        self.computations.append(computation)
        if computation.is_entry_computation:
            if self._entry is not None:
                self.warn("more than one computation is marked ENTRY; the first is taken")
            else:
                self._entry = computation
        _join_users(instructions)

    def _wrap(self, start: HloInstruction) -> None:
        """Give `slice-start` and its like the computation of one `slice` that XLA makes for it."""
        wrapped = wrapped_computation(start, self._async_name)
        if wrapped is not None:
            start.called_computations = (wrapped,)
            self.module.async_wrapped[start] = wrapped.root_instruction
            self._names.add(wrapped.name)
            self.computations.append(wrapped)

    def _async_name(self, base: str) -> str:
        if self._written_names is None:
            # A text may define computations of such names further on.
            self._written_names = set(_ASYNC_WRAPPED.findall(self.module.source))
            self._given |= self._written_names
        return self.unused_computation_name(base)

    def _resolve_pending(self, draft: ComputationDraft) -> None:
        """Find operands that were defined after their use, and make placeholders for the others."""
        by_name = {item.name: item for item in reversed(draft.instructions)}
        missing: dict[str, HloInstruction] = {}
        for instruction, operands in draft.pending:
            found = []
            for item in operands:
                if isinstance(item, PendingOperand):
                    known = by_name.get(item.name) or draft.find(item.name)
                    found.append(known or self._placeholder(draft, item, missing))
                else:
                    found.append(item)
            instruction.operands = tuple(found)
        if missing:
            names = ", ".join(f"%{shorten(name)}" for name in list(missing)[:3])
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            self.warn(
                f"computation %{shorten(draft.computation.name)} reads {names}{more}, which the"
                " text does"
                " not define; placeholders stand for them"
            )

    def _placeholder(
        self, draft: ComputationDraft, operand: PendingOperand, missing: dict[str, HloInstruction]
    ) -> HloInstruction:
        name = operand.name or draft.unused_name(f"_{len(missing)}")
        found = missing.get(name)
        if found is None:
            found = missing[name] = HloInstruction(name, "missing", draft.computation, 0)
            text = f"%{name} = {operand.shape or 'opaque[]'} missing()"
            self.module.texts[found] = text
        return found

    def finish(self) -> HloModule:
        """Join the calls to their computations and hand over the module."""
        module = self.module
        module.computations = tuple(self.computations)
        module.entry_computation = self._entry or self.computations[-1]
        # XLA's name for a module without a header.
        module.name = module.name or f"module_{module.entry_computation.name}"
        by_name = {item.name: item for item in reversed(self.computations)}
        absent: dict[str, None] = {}
        for instruction, names in self._calls:
            instruction = module.async_wrapped.get(instruction, instruction)  # noqa: PLW2901
            called = [by_name[name] for name in names if name in by_name]
            instruction.called_computations = tuple(called)
            if len(called) < len(names):
                absent.update(dict.fromkeys(name for name in names if name not in by_name))
        if absent:
            some = ", ".join(f"%{shorten(name)}" for name in list(absent)[:3])
            self.warn(
                f"called and not in the text: {some}" + (" and more" if len(absent) > 3 else "")
            )
        if self.skipped_lines:
            count, first = len(self.skipped_lines), self.skipped_lines[0]
            if count == 1:
                self.warn(f"line {first} is no HLO and was skipped")
            else:
                self.warn(f"{count} lines that are no HLO were skipped, the first is line {first}")
        module.warn(*self._warnings)
        return module


def _join_users(instructions: list[HloInstruction]) -> None:
    # Nearly every instruction has one user or two: only what has many gets a list on the way.
    many: dict[HloInstruction, list[HloInstruction]] = {}
    for item in instructions:
        for operand in item.operands:
            first = operand.users
            if not first:
                operand.users = (item,)
                continue
            if len(first) < _MANY:
                if first[-1] is not item:
                    operand.users = (*first, item)
                continue
            readers = many.get(operand)
            if readers is None:
                if first[-1] is not item:
                    many[operand] = [*first, item]
            elif readers[-1] is not item:
                readers.append(item)
    for operand, readers in many.items():
        operand.users = tuple(readers)
