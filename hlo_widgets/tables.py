"""The cost table: one row for each instruction that does work, as a pandas frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from hlo_widgets.analysis import (
    cost_estimate,
    executed_computations,
    is_work,
    memory_space_words,
    module_platform,
    source_text,
    target_platform,
    vmem_use,
)
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule, Shape

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
}

# What a number in a column counts, for `df.attrs["units"]`.
UNITS: Mapping[str, str] = {
    "instruction_count": "instructions in the fused computation, its parameters included",
    "trip_count": "runs of the instruction in one run of the module",
    "estimated_cycles": "cycles of the target's clock for one run of the instruction, estimated",
    "cycles_share": "part of the sum of estimated_cycles * trip_count, from 0 to 1",
    "vmem_bytes": "bytes",
    "vmem_limit_bytes": "bytes",
    "window_vmem_bytes": "bytes",
    "bytes_in": "bytes of the distinct operands, without the padding of tiles",
    "bytes_out": "bytes of the result, without the padding of tiles",
}

_INT64_MAX = 2**63 - 1


def cost_table(
    module: HloModule,
    *,
    target: str | None = None,
    versions: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return one row for each instruction that does work, in schedule order.

    The entry computation's rows come first, then those of the loop bodies and calls that it runs.
    What counts as work is listed in `hlo_widgets.analysis.work`.

    Args:
        module: The module; figures come from what its compiler printed, so text from before code
            generation has shapes and names only.
        target: What it was compiled for, such as "v6e"; names memory spaces and is kept in `attrs`.
            Without it the platform is judged by the text.
        versions: Versions of the compiler's packages, kept in `attrs`.

    Returns:
        A frame with the columns `COLUMNS`. A figure that the compiler did not give is `<NA>`, never
        0. `cycles_share` is over the rows whose `estimated_cycles` and `trip_count` are both known.
        `df.attrs` has `module`, `target`, `versions`, `units`, `cost_sources` (rows by source;
        figures of different GPU models do not compare), `total_estimated_cycles` (None where no row
        is known), `known_rows`, `rows` and `total`, the last three as words such as "20,556
        estimated cycles, 3 of 3 rows known".
    """
    rows = _Rows(target_platform(target) or module_platform(module))
    for executed in executed_computations(module):
        for instruction in executed.computation.instructions:
            if is_work(instruction):
                rows.add(instruction, _fits(executed.trip_count))
    totals = rows.add_shares()
    frame = pd.DataFrame(
        {name: pd.array(rows.columns[name], dtype=kind) for name, kind in COLUMNS.items()}
    )
    frame.attrs.update(
        module=module.name,
        target=target,
        versions=dict(versions or {}),
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

    def add(self, instruction: HloInstruction, trip_count: int | None) -> None:
        """Add one row."""
        estimate = cost_estimate(instruction)
        vmem = vmem_use(instruction)
        fused, kind = _fused_computation(instruction)
        operands = instruction.operands
        values = (
            instruction.name,
            instruction.opcode,
            kind,
            None if fused is None else fused.name,
            None if fused is None else fused.root_instruction.opcode,
            None if fused is None else len(fused.instructions),
            instruction.parent.name,
            trip_count,
            estimate.estimated_cycles,
            None,  # cycles_share needs the sum of all rows
            _fits(vmem.vmem_bytes),
            _fits(vmem.limit_bytes),
            _fits(vmem.window_bytes),
            self._bytes_in(operands),
            _fits(self._result(instruction)[1]),
            self._output_space(instruction.shape),
            ", ".join([self._result(operand)[0] for operand in operands]) or None,
            instruction.metadata.op_name,
            source_text(instruction),
            estimate.source,
        )
        for column, value in zip(self.columns.values(), values, strict=True):
            column.append(value)

    def add_shares(self) -> dict[str, object]:
        """Fill `cycles_share` and return the totals for `attrs`."""
        cycles = [
            None if one is None or trips is None else one * trips
            for one, trips in zip(
                self.columns["estimated_cycles"], self.columns["trip_count"], strict=True
            )
        ]
        known = [value for value in cycles if value is not None]
        total = sum(known) if known else None
        if total:
            self.columns["cycles_share"] = [
                None if value is None else value / total for value in cycles
            ]
        words = "no estimate" if total is None else f"{total:,} estimated cycles"
        return {
            "total_estimated_cycles": total,
            "known_rows": len(known),
            "rows": len(cycles),
            "total": f"{words}, {len(known):,} of {len(cycles):,} rows known",
        }

    def _result(self, instruction: HloInstruction) -> tuple[str, int | None]:
        """Return what an instruction hands on: its name with its shape, and the size in bytes."""
        known = self._results.get(instruction)
        if known is None:
            shape = instruction.shape
            text = f"{instruction.name} {shape.to_string(with_layout=False)}"
            known = self._results[instruction] = (text, shape.byte_size)
        return known

    def _bytes_in(self, operands: Sequence[HloInstruction]) -> int | None:
        # An operand that stands twice is read from one place.
        sizes = [self._result(operand)[1] for operand in dict.fromkeys(operands)]
        known = [size for size in sizes if size is not None]
        return _fits(sum(known)) if len(known) == len(sizes) else None

    def _output_space(self, shape: Shape) -> str | None:
        if not shape.is_tuple:
            return self._words(shape.memory_space) if shape.is_array else None
        spaces = dict.fromkeys(leaf.memory_space for leaf in _leaves(shape))
        return " + ".join([self._words(space) for space in spaces]) or None

    def _words(self, space: int) -> str:
        if space not in self._spaces:
            self._spaces[space] = memory_space_words(space, self._platform)
        return self._spaces[space]


def _fused_computation(
    instruction: HloInstruction,
) -> tuple[HloComputation | None, str | None]:
    if instruction.opcode != "fusion":
        return None, None
    kind = instruction.fusion_kind
    called = instruction.called_by_attribute.get("calls", ())
    return (called[0] if called else None), (None if kind is None else str(kind))


def _leaves(shape: Shape) -> Iterator[Shape]:
    """Yield the arrays in a shape, tuples taken apart; tokens hold no memory."""
    if shape.is_tuple:
        for element in shape.tuple_shapes:
            yield from _leaves(element)
    elif shape.is_array:
        yield shape


def _fits(value: int | None) -> int | None:
    """Return the number if the column's 64 bits hold it; text can claim any size."""
    return value if value is not None and abs(value) <= _INT64_MAX else None
