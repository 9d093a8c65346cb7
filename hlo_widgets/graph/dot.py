"""The picture as DOT text, written with the quoting of the `graphviz` package.

Names of nodes and clusters are numbers (`n0`, `cluster_0`), never text of the program: what an HLO
file says can only appear inside a quoted, escaped label.
"""

from __future__ import annotations

from collections.abc import Sequence

import graphviz

from hlo_widgets.graph.model import Cluster, Edge, Graph, Node
from hlo_widgets.graph.style import SCALE_COLORS, STYLES
from hlo_widgets.graph.verdict_style import VERDICT_STYLES

__all__ = [
    "QUICK_FROM_NODES",
    "colors_of",
    "dot_names",
    "graph_to_dot",
    "words_shift",
    "words_size",
]

QUICK_FROM_NODES = 160
"""Views with more nodes are laid out with the quick settings: many times faster, more crossings."""

QUICK_FROM_EDGES = 500
"""The same for edges: a tuple of everything makes few nodes and very many edges."""

# Of letters of 10 points, as a browser with a wide font draws them: on average, for whole lines.
_LETTER_WIDTH, _LINE_PITCH = 5.3, 11.5
_FONT = "Arimo"  # Metrics of Arial and Liberation Sans, so that browsers draw what was measured.
_IN_CLUSTER = "inside "
_QUICK = {
    "nslimit": "2",
    "nslimit1": "2",
    "mclimit": ".22",
    "searchsize": "20",
    "remincross": "false",
    "splines": "line",
}
_EDGE_STYLES: dict[str, dict[str, str]] = {
    "data": {},
    "binding": {"style": "dashed"},
    "control": {"style": "dotted"},
    # A line that says nothing of the order of the two.
    "apart": {"style": "dashed", "constraint": "false", "dir": "none"},
}


def graph_to_dot(graph: Graph, theme: str = "light") -> str:
    """Return DOT text of a picture.

    Args:
        graph: The picture.
        theme: "light" or "dark".
    """
    names = dot_names(graph)
    dot = graphviz.Digraph("hlo", graph_attr=_graph_attributes(graph, theme))
    line = "#5f6b76" if theme == "light" else "#9aa5b1"
    dot.attr("node", shape="box", fontname=_FONT, fontsize="12", height="0.3", margin="0.11,0.06")
    dot.attr(
        "edge",
        fontname=_FONT,
        fontsize="10",
        color=line,
        fontcolor=line,
        arrowsize="0.7",
        labeldistance="1.8",
        labelangle="35",
    )
    for node in graph.nodes:
        _write_node(dot, node, names, theme)
    for cluster in graph.clusters:
        _write_cluster(dot, cluster, names, theme)
    for number, edge in enumerate(graph.edges):
        _write_edge(dot, edge, number, names, theme)
    return str(dot.source)


def dot_names(graph: Graph) -> dict[str, str]:
    """Return the DOT name of every node and cluster, by its id in the picture.

    Also, after `_IN_CLUSTER`, the name of one node inside each cluster.
    """
    names = {node.id: f"n{number}" for number, node in enumerate(graph.all_nodes())}
    clusters = list(graph.all_clusters())
    names.update({cluster.id: f"cluster_{number}" for number, cluster in enumerate(clusters)})
    for cluster in reversed(clusters):  # inner before outer
        inside = [*(node.id for node in cluster.nodes)]
        inside += [_IN_CLUSTER + inner.id for inner in cluster.clusters]
        names[_IN_CLUSTER + cluster.id] = names[inside[0]]
    return names


def words_size(words: Sequence[str]) -> tuple[float, float]:
    """Return about how wide and high the words of an arrow are drawn, in points."""
    return max(map(len, words)) * _LETTER_WIDTH, len(words) * _LINE_PITCH


def words_shift(edge: Edge) -> float:
    """Return how far below the middle of an arrow's label in DOT the middle of its words lies.

    The label has lines left free for the labels at the two ends of the arrow.
    """
    return (bool(edge.element) - bool(edge.label)) * _LINE_PITCH / 2


def colors_of(style: str, fill_share: float | None, theme: str) -> tuple[str, str, str]:
    """Return fill, stroke and text of a style, on the cycles scale where a share is given."""
    fill, stroke, text = getattr(STYLES[style], theme)
    if fill_share is not None:
        steps = SCALE_COLORS[theme]
        fill, text = steps[min(int(fill_share * len(steps)), len(steps) - 1)]
    return fill, stroke, text


def _graph_attributes(graph: Graph, theme: str) -> dict[str, str]:
    attributes = {
        "bgcolor": "#ffffff" if theme == "light" else "#1b1e21",
        "compound": "true",
        "ranksep": "0.35",
        "nodesep": "0.25",
    }
    nodes = sum(1 for _ in graph.all_nodes())
    if nodes > QUICK_FROM_NODES or len(graph.edges) > QUICK_FROM_EDGES:
        attributes |= _QUICK
    return attributes


def _label(lines: Sequence[str]) -> str:
    return "\n".join(graphviz.escape(line) for line in lines)


def _write_node(dot: graphviz.Digraph, node: Node, names: dict[str, str], theme: str) -> None:
    fill, stroke, text = colors_of(node.style, node.fill_share, theme)
    rounded = node.expandable or node.style == "note"
    style = "filled,rounded" if rounded else "filled"
    if node.style == "note":
        style += ",dashed"
    dot.node(
        names[node.id],
        _label(node.lines + (("ROOT",) if node.is_root else ())),
        style=style,
        fillcolor=fill,
        color=stroke,
        fontcolor=text,
        penwidth="1.6" if node.expandable or node.is_root else "1",
    )


def _write_cluster(
    dot: graphviz.Digraph, cluster: Cluster, names: dict[str, str], theme: str
) -> None:
    fill, stroke, _ = colors_of(cluster.style, cluster.fill_share, theme)
    with dot.subgraph(name=names[cluster.id]) as inner:
        inner.attr(
            label=_label(cluster.lines),
            style="rounded,filled" if cluster.instruction is not None else "rounded",
            color=stroke,
            fillcolor=fill + "40",
            fontname=_FONT,
            fontsize="12",
            fontcolor="#1f2328" if theme == "light" else "#e6e9ec",
            margin="10",
            penwidth="1.6",
        )
        for node in cluster.nodes:
            _write_node(inner, node, names, theme)
        for child in cluster.clusters:
            _write_cluster(inner, child, names, theme)


def _write_edge(
    dot: graphviz.Digraph, edge: Edge, number: int, names: dict[str, str], theme: str
) -> None:
    # The layout program gives edges back in an order of its own: the id says which is which.
    attributes = {"id": f"e{number}", **_EDGE_STYLES[edge.kind]}
    if edge.label:
        attributes["headlabel"] = graphviz.escape(edge.label)
    if edge.element:
        attributes["taillabel"] = graphviz.escape(f"[{edge.element}]")
    if edge.verdict is not None:
        color = VERDICT_STYLES[edge.verdict.kind].color(theme)
        attributes |= {"color": color, "fontcolor": color, "penwidth": "2.4"}
    if edge.words:
        # Spaces keep the words off the line that they stand beside.
        lines = [""] * bool(edge.element) + list(edge.words) + [""] * bool(edge.label)
        attributes["label"] = _label([f"  {line}  " for line in lines])
    tail, head = names[edge.tail], names[edge.head]
    if tail.startswith("cluster_"):
        attributes["ltail"] = tail
        tail = names[_IN_CLUSTER + edge.tail]
    if head.startswith("cluster_"):
        # DOT joins nodes only: the arrow aims at a node inside and is cut at the frame.
        attributes["lhead"] = head
        head = names[_IN_CLUSTER + edge.head]
    dot.edge(tail, head, **attributes)
