"""The passes that changed a module, as the plain data of their list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from hlo_widgets.analysis.decisions import (
    DecisionJoin,
    DecisionLog,
    FusionChanges,
    FusionDecision,
    PassChain,
    Verdict,
    join_decisions,
)
from hlo_widgets.hlo import HloModule

__all__ = ["describe_passes", "final_names"]

MOST_NAMES = 60
"""Names told of one kind of change in one pass; arbitrary, more are counted."""

_Named = dict[str, Any]


def final_names(
    log: DecisionLog, module: HloModule, names: Iterable[str]
) -> dict[str, DecisionJoin]:
    """Return where the final module runs what each name computed, as a record about it is joined.

    Args:
        log: The fusions and passes to follow.
        module: The final module.
        names: Names of ops as they were at some moment of the compile.
    """
    probes = [FusionDecision(name, None, Verdict.CONSIDERED) for name in dict.fromkeys(names)]
    fused = [d for d in log.decisions if d.verdict is Verdict.FUSED]
    chain = PassChain(tuple(one.step for one in log.passes), {}, log.passes, log.before)
    joined = join_decisions(replace(log, decisions=(*fused, *probes)), module, chain)
    found = joined.decisions[len(fused) :]
    return {one.producer: one.join for one in found if one.join is not None}


def describe_passes(log: DecisionLog, module: HloModule) -> list[dict[str, Any]]:
    """Return one entry a pass that changed the module, in order.

    Args:
        log: Where the passes are.
        module: The final module.
    """
    names = {name for one in log.passes for name in _all_names(one.changes)}
    finals = final_names(log, module, names)

    def named(name: str) -> _Named:
        join = finals.get(name)
        final = join.producers[0] if join is not None and join.producers else ""
        return {
            "name": name,
            "final": final,
            "joined": join.exactness.value if join is not None else "",
        }

    return [
        {
            "number": one.number,
            "pipeline": one.pipeline,
            "name": one.pass_name,
            "words": str(one.changes),
            "groups": list(_groups(one.changes, named)),
        }
        for one in log.passes
    ]


def _groups(changes: FusionChanges, named: Callable[[str], _Named]) -> Iterator[dict[str, Any]]:
    """Yield each kind of change with its names: one, or the old and the new."""
    pairs: dict[str, list[tuple[str, ...]]] = {
        "made": [(name,) for name in changes.made],
        "grown": [(name,) for name in changes.grown],
        "merged": list(changes.merged),
        "renamed": list(changes.renamed),
        "dissolved": [(name,) for name in changes.dissolved],
    }
    for what, found in pairs.items():
        if found:
            shown = [[named(name) for name in names] for names in found[:MOST_NAMES]]
            yield {"what": what, "names": shown, "left_out": len(found) - len(shown)}


def _all_names(changes: FusionChanges) -> Iterator[str]:
    yield from (*changes.made, *changes.grown, *changes.dissolved)
    for pair in (*changes.merged, *changes.renamed):
        yield from pair
