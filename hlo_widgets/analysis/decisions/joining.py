"""From the names in a decision to the instructions of a final module.

A name may stand in the final module; or the record itself says into what it was fused, or a pass
dump what it was renamed to. Where all that leads nowhere, the name that JAX gave the op is looked
for: several ops may share it, so such a join is inexact.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.passes import PassChain
from hlo_widgets.analysis.decisions.record import (
    DecisionJoin,
    Exactness,
    FusionDecision,
    Verdict,
)
from hlo_widgets.analysis.decisions.renames import OpOrigin, origins_of
from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloInstruction, HloModule, parse_hlo_module

__all__ = ["Lineage", "join_decisions"]

_OPCODE = re.compile(r"%[\w.-]+ = (?:\([^=]*?\)|\S+) ([\w-]+)\(")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_LESS_SURE = {exactness: place for place, exactness in enumerate(Exactness)}
_NOWHERE = DecisionJoin(Exactness.NOT_JOINED)
_Found = tuple[Exactness, tuple[str, ...]]


@dataclass(frozen=True)
class Lineage:
    """Where names of earlier passes lead in a final module.

    Attributes:
        standing: Names of the instructions outside of fusions in the final module.
        certain: Names that a name certainly lives on in.
        likely: Names that it likely lives on in.
        origins: What older names stood for.
        homes: Final instructions by what they compute, inside fusions too.
    """

    standing: frozenset[str]
    certain: Mapping[str, set[str]] = field(repr=False)
    likely: Mapping[str, set[str]] = field(repr=False)
    origins: Mapping[str, OpOrigin] = field(repr=False)
    homes: Mapping[OpOrigin, tuple[str, ...]] = field(repr=False)
    _followed: dict[str, _Found] = field(default_factory=dict, init=False, repr=False)

    def follow(self, name: str) -> tuple[Exactness, tuple[str, ...]]:
        """Return the final instructions that run what `name` computed, and how sure that is."""
        # A compiler looks at one op many times: a name stands in dozens of records.
        if name not in self._followed:
            self._followed[name] = self._follow(name)
        return self._followed[name]

    def _follow(self, name: str) -> _Found:
        if name in self.standing:
            return Exactness.EXACT, (name,)
        for exactness, steps in (
            (Exactness.EXACT, (self.certain,)),
            (Exactness.INEXACT, (self.certain, self.likely)),
        ):
            found = self._reached(name, steps)
            if found:
                return exactness, found
        homes = self.homes.get(self.origins.get(name, OpOrigin("", "")), ())
        return (Exactness.INEXACT if homes else Exactness.NOT_JOINED), homes

    def _reached(self, name: str, steps: Iterable[Mapping[str, set[str]]]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        waiting, seen = [name], {name}
        while waiting:
            current = waiting.pop()
            if current in self.standing:
                found[current] = None
                continue
            following = {after for step in steps for after in step.get(current, ())} - seen
            seen |= following
            waiting.extend(sorted(following, reverse=True))
        return tuple(found)


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
    join = _Joiner(module, _lineage(log, module, chain))
    joined = tuple(decision.with_join(join.of(decision)) for decision in log.decisions)
    return replace(log, decisions=joined, passes=chain.passes, before=chain.before)


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
        exactness, producers = self._lineage.follow(producer)
        final: dict[str, None] = {}
        for name in consumers:
            surety, found = self._lineage.follow(name)
            exactness = max(exactness, surety, key=_LESS_SURE.__getitem__)
            final |= dict.fromkeys(found)
        return DecisionJoin(exactness, producers, tuple(final))


def _lineage(log: DecisionLog, module: HloModule, chain: PassChain) -> Lineage:
    certain: dict[str, set[str]] = defaultdict(set)
    likely: dict[str, set[str]] = defaultdict(set)
    for decision in log.decisions:
        if decision.verdict is Verdict.FUSED and decision.fusion_name:
            for name in (decision.producer, *decision.consumers):
                if name != decision.fusion_name:
                    certain[name].add(decision.fusion_name)
    for step in chain.steps:
        ways_found = ((step.renames, certain), (step.merged, certain), (step.likely, likely))
        for pairs, ways in ways_found:
            for old, new in pairs.items():
                ways[old].add(new)
    standing = frozenset(
        i.name
        for computation in module.computations
        if not computation.is_fusion_computation
        for i in computation.instructions
    )
    return Lineage(standing, certain, likely, _origins(log, chain), _homes(module))


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
