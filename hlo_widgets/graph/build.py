"""From a module and a view to the picture's nodes, clusters and edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hlo_widgets.graph.coloring import Coloring
from hlo_widgets.graph.folding import FoldedComputation, async_start_of, openable_computations
from hlo_widgets.graph.labels import Labels
from hlo_widgets.graph.model import Cluster, Edge, Graph, Node
from hlo_widgets.graph.neighbourhood import nearest
from hlo_widgets.graph.paths import child_id
from hlo_widgets.graph.stubs import split_busy_parameters
from hlo_widgets.graph.view import ViewState
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule

__all__ = ["GraphBuilder", "bindings", "build_graph"]


MOST_NUMBERED = 6
"""Arrows into one box that still show operand numbers; arbitrary, more numbers overlap."""


def build_graph(module: HloModule, view: ViewState | None = None) -> Graph:
    """Return the picture of a module in one view.

    Raises:
        HloLookupError: The view names a computation that the module does not have.
    """
    return GraphBuilder(module).build(view or ViewState())


def bindings(
    caller: HloInstruction, computation: HloComputation
) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Yield the parameters of a called computation, each with the operand of the caller it reads.

    Only for callers whose parameters are their operands: fusion, call, while, conditional and
    asynchronous calls. A reducer's parameters are elements, so a reduce binds nothing.
    """
    start = async_start_of(caller)
    caller = start if start is not None else caller
    operands = caller.operands
    if caller.opcode == "while":
        yield from zip(computation.parameters, operands, strict=False)
    elif caller.opcode == "conditional":
        branch = caller.called_computations.index(computation)
        yield from zip(computation.parameters, operands[branch + 1 : branch + 2], strict=False)
    elif caller.opcode in ("fusion", "call", "async-start", "call-start"):
        yield from zip(computation.parameters, operands, strict=False)


@dataclass
class _Place:
    """Where arrows of one drawn instruction start and end.

    Attributes:
        tails: Ids of the nodes that its value leaves from; of an opened one its roots inside.
        head: Id of the node that its operands enter; None when they enter parameters inside.
        entries: For an opened one: node id inside, the operand bound to it, the tuple element.
    """

    tails: tuple[str, ...]
    head: str | None
    entries: list[tuple[str, HloInstruction, tuple[int, ...]]] = field(default_factory=list)


class GraphBuilder:
    """Builds views of one module, keeping what does not change from view to view.

    Args:
        module: The module to draw.

    Attributes:
        module: The module.
        coloring: The colours of its instructions.
        labels: The words in their boxes.
    """

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self._folded: dict[tuple[int, bool], FoldedComputation] = {}
        self.coloring = Coloring(module)
        self.labels = Labels(module)

    def build(self, view: ViewState) -> Graph:
        """Return the picture of one view.

        Raises:
            HloLookupError: The view names a computation that the module does not have.
        """
        return _Assembly(self, view).graph()

    def folded(self, computation: HloComputation, show_plumbing: bool) -> FoldedComputation:
        """Return the boxes of a computation, made once."""
        key = (id(computation), show_plumbing)
        if key not in self._folded:
            self._folded[key] = FoldedComputation(computation, show_plumbing=show_plumbing)
        return self._folded[key]


class _Assembly:
    """One view under construction."""

    def __init__(self, builder: GraphBuilder, view: ViewState) -> None:
        self._builder = builder
        self._view = view
        self._edges: list[Edge] = []
        self._ids: set[str] = set()
        self._room = view.node_limit

    def graph(self) -> Graph:
        module, view = self._builder.module, self._view
        computation = (
            module.computation(view.computation) if view.computation else module.entry_computation
        )
        folded = self._builder.folded(computation, view.show_plumbing)
        outermost = Cluster("", None, (), "note")
        shown, focus = self._choose_outermost(folded)
        self._room -= len(shown)
        self._fill(folded, "", shown, outermost)
        graph = Graph(
            computation.name,
            outermost.nodes,
            outermost.clusters,
            self._edges,
            left_out=len(folded.drawn) - len(shown),
            focus=child_id("", focus) if len(shown) < len(folded.drawn) else None,
        )
        split_busy_parameters(graph)
        graph.legend = self._builder.coloring.legend(graph, view.color_by)
        return graph

    def _choose_outermost(self, folded: FoldedComputation) -> tuple[set[int], HloInstruction]:
        limit = self._view.node_limit
        by_id = {child_id("", box): box for box in folded.drawn}
        opened = [by_id[i] for i in sorted(self._view.expanded) if i in by_id]
        inside = sum(
            len(self._builder.folded(body, self._view.show_plumbing).drawn)
            for box in opened
            for body in openable_computations(box)
        )
        # What is open has room first, down to a third of the view for what is around it.
        limit = max(limit - inside, limit // 3, 1)
        if len(folded.drawn) <= limit:
            return {id(box) for box in folded.drawn}, folded.computation.root_instruction
        limit = max(min(limit, self._view.node_limit // 2), 1)
        focus = (
            by_id.get(self._view.focus or "")
            or self._builder.coloring.costliest(folded.drawn)
            or _busiest_result(folded)
        )
        return nearest(folded, [focus, *(box for box in opened if box is not focus)], limit), focus

    def _fill(
        self, folded: FoldedComputation, parent_id: str, shown: set[int], frame: Cluster
    ) -> dict[int, _Place]:
        """Draw the shown boxes of one computation into a frame, with the arrows between them."""
        places: dict[int, _Place] = {}
        boxes = [box for box in folded.drawn if id(box) in shown]
        for box in boxes:
            places[id(box)] = self._place(folded, box, parent_id, frame)
        for box in boxes:
            self._connect(folded, box, places)
            self._note_left_out(folded, box, places, parent_id, frame)
        return places

    def _place(
        self, folded: FoldedComputation, box: HloInstruction, parent_id: str, frame: Cluster
    ) -> _Place:
        node_id = self._unique(child_id(parent_id, box))
        members = tuple(member.name for member in folded.members(box))
        if node_id in self._view.expanded and openable_computations(box):
            return self._open(box, node_id, members, frame)
        in_body = folded.computation.is_fusion_computation
        node = self._node(box, node_id, members, in_body=in_body)
        if folded.is_parameter_element(box) and self._view.color_by == "kind":
            node = replace(node, style="parameter")
        frame.nodes.append(node)
        return _Place((node_id,), node_id)

    def _node(
        self, box: HloInstruction, node_id: str, members: tuple[str, ...], *, in_body: bool
    ) -> Node:
        style, share = self._builder.coloring.color(box, self._view.color_by)
        return Node(
            node_id,
            box,
            self._builder.labels.box(box, in_body=in_body),
            style,
            members=members,
            expandable=bool(openable_computations(box)),
            is_root=box.is_root,
            fill_share=share,
        )

    def _open(
        self, box: HloInstruction, node_id: str, members: tuple[str, ...], frame: Cluster
    ) -> _Place:
        style, _ = self._builder.coloring.color(box, self._view.color_by)
        cluster = Cluster(node_id, box, self._builder.labels.title(box), style, members=members)
        frame.clusters.append(cluster)
        place = _Place((), None)
        bodies = openable_computations(box)
        for body in bodies:
            inner = cluster
            if len(bodies) > 1:
                inner = Cluster(f"{node_id}/:{body.name}", None, (body.name,), style)
                cluster.clusters.append(inner)
            self._fill_body(box, body, node_id, inner, place)
        if not place.entries and not any(bindings_exist(box, body) for body in bodies):
            # The operands enter no parameter (a reducer works on elements): the op keeps its box.
            own = self._unique(f"{node_id}/:op")
            cluster.nodes.insert(0, self._node(box, own, members, in_body=False))
            return _Place((own,), own)
        return place

    def _fill_body(
        self, box: HloInstruction, body: HloComputation, node_id: str, frame: Cluster, place: _Place
    ) -> None:
        folded = self._builder.folded(body, self._view.show_plumbing)
        room = max(self._room, 1)
        if len(folded.drawn) <= room:
            shown = {id(inner) for inner in folded.drawn}
        else:
            shown = nearest(folded, [body.root_instruction], room)
        self._room -= len(shown)
        places = self._fill(folded, node_id, shown, frame)
        left_out = len(folded.drawn) - len(shown)
        if left_out:
            note = self._unique(f"{node_id}/:more:{body.name}")
            words = (f"{left_out:,} more ops", "raise node_limit to see them")
            frame.nodes.append(Node(note, None, words, "note"))
        root = places.get(id(body.root_instruction))
        if root is not None and not (box.opcode == "while" and _is_condition(box, body)):
            place.tails += root.tails
        for parameter, operand in bindings(box, body):
            if id(parameter) in places:
                place.entries += [(t, operand, ()) for t in places[id(parameter)].tails]
                continue
            for element in parameter.users:
                if id(element) in places and folded.is_parameter_element(element):
                    index = element.attributes.get("index", "")
                    where = (int(index),) if index.isdecimal() else ()
                    place.entries += [(t, operand, where) for t in places[id(element)].tails]

    def _connect(
        self, folded: FoldedComputation, box: HloInstruction, places: dict[int, _Place]
    ) -> None:
        place = places[id(box)]
        edges: dict[tuple[str, str, str], Edge] = {}
        if place.head is not None:
            inputs = list(folded.inputs(box))
            numbered = 1 < len({number for number, _ in inputs}) <= MOST_NUMBERED
            for number, source in inputs:
                for tail in self._tails(places, source.instruction):
                    label = str(number) if numbered else ""
                    edges.setdefault(
                        (tail, place.head, label), Edge(tail, place.head, label, "data", source.via)
                    )
        for head, operand, indices in place.entries:
            for source in folded.sources(operand, indices):
                for tail in self._tails(places, source.instruction):
                    edges.setdefault((tail, head, ""), Edge(tail, head, "", "binding", source.via))
        for predecessor in folded.control_inputs(box):
            for tail in self._tails(places, predecessor):
                for head in (place.head,) if place.head else place.tails[:1]:
                    edges.setdefault((tail, head, "control"), Edge(tail, head, "", "control"))
        self._edges += edges.values()

    def _tails(self, places: dict[int, _Place], producer: HloInstruction) -> tuple[str, ...]:
        place = places.get(id(producer))
        return place.tails if place is not None else ()

    def _note_left_out(
        self,
        folded: FoldedComputation,
        box: HloInstruction,
        places: dict[int, _Place],
        parent_id: str,
        frame: Cluster,
    ) -> None:
        """Hang a note on a box whose operands the limit left out; a click on it goes there."""
        place = places[id(box)]
        if parent_id or place.head is None or len(places) == len(folded.drawn):
            return
        absent = [s.instruction for _, s in folded.inputs(box) if id(s.instruction) not in places]
        if absent:
            note = self._unique(f"{place.head}/:before")
            words = (f"+{len(absent)} before",)
            target = child_id(parent_id, absent[0])
            frame.nodes.append(Node(note, None, words, "note", leads_to=target))
            self._edges.append(Edge(note, place.head, "", "data"))

    def _unique(self, node_id: str) -> str:
        """Return the id, marked when a damaged text defines the same name twice."""
        unique, count = node_id, 1
        while unique in self._ids:
            count += 1
            unique = f"{node_id}~{count}"
        self._ids.add(unique)
        return unique


def bindings_exist(caller: HloInstruction, computation: HloComputation) -> bool:
    """Return whether operands of the caller enter parameters of the computation."""
    return next(bindings(caller, computation), None) is not None


def _is_condition(loop: HloInstruction, computation: HloComputation) -> bool:
    return computation in loop.called_by_attribute.get("condition", ())


def _busiest_result(folded: FoldedComputation) -> HloInstruction:
    """Return the root; of one that collects results, the result made of the most operands."""
    root = folded.computation.root_instruction
    made = [source.instruction for _, source in folded.inputs(root)]
    if root.opcode != "tuple" or not made:
        return root
    return max(made, key=lambda instruction: len(instruction.operands))
