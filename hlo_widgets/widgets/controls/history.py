"""The variants that an Explorer has shown, so that each can be shown again without a compile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from hlo_widgets.compiler import CompilationResult
from hlo_widgets.widgets.controls.recompiler import Compiled
from hlo_widgets.widgets.controls.variant import Variant
from hlo_widgets.widgets.shown import Shown

__all__ = ["Entry", "History", "percent"]

MOST_ENTRIES = 30
"""Variants kept; arbitrary, more than anybody compares by eye."""

MOST_CHARACTERS = 64_000_000
"""Of the texts of all of them; arbitrary. The modules that are read from them take ten times as
much, and are not kept."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A variant that was compiled.

    Attributes:
        number: Counts the compiles of this Explorer, from 1.
        variant: What was compiled.
        result: What the compiler made of it.
        seconds: How long that took, tracing included; `None` where nobody measured.
        total_cycles: As in the cost table's `attrs`; `None` where no figure is known.
        source: Whose figure that is.
        vmem_bytes: The most scoped VMEM that one kernel uses; `None` where no figure is known.
    """

    number: int
    variant: Variant
    result: CompilationResult = field(repr=False)
    seconds: float | None
    total_cycles: int | None
    source: str | None
    vmem_bytes: int | None

    def change_from(self, other: Entry | None) -> float | None:
        """Return the change of the total from another one, 0.1 for a tenth more.

        `None` where one is not known, or they are figures of different cost models.
        """
        if other is None or other.source != self.source or not other.total_cycles:
            return None
        return None if self.total_cycles is None else self.total_cycles / other.total_cycles - 1


class History:
    """Variants in the order of their compiles, the newest last; the oldest are dropped."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._count = 0

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, compiled: Compiled, *, was_timed: bool = True) -> Entry:
        """Add a compile; an earlier one of the same variant goes."""
        self._count += 1
        attrs = compiled.shown.table.attrs
        entry = Entry(
            self._count,
            compiled.variant,
            # Without the module that was read from it.
            replace(compiled.result),
            compiled.seconds if was_timed else None,
            attrs["total_estimated_cycles"],
            attrs["total_source"],
            _most_vmem(compiled.shown),
        )
        kept = [one for one in self._entries if not one.variant.is_same(compiled.variant)]
        self._entries = [*kept, entry][-MOST_ENTRIES:]
        while len(self._entries) > 1 and self._size() > MOST_CHARACTERS:
            del self._entries[0]
        return entry

    def entry(self, number: int) -> Entry | None:
        """Return the entry of a number; `None` where it has been dropped."""
        return next((entry for entry in self._entries if entry.number == number), None)

    def before(self, entry: Entry) -> Entry | None:
        """Return the entry before another one; `None` for the first and for one that is gone."""
        index = self._entries.index(entry) if entry in self._entries else 0
        return self._entries[index - 1] if index else None

    def rows(self) -> list[dict[str, Any]]:
        """Return plain data for the front end, the newest first."""
        return [self._row(entry) for entry in reversed(self._entries)]

    def _row(self, entry: Entry) -> dict[str, Any]:
        before = self.before(entry)
        changes = [] if before is None else entry.variant.changes_from(before.variant)
        return {
            "number": entry.number,
            "target": entry.variant.target,
            "changes": changes,
            "cycles": entry.total_cycles,
            "change": percent(entry.change_from(before)),
            "source": entry.source,
            "vmem": entry.vmem_bytes,
            "seconds": "" if entry.seconds is None else f"{entry.seconds:.2f}",
        }

    def _size(self) -> int:
        return sum(
            len(entry.result.hlo_text) + len(entry.result.records) for entry in self._entries
        )


def percent(change: float | None) -> str:
    """Write a change, such as "+12.3%"; empty where it is not known."""
    return "" if change is None else f"{change:+,.1%}".replace("-", "−")


def _most_vmem(shown: Shown) -> int | None:
    known = shown.table["vmem_bytes"].dropna()
    return int(known.max()) if len(known) else None
