"""Views that the user asks for, entered when they are laid out; of several the newest wins.

The messages that come meanwhile are answered: a layout runs in a thread. Where no loop handles
messages, as in a script, there is nothing to keep free, and whoever asks waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hlo_widgets.errors import HloWidgetsError
from hlo_widgets.graph import ViewState
from hlo_widgets.widgets.kernel_loop import KernelLoop
from hlo_widgets.widgets.layout_job import LayoutJob
from hlo_widgets.widgets.picture.navigator import Navigator

__all__ = ["Listener", "ViewChanges"]


class Listener(Protocol):
    """Whom `ViewChanges` tells what happens, in the loop of the widget's messages."""

    def on_waiting(self) -> None:
        """What was asked for is being laid out."""

    def on_entered(self) -> None:
        """The navigator has entered what was asked for."""

    def on_failed(self, error: HloWidgetsError) -> None:
        """What was waited for cannot be laid out; the view before stays."""

    def on_rest(self) -> None:
        """Nothing is waited for any more."""


class ViewChanges:
    """Enters views of one module.

    Args:
        navigator: What enters them.
        loop: The loop of the widget's messages.
        listener: Whom to tell.
    """

    def __init__(self, navigator: Navigator, loop: KernelLoop, listener: Listener) -> None:
        self._navigator = navigator
        self._loop = loop
        self._listener = listener
        self._wanted = navigator.view
        self._job: LayoutJob | None = None
        self._then: list[Callable[[], None]] = []

    @property
    def is_waiting(self) -> bool:
        """Whether a layout is on its way that was asked for."""
        return self._job is not None

    @property
    def wanted(self) -> ViewState:
        """The view that is waited for, else the one that is shown."""
        return self._wanted if self.is_waiting else self._navigator.view

    def ask(self, view: ViewState, then: Callable[[], None] | None = None) -> None:
        """Enter a view in the place of one that is waited for: at once if its layout is there.

        Args:
            view: The view: a change of `wanted`, so that no change before it is lost.
            then: Called when it is entered, or one that was asked for later.

        Raises:
            DrawingError: It cannot be laid out, and nobody had to wait to know that.
        """
        self._loop.note()
        job = self._navigator.layouts.begin(view)
        self._wanted = view
        self._then += [] if then is None else [then]
        if job.future.done() or not self._loop.runs_here:
            self._job = None
            self._enter()
        elif job is not self._job:
            self._job = job
            self._listener.on_waiting()
            job.future.add_done_callback(lambda _: self._loop.call(lambda: self._arrive(job)))

    def drop(self) -> None:
        """Forget what is waited for."""
        self._job, self._then = None, []

    def _arrive(self, job: LayoutJob) -> None:
        if job is not self._job:
            return  # something newer is wanted
        self._job = None
        try:
            self._enter()
        except HloWidgetsError as error:
            self._listener.on_failed(error)
        finally:
            self._listener.on_rest()

    def _enter(self) -> None:
        then, self._then = self._then, []
        self._navigator.show(self._wanted)
        self._listener.on_entered()
        for action in then:
            action()
