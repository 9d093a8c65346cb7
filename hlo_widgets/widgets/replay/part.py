"""The fusions of the compiler, step by step, as a part of an Explorer."""

from __future__ import annotations

from concurrent.futures import Future, wait
from threading import Thread

import ipywidgets

from hlo_widgets.analysis import fused_computation, pair_members
from hlo_widgets.analysis.decisions import DecisionLog
from hlo_widgets.analysis.decisions.replay.replay import Replay, replay_decisions
from hlo_widgets.graph.words import counted
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.closing import close_widget
from hlo_widgets.widgets.decisions.missing import NO_DECISIONS, NO_STEPS
from hlo_widgets.widgets.kernel_loop import KernelLoop
from hlo_widgets.widgets.part import Go
from hlo_widgets.widgets.plain import plain_text
from hlo_widgets.widgets.replay.player import ReplayPlayer
from hlo_widgets.widgets.shown import Shown

__all__ = ["ReplayPart"]

# Of small programs the steps are there at once: a word that comes and goes flickers. Arbitrary.
_QUIET_SECONDS = 0.3


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
        self._loop = KernelLoop()
        self._job: Future[Replay] | None = None
        self._selected: HloInstruction | None = None
        self.player: ReplayPlayer | None = None
        self.widget = ipywidgets.VBox([self._message], layout={"width": "100%"})

    def show(self, shown: Shown) -> None:
        """Show the steps of another module, or how to get them."""
        self.forget()
        log = shown.decisions
        if log is None:
            self._message.value = plain_text(NO_DECISIONS)
            return
        self._loop.note()
        job = self._job = _begin(log)
        if self._loop.runs_here:
            wait([job], _QUIET_SECONDS)
            if not job.done():
                self._message.value = f"Replaying {counted(len(log), 'record')} …"
                job.add_done_callback(lambda _: self._loop.call(lambda: self._arrive(job, log)))
                return
        self._arrive(job, log)

    def _arrive(self, job: Future[Replay], log: DecisionLog) -> None:
        if job is not self._job:
            return  # something else is shown
        self._job = None
        try:
            replay = job.result()
            self._message.value = plain_text(" ".join(replay.notes) or NO_STEPS)
            if replay.steps and replay.module is not None:
                self.player = ReplayPlayer(replay, replay.module, log, self._go)
                self.widget.children = [self.player.widget]
        # Whatever is wrong with a dump of somebody else's: the other views are not harmed.
        except Exception as error:  # noqa: BLE001 (it is told where the steps would stand)
            self._message.value = plain_text(f"The steps cannot be shown: {error}")
        else:
            self.select(self._selected)

    def select(self, instruction: HloInstruction | None) -> None:
        """Offer the steps that grew the fusion which an op is or stands in."""
        self._selected = instruction
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
        self._job = self._selected = None
        self.widget.children = [self._message]
        if old is not None:
            old.close()

    def close(self) -> None:
        """Close all widgets of it, for good."""
        self.forget()
        close_widget(self.widget)


def _begin(log: DecisionLog) -> Future[Replay]:
    """Replay a log in a thread: that of a large program takes seconds."""
    job: Future[Replay] = Future()

    def work() -> None:
        try:
            job.set_result(replay_decisions(log))
        except BaseException as error:  # noqa: BLE001 (whoever waits raises it)
            job.set_exception(error)

    Thread(target=work, daemon=True, name="hlo_widgets replay").start()
    return job
