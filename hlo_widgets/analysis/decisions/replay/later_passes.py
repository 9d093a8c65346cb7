"""What passes without a record did to the kernels of a replay, told by the modules around them.

Multi-output fusion, renaming and the wrapping of single ops leave no record of each step. A kernel
that is gone and whose ops one fusion alone has room for went into that. Where several have, the
kernel stays as it was and is counted: a guess would be no replay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from hlo_widgets.analysis.decisions.replay.contents import Contents, OpCounts
from hlo_widgets.analysis.decisions.replay.grouping import Grouping, Kernel, kernel_instructions
from hlo_widgets.hlo import HloInstruction, HloModule
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["PassEffect", "follow_pass"]


@dataclass(frozen=True)
class PassEffect:
    """What a pass did to kernels.

    Attributes:
        merged: Kernels that became one: the old names by the new one.
        renamed: Fusions that one kernel became alone, by its name before: a fusion under another
            name, or a single op that got a kernel of its own.
        dropped: Kernels that it took out, as nothing reads what they give.
        untold: Names of fusions that it made of kernels which nothing tells.
        lost: Names of kernels that are gone and may have gone into more than one fusion.
    """

    merged: dict[str, tuple[str, ...]]
    renamed: dict[str, str]
    dropped: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.merged or self.renamed or self.dropped)


def follow_pass(
    grouping: Grouping,
    module: HloModule,
    contents: Contents,
    step: int,
    settled: Collection[str] = (),
) -> PassEffect:
    """Change a grouping as a pass did.

    Args:
        grouping: The kernels before the pass.
        module: The module after it.
        contents: How to count ops.
        step: Number that the kernels which the pass made get.
        settled: Names that an earlier pass left untold or lost: this one did not make them.
    """
    after = {op.name: op for op in kernel_instructions(module)}
    dropped = _drop_unread(grouping, after)
    targets = _targets(grouping, after, contents, settled)
    counted = {
        name: contents.of_kernel(kernel)
        for name, kernel in grouping.kernels.items()
        if name not in after and name not in settled
    }
    gone = {name: counts for name, counts in counted.items() if counts}
    whole = {name: contents.of((after[name],)) for name in targets}
    neighbours = _Neighbours(grouping, after)
    homes = _homes(gone, targets, neighbours)
    homes |= _homes_of_merged(gone, whole, neighbours, homes)
    merged, moved = _apply(grouping, homes, gone, targets, step)
    renamed = {old: new for old, new in moved.items() if after[new].opcode == "fusion"}
    untold = tuple(n for n in targets if n not in grouping.kernels and after[n].opcode == "fusion")
    lost = tuple(name for name in gone if name not in homes and untold)
    return PassEffect(merged, renamed, dropped, untold, lost)


def _drop_unread(grouping: Grouping, after: Mapping[str, HloInstruction]) -> tuple[str, ...]:
    """Take out what is gone and was read by nothing, then what only that read, and so on."""
    dropped: list[str] = []
    while True:
        gone = [kernel for name, kernel in grouping.kernels.items() if name not in after]
        unread = [kernel for kernel in gone if not grouping.is_read(kernel)]
        if not unread:
            return tuple(dropped)
        for kernel in unread:
            grouping.remove(kernel.name)
            if not kernel.is_op:
                dropped.append(kernel.name)


def _apply(
    grouping: Grouping,
    homes: Mapping[str, str],
    gone: Mapping[str, OpCounts],
    targets: Mapping[str, OpCounts],
    step: int,
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    parts: dict[str, list[str]] = defaultdict(list)
    for name, home in homes.items():
        parts[home].append(name)
    merged: dict[str, tuple[str, ...]] = {}
    renamed: dict[str, str] = {}
    for home, names in parts.items():
        if home in grouping.kernels:
            names.append(home)
        if len(names) > 1:
            grouping.merge(names, home, step)
            merged[home] = tuple(names)
        elif set(gone[names[0]]) == set(targets[home]):
            grouping.rename(names[0], home)
            renamed[names[0]] = home
    return merged, renamed


def _targets(
    grouping: Grouping,
    after: Mapping[str, HloInstruction],
    contents: Contents,
    settled: Collection[str],
) -> dict[str, OpCounts]:
    """Return the ops of each fusion that is new or grew, without those it had before."""
    targets: dict[str, OpCounts] = {}
    for name, op in after.items():
        known = grouping.kernels.get(name)
        grows = op.opcode == "fusion" or known is None
        if name in settled or op.opcode in opcodes.PLUMBING or not grows:
            continue
        added = contents.of((op,))
        if known is not None:
            added -= contents.of_kernel(known)
        if added:
            targets[name] = added
    return targets


def _homes(
    gone: Mapping[str, OpCounts], targets: Mapping[str, OpCounts], neighbours: _Neighbours
) -> dict[str, str]:
    """Find, for each kernel that is gone, the one op that has room for its ops.

    Where several have, the one that reads and is read as the kernel was.
    """
    room = {name: counts.copy() for name, counts in targets.items()}
    homes: dict[str, str] = {}
    # What is settled can settle what is next to it: once more is worth a try. Arbitrary.
    for _ in range(16):
        found = {}
        for name in gone.keys() - homes.keys():
            fits = [home for home, counts in room.items() if gone[name] <= counts]
            near = [home for home in fits if neighbours.are_alike(name, home, homes)]
            same = [home for home in near if gone[name] == room[home]]
            alone = next((one for one in (same, near, fits) if len(one) == 1), None)
            if alone is not None:
                found[name] = alone[0]
        for name, home in sorted(found.items()):
            if gone[name] <= room[home]:
                homes[name] = home
                room[home] -= gone[name]
        if not found:
            break
    return homes


def _homes_of_merged(
    gone: Mapping[str, OpCounts],
    whole: Mapping[str, OpCounts],
    neighbours: _Neighbours,
    homes: Mapping[str, str],
) -> dict[str, str]:
    """Find homes for kernels of which the pass computes once what two of them computed.

    Args:
        gone: The kernels that are gone, with their ops.
        whole: All ops of each fusion that is new or grew.
        neighbours: What reads what.
        homes: What is known.
    """
    found: dict[str, str] = {}
    for name in sorted(gone.keys() - homes.keys()):
        known = {**homes, **found}
        fits = [
            home
            for home, counts in whole.items()
            if set(gone[name]) <= set(counts) and neighbours.are_alike(name, home, known)
        ]
        if len(fits) == 1:
            found[name] = fits[0]
    return found


class _Neighbours:
    """What kernels before a pass, and ops after it, read and are read by, through plumbing."""

    def __init__(self, grouping: Grouping, after: Mapping[str, HloInstruction]) -> None:
        self._after = after
        kernels = [k for k in grouping.kernels.values() if not _is_plumbing(k)]
        # A constant is put into whatever reads it, without a record.
        givers = {o: k.name for k in kernels for o in k.gives if o.opcode != "constant"}
        self._before: dict[str, set[str]] = {
            kernel.name: {givers[op] for op in _sources(kernel.reads) if op in givers}
            for kernel in kernels
        }
        self._before_users = _turned(self._before)
        self._now: dict[str, set[str]] = {
            name: {source.name for source in _sources(op.operands)} for name, op in after.items()
        }
        self._now_users = _turned(self._now)

    def are_alike(self, kernel: str, home: str, homes: Mapping[str, str]) -> bool:
        """Return whether an op reads all that a kernel read, and is read by all that read it.

        Args:
            kernel: Name of a kernel that is gone.
            home: Name of an op after the pass.
            homes: What is known of where other kernels went.
        """
        sides = (
            (self._before.get(kernel, set()), self._now.get(home, set())),
            (self._before_users.get(kernel, set()), self._now_users.get(home, set())),
        )
        return all(self._is_within(before, now, home, homes) for before, now in sides)

    def _is_within(
        self, before: set[str], now: set[str], home: str, homes: Mapping[str, str]
    ) -> bool:
        names = {homes.get(name, name) for name in before} - {home}
        return {name for name in names if name in self._after} <= now


def _turned(read: Mapping[str, set[str]]) -> dict[str, set[str]]:
    users: dict[str, set[str]] = defaultdict(set)
    for user, names in read.items():
        for name in names:
            users[name].add(user)
    return users


def _is_plumbing(kernel: Kernel) -> bool:
    return kernel.op is not None and kernel.op.opcode in _PASSED


# Values pass through these; a constant or a parameter is where one begins.
_PASSED = opcodes.PLUMBING - {"constant", "parameter"}


def _sources(operands: Iterable[HloInstruction]) -> set[HloInstruction]:
    """Return where values come from, through plumbing."""
    found: set[HloInstruction] = set()
    seen: set[HloInstruction] = set()
    waiting = list(operands)
    while waiting:
        operand = waiting.pop()
        if operand in seen:
            continue
        seen.add(operand)
        if operand.opcode in _PASSED:
            waiting.extend(operand.operands)
        else:
            found.add(operand)
    return found
