"""Facts that a module's text carries: cycles, memory, loops, source lines, and words for them.

Nothing here is computed by a model of ours. A figure is what the compiler printed, or a count that
follows from the text alone; where the text has none it is None, never 0.
"""

from __future__ import annotations

from hlo_widgets.analysis.async_pairs import (
    done_of,
    is_memory_move,
    pair_members,
    start_of,
    wrapped_opcode,
)
from hlo_widgets.analysis.backend_config import LARGEST_INT64, config_fields, config_int
from hlo_widgets.analysis.calls import (
    binds_operands,
    fused_computation,
    parameter_bindings,
    stays_inside,
    trivial_reducer,
    tuple_index,
)
from hlo_widgets.analysis.collectives import Collective, collectives_in
from hlo_widgets.analysis.control_flow import is_control_flow, is_run
from hlo_widgets.analysis.cost import NO_ESTIMATE, CostEstimate, cost_estimate
from hlo_widgets.analysis.execution import (
    ExecutedComputation,
    executed_computations,
    work_instructions,
)
from hlo_widgets.analysis.layout import layout_words
from hlo_widgets.analysis.loops import trip_count
from hlo_widgets.analysis.memory import (
    VmemUse,
    memory_space_words,
    output_memory_spaces,
    vmem_use,
)
from hlo_widgets.analysis.memory_links import asking_ops
from hlo_widgets.analysis.memory_report import (
    MemoryAllocation,
    MemoryReport,
    read_memory_report,
)
from hlo_widgets.analysis.platforms import module_platform, target_platform
from hlo_widgets.analysis.rows import (
    Work,
    comparable_source,
    cycles_inside,
    run_cycles,
    work_rows,
)
from hlo_widgets.analysis.shapes import readable_shape
from hlo_widgets.analysis.sources import source_line, source_text
from hlo_widgets.analysis.work import is_work

__all__ = [
    "LARGEST_INT64",
    "NO_ESTIMATE",
    "Collective",
    "CostEstimate",
    "ExecutedComputation",
    "MemoryAllocation",
    "MemoryReport",
    "VmemUse",
    "Work",
    "asking_ops",
    "binds_operands",
    "collectives_in",
    "comparable_source",
    "config_fields",
    "config_int",
    "cost_estimate",
    "cycles_inside",
    "done_of",
    "executed_computations",
    "fused_computation",
    "is_control_flow",
    "is_memory_move",
    "is_run",
    "is_work",
    "layout_words",
    "memory_space_words",
    "module_platform",
    "output_memory_spaces",
    "pair_members",
    "parameter_bindings",
    "read_memory_report",
    "readable_shape",
    "run_cycles",
    "source_line",
    "source_text",
    "start_of",
    "stays_inside",
    "target_platform",
    "trip_count",
    "trivial_reducer",
    "tuple_index",
    "vmem_use",
    "work_instructions",
    "work_rows",
    "wrapped_opcode",
]
