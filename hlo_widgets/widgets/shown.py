"""What an Explorer shows: a module with everything that is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from hlo_widgets.analysis import module_platform, target_platform
from hlo_widgets.analysis.decisions import DecisionLog
from hlo_widgets.compiler import CompilationResult
from hlo_widgets.errors import DecisionFileError
from hlo_widgets.hlo import HloModule
from hlo_widgets.tables import cost_table
from hlo_widgets.widgets.decisions.verdicts import Verdicts, joined_with

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
        decisions: What the compiler wrote down about fusion, joined with the module; None where
            nobody asked it.
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
            decisions=joined_with(decisions, module),
        )

    @classmethod
    def of_result(cls, result: CompilationResult) -> Shown:
        """Show what a compile gave."""
        decisions, problems = _decisions_of(result)
        return cls(
            result.module,
            cost_table(result.module, target=result.target, versions=result.versions),
            target_platform(result.target),
            result.target,
            result.versions,
            (*result.notes, *problems),
            result.flags,
            decisions,
        )

    def with_decisions(self, decisions: DecisionLog) -> Shown:
        """Return the same with what a compiler wrote down, from elsewhere."""
        return replace(self, decisions=joined_with(decisions, self.module))

    @cached_property
    def verdicts(self) -> Verdicts:
        """What is known of why kernels stayed apart."""
        return Verdicts(self.module, self.decisions)


def _decisions_of(result: CompilationResult) -> tuple[DecisionLog | None, tuple[str, ...]]:
    """Return the decisions of a compile that was asked for them, or what is wrong with them."""
    try:
        log = result.decisions
    except DecisionFileError as error:
        return None, (str(error),)
    known = bool(log.decisions or log.sources or log.passes or log.notes)
    return (joined_with(log, result.module) if known else None), ()
