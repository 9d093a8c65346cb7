"""Finding instructions by a part of what they are called."""

from __future__ import annotations

from collections.abc import Iterable

from hlo_widgets.hlo import HloInstruction

__all__ = ["matching"]


def matching(instructions: Iterable[HloInstruction], text: str) -> list[HloInstruction]:
    """Return the instructions whose name, opcode or op_name holds a text, the best matches first.

    Names that begin with it come first, then names that hold it, then opcodes and op_names; within
    each in the given order. Upper and lower case are the same.
    """
    wanted = text.lower().removeprefix("%")
    begins, inside, otherwise = [], [], []
    for instruction in instructions:
        name = instruction.name.lower()
        if name.startswith(wanted):
            begins.append(instruction)
        elif wanted in name:
            inside.append(instruction)
        elif wanted in instruction.opcode or wanted in (instruction.metadata.op_name or "").lower():
            otherwise.append(instruction)
    return begins + inside + otherwise
