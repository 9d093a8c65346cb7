"""Where a user is in a module: the view, its picture, and which instruction an id stands for."""

from __future__ import annotations

from dataclasses import replace

from hlo_widgets.drawing import Layout, lay_out
from hlo_widgets.graph import Graph, GraphBuilder, ViewState
from hlo_widgets.graph.paths import (
    box_of,
    child_id,
    id_of,
    instruction_at,
    parent_id,
    surrounding_ids,
)
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule

__all__ = ["Navigator"]

MOST_PICTURES = 24
"""Pictures kept; arbitrary, each is some hundred kilobytes."""


class Navigator:
    """The view of one module and its laid-out picture; a view that cannot be drawn is not entered.

    Args:
        module: The module.
        view: The first view.

    Attributes:
        module: The module.
        view: The view that `graph` and `layout` show.
        graph: The picture's nodes, clusters and edges.
        layout: Their positions.

    Raises:
        DrawingError: The first view cannot be laid out.
    """

    view: ViewState
    graph: Graph
    layout: Layout

    def __init__(self, module: HloModule, view: ViewState) -> None:
        self.module = module
        self._builder = GraphBuilder(module)
        self._pictures: dict[ViewState, tuple[Graph, Layout]] = {}
        self.show(view)

    def show(self, view: ViewState) -> None:
        """Enter a view.

        Raises:
            DrawingError: It cannot be laid out; the view before stays.
        """
        self.graph, self.layout = self.prepare(view)
        self.view = view

    def prepare(self, view: ViewState) -> tuple[Graph, Layout]:
        """Return the picture of a view, which entering it will then find ready.

        The pictures of the latest views are kept, so that going back costs no layout.

        Raises:
            DrawingError: It cannot be laid out.
        """
        picture = self._pictures.pop(view, None)
        if picture is None:
            graph = self._builder.build(view)
            picture = graph, lay_out(graph)
        self._pictures[view] = picture
        if len(self._pictures) > MOST_PICTURES:
            del self._pictures[next(iter(self._pictures))]
        return picture

    def instruction(self, node_id: str) -> HloInstruction | None:
        """Return the instruction that an id stands for, drawn or not; None when there is none."""
        return instruction_at(self._base(), node_id)

    def id_of(self, instruction: HloInstruction) -> str | None:
        """Return the id of an instruction; None when the computation drawn does not lead to it."""
        return id_of(self._base(), instruction)

    def box_id(self, node_id: str) -> str:
        """Return the id of the box that stands for an instruction: the done of a pair."""
        instruction = self.instruction(node_id)
        return node_id if instruction is None else child_id(parent_id(node_id), box_of(instruction))

    def drawn_ids(self) -> set[str]:
        """Return the ids of all nodes and opened nodes of the picture."""
        ids = {node.id.partition("@")[0] for node in self.graph.all_nodes()}
        return ids | {cluster.id for cluster in self.graph.all_clusters()}

    def expand(self, node_id: str) -> None:
        """Open an instruction and everything that it lies in.

        Raises:
            DrawingError: The view with it open cannot be laid out.
        """
        self.show(
            replace(self.view, expanded=self.view.expanded | surrounding_ids(node_id) | {node_id})
        )

    def reveal(self, node_id: str) -> None:
        """Open what an instruction lies in, and move a limited view so that it is drawn.

        Raises:
            DrawingError: The view that would show it cannot be laid out.
        """
        if node_id in self.drawn_ids():
            return
        view = replace(self.view, expanded=self.view.expanded | surrounding_ids(node_id))
        if self.graph.left_out:
            view = replace(view, focus=node_id.partition("/")[0])
        if view != self.view:
            self.show(view)

    def _base(self) -> HloComputation:
        name = self.view.computation
        return self.module.computation(name) if name else self.module.entry_computation
