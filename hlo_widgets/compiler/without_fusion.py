"""The counterfactual: a program as it is compiled, and with the fusion passes off."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from hlo_widgets.compiler.compile import compile_for
from hlo_widgets.compiler.flags import Flags, plain_flags
from hlo_widgets.compiler.result import CompilationResult
from hlo_widgets.compiler.targets import Target, find_target
from hlo_widgets.errors import CompileCancelledError, CompileError, CompileTimeoutError

if TYPE_CHECKING:
    import pandas as pd

    from hlo_widgets.analysis.figures import ProgramFigures

__all__ = ["FusionComparison", "without_fusion"]

_FLAG = "xla_disable_hlo_passes"
# The passes that put ops together because it pays. Others stay on: a GPU's matmul is written as a
# fusion, a CPU compiler hands one to a library as a fusion, and both wrap each op that is alone.
_PASSES = {
    "tpu": ("tpu_fusion",),
    "cuda": ("priority-fusion", "multi_output_fusion", "triton-softmax-rewriter"),
    "cpu": ("fusion",),
}
# What memory space 0 is.
_MEMORY = {"tpu": "HBM", "cuda": "HBM", "cpu": "main memory"}


class _Row(NamedTuple):
    figure: str
    fused: int | None
    unfused: int | None
    ratio: float | None


@dataclass(frozen=True)
class FusionComparison:
    """One program compiled with its fusions and without.

    Attributes:
        fused: The program as it is compiled.
        unfused: The same with passes off.
        passes_off: The passes that were off.
    """

    fused: CompilationResult
    unfused: CompilationResult
    passes_off: tuple[str, ...]

    @cached_property
    def fused_figures(self) -> ProgramFigures:
        """What the fused program takes."""
        return _figures(self.fused)

    @cached_property
    def unfused_figures(self) -> ProgramFigures:
        """What the unfused program takes."""
        return _figures(self.unfused)

    @property
    def cycles_ratio(self) -> float | None:
        """How many times the cycles of the fused program the unfused one takes.

        None where a kernel of either has no estimate, or the estimates are of different models.
        """
        a, b = self.fused_figures, self.unfused_figures
        if not (a.has_all_cycles and b.has_all_cycles and a.cost_source == b.cost_source):
            return None
        return _ratio(a.estimated_cycles, b.estimated_cycles)

    @property
    def bytes_ratio(self) -> float | None:
        """How many times the bytes from and to HBM the unfused program moves."""
        traffic = self.fused_figures.traffic, self.unfused_figures.traffic
        return _ratio(traffic[0].total_bytes, traffic[1].total_bytes)

    @property
    def frame(self) -> pd.DataFrame:
        """A row each figure: `fused`, `unfused` and `ratio`; what is not known is `<NA>`."""
        import pandas as pd

        rows = list(self._rows())
        columns = {
            "fused": pd.array([row.fused for row in rows], dtype="Int64"),
            "unfused": pd.array([row.unfused for row in rows], dtype="Int64"),
            "ratio": pd.array([row.ratio for row in rows], dtype="Float64"),
        }
        frame = pd.DataFrame(columns, index=pd.Index([row.figure for row in rows], name="figure"))
        frame.attrs.update(passes_off=list(self.passes_off), notes=list(self.notes))
        return frame

    @property
    def notes(self) -> tuple[str, ...]:
        """What the figures are and are not."""
        a, b = self.fused_figures, self.unfused_figures
        known = (
            f"estimated cycles: of {a.known_kernels} of {a.kernels} fused and "
            f"{b.known_kernels} of {b.kernels} unfused kernels"
        )
        sources = " and ".join(dict.fromkeys(s for s in (a.cost_source, b.cost_source) if s))
        notes = [f"{known}, by {sources}" if sources else known]
        if sources and self.cycles_ratio is None:
            notes.append("the two sums of cycles do not compare, so there is no ratio of them")
        shapes = "bytes: operands and results that lie there, whole, by their shapes"
        unknown = sum(f.traffic.rows - f.traffic.known for f in (a, b))
        notes.append(f"{shapes}; {unknown} instructions are not known" if unknown else shapes)
        return tuple(notes)

    def _rows(self) -> Iterator[_Row]:
        a, b = self.fused_figures, self.unfused_figures
        yield _Row("kernels", a.kernels, b.kernels, _ratio(a.kernels, b.kernels))
        yield _Row("fusions of several ops", a.fusions, b.fusions, None)
        yield _Row("estimated cycles", a.estimated_cycles, b.estimated_cycles, self.cycles_ratio)
        memory = _MEMORY[find_target(self.fused.target).platform]
        for name, fused, unfused in (
            (f"bytes from {memory}", a.traffic.read_bytes, b.traffic.read_bytes),
            (f"bytes to {memory}", a.traffic.written_bytes, b.traffic.written_bytes),
            (f"bytes from and to {memory}", a.traffic.total_bytes, b.traffic.total_bytes),
        ):
            yield _Row(name, fused, unfused, _ratio(fused, unfused))
        vmem = (a.vmem_traffic.total_bytes, b.vmem_traffic.total_bytes)
        if any(vmem):
            yield _Row("bytes from and to VMEM", *vmem, _ratio(*vmem))

    def __str__(self) -> str:
        """Write the figures as a table in plain text."""
        off = ", ".join(self.passes_off)
        lines = [f"{self.fused.module.name} on {self.fused.target}; unfused: without {off}"]
        lines.append(f"{'':30}{'fused':>14}{'unfused':>14}{'ratio':>9}")
        for row in self._rows():
            ratio = "" if row.ratio is None else f"{row.ratio:.1f}x"
            figures = f"{_words(row.fused):>14}{_words(row.unfused):>14}"
            lines.append(f"{row.figure:30}{figures}{ratio:>9}".rstrip())
        return "\n".join([*lines, *self.notes])


def without_fusion(
    fun: Callable[..., Any],
    *args: Any,
    target: str | Target = "v6e",
    flags: Flags | None = None,
    passes: Sequence[str] | None = None,
    **kwargs: Any,
) -> FusionComparison:
    """Compile a function twice: as it is, and with the passes off that fuse because it pays.

    Args:
        fun: As `compile_for` takes it.
        *args: As `compile_for` takes them.
        target: As `compile_for` takes it.
        flags: Compiler options for both.
        passes: Which passes to turn off; None for those that fuse on that platform. A TPU's
            multi-output fusion and the fusion that a GPU's matmul is written as stay on.
        **kwargs: As `compile_for` takes them.

    Raises:
        CompileError: If the compiler refuses the program, or does not take it without these passes:
            then the error says so.
        Exception: As `compile_for`.
    """
    chosen = find_target(target)
    off = _PASSES[chosen.platform] if passes is None else tuple(passes)
    fused = compile_for(fun, *args, target=chosen, flags=flags, **kwargs)
    with _telling_of(off, chosen):
        unfused = compile_for(fun, *args, target=chosen, flags=_without(flags, off), **kwargs)
    return FusionComparison(fused, unfused, off)


def _without(flags: Flags | None, off: Sequence[str]) -> Flags:
    options = plain_flags(flags)
    already_off = [name for name in str(options.get(_FLAG, "")).split(",") if name]
    return {**options, _FLAG: ",".join(dict.fromkeys([*already_off, *off]))}


@contextlib.contextmanager
def _telling_of(off: Sequence[str], target: Target) -> Iterator[None]:
    """Say of a refusal that it is one of the program without passes."""
    try:
        yield
    except (CompileTimeoutError, CompileCancelledError):
        raise
    except CompileError as error:
        reason = f"it compiles, but not with {', '.join(off)} off: {error.reason}"
        raise CompileError(target.name, reason, error.log, error.memory_report) from error


def _figures(result: CompilationResult) -> ProgramFigures:
    from hlo_widgets.analysis.figures import program_figures

    return program_figures(result.module)


def _ratio(fused: int | None, unfused: int | None) -> float | None:
    return unfused / fused if fused and unfused is not None else None


def _words(value: int | None) -> str:
    return "not known" if value is None else f"{value:,}"
