"""What a compile of a variant brought."""

from __future__ import annotations

import time
from dataclasses import dataclass

from hlo_widgets.compiler import CompilationResult
from hlo_widgets.widgets.controls.variant import Variant
from hlo_widgets.widgets.shown import Shown

__all__ = ["Compiled", "compile_variant"]


@dataclass(frozen=True, eq=False)
class Compiled:
    """What a compile brought.

    Attributes:
        variant: What was compiled.
        result: What the compiler made of it.
        shown: The same, read.
        seconds: From the start of tracing to the compiler's answer.
    """

    variant: Variant
    result: CompilationResult
    shown: Shown
    seconds: float


def compile_variant(variant: Variant, *, refresh: bool = False) -> Compiled:
    """Compile a variant and read what comes; raises as `compile_for`."""
    start = time.perf_counter()
    result = variant.compile(refresh=refresh)
    seconds = time.perf_counter() - start
    # Here rather than where it is shown: a large text takes seconds to read.
    shown = Shown.of_result(result)
    return Compiled(variant, result, shown, seconds)
