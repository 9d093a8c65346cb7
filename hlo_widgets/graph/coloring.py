"""Which colour a box has in each mode, and the legend that says so."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from hlo_widgets.analysis import cost_estimate, is_work, work_instructions
from hlo_widgets.graph.model import Graph, LegendEntry
from hlo_widgets.graph.style import SCALE_COLORS, STYLES, style_key
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["Coloring"]

_MEMORY_STYLES = {0: "hbm", 1: "vmem"}
_NOT_IN_LEGEND = frozenset({"note"})


class Coloring:
    """Colours of the instructions of one module.

    Args:
        module: The module; its cycles are added up on first use.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._most_cycles: int | None = None

    def color(self, instruction: HloInstruction, color_by: str) -> tuple[str, float | None]:
        """Return the style key and, in the cycles mode, the position on the scale from 0 to 1."""
        if color_by == "memory":
            return _MEMORY_STYLES.get(_output_memory(instruction), "other_memory"), None
        if color_by == "cycles":
            return self._on_scale(instruction)
        return style_key(instruction), None

    def costliest(self, instructions: Iterable[HloInstruction]) -> HloInstruction | None:
        """Return the instruction with the most estimated cycles, None when none has a figure."""
        known = [(_cycles(instruction) or 0, instruction) for instruction in instructions]
        most = max(known, key=lambda pair: pair[0], default=(0, None))
        return most[1] if most[0] else None

    def legend(self, graph: Graph, color_by: str) -> tuple[LegendEntry, ...]:
        """Return the styles that a picture uses, in the order of `STYLES`."""
        used = {node.style for node in graph.all_nodes()} | {c.style for c in graph.all_clusters()}
        used -= _NOT_IN_LEGEND
        if color_by == "cycles":
            return _scale_legend()
        return tuple(LegendEntry(key, STYLES[key].meaning) for key in STYLES if key in used)

    def _on_scale(self, instruction: HloInstruction) -> tuple[str, float | None]:
        cycles = _cycles(instruction)
        if cycles is None:
            return "unknown", None
        if self._most_cycles is None:
            self._most_cycles = max(
                (_cycles(instruction) or 0 for instruction in work_instructions(self._module)),
                default=0,
            )
        return "scale", cycles / max(self._most_cycles, 1)


def _scale_legend() -> tuple[LegendEntry, ...]:
    steps = len(SCALE_COLORS["light"])
    bounds = [100 * step // steps for step in range(steps + 1)]
    of_what = " % of the costliest op's cycles"
    scale = [
        LegendEntry("scale", f"{low} to {high}{of_what if high == 100 else ''}", low / 100)
        for low, high in itertools.pairwise(bounds)
    ]
    return (*scale, LegendEntry("unknown", STYLES["unknown"].meaning))


def _cycles(instruction: HloInstruction) -> int | None:
    return cost_estimate(instruction).estimated_cycles if is_work(instruction) else None


def _output_memory(instruction: HloInstruction) -> int:
    shape = instruction.shape
    while shape.is_tuple and shape.tuple_shapes:
        shape = shape.tuple_shapes[0]
    return shape.memory_space
