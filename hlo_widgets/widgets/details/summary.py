"""What the detail panel says while nothing is selected: what this is and what its figures hold."""

from __future__ import annotations

from collections.abc import Iterator

from hlo_widgets.analysis import (
    Collective,
    collectives_in,
    executed_computations,
    is_memory_move,
    start_of,
    work_instructions,
)
from hlo_widgets.graph.words import bytes_in_words, counted
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
        *_exchanged(shown),
        f"{count:,} instructions in {len(module.computations):,} computations",
        *HELP,
    ]


def _exchanged(shown: Shown) -> list[str]:
    """Say how much the collectives move at the least in one run of the module."""
    total = unknown = 0
    for one, runs in _collectives(shown):
        if one.part in {"middle", "done"}:
            continue  # its start has the figure
        if one.bytes_moved is None or runs is None:
            unknown += 1
        else:
            total += one.bytes_moved * runs
    told = []
    if total:
        size = bytes_in_words(total)
        told.append(f"At least {size} reach each device from others in one run, by shapes.")
    if unknown:
        told.append(f"Of {counted(unknown, 'collective')} it is not known how much is moved.")
    return told


def _collectives(shown: Shown) -> Iterator[tuple[Collective, int | None]]:
    """Yield the collectives of a run, each with how often it runs; None where that is not known."""
    table = shown.table
    # The table has the same instructions in the same order.
    rows = zip(
        work_instructions(shown.module),
        table["collective"].notna(),
        table["trip_count"].notna(),
        table["trip_count"],
        strict=True,
    )
    for instruction, has_some, is_known, runs in rows:
        if has_some:
            for one in collectives_in(instruction):
                yield one, int(runs) if is_known else None


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
