"""The arrows of a view: from the node that makes a value to every node that reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hlo_widgets.analysis import pair_members
from hlo_widgets.graph.folding import FoldedComputation, Source
from hlo_widgets.graph.model import Edge
from hlo_widgets.hlo import HloInstruction

__all__ = ["Entry", "Place", "arrows_into"]

MOST_NUMBERED = 6
"""Arrows into one node that still show operand numbers; arbitrary, more numbers overlap."""


@dataclass(frozen=True)
class Entry:
    """A node inside an opened instruction that an operand of it enters.

    Attributes:
        head: Id of the node.
        operand: The operand.
        element: Which element of the operand it is, outermost index last; () for all of it.
    """

    head: str
    operand: HloInstruction
    element: tuple[int, ...] = ()


@dataclass
class Place:
    """Where arrows of one drawn instruction start and end.

    Attributes:
        tails: Ids of the nodes that its value leaves from; of an opened one the roots inside.
        head: Id of the node or frame that its operands enter.
        entries: Of an opened one, the nodes inside that operands enter instead.
    """

    tails: tuple[str, ...]
    head: str
    entries: list[Entry] = field(default_factory=list)


def arrows_into(
    folded: FoldedComputation, instruction: HloInstruction, places: dict[HloInstruction, Place]
) -> Iterable[Edge]:
    """Return the arrows into a drawn instruction, each once.

    Args:
        folded: The computation that it stands in.
        instruction: The instruction.
        places: Where the drawn instructions of that computation are; others have no arrows.
    """
    edges: dict[tuple[str, str, str, str], Edge] = {}
    for edge in (
        *_data_arrows(folded, instruction, places),
        *_entering_arrows(folded, places[instruction], places),
        *_control_arrows(folded, instruction, places),
    ):
        edges.setdefault((edge.tail, edge.head, edge.label, edge.element), edge)
    return edges.values()


def _data_arrows(
    folded: FoldedComputation, instruction: HloInstruction, places: dict[HloInstruction, Place]
) -> Iterator[Edge]:
    place = places[instruction]
    inputs = list(folded.inputs(instruction))
    if place.head not in place.tails:
        # Opened: what enters no parameter inside, such as a predicate, enters the frame.
        operands = pair_members(instruction)[0].operands
        entered = {n for n, o in enumerate(operands) if o in {e.operand for e in place.entries}}
        inputs = [(n, s) for n, s in inputs if n not in entered]
    numbered = 1 < len({number for number, _ in inputs}) <= MOST_NUMBERED
    for number, source in inputs:
        label = str(number) if numbered else ""
        for tail in _tails(places, source):
            yield Edge(tail, place.head, label, "data", source.element, source.via)


def _entering_arrows(
    folded: FoldedComputation, place: Place, places: dict[HloInstruction, Place]
) -> Iterator[Edge]:
    for entry in place.entries:
        for source in folded.sources(entry.operand, entry.element):
            for tail in _tails(places, source):
                yield Edge(tail, entry.head, "", "binding", source.element, source.via)


def _control_arrows(
    folded: FoldedComputation, instruction: HloInstruction, places: dict[HloInstruction, Place]
) -> Iterator[Edge]:
    for predecessor in folded.control_inputs(instruction):
        for tail in _tails(places, Source(predecessor)):
            yield Edge(tail, places[instruction].head, "", "control")


def _tails(places: dict[HloInstruction, Place], source: Source) -> tuple[str, ...]:
    place = places.get(source.instruction)
    return place.tails if place is not None else ()
