"""Where a user is in a module: the view, its picture, and which instruction an id stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hlo_widgets.analysis.why import PairVerdicts
from hlo_widgets.drawing import Layout
from hlo_widgets.errors import HloLookupError
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
from hlo_widgets.widgets.picture.layouts import Layouts

__all__ = ["Navigator"]


class Navigator:
    """The view of one module and its laid-out picture; a view that cannot be drawn is not entered.

    Args:
        module: The module.
        view: The first view; what the module does not have of it is left out.
        platform: "tpu", "gpu" or "cpu"; None lets the text of the module decide.
        verdicts: What is on record about pairs of kernels.
        expanded: Names or ids of what is open in the first view besides.

    Attributes:
        module: The module.
        layouts: The pictures of its views.
        view: The view that `graph` and `layout` show.
        graph: The picture's nodes, clusters and edges.
        layout: Their positions.

    Raises:
        HloLookupError: `expanded` names an instruction that the module does not have.
        DrawingError: The first view cannot be laid out.
    """

    graph: Graph
    layout: Layout

    def __init__(
        self,
        module: HloModule,
        view: ViewState,
        platform: str | None = None,
        verdicts: PairVerdicts | None = None,
        expanded: Iterable[str] = (),
    ) -> None:
        self.module = module
        self.layouts = Layouts(GraphBuilder(module, platform, verdicts))
        self.view = first = self.known(view)
        for name in expanded:
            first = self.opened(self.resolve(name), first)
        self.show(first)

    def show(self, view: ViewState) -> None:
        """Enter a view.

        Raises:
            DrawingError: It cannot be laid out; the view before stays.
        """
        self.graph, self.layout = self.layouts.picture(view)
        self.view = view

    def known(self, view: ViewState) -> ViewState:
        """Return what the module has of a view, which may be one of another module."""
        base, computation = self.module.entry_computation, None
        for one in self.module.computations:
            if one.name == view.computation:
                base, computation = one, view.computation
        opened = {node_id: instruction_at(base, node_id) for node_id in view.expanded}
        kept = frozenset(key for key, op in opened.items() if op and openable_computations(op))
        is_there = view.focus is not None and instruction_at(base, view.focus) is not None
        focus = view.focus if is_there else None
        return replace(view, computation=computation, expanded=kept, focus=focus)

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

    def opened(self, node_id: str, view: ViewState) -> ViewState:
        """Return a view with an instruction opened, and everything that it lies in."""
        return replace(view, expanded=view.expanded | surrounding_ids(node_id) | {node_id})

    def revealing(self, node_id: str, view: ViewState) -> ViewState:
        """Return a view in which an instruction is drawn.

        What it lies in is opened, and a limited view is built around it where it is in no other.

        Raises:
            DrawingError: More is opened inside one another than can be drawn.
        """
        if node_id in self._drawn_ids(view):
            return view
        view = replace(view, expanded=view.expanded | surrounding_ids(node_id))
        # Plumbing is in no view: one around it would move the picture and not show it.
        if node_id in self._drawn_ids(view) or not self._has_node(node_id, view):
            return view
        return replace(view, focus=node_id)

    def _drawn_ids(self, view: ViewState) -> set[str]:
        """Return the ids of all nodes and opened nodes of a view."""
        graph = self.layouts.graph(view)
        ids = {without_copy(node.id) for node in graph.all_nodes()}
        return ids | {cluster.id for cluster in graph.all_clusters()}

    def _has_node(self, node_id: str, view: ViewState) -> bool:
        instruction = self.instruction(node_id)
        return instruction is not None and self.layouts.has_node(instruction, view)

    def _base(self) -> HloComputation:
        name = self.view.computation
        return self.module.computation(name) if name else self.module.entry_computation
