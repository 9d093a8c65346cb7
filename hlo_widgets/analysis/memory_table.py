"""A report of too little memory as a table in plain text, for a terminal and a traceback."""

from __future__ import annotations

import textwrap

from hlo_widgets.analysis.memory_report import MemoryAllocation, MemoryReport
from hlo_widgets.analysis.words import bytes_in_words

__all__ = ["memory_table"]

MOST_ROWS = 12
"""Allocations shown; arbitrary, the first ones are the largest."""

LONGEST_CELL = 34
"""Characters of a cell; arbitrary, the whole table fits a notebook's width."""

LONGEST_LINE = 100
"""Characters of a line of words; arbitrary, the same width."""

_COLUMNS = ("size", "kind", "asked by", "shape", "padding")


def memory_table(report: MemoryReport) -> str:
    """Return a report in words: what is missing, then the largest allocations, one in a row.

    Below a row stand what the allocation is for and which op of the user's program asked for it,
    where the compiler says so.

    Args:
        report: The report.
    """
    lines = [_headline(report), *_sums(report)]
    shown = report.allocations[:MOST_ROWS]
    cells = [_cells(allocation) for allocation in shown]
    used = [n for n in range(len(_COLUMNS)) if any(row[n] for row in cells)]
    if cells:
        widths = {n: max(len(_COLUMNS[n]), *(len(row[n]) for row in cells)) for n in used}
        lines += ["", _row(_COLUMNS, widths)]
        for allocation, row in zip(shown, cells, strict=True):
            lines += [_row(row, widths), *_below(allocation)]
    if len(report.allocations) > MOST_ROWS:
        lines.append(f"{len(report.allocations) - MOST_ROWS:,} more in `memory_report`")
    return "\n".join(lines)


def _headline(report: MemoryReport) -> str:
    head = f"too little {report.memory_space.upper()}"
    if report.used_bytes is None or report.limit_bytes is None:
        return head
    excess = report.excess_bytes or 0
    return (
        f"{head}: {bytes_in_words(report.used_bytes)} asked for, "
        f"{bytes_in_words(excess)} more than the {bytes_in_words(report.limit_bytes)} there are"
    )


def _sums(report: MemoryReport) -> list[str]:
    sums = [f"{kind} {bytes_in_words(size)}" for kind, size in report.requirements.items()]
    if not sums:
        return []
    return textwrap.wrap(f"In all: {', '.join(sums)}", LONGEST_LINE, subsequent_indent="    ")


def _cells(allocation: MemoryAllocation) -> tuple[str, ...]:
    padding = "" if allocation.padding_bytes is None else bytes_in_words(allocation.padding_bytes)
    if padding and allocation.expansion is not None:
        padding += f" ({allocation.expansion:g} times the size)"
    return (
        "not known" if allocation.size_bytes is None else bytes_in_words(allocation.size_bytes),
        _cut(allocation.kind or "", 20),
        _cut(allocation.instruction or "", LONGEST_CELL),
        _cut(allocation.shape or "", LONGEST_CELL),
        padding,
    )


def _below(allocation: MemoryAllocation) -> list[str]:
    # The first sentence says what it is for; those after it explain the report's own numbers.
    purpose = (allocation.purpose or "").split(". ")[0].rstrip(".")
    lines = [f"for {purpose}"] if purpose and purpose != allocation.kind else []
    if allocation.op_name:
        where = f", {allocation.source}" if allocation.source else ""
        lines.append(f"op {allocation.op_name}{where}")
    return [f"    {_cut(line, LONGEST_LINE - 4)}" for line in lines]


def _row(cells: tuple[str, ...], widths: dict[int, int]) -> str:
    return ("  " + "  ".join(cells[n].ljust(width) for n, width in widths.items())).rstrip()


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
