"""What the controls show, as the plain data that their front end draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlo_widgets.compiler import list_targets
from hlo_widgets.widgets.controls.history import Entry, percent
from hlo_widgets.widgets.controls.variant import Variant

__all__ = ["outcome_words", "target_facts", "variant_facts"]

_KIBIBYTE = 1024


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
        "flags": {name: str(value).lower() for name, value in variant.flags.items()},
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


def outcome_words(entry: Entry, before: Entry | None) -> str:
    """Say in a line what a compile brought."""
    words = []
    if entry.total_cycles is not None:
        change = entry.change_from(before)
        # No colour: fewer cycles of another target are not always better.
        by = f" ({percent(change)})" if change is not None else ""
        words.append(f"{entry.total_cycles:,} cycles{by}")
    if entry.vmem_bytes is not None:
        words.append(f"VMEM {_size(entry.vmem_bytes)}")
    if entry.seconds is not None:
        cached = ", cached" if entry.result.is_cached else ""
        words.append(f"{entry.seconds:.2f} s{cached}")
    return " · ".join(words) or "compiled"


def _size(count: int) -> str:
    if count < _KIBIBYTE:
        return f"{count} B"
    if count < _KIBIBYTE**2:
        return f"{count / _KIBIBYTE:.1f} KiB"
    return f"{count / _KIBIBYTE**2:.2f} MiB"
