"""What is drawn as a node and what hides inside an arrow.

Outside the body of a fusion, plumbing is folded: a get-tuple-element, tuple or bitcast becomes part
of the arrow that passes through it, and a scalar constant is left out. A start/done pair is one
node, the done. An element of a computation's tuple parameter stands for itself, so that each value
which enters a loop body has a node of its own. In the body of a fusion nothing is folded: it is the
whole recipe of one kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hlo_widgets.analysis import pair_members, trivial_reducer, tuple_index
from hlo_widgets.hlo import HloComputation, HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["FoldedComputation", "Source", "openable_computations"]

# Arrows pass through these; a constant or a parameter is where an arrow begins.
_PASSED = opcodes.PLUMBING - {"constant", "parameter"}


MOST_VIA = 8
"""Folded ops that an arrow tells; arbitrary. A chain of thousands has been seen."""


@dataclass(frozen=True)
class Source:
    """A node that an operand really comes from, and what the arrow passes on the way.

    Attributes:
        instruction: The instruction of the node.
        element: Which element of its tuple is meant, "" when the whole value is: "1".
        via: Opcodes of what is folded into the arrow besides.
    """

    instruction: HloInstruction
    element: str = ""
    via: tuple[str, ...] = ()


def openable_computations(instruction: HloInstruction) -> tuple[HloComputation, ...]:
    """Return the called computations that a click shows: all but a trivial reducer."""
    if trivial_reducer(instruction):
        return ()
    return pair_members(instruction)[0].named_computations


class FoldedComputation:
    """One computation with its plumbing folded: its nodes, and where their operands come from.

    Attributes:
        computation: The computation.
        drawn: The instructions that are nodes, in text order.
    """

    def __init__(self, computation: HloComputation, *, show_plumbing: bool = False) -> None:
        self.computation = computation
        self._folds = not (computation.is_fusion_computation or show_plumbing)
        # Of a start or an update the done, by which the pair goes.
        self._done_of: dict[HloInstruction, HloInstruction] = {}
        for instruction in computation.instructions:
            if opcodes.is_async_done(instruction.opcode):
                for member in pair_members(instruction)[:-1]:
                    self._done_of[member] = instruction
        self._split_parameters = self._find_split_parameters()
        self.drawn = tuple(i for i in computation.instructions if self.is_drawn(i))

    def is_drawn(self, instruction: HloInstruction) -> bool:
        """Return whether the instruction is a node of its own."""
        if instruction in self._done_of:
            return False
        if not self._folds or instruction.is_root:
            return True
        if self.is_parameter_element(instruction):
            return True
        if instruction in self._split_parameters or instruction.opcode in _PASSED:
            return False
        return not is_scalar_constant(instruction)

    def is_parameter_element(self, instruction: HloInstruction) -> bool:
        """Return whether this is an element of a tuple parameter that stands for itself."""
        return (
            instruction.opcode == "get-tuple-element"
            and bool(instruction.operands)
            and instruction.operands[0] in self._split_parameters
        )

    def inputs(self, instruction: HloInstruction) -> Iterator[tuple[int, Source]]:
        """Yield the operand number and the source of every arrow into a node."""
        members = pair_members(instruction)
        for member in members:
            for number, operand in enumerate(member.operands):
                if operand in members:
                    continue
                for source in self.sources(operand):
                    yield number, source

    def control_inputs(self, instruction: HloInstruction) -> Iterator[HloInstruction]:
        """Yield the nodes that must run before this one although no value passes."""
        for member in pair_members(instruction):
            for predecessor in member.control_predecessors:
                # What waits for a start alone does not wait for the done, by which the node goes:
                # an arrow from there would deny that the two run beside each other.
                if self.is_drawn(predecessor) and predecessor is not instruction:
                    yield predecessor

    def sources(self, operand: HloInstruction, indices: tuple[int, ...] = ()) -> Iterator[Source]:
        """Yield the nodes that the value of an operand comes from, through folded plumbing.

        Args:
            operand: The operand.
            indices: Which element of it is meant when it is a tuple, outermost index last.
        """
        waiting: list[tuple[HloInstruction, tuple[int, ...], tuple[str, ...]]] = [
            (operand, indices, ())
        ]
        seen: set[tuple[HloInstruction, tuple[int, ...]]] = set()
        while waiting:
            instruction, indices, via = waiting.pop()
            instruction = self._done_of.get(instruction, instruction)
            if (instruction, indices) in seen:
                continue
            seen.add((instruction, indices))
            if self.is_drawn(instruction):
                yield Source(instruction, ".".join(map(str, reversed(indices))), via)
            elif instruction.opcode == "get-tuple-element":
                index = tuple_index(instruction)
                inner = indices if index is None else (*indices, index)
                waiting.extend((o, inner, via) for o in instruction.operands)
            elif instruction.opcode == "tuple":
                waiting.extend((o, inner, via) for o, inner in _elements(instruction, indices))
            else:
                more = (instruction.opcode, *via)[:MOST_VIA]
                waiting.extend((o, indices, more) for o in reversed(instruction.operands))

    @cached_property
    def neighbours(self) -> dict[HloInstruction, list[HloInstruction]]:
        """The nodes that an arrow joins to each node, producers and consumers alike."""
        neighbours: dict[HloInstruction, list[HloInstruction]] = {}
        for node in self.drawn:
            for _, source in self.inputs(node):
                neighbours.setdefault(node, []).append(source.instruction)
                neighbours.setdefault(source.instruction, []).append(node)
        return neighbours

    def _find_split_parameters(self) -> frozenset[HloInstruction]:
        if not self._folds or self.computation.is_entry_computation:
            return frozenset()
        return frozenset(
            parameter
            for parameter in self.computation.parameters
            if parameter.shape.is_tuple
            and parameter.users
            and not parameter.is_root
            and all(user.opcode == "get-tuple-element" for user in parameter.users)
        )


def is_scalar_constant(instruction: HloInstruction) -> bool:
    """Return whether this is a constant of one element, which is written, not drawn."""
    return instruction.opcode == "constant" and instruction.shape.is_scalar


def _elements(
    instruction: HloInstruction, indices: tuple[int, ...]
) -> list[tuple[HloInstruction, tuple[int, ...]]]:
    """Return the operands of a tuple that the indices mean, with the indices still open."""
    if not indices:
        return [(operand, ()) for operand in reversed(instruction.operands)]
    index, rest = indices[-1], indices[:-1]
    operands = instruction.operands
    return [(operands[index], rest)] if index < len(operands) else []
