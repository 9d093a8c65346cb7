"""The picture as data: nodes, clusters and edges, before any layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hlo_widgets.analysis import pair_members
from hlo_widgets.analysis.why import PairVerdict
from hlo_widgets.hlo import HloInstruction

__all__ = ["Cluster", "Edge", "Graph", "LegendEntry", "Node"]


def member_names(instruction: HloInstruction | None) -> tuple[str, ...]:
    """Return the names of what a node stands for; () for a note or an inner frame."""
    return () if instruction is None else tuple(one.name for one in pair_members(instruction))


@dataclass(frozen=True)
class Node:
    """One box.

    Attributes:
        id: Its place in the view, unique there and the same in every view of the module.
        instruction: What it stands for; of a start/done pair the done, None for a note such as
            "57 more" that stands for what the view left out.
        lines: The label, first line the name.
        style: A key of `style.STYLES`.
        expandable: Whether it has called computations that can be opened.
        is_root: Whether it is the ROOT of its computation.
        fill_share: Position on the colour scale, 0 to 1, in views coloured by a figure; else None.
        leads_to: Of a note, the id of the node to build the view around next; else None.
    """

    id: str
    instruction: HloInstruction | None
    lines: tuple[str, ...]
    style: str
    expandable: bool = False
    is_root: bool = False
    fill_share: float | None = None
    leads_to: str | None = None

    @property
    def members(self) -> tuple[str, ...]:
        """Names of the instructions that it stands for: of a pair start, updates and done."""
        return member_names(self.instruction)


@dataclass
class Cluster:
    """An opened instruction: a frame with a title around the computations that it calls.

    Attributes:
        id: The id of the node that was opened, or that id and the computation's name for one of
            several computations inside it.
        instruction: The instruction that was opened; None for an inner frame of one computation.
        lines: The title.
        style: A key of `style.STYLES`.
        nodes: Boxes directly inside.
        clusters: Frames directly inside.
        fill_share: As that of a node.
    """

    id: str
    instruction: HloInstruction | None
    lines: tuple[str, ...]
    style: str
    nodes: list[Node] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    fill_share: float | None = None

    @property
    def members(self) -> tuple[str, ...]:
        """Names of the instructions that it stands for."""
        return member_names(self.instruction)


@dataclass(frozen=True)
class Edge:
    """One arrow from a producer to a consumer.

    Attributes:
        tail: Id of the producing node.
        head: Id of the consuming node, or of the frame of an opened one.
        label: Operand number at the head where the consumer has several operands, else "".
        kind: "data", "binding" (operand to the parameter that reads it), "control", or "apart":
            no data goes from one to the other, but a verdict is on record.
        element: Which element of the producer's tuple is read; "" when the whole value is.
        via: Opcodes that are folded into the arrow: ("bitcast",).
        verdict: In the decisions mode why the kernels at the ends stayed apart; None where nothing
            is on record.
        words: The lines that tell it beside the arrow; () where another arrow of the pair does.
    """

    tail: str
    head: str
    label: str = ""
    kind: str = "data"
    element: str = ""
    via: tuple[str, ...] = ()
    verdict: PairVerdict | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class LegendEntry:
    """One line of the legend: a look that the view uses and what it means.

    Attributes:
        style: A key of `style.STYLES`.
        label: What it means.
        fill_share: Position on the colour scale, 0 to 1; None off the scale.
    """

    style: str
    label: str
    fill_share: float | None = None


@dataclass
class Graph:
    """A view of one computation with some instructions opened.

    Attributes:
        computation: Name of the computation drawn.
        nodes: Boxes outside every frame.
        clusters: Opened instructions.
        edges: All arrows.
        legend: The styles in use, in a fixed order.
        shown: Number of instructions of the computation that are drawn, opened ones included.
        left_out: Number of drawable instructions of the computation that the node limit left out.
        focus: Id of the node that the view is built around, None when nothing was left out.
        start: Id of the node or frame that a picture too large for the page starts on: the focus,
            else the one of most interest; None in an empty view.
        apart_left_out: In the decisions mode how many refused pairs without an arrow got no line.
    """

    computation: str
    nodes: list[Node]
    clusters: list[Cluster]
    edges: list[Edge]
    legend: tuple[LegendEntry, ...] = ()
    shown: int = 0
    left_out: int = 0
    focus: str | None = None
    start: str | None = None
    apart_left_out: int = 0

    def all_clusters(self) -> Iterator[Cluster]:
        """Yield every frame, outer before inner."""
        waiting = list(reversed(self.clusters))
        while waiting:
            cluster = waiting.pop()
            yield cluster
            waiting.extend(reversed(cluster.clusters))

    def all_nodes(self) -> Iterator[Node]:
        """Yield every box, those outside the frames first."""
        yield from self.nodes
        for cluster in self.all_clusters():
            yield from cluster.nodes
