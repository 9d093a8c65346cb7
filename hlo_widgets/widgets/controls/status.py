"""How a compile stands, in the words that the controls show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlo_widgets.errors import CompileCancelledError, HloParseError
from hlo_widgets.graph.words import bytes_in_words
from hlo_widgets.widgets.controls.failure import failure_words
from hlo_widgets.widgets.controls.history import Entry
from hlo_widgets.widgets.controls.variant import Variant
from hlo_widgets.widgets.shown import Shown

__all__ = ["failed", "not_drawn", "other", "ready", "working"]


def working(variant: Variant, phase: str, is_stale: bool) -> dict[str, Any]:
    """Say how far it has come."""
    words = f"{phase} for {variant.target}…"
    return {"state": "working", "words": words, "is_stale": is_stale}


def ready(entry: Entry, before: Entry | None) -> dict[str, Any]:
    """Say what a compile brought, and how its total differs from that of the entry before."""
    words = []
    if entry.total_cycles is not None:
        change = entry.change_from(before)
        # No colour: fewer cycles of another target are not always better.
        by = [] if change is None or before is None else [f"{change} from number {before.number}"]
        known = ", ".join([*by, *([] if entry.is_complete else [entry.known_words])])
        words.append(f"{entry.total_cycles:,} cycles" + (f" ({known})" if known else ""))
    if entry.vmem_bytes is not None:
        words.append(f"VMEM up to {bytes_in_words(entry.vmem_bytes)} a kernel")
    if entry.seconds is not None:
        cached = ", cached" if entry.result.is_cached else ""
        words.append(f"{entry.seconds:.2f} s{cached}")
    return {"state": "ready", "words": " · ".join(words) or "compiled", "is_stale": False}


def failed(variant: Variant, error: BaseException, memory_askers: Sequence[str]) -> dict[str, Any]:
    """Say why there is no other picture; `memory_askers` are ops of the one that there is."""
    status: dict[str, Any] = {"state": "failed", "is_stale": True}
    if isinstance(error, CompileCancelledError | KeyboardInterrupt):
        return status | {
            "state": "off",
            "words": f"called off for {variant.target}: the picture is stale",
        }
    done = "cannot be read" if isinstance(error, HloParseError) else "did not compile"
    words = f"{done} for {variant.target}: the picture is stale"
    text = failure_words(error)
    return status | {"words": words, "text": text, "memory_askers": list(memory_askers)}


def not_drawn(variant: Variant, error: Exception) -> dict[str, Any]:
    """Say that what a compile brought is there, in the history, and cannot be shown."""
    words = f"compiled for {variant.target}, but not drawn: the picture is stale"
    text = failure_words(error)
    return {"state": "not drawn", "words": words, "text": text, "is_stale": True}


def other(shown: Shown) -> dict[str, Any]:
    """Say that what is shown was not compiled by the controls."""
    target = f" for {shown.target}" if shown.target else ""
    words = f"another result is shown: {shown.module.name}{target}, not what is set here"
    return {"state": "other", "words": words, "is_stale": True}
