"""The layouts under the moments of a replay, each made once, the next one ahead of its use."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Thread

from hlo_widgets.drawing import Layout, lay_out
from hlo_widgets.graph import Graph
from hlo_widgets.graph.replay import Region, ReplayPictures

__all__ = ["BaseLayouts"]


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
            # The next one who asks tries again.
            self._made.pop(region.key, None)
            raise

    def prepare(self, region: Region) -> None:
        """Begin to lay out a region that will be asked for; what goes wrong is told then."""
        self._start(region)

    def _start(self, region: Region) -> tuple[Graph, Future[Layout]]:
        if region.key not in self._made:
            # Only the program runs beside: what builds the graph keeps caches of its own.
            graph, future = self._pictures.base(region), Future[Layout]()
            self._made[region.key] = (graph, future)
            Thread(target=_lay_out, args=(graph, future), daemon=True).start()
        return self._made[region.key]


def _lay_out(graph: Graph, future: Future[Layout]) -> None:
    try:
        future.set_result(lay_out(graph))
    except BaseException as error:  # noqa: BLE001 (whoever waits raises it)
        future.set_exception(error)
