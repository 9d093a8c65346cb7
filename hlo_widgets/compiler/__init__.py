"""Compile JAX functions for hardware that is not there.

The function is traced and lowered in the caller's process, so that an error points at the caller's
line. The program then goes over a pipe to a warm child process that holds the compiler, and may be
killed at any time.

This is the only layer that names jax, and it imports it inside functions: importing this package
is cheap.
"""

from __future__ import annotations

from hlo_widgets.compiler.availability import Availability
from hlo_widgets.compiler.call_arguments import Argument, ArgumentKind, CallArguments
from hlo_widgets.compiler.compile import compile_call, compile_for
from hlo_widgets.compiler.flag_list import CompilerFlag, list_flags
from hlo_widgets.compiler.flags import plain_flags
from hlo_widgets.compiler.pool import shut_down
from hlo_widgets.compiler.progress import Phase, reporting
from hlo_widgets.compiler.requests import call_off, compile_newest, newest
from hlo_widgets.compiler.result import CompilationResult
from hlo_widgets.compiler.settings import CompilerSettings, settings
from hlo_widgets.compiler.shardings import Call
from hlo_widgets.compiler.targets import Target, find_target, list_targets
from hlo_widgets.compiler.without_fusion import FusionComparison, without_fusion

__all__ = [
    "Argument",
    "ArgumentKind",
    "Availability",
    "Call",
    "CallArguments",
    "CompilationResult",
    "CompilerFlag",
    "CompilerSettings",
    "FusionComparison",
    "Phase",
    "Target",
    "call_off",
    "compile_call",
    "compile_for",
    "compile_newest",
    "find_target",
    "list_flags",
    "list_targets",
    "newest",
    "plain_flags",
    "reporting",
    "settings",
    "shut_down",
    "target",
    "without_fusion",
]

target = find_target
"""The name that `hlo_widgets.target` has: it reads well before a dot."""
