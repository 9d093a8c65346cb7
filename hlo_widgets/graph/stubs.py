"""Parameters and constants with many users, drawn once beside each user.

One node with arrows to everything is what makes a layout slow and a picture a knot.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hlo_widgets.graph.model import Edge, Graph, Node
from hlo_widgets.graph.paths import copy_id

__all__ = ["MOST_ARROWS", "split_busy_parameters"]

MOST_ARROWS = 6
"""A parameter or constant with more arrows than this is split; arbitrary, tried on train steps."""

_SPLIT_OPCODES = frozenset({"parameter", "constant"})


def split_busy_parameters(graph: Graph, node_limit: int) -> None:
    """Replace busy parameters and constants outside the frames by one small node a user.

    The ones with the fewest users come first, as long as the picture stays within `node_limit`.
    """
    arrows = Counter(edge.tail for edge in graph.edges)
    room = node_limit - sum(1 for _ in graph.all_nodes())
    busy: dict[str, Node] = {}
    for node in sorted(graph.nodes, key=lambda node: arrows[node.id]):
        is_input = node.instruction is not None and node.instruction.opcode in _SPLIT_OPCODES
        if is_input and MOST_ARROWS < arrows[node.id] <= room:
            busy[node.id] = node
            room -= arrows[node.id] - 1
    copies: dict[str, Node] = {}
    edges: list[Edge] = []
    for edge in graph.edges:
        if edge.tail not in busy:
            edges.append(edge)
            continue
        node = busy[edge.tail]
        copy = replace(node, id=copy_id(node.id, edge.head), lines=node.lines[:1])
        copies[copy.id] = copy
        edges.append(replace(edge, tail=copy.id))
    graph.nodes[:] = [node for node in graph.nodes if node.id not in busy] + list(copies.values())
    graph.edges[:] = edges
