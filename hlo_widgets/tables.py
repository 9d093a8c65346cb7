"""The cost table: one row for each instruction that does work, as a pandas frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from hlo_widgets.analysis import (
    LARGEST_INT64,
    Collective,
    Work,
    collectives_in,
    comparable_source,
    done_of,
    fused_computation,
    memory_space_words,
    module_platform,
    output_memory_spaces,
    readable_shape,
    source_text,
    target_platform,
    vmem_use,
    work_rows,
)
from hlo_widgets.hlo import HloInstruction, HloModule, Shape

__all__ = ["COLUMNS", "UNITS", "cost_table"]

# Columns in the order they are shown, each with its pandas type; every type can hold <NA>.
COLUMNS: Mapping[str, str] = {
    "name": "string",
    "opcode": "string",
    "fusion_kind": "string",
    "calls": "string",
    "root_opcode": "string",
    "instruction_count": "Int64",
    "computation": "string",
    "trip_count": "Int64",
    "estimated_cycles": "Int64",
    "cycles_share": "Float64",
    "vmem_bytes": "Int64",
    "vmem_limit_bytes": "Int64",
    "window_vmem_bytes": "Int64",
    "bytes_in": "Int64",
    "bytes_out": "Int64",
    "output_memory_space": "string",
    "parameters": "string",
    "op_name": "string",
    "source": "string",
    "cost_source": "string",
    "collective": "string",
    "collective_bytes": "Int64",
}

# What a number in a column counts, for `df.attrs["units"]`.
UNITS: Mapping[str, str] = {
    "instruction_count": "instructions in the fused computation, its parameters included",
    "trip_count": "runs of the instruction in one run of the module",
    "estimated_cycles": "cycles of the target's clock for one run of the instruction, estimated",
    "cycles_share": "part of the sum of estimated_cycles * trip_count of its cost_source, 0 to 1",
    "vmem_bytes": "bytes",
    "vmem_limit_bytes": "bytes",
    "window_vmem_bytes": "bytes",
    "bytes_in": "bytes of the distinct operands, without the padding of tiles",
    "bytes_out": "bytes of the result, without the padding of tiles",
    "collective_bytes": "bytes that one device receives from others in one run, at the least",
}


def cost_table(
    module: HloModule,
    *,
    target: str | None = None,
    versions: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> pd.DataFrame:
    """Return one row for each instruction that does work, in schedule order.

    The entry computation's rows come first, then those of the loop bodies and calls that it runs.
    What counts as work is listed in `hlo_widgets.analysis.work`. An asynchronous pair has one row,
    named by its start, with the result of its done.

    Args:
        module: The module; figures come from what its compiler printed, so text from before code
            generation has shapes and names only.
        target: What it was compiled for, such as "v6e"; names memory spaces and is kept in `attrs`.
            Without it the platform is judged by the text.
        versions: Versions of the compiler's packages, kept in `attrs`.
        notes: What is to be known about the text, such as a figure that its compiler does not
            give, kept in `attrs`.

    Returns:
        A frame with the columns `COLUMNS`. A figure that the compiler did not give is `<NA>`, never
        0. `cycles_share` is over the rows whose `estimated_cycles` and `trip_count` are both known.
        Figures of different cost models do not compare: with several in `cost_source`, the shares
        and the total are over the rows of the one with the most rows, and the others have no share.
        `df.attrs` has `module`, `target`, `versions`, `notes`, `units`, `cost_sources` (rows by
        source), `total_estimated_cycles` (None where no row is known), `total_source` (whose
        figures are in it), `known_rows` (how many), `rows`, and `total`, all this in words such as
        "20,556 estimated cycles, 3 of 3 rows known".
        `collective` is the kind of the collective that a row is or holds, with its groups in words,
        and `collective_bytes` how many bytes reach one device in one run of it, by its shapes and
        groups: see `hlo_widgets.analysis.collectives`. Both are `<NA>` in rows that have none.
    """
    rows = _Rows(target_platform(target) or module_platform(module))
    works = work_rows(module)
    for row in works:
        rows.add(row)
    totals = rows.add_shares(works)
    frame = pd.DataFrame(
        {name: pd.array(rows.columns[name], dtype=kind) for name, kind in COLUMNS.items()}
    )
    frame.attrs.update(
        module=module.name,
        target=target,
        versions=dict(versions or {}),
        notes=list(notes),
        units=dict(UNITS),
        cost_sources=dict(Counter(rows.columns["cost_source"])),
        **totals,
    )
    return frame


class _Rows:
    """The table's columns while they grow."""

    def __init__(self, platform: str | None) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self._platform = platform
        # One result is read by many instructions.
        self._results: dict[HloInstruction, tuple[str, int | None]] = {}
        self._spaces: dict[int, str] = {}

    def add(self, row: Work) -> None:
        """Add one row."""
        instruction = row.instruction
        vmem = vmem_use(instruction)
        fused = fused_computation(instruction)
        operands = instruction.operands
        # A start's own shape holds its operands, too.
        result = done_of(instruction) or instruction
        values = (
            instruction.name,
            instruction.opcode,
            None if instruction.fusion_kind is None else str(instruction.fusion_kind),
            None if fused is None else fused.name,
            None if fused is None else fused.root_instruction.opcode,
            None if fused is None else len(fused.instructions),
            instruction.parent.name,
            row.trip_count,
            row.estimate.estimated_cycles,
            None,  # cycles_share needs the sum of all rows
            _fits(vmem.vmem_bytes),
            _fits(vmem.limit_bytes),
            _fits(vmem.window_bytes),
            self._bytes_in(operands),
            _fits(self._result(result)[1]),
            self._output_space(readable_shape(result)),
            ", ".join([self._result(operand)[0] for operand in operands]) or None,
            instruction.metadata.op_name,
            source_text(instruction),
            row.estimate.source,
            *_exchange(collectives_in(instruction)),
        )
        for column, value in zip(self.columns.values(), values, strict=True):
            column.append(value)

    def add_shares(self, rows: Sequence[Work]) -> dict[str, object]:
        """Fill `cycles_share` and return the totals for `attrs`."""
        source = comparable_source(rows)
        cycles = [row.run_cycles if row.estimate.source == source else None for row in rows]
        known = [value for value in cycles if value is not None]
        total = sum(known) if known else None
        if total:
            self.columns["cycles_share"] = [
                None if value is None else value / total for value in cycles
            ]
        left_out = sum(row.run_cycles is not None for row in rows) - len(known)
        return {
            "total_estimated_cycles": total,
            "total_source": source,
            "known_rows": len(known),
            "rows": len(rows),
            "total": _total_words(total, source, len(known), len(rows), left_out),
        }

    def _result(self, instruction: HloInstruction) -> tuple[str, int | None]:
        """Return what an instruction hands on: its name with its shape, and the size in bytes."""
        known = self._results.get(instruction)
        if known is None:
            shape = readable_shape(instruction)
            words = "?" if shape is None else shape.to_string(with_layout=False)
            size = None if shape is None else shape.byte_size
            known = self._results[instruction] = (f"{instruction.name} {words}", size)
        return known

    def _bytes_in(self, operands: Sequence[HloInstruction]) -> int | None:
        # An operand that stands twice is read from one place.
        sizes = [self._result(operand)[1] for operand in dict.fromkeys(operands)]
        known = [size for size in sizes if size is not None]
        return _fits(sum(known)) if len(known) == len(sizes) else None

    def _output_space(self, shape: Shape | None) -> str | None:
        if shape is None:
            return None
        return " + ".join([self._words(space) for space in output_memory_spaces(shape)]) or None

    def _words(self, space: int) -> str:
        if space not in self._spaces:
            self._spaces[space] = memory_space_words(space, self._platform)
        return self._spaces[space]


def _exchange(found: Sequence[Collective]) -> tuple[str | None, int | None]:
    """Return kinds and groups in words, and the bytes: of all where all are known."""
    if not found:
        return None, None
    words = " + ".join(f"{one.title}: {one.words}" for one in found)
    moved = [one.bytes_moved for one in found]
    known = [value for value in moved if value is not None]
    return words, _fits(sum(known)) if len(known) == len(moved) else None


def _total_words(
    total: int | None, source: str | None, known: int, rows: int, left_out: int
) -> str:
    words = "no estimate" if total is None else f"{total:,} estimated cycles"
    if not left_out:
        return f"{words}, {known:,} of {rows:,} rows known"
    return (
        f"{words}, {known:,} of {rows:,} rows, all by {source}; {left_out:,} with figures of "
        "other cost models, which do not compare, are left out"
    )


def _fits(value: int | None) -> int | None:
    """Return the number if the column's 64 bits hold it; text can claim any size."""
    return value if value is not None and abs(value) <= LARGEST_INT64 else None
