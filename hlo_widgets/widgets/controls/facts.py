"""What the controls show, as the plain data that their front end draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlo_widgets.compiler import list_targets
from hlo_widgets.graph.words import bytes_in_words, counted
from hlo_widgets.widgets.controls.history import Entry, History
from hlo_widgets.widgets.controls.variant import Variant, flag_texts

__all__ = ["history_facts", "target_facts", "variant_facts"]


def variant_facts(variant: Variant, problems: Mapping[str, str], seen: str) -> dict[str, Any]:
    """Return what is asked for.

    Args:
        variant: It.
        problems: What cannot be read, by where it stands: "argument 3", "target", "flag NAME".
        seen: The last message of the front end that is in it.
    """
    return {
        "arguments": [
            [argument.label, str(argument.kind), argument.text, list(argument.dimensions)]
            for argument in variant.arguments.arguments
        ],
        "target": variant.target,
        "flags": flag_texts(variant.flags),
        "problems": dict(problems),
        "seen": seen,
    }


def target_facts() -> list[dict[str, Any]]:
    """Return the targets, each with why it cannot be compiled for here."""
    facts = []
    for target in list_targets():
        found = target.availability
        facts.append(
            {
                "name": target.name,
                "kind": target.device_kind,
                "platform": target.platform,
                "why_not": "" if found.is_available else f"{found.reason}. {found.remedy}",
            }
        )
    return facts


def history_facts(history: History, shown: Entry | None) -> dict[str, Any]:
    """Return what was compiled, the newest first, and the number of what is shown, or None."""
    rows = [_row(entry, history.before(entry)) for entry in reversed(list(history))]
    return {"rows": rows, "shown": None if shown is None else shown.number}


def _changes(entry: Entry, before: Entry | None) -> list[str]:
    if before is not None:
        return entry.variant.changes_from(before.variant)
    # What was before a later one has been dropped.
    return ["as it started"] if entry.number == 1 else []


def _row(entry: Entry, before: Entry | None) -> dict[str, Any]:
    """Return an entry in words; `..._title` is what a cell says when it is pointed at."""
    row = {
        "number": entry.number,
        "target": entry.variant.target,
        "changes": _changes(entry, before),
        "cycles": "",
        "cycles_title": "The compiler gives no figures.",
        "change": "",
        "change_title": "",
        "vmem": "",
        "vmem_title": "",
        "seconds": "" if entry.seconds is None else f"{entry.seconds:.2f}",
    }
    if entry.total_cycles is not None:
        row["cycles"] = f"{entry.total_cycles:,}"
        row["cycles_title"] = f"{entry.source}, {entry.known_words}"
        if not entry.is_complete:
            row["cycles"] += f" ({entry.known_rows:,} of {entry.rows:,} known)"
    change = entry.change_from(before)
    if change is not None and before is not None:
        row |= {"change": change, "change_title": f"from number {before.number}"}
    if entry.vmem_bytes is not None:
        row["vmem"] = bytes_in_words(entry.vmem_bytes)
        row["vmem_title"] = f"{counted(entry.vmem_bytes, 'byte')}, the most that one kernel takes"
    return row
