"""A fusion X-ray for XLA: what the compiler made of a JAX function, for any TPU or GPU.

Public names are loaded on first use, so that importing the package, or its reader alone, loads
neither jax nor pandas nor any widget.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hlo_widgets.errors import (
    CompileCancelledError,
    CompileError,
    CompileTimeoutError,
    DecisionFileError,
    DrawingError,
    HloFileError,
    HloLookupError,
    HloParseError,
    HloWidgetsError,
    NotCompilableError,
    SpecError,
    TargetUnavailableError,
    UnknownCaptureError,
    UnknownTargetError,
)

if TYPE_CHECKING:
    from hlo_widgets import captures
    from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, read_decisions
    from hlo_widgets.analysis.why import Explanation
    from hlo_widgets.api import (
        cost_table,
        explore,
        render_svg,
        replay_decisions,
        to_dot,
        why_not_fused,
    )
    from hlo_widgets.arguments import spec
    from hlo_widgets.compiler import (
        CompilationResult,
        CompilerFlag,
        FusionComparison,
        Target,
        compile_for,
        list_flags,
        list_targets,
        target,
        without_fusion,
    )
    from hlo_widgets.hlo import (
        FusionKind,
        HloComputation,
        HloInstruction,
        HloModule,
        parse_hlo_module,
        read_hlo,
    )
    from hlo_widgets.widgets import Explorer

__version__ = "0.1.0"

_HOMES = {
    "CompilationResult": "compiler",
    "CompilerFlag": "compiler",
    "DecisionLog": "analysis.decisions",
    "Explanation": "analysis.why",
    "Explorer": "widgets",
    "FusionComparison": "compiler",
    "FusionDecision": "analysis.decisions",
    "FusionKind": "hlo",
    "HloComputation": "hlo",
    "HloInstruction": "hlo",
    "HloModule": "hlo",
    "Target": "compiler",
    "captures": "",
    "compile_for": "compiler",
    "cost_table": "api",
    "explore": "api",
    "list_flags": "compiler",
    "list_targets": "compiler",
    "parse_hlo_module": "hlo",
    "read_decisions": "analysis.decisions",
    "read_hlo": "hlo",
    "render_svg": "api",
    "replay_decisions": "api",
    "spec": "arguments",
    "target": "compiler",
    "to_dot": "api",
    "why_not_fused": "api",
    "without_fusion": "compiler",
}
"""The module that each lazily loaded name lives in; "" for a module of the package itself."""

__all__ = [
    "CompilationResult",
    "CompileCancelledError",
    "CompileError",
    "CompileTimeoutError",
    "CompilerFlag",
    "DecisionFileError",
    "DecisionLog",
    "DrawingError",
    "Explanation",
    "Explorer",
    "FusionComparison",
    "FusionDecision",
    "FusionKind",
    "HloComputation",
    "HloFileError",
    "HloInstruction",
    "HloLookupError",
    "HloModule",
    "HloParseError",
    "HloWidgetsError",
    "NotCompilableError",
    "SpecError",
    "Target",
    "TargetUnavailableError",
    "UnknownCaptureError",
    "UnknownTargetError",
    "captures",
    "compile_for",
    "cost_table",
    "explore",
    "list_flags",
    "list_targets",
    "parse_hlo_module",
    "read_decisions",
    "read_hlo",
    "render_svg",
    "replay_decisions",
    "spec",
    "target",
    "to_dot",
    "why_not_fused",
    "without_fusion",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if not home:
        return importlib.import_module(f"{__name__}.{name}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(ipython: Any) -> None:
    """Register the `%%hlo_fusion` cell magic; `%load_ext hlo_widgets` calls this."""
    from hlo_widgets import magic

    magic.load_ipython_extension(ipython)
