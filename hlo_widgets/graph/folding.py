"""What is drawn as a box and what hides inside an arrow.

Outside the body of a fusion, plumbing is folded: a get-tuple-element, tuple or bitcast becomes part
of the arrow that passes through it, and a scalar constant is left out. A start/done pair is one
box, the done. An element of a computation's tuple parameter stands for itself, so that each value
which enters a loop body has a box of its own. In the body of a fusion nothing is folded: it is the
whole recipe of one kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_widgets.hlo import HloComputation, HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = [
    "FoldedComputation",
    "Source",
    "async_start_of",
    "openable_computations",
    "trivial_reducer",
]

# Arrows pass through these; a constant or a parameter is where an arrow begins.
_PASSED = opcodes.PLUMBING - {"constant", "parameter"}
_REDUCING = opcodes.APPLIES - {"call", "map"}


@dataclass(frozen=True)
class Source:
    """A box that an operand really comes from, and what the arrow passes on the way."""

    instruction: HloInstruction
    via: tuple[str, ...] = ()


def async_start_of(instruction: HloInstruction) -> HloInstruction | None:
    """Return the start that a done waits for, None when the instruction is not a done."""
    if not opcodes.is_async_done(instruction.opcode) or not instruction.operands:
        return None
    base = opcodes.async_base(instruction.opcode)
    start = instruction.operands[0]
    # Updates stand between the two; damaged text could make them a circle.
    for _ in range(len(start.parent.instructions)):
        if not start.opcode.endswith("-update") or not start.operands:
            break
        start = start.operands[0]
    # `send-done` ends a `send`.
    return start if start.opcode in (f"{base}-start", base) else None


def trivial_reducer(instruction: HloInstruction) -> str | None:
    """Return the opcode of a reducer of one two-operand op on its two parameters, else None."""
    if instruction.opcode not in _REDUCING or len(instruction.called_computations) != 1:
        return None
    reducer = instruction.called_computations[0]
    root = reducer.root_instruction
    plain = len(reducer.instructions) == 3 and all(o.opcode == "parameter" for o in root.operands)
    return root.opcode if plain and len(root.operands) == 2 else None


def openable_computations(instruction: HloInstruction) -> tuple[HloComputation, ...]:
    """Return the called computations that a click shows: all but a trivial reducer."""
    start = async_start_of(instruction)
    caller = start if start is not None else instruction
    if trivial_reducer(caller):
        return ()
    return tuple(dict.fromkeys(caller.called_computations))


class FoldedComputation:
    """One computation with its plumbing folded: boxes, and where the operands of each come from.

    Attributes:
        computation: The computation.
        drawn: The instructions that are boxes, in text order.
    """

    def __init__(self, computation: HloComputation, *, show_plumbing: bool = False) -> None:
        self.computation = computation
        self._folds = not (computation.is_fusion_computation or show_plumbing)
        self._done_of: dict[int, HloInstruction] = {}
        for instruction in computation.instructions:
            start = async_start_of(instruction)
            if start is not None:
                self._done_of[id(start)] = instruction
                for middle in _between(instruction, start):
                    self._done_of[id(middle)] = instruction
        self._split_parameters = self._find_split_parameters()
        self.drawn = tuple(i for i in computation.instructions if self.is_drawn(i))

    def is_drawn(self, instruction: HloInstruction) -> bool:
        """Return whether the instruction is a box of its own."""
        if id(instruction) in self._done_of:
            return False
        if not self._folds or instruction.is_root:
            return True
        if self.is_parameter_element(instruction):
            return True
        if id(instruction) in self._split_parameters or instruction.opcode in _PASSED:
            return False
        return not (instruction.opcode == "constant" and instruction.shape.is_scalar)

    def is_parameter_element(self, instruction: HloInstruction) -> bool:
        """Return whether this is an element of a tuple parameter that stands for itself."""
        return (
            instruction.opcode == "get-tuple-element"
            and bool(instruction.operands)
            and id(instruction.operands[0]) in self._split_parameters
        )

    def members(self, instruction: HloInstruction) -> tuple[HloInstruction, ...]:
        """Return the instructions that the box of an instruction stands for."""
        start = async_start_of(instruction)
        if start is None:
            return (instruction,)
        return (start, *_between(instruction, start), instruction)

    def inputs(self, instruction: HloInstruction) -> Iterator[tuple[int, Source]]:
        """Yield the operand number and the source of every arrow into the box of an instruction."""
        members = self.members(instruction)
        inside = {id(member) for member in members}
        for member in members:
            for number, operand in enumerate(member.operands):
                if id(operand) in inside:
                    continue
                for source in self.sources(operand):
                    yield number, source

    def control_inputs(self, instruction: HloInstruction) -> Iterator[HloInstruction]:
        """Yield the boxes that must run before this one although no value passes."""
        for member in self.members(instruction):
            for predecessor in member.control_predecessors:
                box = self._done_of.get(id(predecessor), predecessor)
                if box is not instruction and self.is_drawn(box):
                    yield box

    def sources(self, operand: HloInstruction, indices: tuple[int, ...] = ()) -> Iterator[Source]:
        """Yield the boxes that the value of an operand comes from, through folded plumbing.

        Args:
            operand: The operand.
            indices: Which element of it is meant when it is a tuple, innermost index first.
        """
        waiting: list[tuple[HloInstruction, tuple[str, ...], tuple[int, ...]]] = [
            (operand, (), indices)
        ]
        seen: set[tuple[int, tuple[int, ...]]] = set()
        while waiting:
            instruction, via, indices = waiting.pop()
            key = (id(instruction), indices)
            if key in seen:
                continue
            seen.add(key)
            instruction = self._done_of.get(id(instruction), instruction)
            if self.is_drawn(instruction):
                yield Source(instruction, via)
            elif instruction.opcode == "tuple" and indices:
                index, rest = indices[-1], indices[:-1]
                if index < len(instruction.operands):
                    waiting.append((instruction.operands[index], via, rest))
            else:
                step, inner = _step(instruction, indices)
                waiting.extend((o, step + via, inner) for o in reversed(instruction.operands))

    def _find_split_parameters(self) -> frozenset[int]:
        if not self._folds or self.computation.is_entry_computation:
            return frozenset()
        return frozenset(
            id(parameter)
            for parameter in self.computation.parameters
            if parameter.shape.is_tuple
            and parameter.users
            and not parameter.is_root
            and all(user.opcode == "get-tuple-element" for user in parameter.users)
        )


def _between(done: HloInstruction, start: HloInstruction) -> tuple[HloInstruction, ...]:
    found = []
    middle = done.operands[0]
    while middle is not start:
        found.append(middle)
        middle = middle.operands[0]
    return tuple(reversed(found))


def _step(
    instruction: HloInstruction, indices: tuple[int, ...]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return how an arrow through a folded op is told, and the tuple indices still open."""
    if instruction.opcode != "get-tuple-element":
        return (() if instruction.opcode == "tuple" else (instruction.opcode,)), indices
    text = instruction.attributes.get("index", "")
    index = int(text) if text.isdecimal() else 0
    return (f"element {index}",), (*indices, index)
