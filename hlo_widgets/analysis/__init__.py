"""Facts that a module's text carries: cycles, memory, loops, source lines, and words for them.

Nothing here is computed by a model of ours. A figure is what the compiler printed, or a count that
follows from the text alone; where the text has none it is None, never 0.
"""

from __future__ import annotations

from hlo_widgets.analysis.backend_config import config_fields, config_int
from hlo_widgets.analysis.cost import NO_ESTIMATE, CostEstimate, cost_estimate
from hlo_widgets.analysis.execution import (
    ExecutedComputation,
    executed_computations,
    work_instructions,
)
from hlo_widgets.analysis.layout import layout_words
from hlo_widgets.analysis.loops import trip_count
from hlo_widgets.analysis.memory import VmemUse, memory_space_words, vmem_use
from hlo_widgets.analysis.platforms import module_platform, target_platform
from hlo_widgets.analysis.sources import source_line, source_text
from hlo_widgets.analysis.work import is_work

__all__ = [
    "NO_ESTIMATE",
    "CostEstimate",
    "ExecutedComputation",
    "VmemUse",
    "config_fields",
    "config_int",
    "cost_estimate",
    "executed_computations",
    "is_work",
    "layout_words",
    "memory_space_words",
    "module_platform",
    "source_line",
    "source_text",
    "target_platform",
    "trip_count",
    "vmem_use",
    "work_instructions",
]
