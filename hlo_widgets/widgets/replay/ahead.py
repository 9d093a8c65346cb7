"""The layouts under the moments of a replay, each made once, the next one ahead of its use."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Thread

from hlo_widgets.drawing import Layout, lay_out
from hlo_widgets.graph import Graph
from hlo_widgets.graph.replay import Region, ReplayPictures

__all__ = ["MOST_LAYOUTS", "BaseLayouts"]

MOST_LAYOUTS = 24
"""Layouts kept; arbitrary. A large program has one a kernel, and steps are looked at in a row."""


class BaseLayouts:
    """Where the layout program puts the ops before fusion, region by region.

    Args:
        pictures: What is laid out.
    """

    def __init__(self, pictures: ReplayPictures) -> None:
        self._pictures = pictures
        self._made: dict[str, tuple[Graph, Future[Layout]]] = {}

    def of(self, region: Region) -> tuple[Graph, Layout]:
        """Return the ops of a region and their places; waits for those that are on their way.

        Raises:
            DrawingError: They cannot be laid out.
        """
        graph, future = self._start(region)
        try:
            return graph, future.result()
        except BaseException:
            # The next one who asks tries again. One who is interrupted leaves it on its way.
            if future.done() and future.exception() is not None:
                self._made.pop(region.key, None)
            raise

    def prepare(self, region: Region) -> None:
        """Begin to lay out a region that will be asked for; what goes wrong is told then."""
        self._start(region)

    def _start(self, region: Region) -> tuple[Graph, Future[Layout]]:
        found = self._made.pop(region.key, None)
        if found is None:
            # Only the program runs beside: what builds the graph keeps caches of its own.
            found = graph, future = self._pictures.base(region), Future[Layout]()
            Thread(target=_lay_out, args=(graph, future), daemon=True).start()
        self._made[region.key] = found  # as the one asked for last
        while len(self._made) > MOST_LAYOUTS:
            del self._made[next(iter(self._made))]
        return found


def _lay_out(graph: Graph, future: Future[Layout]) -> None:
    try:
        future.set_result(lay_out(graph))
    except BaseException as error:  # noqa: BLE001 (whoever waits raises it)
        future.set_exception(error)
