"""Where the final module runs what a name stood for, at whatever moment of the compile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hlo_widgets.analysis.decisions.joining import join_decisions
from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.passes import PassChain
from hlo_widgets.analysis.decisions.record import (
    DecisionJoin,
    Exactness,
    FusionDecision,
    Verdict,
)
from hlo_widgets.hlo import HloModule

__all__ = ["FinalNames", "final_names"]

_NOWHERE = DecisionJoin(Exactness.NOT_JOINED)


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


class FinalNames:
    """Where the names in the records of one log are now, each looked up once.

    Args:
        log: The log.
        module: The final module.
    """

    def __init__(self, log: DecisionLog, module: HloModule) -> None:
        self._log, self._module = log, module
        self._known: dict[str, DecisionJoin] = {}

    def of(self, names: Iterable[str]) -> dict[str, DecisionJoin]:
        """Return where each name is now; its `producers` are the final names."""
        wanted = tuple(names)
        missing = [name for name in wanted if name not in self._known]
        if missing:
            self._known |= final_names(self._log, self._module, missing)
        return {name: self._known.get(name, _NOWHERE) for name in wanted}
