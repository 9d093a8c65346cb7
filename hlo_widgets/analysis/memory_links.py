"""From an allocation that did not fit to the op that asked for it, in another compile's module.

A compile that runs out of memory gives no module. But where the same function was compiled before,
with other shapes or for another target, most of its ops stand in that module too.
"""

from __future__ import annotations

from hlo_widgets.analysis.execution import work_instructions
from hlo_widgets.analysis.memory_report import MemoryAllocation, MemoryReport
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["asking_ops"]


def asking_ops(report: MemoryReport, module: HloModule) -> tuple[HloInstruction, ...]:
    """Return the ops of a module that a report names, each once, in the report's order.

    An op is the same by the name that the user's program gave it (`op_name`); where the report has
    none of these, by the instruction's own name. Among several of one `op_name` it is the one that
    is called as in the report, else the first.

    Args:
        report: What a compiler said of the function.
        module: What it was compiled to another time.
    """
    work = list(work_instructions(module))
    found = (_asking_op(allocation, work) for allocation in report.allocations)
    return tuple(dict.fromkeys(op for op in found if op is not None))


def _asking_op(allocation: MemoryAllocation, work: list[HloInstruction]) -> HloInstruction | None:
    same = work
    if allocation.op_name is not None:
        same = [op for op in work if op.metadata.op_name == allocation.op_name]
    named = [op for op in same if op.name == allocation.instruction]
    if allocation.op_name is not None:
        named += same
    return named[0] if named else None
