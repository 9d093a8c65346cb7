"""Which colour a box has in each mode, and the legend that says so."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cached_property

from hlo_widgets.analysis import (
    memory_space_words,
    output_memory_spaces,
    pair_members,
    run_cycles,
    stays_inside,
)
from hlo_widgets.graph.model import Graph, LegendEntry
from hlo_widgets.graph.style import SCALE_COLORS, STYLES, style_key
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["Coloring"]

_MEMORY_STYLES = {"VMEM": "vmem"}
_NOT_IN_LEGEND = frozenset({"note"})


class Coloring:
    """Colours of the instructions of one module.

    Args:
        module: The module; its cycles are read on first use.
        platform: "tpu", "gpu" or "cpu": whose memory spaces these are; None where nobody knows.
    """

    def __init__(self, module: HloModule, platform: str | None) -> None:
        self._module = module
        self._platform = platform

    def color(self, instruction: HloInstruction, color_by: str) -> tuple[str, float | None]:
        """Return the style key and, in the cycles mode, the position on the scale from 0 to 1."""
        if color_by == "memory":
            return self._memory_style(instruction), None
        if color_by == "cycles":
            return self._on_scale(instruction)
        return style_key(instruction), None

    def legend(self, graph: Graph, color_by: str) -> tuple[LegendEntry, ...]:
        """Return the styles that a picture uses, in the order of `STYLES`."""
        used = {node.style for node in graph.all_nodes()} | {c.style for c in graph.all_clusters()}
        used -= _NOT_IN_LEGEND
        if color_by == "cycles":
            return _scale_legend()
        return tuple(LegendEntry(key, STYLES[key].meaning) for key in STYLES if key in used)

    @cached_property
    def cycles(self) -> Mapping[HloInstruction, int]:
        """Estimated cycles of each instruction in a run, as `run_cycles` gives them."""
        return run_cycles(self._module)

    @cached_property
    def _most_cycles(self) -> int:
        return max(self.cycles.values(), default=1)

    def _on_scale(self, instruction: HloInstruction) -> tuple[str, float | None]:
        cycles = self.cycles.get(pair_members(instruction)[0])
        return ("unknown", None) if cycles is None else ("scale", cycles / self._most_cycles)

    def _memory_style(self, instruction: HloInstruction) -> str:
        if stays_inside(instruction):
            return "inside"
        spaces = output_memory_spaces(instruction.shape)
        if len(spaces) > 1:
            return "several_memories"
        space = spaces[0] if spaces else 0
        words = memory_space_words(space, self._platform)
        return _MEMORY_STYLES.get(words, "other_memory" if space else "hbm")


def _scale_legend() -> tuple[LegendEntry, ...]:
    steps = len(SCALE_COLORS["light"])
    bounds = [100 * step // steps for step in range(steps + 1)]
    of_what = " % of the costliest op's cycles in a run"
    scale = [
        LegendEntry("scale", f"{low} to {high}{of_what if high == 100 else ''}", low / 100)
        for low, high in itertools.pairwise(bounds)
    ]
    return (*scale, LegendEntry("unknown", STYLES["unknown"].meaning))
