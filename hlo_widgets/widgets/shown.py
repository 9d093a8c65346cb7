"""What an Explorer shows: a module with everything that is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from hlo_widgets.analysis import module_platform, target_platform
from hlo_widgets.analysis.decisions import DecisionLog
from hlo_widgets.compiler import CompilationResult
from hlo_widgets.hlo import HloModule
from hlo_widgets.tables import cost_table

__all__ = ["Shown"]


@dataclass(frozen=True)
class Shown:
    """A module and what is known of where it comes from.

    Attributes:
        module: The module.
        table: Its cost table, all columns and rows.
        platform: "tpu", "gpu" or "cpu"; None where neither target nor text tell.
        target: The name of the target that it was compiled for; None when it is not known.
        versions: Versions of the compiler's packages, by package.
        notes: What the compiler process has to say about the result.
        flags: The compiler options beyond the defaults.
        decisions: What the compiler wrote down about fusion; None where nobody asked it.
    """

    module: HloModule
    table: pd.DataFrame = field(repr=False)
    platform: str | None = None
    target: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    flags: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    decisions: DecisionLog | None = field(default=None, repr=False)

    @classmethod
    def of_module(
        cls,
        module: HloModule,
        target: str | None = None,
        versions: Mapping[str, str] | None = None,
        notes: Iterable[str] = (),
        decisions: DecisionLog | None = None,
    ) -> Shown:
        """Show a module; arguments as the attributes."""
        return cls(
            module,
            cost_table(module, target=target, versions=versions),
            target_platform(target) or module_platform(module),
            target,
            versions or {},
            tuple(notes),
            decisions=decisions,
        )

    @classmethod
    def of_result(cls, result: CompilationResult) -> Shown:
        """Show what a compile gave."""
        decisions = result.decisions if isinstance(result.decisions, DecisionLog) else None
        return cls(
            result.module,
            cost_table(result.module, target=result.target, versions=result.versions),
            target_platform(result.target),
            result.target,
            result.versions,
            result.notes,
            result.flags,
            decisions,
        )
