"""Which fusion took in an op that a pass took away: by what both compute, and where they stand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from hlo_widgets.hlo import HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["HANDS_ON", "content_of", "find_merged"]

HANDS_ON = opcodes.RELABELS | {"parameter", "constant", "copy", "convert"}
"""What hands values on or regroups them: compilers put it in and take it out without a record."""

Content = Counter[tuple[str, str, str]]


def content_of(op: HloInstruction) -> Content:
    """Count what an op computes: of a fusion its body, without what only reads or regroups."""
    inside = op.called_computations[0].instructions if op.opcode == "fusion" else (op,)
    return Counter(
        (i.opcode, i.metadata.op_name or "", i.shape.to_string(with_layout=False))
        for i in inside
        if i.opcode not in HANDS_ON
    )


def find_merged(
    gone: Mapping[str, HloInstruction],
    old: Mapping[str, HloInstruction],
    new: Mapping[str, HloInstruction],
    renames: Mapping[str, str],
) -> tuple[dict[str, str], dict[str, str]]:
    """Find, for ops that are gone, the one fusion to which all that they computed was added.

    Where layers of a network are alike several fusions hold the same: then the one that reads what
    the op read, and is read by who read the op.

    Args:
        gone: The ops that are gone and were not renamed, by name.
        old: All ops that ran before, by name.
        new: All that run now.
        renames: New names by old.

    Returns:
        The fusions by the name of the op: those that nothing else gone could be mistaken for, and
        those of several alike.
    """
    places = _Places(gone, old, new)
    certain, _ = places.homes(renames)
    # Where a neighbour went tells where an op went that others look like.
    more, likely = places.homes({**renames, **certain})
    certain = more | certain
    return certain, {name: home for name, home in likely.items() if name not in certain}


class _Places:
    """What is gone, the fusions that may hold it, and where all of them stand."""

    def __init__(
        self,
        gone: Mapping[str, HloInstruction],
        old: Mapping[str, HloInstruction],
        new: Mapping[str, HloInstruction],
    ) -> None:
        self._gone, self._new = gone, new
        self._known: dict[HloInstruction, Content] = {}
        self._contents = {name: self._content(op) for name, op in gone.items()}
        self._added: dict[str, Content] = {}
        self._with: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for name, op in new.items() if gone else ():
            if op.opcode == "fusion":
                before = self._content(old[name]) if name in old else Counter()
                self._added[name] = self._content(op) - before
                for computed in self._added[name]:
                    self._with[computed].append(name)
        self._inputs = {name: {o.name for o in new[name].operands} for name in self._added}
        self._read_by: dict[str, set[str]] = {}

    def _content(self, op: HloInstruction) -> Content:
        if op not in self._known:
            self._known[op] = content_of(op)
        return self._known[op]

    def homes(self, renames: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the certain and the likely homes, by the name of the op that is gone."""
        found: dict[str, str] = {}
        for name in self._gone:
            holding = self._holding(name)
            for copies in (False, True):
                if len(holding) > 1:
                    fitting = [h for h in holding if self._fits(name, h, renames, copies=copies)]
                    holding = fitting or holding
            if len(holding) == 1:
                found[name] = holding[0]
        alike: dict[frozenset[object], list[str]] = defaultdict(list)
        for name, content in self._contents.items():
            alike[frozenset(content.items())].append(name)
        certain: dict[str, str] = {}
        for names in alike.values():
            taken = Counter(found[name] for name in names if name in found)
            # Of several alike, each must have a home of its own.
            if taken.total() == len(names):
                certain |= {name: found[name] for name in names if taken[found[name]] == 1}
        return certain, {name: home for name, home in found.items() if name not in certain}

    def _holding(self, name: str) -> list[str]:
        content = self._contents[name]
        if not content:
            return []
        rarest = min((self._with.get(computed, []) for computed in content), key=len)
        return [host for host in rarest if content <= self._added[host]]

    def _fits(self, name: str, host: str, renames: Mapping[str, str], *, copies: bool) -> bool:
        """Return whether a fusion stands between the same ops as one that is gone did.

        Args:
            name: The one that is gone.
            host: The fusion.
            renames: Where older names lead.
            copies: Whether the fusion may hold a copy of what the op read.
        """
        new, op = self._new, self._gone[name]
        read = {renames.get(o.name, o.name) for o in op.operands} - self._inputs[host] - {host}
        for other in (operand for operand in read if operand in new):
            # What is cheap may be copied into each of its readers.
            if not (copies and self._content(new[other]) <= self._content(new[host])):
                return False
        readers = {renames.get(user.name, user.name) for user in op.users} - {host}
        return all(host in self._reads(reader) for reader in readers if reader in new)

    def _reads(self, name: str) -> set[str]:
        """Return what an op reads, by name, also as a part of a tuple."""
        if name not in self._read_by:
            names = self._read_by[name] = set()
            waiting = list(self._new[name].operands)
            while waiting:
                operand = waiting.pop()
                names.add(operand.name)
                if operand.opcode in ("get-tuple-element", "bitcast"):
                    waiting.extend(operand.operands)
        return self._read_by[name]
