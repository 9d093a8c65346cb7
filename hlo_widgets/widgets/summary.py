"""What the detail panel says while nothing is selected: what this is and what its figures hold."""

from __future__ import annotations

from hlo_widgets.analysis import executed_computations, is_memory_move, start_of
from hlo_widgets.graph.labels import counted
from hlo_widgets.widgets.shown import Shown

__all__ = ["summary_lines"]

HELP = [
    "Click a rounded box to open it in place, and its title to close it.",
    "Select any box or row of the table to see its operands, layout, memory and figures here.",
    "Tick “decisions” to see on the arrows why ops stayed apart; a click on an arrow explains.",
    "Shift+click a second op to ask why it is not one kernel with the selected one.",
    "Drag to move, Ctrl+wheel (or + and -) to zoom, 0 to see all.",
    "Tab and the arrow keys go from box to box, Enter opens, Esc clears the selection.",
]


def summary_lines(shown: Shown) -> list[str]:
    """Return the title, then one line a fact."""
    module = shown.module
    count = sum(len(computation.instructions) for computation in module.computations)
    return [
        module.name or "module without a name",
        *([f"compiled for {shown.target}"] if shown.target else []),
        str(shown.table.attrs["total"]),
        *shown.notes,
        *module.warnings,
        *(f"{package} {version}" for package, version in shown.versions.items()),
        *_what_totals_hold(shown),
        f"{count:,} instructions in {len(module.computations):,} computations",
        *HELP,
    ]


def _what_totals_hold(shown: Shown) -> list[str]:
    held = []
    if (shown.table["trip_count"].fillna(1) != 1).any():
        held.append("What runs in a loop is counted as often as it runs.")
    moves = sum(
        is_memory_move(instruction) and start_of(instruction) is None
        for executed in executed_computations(shown.module)
        for instruction in executed.computation.instructions
    )
    if moves:
        held.append(
            f"Not counted: {counted(moves, 'asynchronous move')} between memories, of which the"
            " compiler gives no figures."
        )
    return held
