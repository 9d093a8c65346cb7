"""Which nodes of each drawn computation a view has room for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from hlo_widgets.graph.folding import FoldedComputation, openable_computations
from hlo_widgets.graph.neighbourhood import nearest
from hlo_widgets.graph.paths import child_id
from hlo_widgets.graph.view import ViewState
from hlo_widgets.hlo import HloComputation, HloInstruction

__all__ = ["Drawn", "drawn_computations", "share_room"]

Fold = Callable[[HloComputation], FoldedComputation]


@dataclass
class Drawn:
    """One computation as a view shows it.

    Attributes:
        parent_id: Id of the opened node that calls it; "" for the outermost.
        caller: That node's instruction; None for the outermost.
        place: Which of the caller's computations it is, from 0 in text order.
        folded: Its nodes and arrows.
        ids: The id of each of its nodes.
        shown: The nodes that the view has room for.
        focus: The node that a view with too little room is built around.
    """

    parent_id: str
    caller: HloInstruction | None
    place: int
    folded: FoldedComputation
    ids: dict[HloInstruction, str]
    shown: set[HloInstruction]
    focus: HloInstruction | None = None

    @property
    def left_out(self) -> int:
        """How many of its nodes the view has no room for."""
        return len(self.folded.drawn) - len(self.shown)


def share_room(wanted: Mapping[Hashable, int], room: int) -> dict[Hashable, int]:
    """Share room so that the small get all they want and the large the same each, at least 1."""
    given = {}
    waiting = sorted(wanted, key=lambda key: wanted[key])
    for position, key in enumerate(waiting):
        given[key] = max(min(wanted[key], room // (len(waiting) - position)), 1)
        room -= given[key]
    return given


def drawn_computations(
    base: HloComputation,
    view: ViewState,
    fold: Fold,
    most_interesting: Callable[[FoldedComputation], HloInstruction],
) -> dict[tuple[str, int], Drawn]:
    """Return every computation that a view draws, by the caller's id and the place in its calls.

    Args:
        base: The outermost computation.
        view: What is open, what the view is built around and how much it may hold.
        fold: Gives the nodes of a computation.
        most_interesting: Gives the node to build a part of the outermost computation around.
    """
    found = {("", 0): _drawn("", None, 0, fold(base))}
    waiting = list(found)
    while waiting:
        around = found[waiting.pop()]
        for instruction in _opened(around, view):
            node_id = around.ids[instruction]
            for place, body in enumerate(openable_computations(instruction)):
                found[node_id, place] = _drawn(node_id, instruction, place, fold(body))
                waiting.append((node_id, place))
    wanted: dict[Hashable, int] = {key: len(one.folded.drawn) for key, one in found.items()}
    if wanted["", 0] > view.node_limit:
        # A part of a large computation reads best small, and what is opened in it needs room.
        wanted["", 0] = max(view.node_limit // 2, 1)
    given = share_room(wanted, view.node_limit)
    for key, one in found.items():
        _choose(one, given[key], view, most_interesting)
    return found


def _drawn(
    parent_id: str, caller: HloInstruction | None, place: int, folded: FoldedComputation
) -> Drawn:
    ids = {node: child_id(parent_id, node, caller) for node in folded.drawn}
    return Drawn(parent_id, caller, place, folded, ids, set())


def _opened(drawn: Drawn, view: ViewState) -> list[HloInstruction]:
    return [
        node
        for node, node_id in drawn.ids.items()
        if node_id in view.expanded and openable_computations(node)
    ]


def _choose(
    drawn: Drawn,
    room: int,
    view: ViewState,
    most_interesting: Callable[[FoldedComputation], HloInstruction],
) -> None:
    if len(drawn.folded.drawn) <= room:
        drawn.shown = set(drawn.folded.drawn)
        return
    drawn.focus = _focus(drawn, view) or (
        drawn.folded.computation.root_instruction
        if drawn.parent_id
        else most_interesting(drawn.folded)
    )
    drawn.shown = nearest(drawn.folded, [drawn.focus, *_opened(drawn, view)], room)


def _focus(drawn: Drawn, view: ViewState) -> HloInstruction | None:
    """Return the node that the view's focus is or lies in."""
    if view.focus is None:
        return None
    for node, node_id in drawn.ids.items():
        if view.focus == node_id or view.focus.startswith(node_id + "/"):
            return node
    return None
