"""What the detail panel says while nothing is selected: what this is and what its figures hold."""

from __future__ import annotations

from hlo_widgets.analysis import executed_computations, is_memory_move, start_of
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
    """Say how much the collectives move in one run of the module."""
    rows = shown.table[shown.table["collective"].notna()]
    is_known = rows["collective_bytes"].notna() & rows["trip_count"].notna()
    pairs = rows.loc[is_known, ["collective_bytes", "trip_count"]].itertuples(index=False)
    # Numbers of Python: text can claim sizes whose product no column holds.
    total = sum(int(size) * int(trips) for size, trips in pairs)
    # One that is cut over several fusions is counted in the first of them.
    later = rows["collective"].str.contains(r"^[\w-]+ (?:goes on|ends):")
    unknown = int((~is_known & ~later).sum())
    told = [f"{bytes_in_words(total)} reach each device from others in one run."] if total else []
    if unknown:
        told.append(f"Of {counted(unknown, 'collective')} it is not known how much is moved.")
    return told


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
