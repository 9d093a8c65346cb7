"""The compiler's report of a memory that was too small, read into a table.

A TPU compiler that runs out of memory says so in one of four ways: a list of the largest
allocations of a program, one allocation on the stack of one instruction (E1001), one allocation
that does not fit at all, or the total of HBM (E1000). Each may stand in a log, with other words in
front of every line.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field

__all__ = ["MemoryAllocation", "MemoryReport", "read_memory_report"]


@dataclass(frozen=True)
class MemoryAllocation:
    """One allocation of a report. What the compiler did not say is `None`.

    Attributes:
        size_bytes: Its size, with padding. Reports round to hundredths of K, M or G.
        purpose: What it is for, in the compiler's words, such as "register allocator spill slots
            call depth 2".
        op_name: The operator of the user's program, as in the metadata of HLO.
        instruction: Name of the instruction that asked for it, without `%`.
        shape: Its shape with layout, as printed.
        unpadded_bytes: Its size without padding.
        padding_bytes: What padding adds.
        expansion: Size divided by unpadded size, as printed.
        kind: Kind of allocation, such as "scoped" or "HLO temp".
        label: XLA's label for it, verbatim.
        source: The line of the user's program, such as "model.py:12".
    """

    size_bytes: int | None
    purpose: str | None = None
    op_name: str | None = None
    instruction: str | None = None
    shape: str | None = None
    unpadded_bytes: int | None = None
    padding_bytes: int | None = None
    expansion: float | None = None
    kind: str | None = None
    label: str | None = None
    source: str | None = None


@dataclass(frozen=True)
class MemoryReport:
    """What a compiler said about a memory that was too small.

    Attributes:
        memory_space: "vmem", "hbm" or "smem".
        used_bytes: What was asked for: of the whole program, or of the one allocation that failed.
        limit_bytes: What there is.
        excess_bytes: How much too much, as printed, else the difference of the two.
        allocations: The largest ones, in the report's order.
        requirements: Sums by kind, such as `{"scoped": ..., "HLO temp": ...}`.
        code: XLA's number for this kind of error, such as "E1001"; `None` where it gives none.
        text: The report as it was given.
    """

    memory_space: str
    used_bytes: int | None
    limit_bytes: int | None
    excess_bytes: int | None
    allocations: tuple[MemoryAllocation, ...] = ()
    requirements: dict[str, int] = field(default_factory=dict)
    code: str | None = None
    text: str = field(default="", repr=False)

    def rows(self) -> list[dict[str, object]]:
        """Return the allocations as rows of a table: one value for each attribute."""
        return [asdict(allocation) for allocation in self.allocations]

    def __str__(self) -> str:
        """Return the report as a plain table."""
        from hlo_widgets.analysis.memory_table import memory_table

        return memory_table(self)


def read_memory_report(text: str) -> MemoryReport | None:
    """Read the words of a compiler that ran out of memory.

    Args:
        text: A compiler's error, or a log that holds one.

    Returns:
        The report; `None` where the text holds none.
    """
    for read in (_read_list, _read_scoped, _read_single, _read_total):
        report = read(text)
        if report is not None:
            return report
    return None


_SIZE = r"(?:\d+(?:\.\d+)?(?:[KMGT]i?)?B?)"
_CODE = re.compile(r"\b(E\d{4})\b")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def _bytes(text: str | None) -> int | None:
    if text is None:
        return None
    number = text.rstrip("Bi")
    unit = number[-1:] if number[-1:].isalpha() else ""
    return round(float(number.removesuffix(unit)) * _UNITS[unit])


def _report(
    text: str,
    space: str,
    used: int | None,
    limit: int | None,
    excess: int | None,
    allocations: tuple[MemoryAllocation, ...],
    requirements: dict[str, int] | None = None,
) -> MemoryReport:
    if excess is None and used is not None and limit is not None:
        excess = used - limit
    code = _CODE.search(text)
    return MemoryReport(
        memory_space=space.lower(),
        used_bytes=used,
        limit_bytes=limit,
        excess_bytes=excess,
        allocations=allocations,
        requirements=requirements or {},
        code=code[1] if code else None,
        text=text,
    )


# The whole program: sums, then the largest allocations.

_USED = re.compile(
    rf"Ran out of memory in memory space (\w+)\. Used ({_SIZE}) of ({_SIZE}) \w+\."
    rf"(?:\s*Exceeded \w+ capacity by ({_SIZE}))?"
)
_REQUIREMENT = re.compile(rf"(?:^|\s)([A-Za-z][A-Za-z ]*?)\s\s+({_SIZE})(?=\s|$)")
_FIRST_LINE = re.compile(rf"(?:^|\s)\d+\\?\. Size: ({_SIZE})")
_FIELD = re.compile(
    "(Operator|Shape|Unpadded size|Extra memory due to padding|XLA label|Allocation type): (.*)"
)
_OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
_SOURCE_FILE = re.compile(r'source_file="((?:[^"\\]|\\.)*)"')
_SOURCE_LINE = re.compile(r"source_line=(\d+)")
_PADDING = re.compile(rf"({_SIZE})(?: \(([\d.]+)x expansion\))?")
_INSTRUCTION = re.compile(r"%?([\w.\-]+) = ")


def _read_list(text: str) -> MemoryReport | None:
    head = _USED.search(text)
    if head is None:
        return None
    allocations: list[MemoryAllocation] = []
    requirements: dict[str, int] = {}
    fields: dict[str, str] | None = None
    for line in text[head.end() :].splitlines():
        first = _FIRST_LINE.search(line)
        if first is not None:
            if fields is not None:
                allocations.append(_allocation(fields))
            fields = {"Size": first[1]}
        elif fields is None:
            requirement = _REQUIREMENT.search(line)
            if requirement is not None:
                requirements[requirement[1]] = _bytes(requirement[2]) or 0
        elif (part := _FIELD.search(line)) is not None:
            fields.setdefault(part[1], part[2].strip())
    if fields is not None:
        allocations.append(_allocation(fields))
    used, limit, excess = (_bytes(size) for size in head.groups()[1:])
    return _report(text, head[1], used, limit, excess, tuple(allocations), requirements)


def _allocation(fields: dict[str, str]) -> MemoryAllocation:
    label = fields.get("XLA label")
    instruction = _INSTRUCTION.match(label) if label else None
    operator = fields.get("Operator", "")
    op_name = _OP_NAME.search(operator) or _OP_NAME.search(label or "")
    padding = _PADDING.match(fields.get("Extra memory due to padding", ""))
    return MemoryAllocation(
        size_bytes=_bytes(fields["Size"]),
        purpose=label if instruction is None else None,
        op_name=op_name[1] if op_name else None,
        instruction=instruction[1] if instruction else None,
        shape=fields.get("Shape"),
        unpadded_bytes=_bytes(fields.get("Unpadded size")),
        padding_bytes=_bytes(padding[1]) if padding else None,
        expansion=float(padding[2]) if padding and padding[2] else None,
        kind=fields.get("Allocation type"),
        label=label,
        source=_source(operator) or _source(label or ""),
    )


def _source(metadata: str) -> str | None:
    file, line = _SOURCE_FILE.search(metadata), _SOURCE_LINE.search(metadata)
    if file is None:
        return None
    return f"{file[1]}:{line[1]}" if line else file[1]


# One instruction's allocations on the stack of a kernel.

_SCOPED = re.compile(
    r"Ran out of memory in memory space (\w+) while allocating on stack for (.*?)\. "
    rf"Scoped allocation with size ({_SIZE}) and limit ({_SIZE}) exceeded scoped \w+ limit by "
    rf"({_SIZE})",
    re.DOTALL,
)
_STATEMENT = re.compile(r"%?([\w.\-]+) = (\([^)]*\)|\S+) ")


def _read_scoped(text: str) -> MemoryReport | None:
    found = _SCOPED.search(text)
    if found is None:
        return None
    label = found[2]
    statement = _STATEMENT.match(label)
    op_name = _OP_NAME.search(label)
    used, limit, excess = (_bytes(size) for size in found.groups()[2:])
    allocation = MemoryAllocation(
        size_bytes=used,
        purpose="stack of the kernel",
        op_name=op_name[1] if op_name else None,
        instruction=statement[1] if statement else None,
        shape=statement[2] if statement else None,
        kind="scoped",
        label=label,
        source=_source(label),
    )
    return _report(text, found[1], used, limit, excess, (allocation,))


# One allocation that is larger than the memory.

_SINGLE = re.compile(
    r"Allocation \(size=(\d+)\) would exceed memory \(size=(\d+)\)"
    r"(?: :: #\w+ \[(?P<facts>.*?)\](?: :: (?P<instruction>[\w.\-]+)|\s*$))?",
    re.DOTALL,
)
_SPACE = re.compile(r"space=(\w+)")
_SHAPE = re.compile(r"shape = '([^']*)'")
_TAG = re.compile(r"tag = '(.*)'", re.DOTALL)
_WINDOW = re.compile(r"The window shape is (\w+\[[^\]]*\]\S*?),? ")


def _read_single(text: str) -> MemoryReport | None:
    found = _SINGLE.search(text)
    if found is None:
        return None
    facts = found["facts"] or ""
    space, shape, tag = _SPACE.search(facts), _SHAPE.search(facts), _TAG.search(facts)
    # The shape is that of raw bytes; where a window of an operand is meant, the tag has its own.
    shape = (_WINDOW.search(tag[1]) if tag else None) or shape
    used, limit = int(found[1]), int(found[2])
    allocation = MemoryAllocation(
        size_bytes=used,
        purpose=tag[1] if tag else None,
        instruction=found["instruction"],
        shape=shape[1] if shape else None,
        kind="scoped" if ", scoped" in facts else None,
    )
    return _report(text, space[1] if space else "unknown", used, limit, None, (allocation,))


# The total of a memory.

_TOTAL = re.compile(
    rf"Ran out of memory on (\w+), the total memory required for (.+?) \(({_SIZE})\) exceeds "
    rf"available \w+ \(({_SIZE})\)"
)


def _read_total(text: str) -> MemoryReport | None:
    found = _TOTAL.search(text)
    if found is None:
        return None
    used, limit = _bytes(found[3]), _bytes(found[4])
    allocation = MemoryAllocation(size_bytes=used, purpose=found[2], kind=found[2])
    return _report(text, found[1], used, limit, None, (allocation,))
