"""The layouts under the moments of a replay, each made once, the next one ahead of its use."""

from __future__ import annotations

from hlo_widgets.drawing import Layout
from hlo_widgets.graph import Graph
from hlo_widgets.graph.replay import Region, ReplayPictures
from hlo_widgets.widgets.layout_job import LayoutJob

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
        self._made: dict[str, LayoutJob] = {}

    def of(self, region: Region) -> tuple[Graph, Layout]:
        """Return the ops of a region and their places; waits for those that are on their way.

        Raises:
            DrawingError: They cannot be laid out.
        """
        job = self._start(region)
        try:
            return job.graph, job.future.result()
        except BaseException:
            # The next one who asks tries again. One who is interrupted leaves it on its way.
            if job.has_failed:
                self._made.pop(region.key, None)
            raise

    def is_ready(self, region: Region) -> bool:
        """Return whether nobody has to wait for a region."""
        job = self._made.get(region.key)
        return job is not None and job.future.done()

    def prepare(self, region: Region) -> None:
        """Begin to lay out a region that will be asked for; what goes wrong is told then."""
        self._start(region)

    def _start(self, region: Region) -> LayoutJob:
        found = self._made.pop(region.key, None)
        if found is None:
            found = LayoutJob(self._pictures.base(region))
        self._made[region.key] = found  # as the one asked for last
        while len(self._made) > MOST_LAYOUTS:
            del self._made[next(iter(self._made))]
        return found
