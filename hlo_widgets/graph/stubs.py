"""Parameters and constants with many users, drawn once beside each user.

One box with arrows to everything is what makes a layout slow and a picture a knot.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hlo_widgets.graph.model import Edge, Graph, Node

__all__ = ["MOST_ARROWS", "split_busy_parameters"]

MOST_ARROWS = 6
"""A parameter or constant with more arrows than this is split; arbitrary, tried on train steps."""

_SPLIT_STYLES = frozenset({"parameter", "constant"})


def split_busy_parameters(graph: Graph) -> None:
    """Replace every busy parameter or constant outside the frames by one small box a user."""
    arrows = Counter(edge.tail for edge in graph.edges)
    busy = {
        node.id: node
        for node in graph.nodes
        if arrows[node.id] > MOST_ARROWS
        and node.instruction is not None
        and node.instruction.opcode in _SPLIT_STYLES
    }
    if not busy:
        return
    copies: dict[str, Node] = {}
    edges: list[Edge] = []
    for edge in graph.edges:
        node = busy.get(edge.tail)
        if node is not None:
            copy_id = f"{node.id}@{edge.head}"
            copies[copy_id] = replace(node, id=copy_id, lines=node.lines[:1])
        edges.append(edge if node is None else replace(edge, tail=copy_id))
    graph.nodes[:] = [node for node in graph.nodes if node.id not in busy] + list(copies.values())
    graph.edges[:] = edges
