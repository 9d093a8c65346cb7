"""The passes that changed a module, as the plain data of their list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hlo_widgets.analysis.decisions import DecisionLog, FusionChanges
from hlo_widgets.analysis.decisions.final_names import FinalNames
from hlo_widgets.hlo import HloModule

__all__ = ["describe_passes"]

MOST_NAMES = 60
"""Names told of one kind of change in one pass; arbitrary, more are counted."""

_Named = dict[str, Any]


def describe_passes(log: DecisionLog, module: HloModule) -> list[dict[str, Any]]:
    """Return one entry a pass that changed the module, in order.

    Args:
        log: Where the passes are.
        module: The final module.
    """
    names = {name for one in log.passes for name in _all_names(one.changes)}
    finals = FinalNames(log, module).of(names)

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
