"""The decisions mode of a picture: what is on record about the kernels that arrows join."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace

from hlo_widgets.analysis.why import PairVerdict, PairVerdicts
from hlo_widgets.graph.model import Edge, Graph
from hlo_widgets.hlo import HloInstruction

__all__ = ["MOST_APART", "add_verdicts", "verdict_lines"]

MOST_APART = 6
"""Pairs without a connection that get a line of their own; arbitrary, more make a knot."""

_WIDTH = 28
_MOST_LINES = 3
# Nothing computes them: that they stand apart from what reads them later is no news.
_SOURCES = frozenset({"parameter", "constant"})


def add_verdicts(
    graph: Graph, verdicts: PairVerdicts, distance: Callable[[Edge], float] | None = None
) -> None:
    """Note on every arrow what is on record about its two kernels, once a pair with the words.

    Pairs that were refused although no data joins them, such as kernels that read one value, get a
    line of their own, up to `MOST_APART`; `graph.apart_left_out` counts the others.

    Args:
        graph: The picture, which is changed.
        verdicts: What is on record.
        distance: How far apart such a pair lies where places are known: then the nearest get lines.
    """
    kernels = {place: verdicts.kernel(op) for place, op in _drawn(graph)}
    told: set[frozenset[str]] = set()
    for number, edge in enumerate(graph.edges):
        first, second = kernels.get(edge.tail), kernels.get(edge.head)
        if first is None or second is None or edge.kind == "control":
            continue
        verdict = verdicts.of(first, second)
        pair = frozenset((first.name, second.name))
        lines = () if verdict is None or pair in told else verdict_lines(verdict)
        told.add(pair)
        graph.edges[number] = replace(edge, verdict=verdict, words=lines)
    apart = list(_apart(kernels, verdicts, told))
    if distance is not None:
        apart.sort(key=distance)
    graph.edges += apart[:MOST_APART]
    graph.apart_left_out = len(apart) - len(apart[:MOST_APART])


def verdict_lines(verdict: PairVerdict) -> tuple[str, ...]:
    """Return the label of an arrow: kind and words, in lines short enough to stand beside it."""
    words = " ".join(f"{verdict.kind}: {verdict.words}".split())
    # A word of any length is one that no line can hold.
    lines = textwrap.wrap(words[: _WIDTH * (_MOST_LINES + 1)], _WIDTH)
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], lines[_MOST_LINES - 1][: _WIDTH - 1] + "…"]
    return tuple(lines)


def _apart(
    kernels: dict[str, HloInstruction], verdicts: PairVerdicts, told: set[frozenset[str]]
) -> Iterator[Edge]:
    """Yield a line for each refused pair of drawn kernels that no data joins.

    Of two that only others join, the arrows on the way between them tell more.
    """
    places: dict[str, str] = {}
    for place, kernel in kernels.items():
        # The box or frame of a kernel comes before what is inside it.
        places.setdefault(kernel.name, place)
    for names in verdicts.refused_pairs():
        tail, head = (places.get(name) for name in names)
        if tail is None or head is None or frozenset(names) in told:
            continue
        told.add(frozenset(names))
        first, second = kernels[tail], kernels[head]
        if {first.opcode, second.opcode} & _SOURCES or verdicts.are_connected(first, second):
            continue
        verdict = verdicts.of(first, second)
        if verdict is not None:
            yield Edge(tail, head, kind="apart", verdict=verdict, words=verdict_lines(verdict))


def _drawn(graph: Graph) -> Iterator[tuple[str, HloInstruction]]:
    """Yield the ids of frames and boxes with what they stand for, outer before inner."""
    for frame in graph.all_clusters():
        if frame.instruction is not None:
            yield frame.id, frame.instruction
    for node in graph.all_nodes():
        if node.instruction is not None:
            yield node.id, node.instruction
