"""The compiler's own estimate of how long one run of an instruction takes, and whose figure it is.

A TPU compiler writes `window_config.estimated_cycles` into `backend_config`. A GPU compiler, when
asked by `xla_gpu_collect_cost_model_stats`, writes `reification_cost`: one entry for each of
several cost models, which can differ by a factor of a hundred thousand on one fusion. So an
estimate always names the model it came from, and figures of different models should not be added up
without saying so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hlo_widgets.analysis.backend_config import (
    LARGEST_INT64,
    config_fields,
    config_int,
    config_list,
    config_mapping,
)
from hlo_widgets.hlo import HloInstruction

__all__ = ["GPU_MODEL_PREFERENCE", "NO_ESTIMATE", "CostEstimate", "cost_estimate"]

# Which GPU cost model's figure to show, best first, by the `name` in its entry. The first model
# with a figure wins; an entry that is not listed here is never shown.
GPU_MODEL_PREFERENCE: tuple[str, ...] = (
    # Prices the tiles that the emitter really writes; the one to trust for Triton fusions, where
    # the unnamed model has been seen a hundred-thousand-fold higher.
    "indexing-cost-model",
    # Prices matrix products only, and where it prices one the indexing model does so, too.
    "experimental-gemm-cost-model",
    # The first GPU cost model has no name in the text. It is the only one that prices the fusions
    # of XLA's own emitters (kLoop, kInput).
    "",
    # The speed-of-light model gives times; its cycles have been 0, "no figure", in all text seen.
    "sol",
)


@dataclass(frozen=True)
class CostEstimate:
    """The estimated cost of one run of an instruction.

    Attributes:
        estimated_cycles: Cycles of the target's clock for one run; None where the compiler gave no
            figure. Not a measurement.
        source: Whose figure it is: "TPU window_config", "GPU cost model: indexing-cost-model" (or
            another model's name; "unnamed" for the one without), or "none".
    """

    estimated_cycles: int | None
    source: str


NO_ESTIMATE = CostEstimate(None, "none")


def cost_estimate(instruction: HloInstruction) -> CostEstimate:
    """Return the compiler's cycle estimate for one run of `instruction`.

    Args:
        instruction: Any instruction of a compiled module.

    Returns:
        The estimate with its source; `NO_ESTIMATE` where the text has none. "0" and the largest
        64-bit number are how a TPU compiler writes "no estimate", so they are none as well.
    """
    fields = config_fields(instruction)
    cycles = config_int(config_mapping(fields, "window_config"), "estimated_cycles")
    if cycles is not None and 0 < cycles < LARGEST_INT64:
        return CostEstimate(cycles, "TPU window_config")
    return _gpu_estimate(fields) if "reification_cost" in fields else NO_ESTIMATE


def _gpu_estimate(fields: Mapping[str, object]) -> CostEstimate:
    by_model: dict[str, int] = {}
    for entry in config_list(fields, "reification_cost"):
        cycles = _whole_cycles(entry.get("end_to_end_cycles"))
        if cycles is not None:
            # A damaged text may have anything for a name.
            by_model.setdefault(str(entry.get("name", "")), cycles)
    for name in GPU_MODEL_PREFERENCE:
        if name in by_model:
            return CostEstimate(by_model[name], f"GPU cost model: {name or 'unnamed'}")
    return NO_ESTIMATE


def _whole_cycles(value: object) -> int | None:
    # GPU cycles are printed as floating point with many digits that mean nothing.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value) or not 0 < value < LARGEST_INT64:
        return None
    return max(1, round(value))
