"""The words in a box."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from hlo_widgets.analysis import (
    cost_estimate,
    cycles_inside,
    fused_computation,
    is_memory_move,
    is_work,
    memory_space_words,
    module_platform,
    pair_members,
    run_cycles,
    start_of,
    trip_count,
    trivial_reducer,
    tuple_index,
    vmem_use,
    work_instructions,
    wrapped_opcode,
)
from hlo_widgets.graph.exchange import exchange_lines
from hlo_widgets.graph.style import fusion_kind
from hlo_widgets.graph.words import bytes_in_words, counted, one_line
from hlo_widgets.hlo import HloInstruction, HloModule, Shape

__all__ = ["LONGEST_NAME", "Labels"]

LONGEST_NAME = 34
"""Characters of a name in a box; arbitrary, about the width of the widest line of figures."""


class Labels:
    """Writes the labels of one module's instructions.

    Args:
        module: The module.
        platform: "tpu", "gpu" or "cpu", for the words of memory spaces; None lets the text decide.

    Attributes:
        platform: The platform in use; None where nobody knows.
    """

    def __init__(self, module: HloModule, platform: str | None = None) -> None:
        self._module = module
        self.platform = platform or module_platform(module)
        # Where no instruction has a figure, as before code generation, it need not say so in each.
        self._has_figures = any(
            cost_estimate(instruction).estimated_cycles is not None
            for instruction in work_instructions(module)
        )

    def lines(self, instruction: HloInstruction, *, in_body: bool) -> tuple[str, ...]:
        """Return the lines of the node of an instruction, the first one its name.

        Args:
            instruction: What the node stands for.
            in_body: Whether it stands in the body of a fusion, where no op has figures of its own.
        """
        lines = [one_line(instruction.name, LONGEST_NAME)]
        what = self._what_it_does(instruction)
        if what != instruction.opcode or not instruction.name.startswith(instruction.opcode):
            lines.append(one_line(what))
        lines += self._size(instruction)
        lines += exchange_lines(instruction)
        figures = () if in_body else self._figures(instruction)
        return (*lines, *figures)

    def title(self, instruction: HloInstruction) -> tuple[str, ...]:
        """Return the lines above the frame of an opened instruction."""
        lines = [one_line(instruction.name, LONGEST_NAME)]
        lines.append(one_line(self._what_it_does(instruction)))
        if instruction.opcode == "while":
            lines += self._loop(instruction)
        lines += exchange_lines(instruction)
        return (*lines, *self._figures(instruction))

    def _size(self, instruction: HloInstruction) -> list[str]:
        lines = []
        fused = fused_computation(instruction)
        if instruction.opcode == "while":
            lines += self._loop(instruction)
        elif fused is not None:
            lines.append(f"{counted(len(fused.instructions), 'op')} inside")
        return [*lines, one_line(self._shape(instruction.shape))]

    def _loop(self, loop: HloInstruction) -> list[str]:
        runs = trip_count(loop)
        lines = ["number of runs not known" if runs is None else f"runs {counted(runs, 'time')}"]
        cycles = cycles_inside(loop, self._cycles)
        if cycles is not None:
            lines.append(f"{counted(cycles, 'cycle')} inside")
        return lines

    @cached_property
    def _cycles(self) -> Mapping[HloInstruction, int]:
        return run_cycles(self._module)

    def _figures(self, instruction: HloInstruction) -> tuple[str, ...]:
        # The start of a pair has the figures of both.
        working = pair_members(instruction)[0]
        if not (self._has_figures and is_work(working)):
            return ()
        cycles = cost_estimate(working).estimated_cycles
        vmem = vmem_use(working).vmem_bytes
        line = "cycles not known" if cycles is None else counted(cycles, "cycle")
        # An op that works on operands which lie in VMEM already may need none of its own.
        return (f"{line}, VMEM {bytes_in_words(vmem)}" if vmem else line,)

    def _what_it_does(self, instruction: HloInstruction) -> str:
        opcode = instruction.opcode
        fused = fused_computation(instruction)
        if fused is not None:
            kind = fusion_kind(instruction) or "fusion of no stated kind"
            return f"{kind}, root {fused.root_instruction.opcode}"
        if start_of(instruction) is not None:
            return self._transfer(instruction)
        if opcode == "parameter":
            return f"parameter {instruction.parameter_number}"
        if opcode == "constant":
            return f"constant {instruction.literal}"
        if opcode == "custom-call":
            target = instruction.attributes.get("custom_call_target", "").strip('"')
            return f"custom-call {target}".rstrip()
        if opcode == "get-tuple-element":
            index = tuple_index(instruction)
            return f"element {'?' if index is None else index} of a tuple"
        reducer = trivial_reducer(instruction)
        return f"{opcode} {reducer}" if reducer else opcode

    def _transfer(self, done: HloInstruction) -> str:
        """Return what a pair does, of a move between memories also from where to where."""
        start = pair_members(done)[0]
        if not is_memory_move(done) or not start.operands:
            return f"{wrapped_opcode(done)} (start to done)"
        moved_from = start.operands[0].shape.memory_space
        arrow = f"{self._space(moved_from)} -> {self._space(done.shape.memory_space)}"
        return f"{wrapped_opcode(done)} {arrow}"

    def _space(self, memory_space: int) -> str:
        return memory_space_words(memory_space, self.platform)

    def _shape(self, shape: Shape) -> str:
        if shape.is_tuple:
            return f"tuple of {len(shape.tuple_shapes)}"
        text = shape.to_string(with_layout=False)
        return f"{text} in {self._space(shape.memory_space)}" if shape.memory_space else text
