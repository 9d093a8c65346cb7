"""What a user asked to see of a module."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["COLOR_MODES", "DEFAULT_NODE_LIMIT", "ViewState"]

DEFAULT_NODE_LIMIT = 200
"""Nodes in one view: the most that Graphviz lays out with its default settings in about 0.2 s."""

COLOR_MODES = ("kind", "cycles", "memory")
"""By fusion kind and op class, by share of the estimated cycles, by memory space of the output."""


@dataclass(frozen=True)
class ViewState:
    """One view: which computation, what is open in it, how it is coloured.

    Attributes:
        computation: Name of the computation to draw; None is the entry computation.
        expanded: Ids of the nodes whose called computations are open. An id is the name of the
            instruction, after the ids of the instructions it is drawn inside: `while.2/fusion.1`.
        color_by: One of `COLOR_MODES`.
        show_plumbing: Draw get-tuple-element, tuple, bitcast and scalar constants as nodes too.
        show_decisions: Draw on the arrows why the kernels at their ends stayed apart.
        focus: Id of the node that a view which cannot hold everything is built around; None lets
            the builder choose the one that takes the most time, as far as the text tells.
        node_limit: The most nodes in the view. A computation with more is shown in part, with half
            as many: the part stays readable, and what is opened in it has room.
    """

    computation: str | None = None
    expanded: frozenset[str] = frozenset()
    color_by: str = "kind"
    show_plumbing: bool = False
    show_decisions: bool = False
    focus: str | None = None
    node_limit: int = DEFAULT_NODE_LIMIT

    def __post_init__(self) -> None:
        if self.color_by not in COLOR_MODES:
            known = ", ".join(map(repr, COLOR_MODES))
            raise ValueError(f"color_by must be one of {known}, not {self.color_by!r}")
        if self.node_limit < 1:
            raise ValueError(f"node_limit must be at least 1, not {self.node_limit}")

    def toggled(self, node_id: str) -> ViewState:
        """Return this view with a node opened, or closed together with what is open inside it."""
        if node_id not in self.expanded:
            return replace(self, expanded=self.expanded | {node_id})
        inside = node_id + "/"
        kept = {
            other for other in self.expanded if other != node_id and not other.startswith(inside)
        }
        return replace(self, expanded=frozenset(kept))
