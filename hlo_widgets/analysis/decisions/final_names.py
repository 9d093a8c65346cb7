"""Where the final module runs what a name stood for, at whatever moment of the compile."""

from __future__ import annotations

from collections.abc import Iterable

from hlo_widgets.analysis.decisions.joining import Side, lineage_of
from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.record import DecisionJoin
from hlo_widgets.hlo import HloModule

__all__ = ["FinalNames"]


class FinalNames:
    """Where the names in the records of one log are now.

    Args:
        log: The log.
        module: The final module.
    """

    def __init__(self, log: DecisionLog, module: HloModule) -> None:
        self._lineage = log.lineage or lineage_of(log, module)

    def of(self, names: Iterable[str]) -> dict[str, DecisionJoin]:
        """Return where each name is now; its `producers` are the final names."""
        followed = {name: self._lineage.follow(name, Side.PRODUCER) for name in names}
        return {name: DecisionJoin(*found) for name, found in followed.items()}
