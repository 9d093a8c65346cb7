"""The fusions of the compiler, step by step, as a part of an Explorer."""

from __future__ import annotations

import ipywidgets

from hlo_widgets.analysis import fused_computation, pair_members
from hlo_widgets.analysis.decisions.replay.replay import replay_decisions
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.closing import close_widget
from hlo_widgets.widgets.decisions.missing import NO_DECISIONS, NO_STEPS
from hlo_widgets.widgets.part import Go
from hlo_widgets.widgets.plain import plain_text
from hlo_widgets.widgets.replay.player import ReplayPlayer
from hlo_widgets.widgets.shown import Shown

__all__ = ["ReplayPart"]


class ReplayPart:
    """A slider over the fusions that the compiler made, from the first to the final graph.

    Args:
        go: Called with the name of the final op of a kernel that the user picks.

    Attributes:
        widget: What the tab holds.
        player: What plays the steps; None where there are none.
    """

    title = "Fusion steps"

    def __init__(self, go: Go) -> None:
        self._go = go
        self._message = ipywidgets.Label()
        self.player: ReplayPlayer | None = None
        self.widget = ipywidgets.VBox([self._message], layout={"width": "100%"})

    def show(self, shown: Shown) -> None:
        """Show the steps of another module, or how to get them."""
        self.forget()
        problem = NO_DECISIONS
        if shown.decisions is not None:
            replay = replay_decisions(shown.decisions)
            problem = " ".join(replay.notes) or NO_STEPS
            if replay.steps and replay.module is not None:
                self.player = ReplayPlayer(replay, replay.module, shown.decisions, self._go)
        self._message.value = plain_text(problem)
        if self.player is not None:
            self.widget.children = [self.player.widget]

    def select(self, instruction: HloInstruction | None) -> None:
        """Offer the steps that grew the fusion which an op is or stands in."""
        if self.player is None:
            return
        if instruction is None:
            self.player.select(None)
            return
        while instruction.parent.is_fusion_computation and instruction.parent.callers:
            instruction = instruction.parent.callers[0]
        body = fused_computation(instruction)
        inside = None
        if body is not None:
            inside = len(body.parameters), len(body.instructions) - len(body.parameters)
        self.player.select(pair_members(instruction)[0].name, inside)

    def forget(self) -> None:
        """Let go of the steps and of what plays them."""
        old, self.player = self.player, None
        self.widget.children = [self._message]
        if old is not None:
            old.close()

    def close(self) -> None:
        """Close all widgets of it, for good."""
        self.forget()
        close_widget(self.widget)
