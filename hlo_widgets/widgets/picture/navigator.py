"""Where a user is in a module: the view, its picture, and which instruction an id stands for."""

from __future__ import annotations

from dataclasses import replace

from hlo_widgets.analysis.why import PairVerdicts
from hlo_widgets.drawing import Layout, lay_out
from hlo_widgets.errors import DrawingError, HloLookupError
from hlo_widgets.graph import Graph, GraphBuilder, ViewState
from hlo_widgets.graph.folding import openable_computations
from hlo_widgets.graph.paths import (
    id_of,
    instruction_at,
    resolve,
    surrounding_ids,
    without_copy,
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
        platform: "tpu", "gpu" or "cpu"; None lets the text of the module decide.
        verdicts: What is on record about pairs of kernels.

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

    def __init__(
        self,
        module: HloModule,
        view: ViewState,
        platform: str | None = None,
        verdicts: PairVerdicts | None = None,
    ) -> None:
        self.module = module
        self._builder = GraphBuilder(module, platform, verdicts)
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
            try:
                graph = self._builder.build(view)
                picture = graph, lay_out(graph)
            except RecursionError:
                reason = "more is opened inside one another than can be drawn. Close some of it"
                raise DrawingError("graph", reason) from None
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

    def resolve(self, text: str) -> str:
        """Return the id that a user means by an id or a name.

        Raises:
            HloLookupError: There is no such instruction, or the computation drawn does not lead to
                it.
        """
        node_id = resolve(self._base(), text)
        if node_id is None:
            raise HloLookupError("instruction that this view leads to and that is called", text)
        return node_id

    def meant(self, text: str) -> str:
        """Return the same, but of a start its own id, although its pair goes by the done.

        Raises:
            HloLookupError: As `resolve`.
        """
        named = without_copy(text.removeprefix("%"))
        return named if self.instruction(named) is not None else self.resolve(text)

    def is_openable(self, node_id: str) -> bool:
        """Return whether a node has something inside that a click shows."""
        instruction = self.instruction(node_id)
        return instruction is not None and bool(openable_computations(instruction))

    def drawn_ids(self) -> set[str]:
        """Return the ids of all nodes and opened nodes of the picture."""
        ids = {without_copy(node.id) for node in self.graph.all_nodes()}
        return ids | {cluster.id for cluster in self.graph.all_clusters()}

    def expand(self, node_id: str) -> None:
        """Open an instruction and everything that it lies in.

        Raises:
            DrawingError: The view with it open cannot be laid out.
        """
        opened = self.view.expanded | surrounding_ids(node_id) | {node_id}
        self.show(replace(self.view, expanded=opened))

    def return_to(self, view: ViewState) -> None:
        """Enter what this module has of a view of another one.

        Raises:
            DrawingError: It cannot be laid out.
        """
        names = {computation.name for computation in self.module.computations}
        if view.computation in names:
            self.show(replace(self.view, computation=view.computation))
        opened = frozenset(node_id for node_id in view.expanded if self.is_openable(node_id))
        is_there = view.focus is not None and self.instruction(view.focus) is not None
        self.show(replace(self.view, expanded=opened, focus=view.focus if is_there else None))

    def reveal(self, node_id: str) -> None:
        """Open what an instruction lies in, and move a limited view so that it is drawn.

        Raises:
            DrawingError: The view that would show it cannot be laid out.
        """
        if node_id in self.drawn_ids():
            return
        view = replace(self.view, expanded=self.view.expanded | surrounding_ids(node_id))
        if view != self.view:
            self.show(view)
        # Plumbing is in no view: one around it would move the picture and not show it.
        if node_id not in self.drawn_ids() and self._has_node(node_id):
            self.show(replace(view, focus=node_id))

    def _has_node(self, node_id: str) -> bool:
        instruction = self.instruction(node_id)
        return instruction is not None and self._builder.folded(
            instruction.parent, self.view
        ).is_drawn(instruction)

    def _base(self) -> HloComputation:
        name = self.view.computation
        return self.module.computation(name) if name else self.module.entry_computation
