"""What a whole program takes: kernels, estimated cycles, bytes to and from memory."""

from __future__ import annotations

from dataclasses import dataclass

from hlo_widgets.analysis.calls import fused_computation
from hlo_widgets.analysis.rows import Work, comparable_source, work_rows
from hlo_widgets.analysis.traffic import MemoryTraffic, memory_traffic
from hlo_widgets.hlo import HloModule
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["ProgramFigures", "program_figures"]

_VMEM = 1
_NO_OPS = opcodes.RELABELS | {"parameter", "constant"}


@dataclass(frozen=True)
class ProgramFigures:
    """What one compiled program takes.

    Attributes:
        kernels: Instructions that do work, each counted once.
        fusions: How many of them are fusions of several ops.
        estimated_cycles: The compiler's estimates for one run, added up; None where it gives none.
        known_kernels: How many kernels are in that sum.
        cost_source: Whose figures the estimates are; None where there are none.
        traffic: Bytes read from and written to HBM (on a CPU, main memory), by shapes.
        vmem_traffic: Bytes read from and written to a TPU's VMEM, by shapes; what a kernel keeps
            for itself is not among them.
    """

    kernels: int
    fusions: int
    estimated_cycles: int | None
    known_kernels: int
    cost_source: str | None
    traffic: MemoryTraffic
    vmem_traffic: MemoryTraffic

    @property
    def has_all_cycles(self) -> bool:
        """Whether every kernel is in the sum of cycles."""
        return self.estimated_cycles is not None and self.known_kernels == self.kernels


def program_figures(module: HloModule) -> ProgramFigures:
    """Add up what the kernels of a compiled module take.

    Args:
        module: The module. Of several cost models the figures of the one with the most are taken:
            different ones do not compare.
    """
    rows = work_rows(module)
    source = comparable_source(rows)
    cycles = [row.run_cycles for row in rows if row.estimate.source == source]
    known = [value for value in cycles if value is not None]
    return ProgramFigures(
        kernels=len(rows),
        fusions=sum(map(_fuses_several, rows)),
        estimated_cycles=sum(known) if known else None,
        known_kernels=len(known),
        cost_source=source,
        traffic=memory_traffic(module),
        vmem_traffic=memory_traffic(module, _VMEM),
    )


def _fuses_several(row: Work) -> bool:
    # GPU and CPU compilers wrap an op that stays alone in a fusion, too.
    body = fused_computation(row.instruction)
    return body is not None and sum(op.opcode not in _NO_OPS for op in body.instructions) > 1
