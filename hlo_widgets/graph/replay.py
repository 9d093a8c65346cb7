"""One moment of a replay as a picture: kernels formed so far, and what was fused just now.

Each box keeps one place in all moments: a kernel stands where the op stands whose value it gives.
So one layout of the ops before fusion serves for all moments (see `widgets.replay.layout`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hlo_widgets.analysis.decisions.replay.grouping import Kernel
from hlo_widgets.analysis.decisions.replay.replay import Replay
from hlo_widgets.analysis.decisions.replay.walk import ReplayStep
from hlo_widgets.graph.folding import is_scalar_constant
from hlo_widgets.graph.labels import LONGEST_NAME, Labels
from hlo_widgets.graph.model import Edge, Graph, LegendEntry, Node
from hlo_widgets.graph.moments import Moment
from hlo_widgets.graph.neighbourhood import nearest
from hlo_widgets.graph.style import STYLES, style_key
from hlo_widgets.graph.words import counted, one_line
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["REPLAY_NODE_LIMIT", "KernelNode", "Region", "ReplayPictures"]

REPLAY_NODE_LIMIT = 150
"""Most ops in the layout of one picture; arbitrary, laid out once in a fifth of a second."""

_PASSED = opcodes.PLUMBING - {"constant", "parameter"}
_KEPT_STYLES = frozenset({"parameter", "constant", "missing"})


@dataclass(frozen=True)
class KernelNode(Node):
    """The box of a kernel.

    Attributes:
        kernel: The kernel.
    """

    kernel: Kernel | None = field(default=None, compare=False)

    @property
    def members(self) -> tuple[str, ...]:
        """The name of the kernel."""
        return () if self.kernel is None else (self.kernel.name,)


@dataclass(frozen=True)
class Region:
    """The ops that one layout holds.

    Attributes:
        key: What tells it from others.
        computation: The computation that they stand in.
        ops: The ops, in text order.
        left_out: How many more ops of the computation would be drawn.
    """

    key: str
    computation: HloComputation = field(compare=False)
    ops: tuple[HloInstruction, ...] = field(compare=False, repr=False)
    left_out: int = 0


class ReplayPictures:
    """Builds the picture of each moment of a replay.

    Args:
        replay: The replay; it has a module.
        module: The module before fusion.
        node_limit: The most ops in one layout.
    """

    def __init__(
        self, replay: Replay, module: HloModule, node_limit: int = REPLAY_NODE_LIMIT
    ) -> None:
        self._replay = replay
        self._module = module
        self._limit = node_limit
        self._labels = Labels(module)
        self._regions: dict[str, Region] = {}
        self._nodes: dict[Kernel, KernelNode] = {}
        self._places = _Places(replay)

    def region(self, number: int) -> Region:
        """Return the ops around a step: all of its computation, or those nearest to its kernel.

        Args:
            number: Number of the step; 0 for before the first.
        """
        focus = self._focus(number)
        computation = focus.computation if focus is not None else None
        computation = computation or self._module.entry_computation
        ops = [op for op in computation.instructions if self._places.is_drawn(op)]
        if len(ops) <= self._limit or focus is None:
            return self._region(computation.name, computation, ops[: self._limit], len(ops))
        home = self._replay.home_of(focus)
        kernel = self._replay.final[home] if home is not None else focus
        key = f"{computation.name}/{kernel.name}"
        if key not in self._regions:
            moment = Moment(self._replay.kernels(0), computation, self._places.is_drawn)
            seeds = [moment.named[op.name] for op in kernel.ops if op.name in moment.named]
            near = nearest(moment, seeds, self._limit)
            taken = {one.op for one in near}
            self._region(key, computation, [op for op in ops if op in taken], len(ops))
        return self._regions[key]

    def base(self, region: Region) -> Graph:
        """Return the ops of a region as they were before the first step.

        Each box has room for the names of all kernels that will stand in its place.
        """
        moment = Moment(self._replay.kernels(0), region.computation, self._places.is_drawn)
        graph = Graph(region.computation.name, [], [], [])
        shown = [moment.named[op.name] for op in region.ops if op.name in moment.named]
        for kernel in shown:
            node = self._node(kernel, kernel.name, lit=False)
            wider = self._places.labels.get(kernel.op) if kernel.op is not None else None
            later = () if wider is None else (wider, "8,888 ops", _was(kernel.name))
            lines = _longest(node.lines, later)
            graph.nodes.append(Node(node.id, kernel.op, lines, node.style, is_root=node.is_root))
        places = {kernel.name: [(kernel.name, kernel)] for kernel in shown}
        graph.edges = _edges(moment, places)
        return graph

    def build(self, number: int) -> Graph:
        """Return the picture after a step.

        Args:
            number: Number of the step; 0 for before the first.
        """
        region = self.region(number)
        inside = set(region.ops)
        moment = Moment(self._replay.kernels(number), region.computation, self._places.is_drawn)
        step = self._replay.steps[number - 1] if number else None
        opened = {} if step is None else self._opened(step)
        shown = [kernel for kernel in moment.drawn if moment.anchor(kernel) in inside]
        graph = Graph(region.computation.name, [], [], [], shown=len(shown))
        graph.left_out = region.left_out
        places: dict[str, list[tuple[str, Kernel]]] = {}
        for kernel in shown:
            node_id = moment.anchor(kernel).name
            node = self._node(kernel, node_id, lit=kernel.name in opened)
            parts = [part for part in opened.get(kernel.name, ()) if part.gives]
            # A damaged record can fuse across computations: only what is here is drawn.
            stood = [(moment.anchor(p).name, p) for p in parts if moment.anchor(p) in inside]
            # What the kernel grew from comes last: the others were joined to it.
            stood = sorted(stood, key=lambda one: one[0] == node_id) or [(node_id, kernel)]
            if stood[-1][1].name != kernel.name:
                node = replace(node, lines=(*node.lines, _was(stood[-1][1].name)))
            graph.nodes.append(node)
            places[kernel.name] = stood
        self._add_parts(graph, places)
        graph.edges = _edges(moment, places)
        graph.legend = _legend(graph)
        return graph

    def _focus(self, number: int) -> Kernel | None:
        """Return the kernel that a step made; before the first the one that this will make."""
        steps = self._replay.steps
        made = (s.made for s in reversed(steps[:number]) if s.made is not None)
        last = next(made, None) or next((s.made for s in steps if s.made is not None), None)
        step = steps[number - 1] if number else None
        if step is None or step.made is not None:
            return last
        after = self._replay.kernels(number)
        changed = [after[n] for n in (*step.merged, *step.renamed.values()) if n in after]
        # What a pass did where the step before was comes first: the picture stays.
        here = [k for k in changed if last is not None and k.computation is last.computation]
        return next(iter((*here, *changed)), last)

    def _region(
        self, key: str, computation: HloComputation, ops: Iterable[HloInstruction], total: int
    ) -> Region:
        if key not in self._regions:
            kept = tuple(ops)
            self._regions[key] = Region(key, computation, kept, total - len(kept))
        return self._regions[key]

    def _opened(self, step: ReplayStep) -> dict[str, tuple[Kernel, ...]]:
        """Return what became one kernel in a step, by the name of the kernel."""
        if step.made is not None:
            known = (step.producer, step.consumer)
            return {step.made.name: tuple(kernel for kernel in known if kernel is not None)}
        before = self._replay.kernels(step.number - 1)
        return {
            name: tuple(before[part] for part in parts if part in before)
            for name, parts in step.merged.items()
        }

    def _add_parts(self, graph: Graph, places: Mapping[str, list[tuple[str, Kernel]]]) -> None:
        """Draw what a step fused where it stood before, lit."""
        nodes = {node.id: node for node in graph.nodes}
        for inside in places.values():
            for node_id, part in inside if len(inside) > 1 else ():
                if node_id not in nodes or nodes[node_id].style != "joined":
                    nodes[node_id] = self._node(part, node_id, lit=True)
        graph.nodes[:] = nodes.values()

    def _node(self, kernel: Kernel, node_id: str, *, lit: bool) -> KernelNode:
        if kernel not in self._nodes:
            self._nodes[kernel] = self._plain_node(kernel, node_id)
        node = self._nodes[kernel]
        return replace(node, style="joined") if lit else node

    def _plain_node(self, kernel: Kernel, node_id: str) -> KernelNode:
        op = kernel.op
        root = any(one.is_root for one in kernel.gives)
        if op is None or not kernel.is_op:
            size = counted(kernel.size, "op")
            size = f"{size}, {kernel.unknown:,} unknown" if kernel.unknown else size
            lines: tuple[str, ...] = (one_line(kernel.name, LONGEST_NAME), size)
            style = "formed"
        else:
            lines = self._labels.lines(op, in_body=True)
            style = style_key(op)
            if style not in _KEPT_STYLES and op.opcode != "fusion":
                style = "not_fused"
        return KernelNode(node_id, op, lines, style, is_root=root, kernel=kernel)


class _Places:
    """Which ops are drawn in a replay, and what will stand in their places.

    Attributes:
        labels: The longest name of a kernel that stands in the place of an op.
    """

    def __init__(self, replay: Replay) -> None:
        self.labels: dict[HloInstruction, str] = {}
        self._named: set[HloInstruction] = set()
        for step in replay.steps:
            for kernel in (step.producer, step.consumer):
                if kernel is not None and kernel.op is not None:
                    self._named.add(kernel.op)
            for _, kernel in step.changes:
                if kernel is not None:
                    self._note(kernel)

    def is_drawn(self, op: HloInstruction) -> bool:
        """Return whether an op has a box, at first or in a later moment."""
        if op in self._named or op in self.labels or op.is_root:
            return True
        return op.opcode not in _PASSED and not is_scalar_constant(op)

    def _note(self, kernel: Kernel) -> None:
        for op in kernel.gives:
            if len(kernel.name) > len(self.labels.get(op, "")):
                self.labels[op] = one_line(kernel.name, LONGEST_NAME)


def _edges(moment: Moment, places: Mapping[str, list[tuple[str, Kernel]]]) -> list[Edge]:
    """Return the arrows between boxes, each once; those inside of what was fused are of a kind."""
    edges: dict[tuple[str, str], Edge] = {}
    for inside in places.values():
        for edge in _edges_into(moment, inside, places):
            edges.setdefault((edge.tail, edge.head), edge)
        # What was fused without one reading the other is joined all the same.
        *others, (home, _) = inside
        for node_id, _ in others:
            if not {(node_id, home), (home, node_id)} & edges.keys():
                edges[node_id, home] = Edge(node_id, home, kind="joined")
    return list(edges.values())


def _edges_into(
    moment: Moment,
    inside: list[tuple[str, Kernel]],
    places: Mapping[str, list[tuple[str, Kernel]]],
) -> Iterator[Edge]:
    for node_id, part in inside:
        own = {op: other for other, one in inside if one is not part for op in one.gives}
        for op in sorted(part.reads, key=lambda op: op.name):
            if op in own:
                yield Edge(own[op], node_id, kind="joined")
                continue
            for source in moment.sources((op,)):
                for tail, giver in places.get(moment.giver(source).name, ()):
                    if source in giver.gives and tail != node_id:
                        yield Edge(tail, node_id)


def _was(name: str) -> str:
    return one_line(f"was {name}", LONGEST_NAME)


def _longest(lines: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Return lines of which each is the longer one of two labels."""
    count = max(len(lines), len(others))
    pairs = zip(
        lines + ("",) * (count - len(lines)), others + ("",) * (count - len(others)), strict=True
    )
    return tuple(max(pair, key=len) for pair in pairs)


def _legend(graph: Graph) -> tuple[LegendEntry, ...]:
    used = {node.style for node in graph.all_nodes()}
    return tuple(LegendEntry(key, STYLES[key].meaning) for key in STYLES if key in used)
