"""One layout on its way in a thread, while the notebook's messages are answered."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Thread

from hlo_widgets.drawing import Layout, ProgramRun, lay_out
from hlo_widgets.graph import Graph

__all__ = ["LayoutJob"]


class LayoutJob:
    """A layout, begun when this is made.

    Args:
        graph: What to lay out. Only the program runs beside: what builds a graph keeps caches.

    Attributes:
        graph: The same.
        future: The layout, or what went wrong.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.future: Future[Layout] = Future()
        self._run = ProgramRun()
        Thread(target=self._work, daemon=True, name="hlo_widgets layout").start()

    @property
    def has_failed(self) -> bool:
        """Whether it is over and brought nothing."""
        return self.future.done() and self.future.exception() is not None

    def call_off(self) -> None:
        """End the program, if it is not at its end; whoever waits gets a `DrawingError`."""
        self._run.end()

    def _work(self) -> None:
        try:
            self.future.set_result(lay_out(self.graph, run=self._run))
        except BaseException as error:  # noqa: BLE001 (whoever waits raises it)
            self.future.set_exception(error)
