"""Bytes that a run of a module reads from and writes to one of the memories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hlo_widgets.analysis.async_pairs import done_of, is_memory_move
from hlo_widgets.analysis.execution import executed_computations
from hlo_widgets.analysis.shapes import readable_shape
from hlo_widgets.analysis.work import does_work
from hlo_widgets.hlo import HloInstruction, HloModule, Shape
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["MemoryTraffic", "memory_traffic"]


@dataclass(frozen=True)
class MemoryTraffic:
    """What crosses between the kernels of a module and one memory in one run.

    By shapes alone: each kernel reads each of its operands there once and whole, and writes its
    result whole, without the padding of tiles. What lies in another memory does not count; a copy
    from one to the other does, on both sides.

    Attributes:
        read_bytes: Bytes read; None where nothing is known.
        written_bytes: Bytes written; None where nothing is known.
        known: How many instructions both are known of: shapes and number of runs.
        rows: How many instructions move something, or do work.
    """

    read_bytes: int | None
    written_bytes: int | None
    known: int
    rows: int

    @property
    def total_bytes(self) -> int | None:
        """Both together."""
        if self.read_bytes is None or self.written_bytes is None:
            return None
        return self.read_bytes + self.written_bytes


def memory_traffic(module: HloModule, space: int = 0) -> MemoryTraffic:
    """Add up what the instructions of a run read from and write to a memory space.

    Args:
        module: A compiled module: only there do layouts say where a value lies.
        space: The memory's number, as in a layout's `S(1)`; 0 is HBM on a TPU or GPU.
    """
    read, written = 0, 0
    known = rows = 0
    for executed in executed_computations(module):
        for instruction in executed.computation.instructions:
            moves = opcodes.is_async_start(instruction.opcode) and is_memory_move(instruction)
            if not moves and not does_work(instruction):
                continue
            rows += 1
            sizes = (_moved if moves else _worked_on)(instruction, space)
            if sizes is not None and executed.trip_count is not None:
                known += 1
                read += sizes[0] * executed.trip_count
                written += sizes[1] * executed.trip_count
    return (
        MemoryTraffic(read, written, known, rows) if known else MemoryTraffic(None, None, 0, rows)
    )


def _worked_on(instruction: HloInstruction, space: int) -> tuple[int, int] | None:
    # An operand that stands twice is read from one place.
    operands = [readable_shape(operand) for operand in dict.fromkeys(instruction.operands)]
    read = _bytes_in(space, operands)
    written = _bytes_in(space, [readable_shape(done_of(instruction) or instruction)])
    return None if read is None or written is None else (read, written)


def _moved(start: HloInstruction, space: int) -> tuple[int, int] | None:
    """Return what a copy between memories reads and writes: as much as arrives, on each side."""
    source = readable_shape(start.operands[0]) if start.operands else None
    target = readable_shape(done_of(start) or start)
    if source is None or target is None or target.byte_size is None:
        return None
    size = target.byte_size
    return size * (source.memory_space == space), size * (target.memory_space == space)


def _bytes_in(space: int, shapes: Iterable[Shape | None]) -> int | None:
    """Return the bytes of the arrays in a memory; None where one of them is not known."""
    total = 0
    for shape in shapes:
        if shape is None:
            return None
        for leaf in shape.leaves():
            if leaf.is_array and leaf.memory_space == space:
                if leaf.byte_size is None:
                    return None
                total += leaf.byte_size
    return total
