"""What a compile gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlo_widgets.analysis.decisions import DecisionLog
    from hlo_widgets.hlo import HloModule

__all__ = ["CompilationResult"]

_CPU_RECORDS = (
    "a CPU compiler writes captions of its fusion pictures and the modules around its passes: "
    "no costs, no priorities, no queue"
)


@dataclass(frozen=True)
class CompilationResult:
    """A function compiled for a target.

    Attributes:
        hlo_text: The compiled module as the compiler prints it. For a TPU it is the text after
            code generation, which alone carries the estimates.
        target: Name of the target, such as "v6e".
        versions: Versions of what compiled it, by package: "jax", "jaxlib", for a TPU "libtpu",
            and "compiler", the compiler's own description of itself.
        compile_seconds: Time in the compiler alone, without tracing, sending and printing.
        flags: The compiler options it was compiled with, beyond the defaults.
        notes: What the user should know about the text, such as figures that this compiler does
            not give.
        devices: Number of devices that it is compiled for; the text is that of each one.
        is_cached: Whether it was compiled at another time and kept on disk; `compile_seconds` is
            what it took then.
        records: What the compiler wrote down about fusion, packed; empty without `explain=True`.
    """

    hlo_text: str = field(repr=False)
    target: str
    versions: Mapping[str, str] = field(repr=False)
    compile_seconds: float
    flags: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    devices: int = 1
    is_cached: bool = False
    records: bytes = field(default=b"", repr=False)

    @cached_property
    def module(self) -> HloModule:
        """The compiled module, parsed on first use."""
        # Not at the top: a worker loads this package, too, and has no use for the reader.
        from hlo_widgets.hlo import parse_hlo_module

        return parse_hlo_module(self.hlo_text)

    @cached_property
    def decisions(self) -> DecisionLog:
        """Fusion decisions and passes, read on first use; empty without `explain=True`.

        Raises:
            DecisionFileError: If the records that came from the compiler process are damaged.
        """
        from hlo_widgets.analysis.decisions import DecisionLog, read_records
        from hlo_widgets.compiler.explain_records import unpack_records

        if not self.records:
            return DecisionLog()
        notes = (_CPU_RECORDS,) if self.target == "cpu" else ()
        return read_records(unpack_records(self.records), self.module, notes)
