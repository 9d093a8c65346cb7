"""From the names in a decision to the instructions of a final module.

A name may stand in the final module; or the record itself says into what it was fused, or the
dumped passes what it was renamed to, or what computes its value now. Where all that leads nowhere,
a name that only handed on a value stands for its other side, and last the name that JAX gave the op
is looked for: several ops may share it. Both are inexact.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import Enum

from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.passes import PassChain
from hlo_widgets.analysis.decisions.record import (
    DecisionJoin,
    Exactness,
    FusionDecision,
    Verdict,
)
from hlo_widgets.analysis.decisions.renames import HandedOn, OpOrigin, origins_of
from hlo_widgets.analysis.decisions.values import running_ops
from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloInstruction, HloModule, parse_hlo_module
from hlo_widgets.hlo.collection import collection_held_back

__all__ = ["Lineage", "Side", "Ways", "join_decisions", "joined", "lineage_of"]

_OPCODE = re.compile(r"%[\w.-]+ = (?:\([^=]*?\)|\S+) ([\w-]+)\(")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_LESS_SURE = {exactness: place for place, exactness in enumerate(Exactness)}
_NO_ORIGIN = OpOrigin("", "")
_NOWHERE = DecisionJoin(Exactness.NOT_JOINED)
_Found = tuple[Exactness, tuple[str, ...]]


class Side(Enum):
    """Which side of a decision a name stands on."""

    PRODUCER = "producer"
    CONSUMER = "consumer"


class Lineage:
    """Where names of earlier passes lead in a final module.

    Args:
        module: The final module.
        certain: Names that a name certainly lives on in.
        roots: The op that computes the value of a fusion, by the fusion's name.
        passed_on: The two sides of what only handed on a value.
        origins: What older names stood for.
        homes: Final instructions by what they compute, inside fusions too.
    """

    def __init__(
        self,
        module: HloModule,
        certain: Mapping[str, set[str]],
        roots: Mapping[str, str],
        passed_on: Mapping[str, HandedOn],
        origins: Mapping[str, OpOrigin],
        homes: Mapping[OpOrigin, tuple[str, ...]],
    ) -> None:
        standing = frozenset(op.name for op in running_ops(module))
        self._module = module
        self._certain = Ways(standing, lambda name: certain.get(name, ()))
        self._through_roots = Ways(
            standing,
            lambda name: (*certain.get(name, ()), *([roots[name]] if name in roots else ())),
        )
        self._roots, self._passed_on = roots, passed_on
        self._origins, self._homes = origins, homes
        # A compiler looks at one op many times: a name stands in dozens of records.
        self._followed: dict[tuple[str, Side], _Found] = {}

    def is_in(self, module: HloModule) -> bool:
        """Return whether names lead in this module, or in one of the same text."""
        return module is self._module or module.text == self._module.text

    def follow(self, name: str, side: Side) -> _Found:
        """Return the final instructions that run what `name` computed, and how sure that is."""
        if (name, side) not in self._followed:
            self._followed[name, side] = self._follow(name, side)
        return self._followed[name, side]

    def _follow(self, name: str, side: Side) -> _Found:
        for exactness, found in (
            (Exactness.EXACT, self._of_its_kind(name, self._by_value(name))),
            (Exactness.INEXACT, self._through_roots.ends(name)),
            (Exactness.INEXACT, self._beyond(name, side)),
            (Exactness.INEXACT, self._homes.get(self._origins.get(name, _NO_ORIGIN), ())),
        ):
            if found:
                return exactness, found
        return Exactness.NOT_JOINED, ()

    def _of_its_kind(self, name: str, found: tuple[str, ...]) -> tuple[str, ...]:
        """Leave out who computes the same value as another op of the program.

        Such as what a backward pass computes once more: a record about the one says nothing of the
        other.
        """
        seen: set[str] = set()
        while len(found) > 1 and name not in seen:
            homes = self._homes.get(self._origins.get(name, _NO_ORIGIN), ())
            own = tuple(one for one in found if one in homes)
            if own:
                return own
            seen.add(name)
            name = self._roots.get(name, name)
        return found

    def _by_value(self, name: str) -> tuple[str, ...]:
        """Follow a name, or the op whose value that of a fusion is if no dump has the fusion."""
        seen: set[str] = set()
        current: str | None = name
        while current is not None and current not in seen:
            found = self._certain.ends(current)
            if found:
                return found
            seen.add(current)
            current = self._roots.get(current)
        return ()

    def _beyond(self, name: str, side: Side) -> tuple[str, ...]:
        """Follow the other side of a name that only handed on a value."""
        found: dict[str, None] = {}
        waiting, seen = [name], {name}
        while waiting:
            current = waiting.pop()
            handed = self._passed_on.get(current)
            if handed is None:
                following = self._certain.following(current)
            else:
                following = handed.operands if side is Side.PRODUCER else handed.users
            for other in sorted(set(following) - seen):
                seen.add(other)
                ends = self._by_value(other)
                found |= dict.fromkeys(ends)
                if not ends:
                    waiting.append(other)
        return tuple(found)


class Ways:
    """Walks from name to name up to those that stand in the final module.

    Args:
        standing: The names that stand there.
        following: Returns the next names.
    """

    def __init__(self, standing: frozenset[str], following: Callable[[str], Iterable[str]]) -> None:
        self._standing, self.following = standing, following
        self._known: dict[str, tuple[str, ...]] = {}

    def ends(self, name: str) -> tuple[str, ...]:
        """Return the names that a name leads to."""
        found: dict[str, None] = {}
        waiting, seen = [name], {name}
        while waiting:
            current = waiting.pop()
            if current in self._standing:
                found[current] = None
            elif current in self._known:
                found |= dict.fromkeys(self._known[current])
            else:
                following = set(self.following(current)) - seen
                seen |= following
                waiting.extend(sorted(following, reverse=True))
        self._known[name] = tuple(found)
        return self._known[name]


def join_decisions(
    log: DecisionLog, module: HloModule, chain: PassChain | None = None
) -> DecisionLog:
    """Find the two sides of every decision in a final module.

    Args:
        log: The decisions.
        module: The final module.
        chain: What became of names from pass to pass; None follows only the fusions in the log.

    Returns:
        The same decisions, each with its `join`. A decision about a module of another name is not
        joined.
    """
    chain = chain or PassChain()
    with collection_held_back():
        lineage = lineage_of(log, module, chain)
        join = _Joiner(module, lineage)
        # The last first: where a name led on to others, a walk ends at the first that is known.
        ones = [decision.with_join(join.of(decision)) for decision in reversed(log.decisions)]
    return replace(
        log,
        decisions=tuple(reversed(ones)),
        passes=chain.passes,
        before=chain.before,
        lineage=lineage,
    )


def joined(log: DecisionLog, module: HloModule) -> DecisionLog:
    """Return a log joined with a module: as it is where that was done before.

    A log that was joined with another module is joined anew: what passes did to names leads nowhere
    in this one.
    """
    lineage = log.lineage
    if lineage is not None and lineage.is_in(module):
        return log
    if lineage is None and all(decision.join is not None for decision in log.decisions):
        return log  # by whoever made the records
    return join_decisions(replace(log, passes=(), before=None), module)


class _Joiner:
    """Joins records, each pair of names once.

    Args:
        module: The final module.
        lineage: Where names lead in it.
    """

    def __init__(self, module: HloModule, lineage: Lineage) -> None:
        self._own_names = (None, module.name, "")
        self._lineage = lineage
        self._made: dict[tuple[str, tuple[str, ...]], DecisionJoin] = {}

    def of(self, decision: FusionDecision) -> DecisionJoin:
        """Return where the two sides of a record are."""
        if decision.module not in self._own_names:
            return _NOWHERE
        key = (decision.producer, decision.consumers)
        if key not in self._made:
            self._made[key] = self._join(*key)
        return self._made[key]

    def _join(self, producer: str, consumers: tuple[str, ...]) -> DecisionJoin:
        exactness, producers = self._lineage.follow(producer, Side.PRODUCER)
        final: dict[str, None] = {}
        for name in consumers:
            surety, found = self._lineage.follow(name, Side.CONSUMER)
            exactness = max(exactness, surety, key=_LESS_SURE.__getitem__)
            final |= dict.fromkeys(found)
        return DecisionJoin(exactness, producers, tuple(final))


def lineage_of(log: DecisionLog, module: HloModule, chain: PassChain | None = None) -> Lineage:
    """Find where the names of a log lead in a final module.

    Args:
        log: The fusions to follow.
        module: The final module.
        chain: What became of names from pass to pass; None for what the log has of it.
    """
    chain = chain or PassChain(tuple(one.step for one in log.passes), {}, log.passes, log.before)
    certain: dict[str, set[str]] = defaultdict(set)
    roots: dict[str, str] = {}
    passed_on: dict[str, HandedOn] = {}
    for decision in log.decisions:
        if decision.verdict is Verdict.FUSED and decision.fusion_name:
            for name in (decision.producer, *decision.consumers):
                if name != decision.fusion_name:
                    certain[name].add(decision.fusion_name)
            if decision.consumer and not decision.siblings:
                roots.setdefault(decision.fusion_name, decision.consumer)
    for step in chain.steps:
        for old, new in step.renames.items():
            certain[old].add(new)
        for old, computing in step.merged.items():
            certain[old].update(computing)
        passed_on |= step.passed_on
    for source in log.sources:
        for name, computing in chain.values.homes_of_quoted(source).items():
            certain[name].update(computing)
    origins, homes = _origins(log, chain), _homes(module)
    return Lineage(module, certain, roots, passed_on, origins, homes)


def _origins(log: DecisionLog, chain: PassChain) -> dict[str, OpOrigin]:
    origins = dict(chain.origins)
    for source in log.sources:
        if source.module_text:
            try:
                origins = origins_of(parse_hlo_module(source.module_text)) | origins
            except HloParseError:
                continue
        for name, text in source.texts.items():
            opcode, op_name = _OPCODE.match(text), _OP_NAME.search(text)
            if opcode and op_name:
                origins.setdefault(name, OpOrigin(opcode[1], op_name[1]))
    return origins


def _homes(module: HloModule) -> dict[OpOrigin, tuple[str, ...]]:
    """Return the final instructions by the ops that they or their bodies are made of."""
    homes: dict[OpOrigin, dict[str, None]] = defaultdict(dict)
    for computation in module.computations:
        if computation.is_fusion_computation:
            continue
        for box in computation.instructions:
            for op in _ops_of(box):
                op_name = op.metadata.op_name
                if op_name:
                    homes[OpOrigin(op.opcode, op_name)][box.name] = None
    return {origin: tuple(names) for origin, names in homes.items()}


def _ops_of(box: HloInstruction) -> list[HloInstruction]:
    found, waiting, seen = [box], [box], {box}
    while waiting:
        op = waiting.pop()
        inside = op.called_computations if op.opcode == "fusion" else ()
        for inner in (i for computation in inside for i in computation.instructions):
            if inner not in seen:
                seen.add(inner)
                found.append(inner)
                waiting.append(inner)
    return found
