"""The laid-out pictures of the views of one module: what only looks different is laid out once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import TypeVar

from hlo_widgets.drawing import Layout
from hlo_widgets.errors import DrawingError
from hlo_widgets.graph import Graph, GraphBuilder, ViewState
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.layout_job import LayoutJob
from hlo_widgets.widgets.picture.verdict_layout import apart_distance, decided_layout

__all__ = ["MOST_WITH_ROOM", "Layouts"]

MOST_WITH_ROOM = 24
"""Boxes of a picture that is laid out with room for what is on record; arbitrary. A larger one
keeps its places: with room for all words it would be spread over many screens."""

MOST_PICTURES = 24
"""Pictures kept; arbitrary, each is some hundred kilobytes."""

Made = TypeVar("Made")


class Layouts:
    """Lays out views, one at a time; those asked for last are kept.

    A cell and the page ask from threads of their own.

    Args:
        builder: Builds their graphs.
    """

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder = builder
        self._graphs: dict[ViewState, Graph] = {}
        self._jobs: dict[ViewState, LayoutJob] = {}
        self._decided: dict[ViewState, tuple[Graph, Layout]] = {}
        self._lock = RLock()
        # A call from a cell waits for them: nothing that the page asks for may end them.
        self._awaited: Counter[LayoutJob] = Counter()

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits for a layout and does nothing else."""
        return self._awaited.total() > 0

    def graph(self, view: ViewState) -> Graph:
        """Return the picture of a view without places, and without what is on record.

        Raises:
            DrawingError: More is opened inside one another than can be drawn.
        """
        view = replace(view, show_decisions=False)
        return _kept(self._graphs, view, lambda: _built(self._builder, view))

    def has_node(self, instruction: HloInstruction, view: ViewState) -> bool:
        """Return whether an instruction is a node of its own, drawn or left out."""
        return self._builder.folded(instruction.parent, view).is_drawn(instruction)

    def begin(self, view: ViewState) -> LayoutJob:
        """Return the layout that a view needs, on its way or there.

        The one that is on its way for another view is called off: nobody waits for it any more.

        Raises:
            DrawingError: As `graph`.
        """
        with self._lock:
            base = self._base(view)
            found = self._jobs.get(base)
            if found is not None and found.has_failed:
                del self._jobs[base]  # the next one who asks tries again
            graph = self.graph(base) if not base.show_decisions else self._with_room(base)
            self.call_off(but=base)
            return _kept(self._jobs, base, partial(LayoutJob, graph))

    def call_off(self, but: ViewState | None = None) -> None:
        """End the layout that is on its way, unless a call waits for it.

        Args:
            but: The view whose layout goes on.
        """
        with self._lock:
            for base, job in list(self._jobs.items()):
                if base != but and not job.future.done() and not self._awaited[job]:
                    job.call_off()
                    del self._jobs[base]

    def picture(self, view: ViewState) -> tuple[Graph, Layout]:
        """Return the picture of a view with its places; waits for the layout.

        Raises:
            DrawingError: It cannot be laid out.
        """
        with self._lock:
            job = self.begin(view)
            self._awaited[job] += 1
        try:
            layout = job.future.result()
        except RecursionError:
            raise _too_deep() from None
        finally:
            with self._lock:
                self._awaited[job] -= 1
                self._awaited = +self._awaited
        if not view.show_decisions:
            return self.graph(view), layout
        return _kept(self._decided, view, lambda: self._decide(view, layout))

    def _base(self, view: ViewState) -> ViewState:
        """Return the view whose layout serves for a view, too."""
        plain = replace(view, color_by="kind", show_decisions=False)
        if not (view.show_decisions and self._builder.has_verdicts):
            return plain
        if _count(self.graph(plain)) > MOST_WITH_ROOM:
            return plain
        return replace(plain, show_decisions=True)

    def _with_room(self, view: ViewState) -> Graph:
        return self._builder.decide(self.graph(view))

    def _decide(self, view: ViewState, layout: Layout) -> tuple[Graph, Layout]:
        plain = self.graph(view)
        if self._base(view).show_decisions or not self._builder.has_verdicts:
            return self._builder.decide(plain), layout
        graph = self._builder.decide(plain, partial(apart_distance, layout))
        return graph, decided_layout(graph, layout)


def _kept(known: dict[ViewState, Made], view: ViewState, make: Callable[[], Made]) -> Made:
    """Return what is known of a view, made where it is not, as the one asked for last."""
    made = known.pop(view, None)
    if made is None:
        made = make()
    known[view] = made
    while len(known) > MOST_PICTURES:
        del known[next(iter(known))]
    return made


def _built(builder: GraphBuilder, view: ViewState) -> Graph:
    try:
        return builder.build(view)
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> DrawingError:
    reason = "more is opened inside one another than can be drawn. Close some of it"
    return DrawingError("graph", reason)


def _count(graph: Graph) -> int:
    return sum(1 for _ in graph.all_nodes())
