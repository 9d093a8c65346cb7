"""The variants that an Explorer has compiled, so that each can be shown again without a compile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hlo_widgets.compiler import CompilationResult
from hlo_widgets.graph.words import percent
from hlo_widgets.widgets.controls.compiled import Compiled
from hlo_widgets.widgets.controls.variant import Variant
from hlo_widgets.widgets.shown import Shown

__all__ = ["Entry", "History"]

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
        known_rows: Rows of the table that are in it.
        rows: All of them.
        vmem_bytes: The most scoped VMEM that one kernel uses; `None` where no figure is known.
    """

    number: int
    variant: Variant
    result: CompilationResult = field(repr=False)
    seconds: float | None
    total_cycles: int | None
    source: str | None
    known_rows: int
    rows: int
    vmem_bytes: int | None

    @property
    def is_complete(self) -> bool:
        """Whether the total is that of all rows."""
        return self.known_rows == self.rows

    @property
    def known_words(self) -> str:
        """How many rows are in the total: "4 of 6 rows known"."""
        return f"{self.known_rows:,} of {self.rows:,} rows known"

    def change_from(self, other: Entry | None) -> str | None:
        """Say by how much the total differs from another one, such as "+12.3%".

        `None` where one is not known or not of all rows, which need not be the same ones, or where
        they are figures of different cost models.
        """
        if other is None or other.source != self.source or not other.total_cycles:
            return None
        if self.total_cycles is None or not (self.is_complete and other.is_complete):
            return None
        return percent(self.total_cycles / other.total_cycles - 1)

    def read(self) -> Shown:
        """Read what the compiler made of it; the history does not keep that."""
        return Shown.of_result(replace(self.result))


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
        """Add a compile; it takes the place of the newest one where that is the same variant."""
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
            attrs["known_rows"],
            attrs["rows"],
            _most_vmem(compiled.shown),
        )
        is_again = self._entries and self._entries[-1].variant.is_same(compiled.variant)
        kept = self._entries[:-1] if is_again else self._entries
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

    def _size(self) -> int:
        return sum(
            len(entry.result.hlo_text) + len(entry.result.records) for entry in self._entries
        )


def _most_vmem(shown: Shown) -> int | None:
    known = shown.table["vmem_bytes"].dropna()
    return int(known.max()) if len(known) else None
