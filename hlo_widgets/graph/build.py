"""From a module and a view to the picture's nodes, clusters and edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hlo_widgets.analysis import binds_operands, parameter_bindings, tuple_index
from hlo_widgets.analysis.why import PairVerdicts
from hlo_widgets.graph.arrows import Entry, Place, arrows_into
from hlo_widgets.graph.coloring import Coloring
from hlo_widgets.graph.folding import (
    FoldedComputation,
    is_scalar_constant,
    openable_computations,
)
from hlo_widgets.graph.interest import most_interesting
from hlo_widgets.graph.labels import Labels
from hlo_widgets.graph.model import Cluster, Edge, Graph, Node
from hlo_widgets.graph.paths import note_id
from hlo_widgets.graph.room import Drawn, drawn_computations
from hlo_widgets.graph.stubs import split_busy_parameters
from hlo_widgets.graph.verdict_edges import add_verdicts
from hlo_widgets.graph.view import ViewState
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule

__all__ = ["GraphBuilder", "build_graph"]


def build_graph(
    module: HloModule, view: ViewState | None = None, platform: str | None = None
) -> Graph:
    """Return the picture of a module in one view.

    Args:
        module: The module.
        view: The view; the default is the entry computation with everything closed.
        platform: "tpu", "gpu" or "cpu"; None lets the text of the module decide.

    Raises:
        HloLookupError: The view names a computation that the module does not have.
    """
    return GraphBuilder(module, platform).build(view or ViewState())


class GraphBuilder:
    """Builds views of one module, keeping what does not change from view to view.

    Args:
        module: The module to draw.
        platform: "tpu", "gpu" or "cpu"; None lets the text of the module decide.
        verdicts: What is on record about pairs of kernels, for views that show it.

    Attributes:
        module: The module.
        coloring: The colours of its instructions.
        labels: The words in their nodes.
    """

    def __init__(
        self, module: HloModule, platform: str | None = None, verdicts: PairVerdicts | None = None
    ) -> None:
        self.module = module
        self._verdicts = verdicts
        self._folded: dict[tuple[HloComputation, bool], FoldedComputation] = {}
        self.labels = Labels(module, platform)
        self.coloring = Coloring(module, self.labels.platform)

    @property
    def has_verdicts(self) -> bool:
        """Whether anything is on record."""
        return self._verdicts is not None

    def build(self, view: ViewState) -> Graph:
        """Return the picture of one view.

        Raises:
            HloLookupError: The view names a computation that the module does not have.
        """
        module = self.module
        base = (
            module.computation(view.computation) if view.computation else module.entry_computation
        )
        drawn = drawn_computations(
            base, view, lambda body: self.folded(body, view), self._most_interesting
        )
        outermost = Cluster("", None, (), "note")
        assembly = _Assembly(self, view, drawn)
        assembly.fill(drawn["", 0], outermost)
        around = drawn["", 0]
        graph = Graph(
            base.name,
            outermost.nodes,
            outermost.clusters,
            assembly.edges,
            shown=len(around.shown),
            left_out=around.left_out,
            focus=around.ids[around.focus] if around.focus is not None else None,
        )
        if around.folded.drawn:
            graph.start = graph.focus or around.ids[self._most_interesting(around.folded)]
        split_busy_parameters(graph, view.node_limit)
        graph.legend = self.coloring.legend(graph, view.color_by)
        return self.decide(graph) if view.show_decisions else graph

    def _most_interesting(self, folded: FoldedComputation) -> HloInstruction:
        return most_interesting(folded, self.coloring.cycles)

    def decide(self, graph: Graph, distance: Callable[[Edge], float] | None = None) -> Graph:
        """Return a picture with what is on record on its arrows; the same where nothing is.

        Args:
            graph: The picture.
            distance: How far apart the ends of a line lie, where their places are known.
        """
        if self._verdicts is None:
            return graph
        decided = replace(graph, edges=list(graph.edges))
        add_verdicts(decided, self._verdicts, distance)
        return decided

    def folded(self, computation: HloComputation, view: ViewState) -> FoldedComputation:
        """Return the nodes of a computation, made once."""
        key = (computation, view.show_plumbing)
        if key not in self._folded:
            self._folded[key] = FoldedComputation(computation, show_plumbing=view.show_plumbing)
        return self._folded[key]


class _Assembly:
    """One view under construction."""

    def __init__(
        self, builder: GraphBuilder, view: ViewState, drawn: dict[tuple[str, int], Drawn]
    ) -> None:
        self._builder = builder
        self._view = view
        self._drawn = drawn
        self._ids: set[str] = set()
        self.edges: list[Edge] = []

    def fill(self, drawn: Drawn, frame: Cluster) -> dict[HloInstruction, Place]:
        """Draw one computation into a frame, with the arrows between its nodes."""
        shown = [node for node in drawn.folded.drawn if node in drawn.shown]
        constants = _constants(drawn)
        places = {node: self._place(drawn, node, frame, constants.get(node)) for node in shown}
        for node in shown:
            self.edges += arrows_into(drawn.folded, node, places)
            if drawn.left_out:
                self._note_left_out(drawn, node, places, frame)
        return places

    def _place(
        self, drawn: Drawn, instruction: HloInstruction, frame: Cluster, value: str | None
    ) -> Place:
        node_id = self._unique(drawn.ids[instruction])
        if (node_id, 0) in self._drawn:
            return self._open(instruction, node_id, frame)
        node = self._node(drawn, instruction, node_id)
        if value is not None:
            node = replace(node, lines=(*node.lines, f"= {value}"))
        frame.nodes.append(node)
        return Place((node_id,), node_id)

    def _node(self, drawn: Drawn, instruction: HloInstruction, node_id: str) -> Node:
        style, share = self._builder.coloring.color(instruction, self._view.color_by)
        if drawn.folded.is_parameter_element(instruction) and self._view.color_by == "kind":
            style = "parameter"
        in_body = drawn.folded.computation.is_fusion_computation
        return Node(
            node_id,
            instruction,
            self._builder.labels.lines(instruction, in_body=in_body),
            style,
            expandable=bool(openable_computations(instruction)),
            is_root=instruction.is_root,
            fill_share=share,
        )

    def _open(self, instruction: HloInstruction, node_id: str, frame: Cluster) -> Place:
        style, share = self._builder.coloring.color(instruction, self._view.color_by)
        title = self._builder.labels.title(instruction)
        cluster = Cluster(node_id, instruction, title, style, fill_share=share)
        frame.clusters.append(cluster)
        place = Place((), node_id)
        bodies = openable_computations(instruction)
        for number, body in enumerate(bodies):
            drawn = self._drawn[node_id, number]
            inner = cluster
            if len(bodies) > 1:
                inner = Cluster(self._unique(f"{node_id}/:{body.name}"), None, (body.name,), style)
                cluster.clusters.append(inner)
            if drawn.left_out:
                shown = f"{len(drawn.shown):,} of {len(drawn.folded.drawn):,} ops shown"
                inner.lines = (*inner.lines, shown)
            places = self.fill(drawn, inner)
            if body not in instruction.called_by_attribute.get("condition", ()):
                root = places.get(body.root_instruction)
                place.tails += root.tails if root is not None else ()
            place.entries += _entries(drawn, places)
        if not binds_operands(instruction):
            # The operands enter no parameter (a reducer works on elements): the op keeps its node.
            own = self._unique(note_id(node_id, "op"))
            cluster.nodes.insert(0, self._node(self._drawn[node_id, 0], instruction, own))
            return Place((own,), own)
        return place

    def _note_left_out(
        self,
        drawn: Drawn,
        instruction: HloInstruction,
        places: dict[HloInstruction, Place],
        frame: Cluster,
    ) -> None:
        """Hang a note on a node whose operands the limit left out; a click on it goes there."""
        absent = [
            source.instruction
            for _, source in drawn.folded.inputs(instruction)
            if source.instruction not in places
        ]
        if absent:
            head = places[instruction].head
            note = self._unique(note_id(head, "before"))
            words = (f"+{len(absent)} before",)
            frame.nodes.append(Node(note, None, words, "note", leads_to=drawn.ids[absent[0]]))
            self.edges.append(Edge(note, head))

    def _unique(self, node_id: str) -> str:
        """Return the id, marked when one computation is drawn twice or a text repeats a name."""
        unique, count = node_id, 1
        while unique in self._ids:
            count += 1
            unique = f"{node_id}~{count}"
        self._ids.add(unique)
        return unique


def _entries(drawn: Drawn, places: dict[HloInstruction, Place]) -> list[Entry]:
    """Return the nodes of an opened computation that operands of its caller enter."""
    entries: list[Entry] = []
    if drawn.caller is None:
        return entries
    for parameter, operand in parameter_bindings(drawn.caller, drawn.place):
        if parameter in places:
            entries.append(Entry(places[parameter].head, operand))
            continue
        for element in parameter.users:
            index = tuple_index(element)
            if element in places and drawn.folded.is_parameter_element(element):
                where = () if index is None else (index,)
                entries.append(Entry(places[element].head, operand, where))
    return entries


def _constants(drawn: Drawn) -> dict[HloInstruction, str]:
    """Return the parameters that read a scalar constant, which is not drawn, with its value."""
    if drawn.caller is None:
        return {}
    return {
        parameter: operand.literal or "?"
        for parameter, operand in parameter_bindings(drawn.caller, drawn.place)
        if is_scalar_constant(operand)
    }
