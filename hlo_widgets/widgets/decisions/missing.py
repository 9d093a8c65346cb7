"""What to say where the compiler's record, or a part of it, is missing."""

from __future__ import annotations

__all__ = ["NO_DECISIONS", "NO_PASSES", "NO_RECORD", "NO_STEPS"]

_HOW = (
    "To have one, compile with `explain=True` (magic: `--explain`), or give"
    " `hw.explore(module, decisions=…)` a dump."
)

NO_RECORD = f"No record of the compiler is at hand: the graph alone speaks here. {_HOW}"
"""Where reasons are asked for, and nobody asked the compiler."""

NO_DECISIONS = f"The steps need the record of the compiler, and none is at hand. {_HOW}"
"""The same, where the steps of fusion would be."""

NO_STEPS = "The record holds no fusion, so there are no steps."
"""Where the compiler was asked and fused nothing."""

NO_PASSES = "The record holds no modules from around the passes (XLA's `xla_dump_hlo_pass_re`)."
"""Where the compiler was asked, and wrote down no modules."""
