"""The verdicts of a laid-out graph as the plain data that the front end draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hlo_widgets.analysis.why import PairVerdict, WhyKind
from hlo_widgets.analysis.words import cut
from hlo_widgets.drawing import Layout, Line
from hlo_widgets.graph import Graph, ViewState
from hlo_widgets.graph.dot import words_size
from hlo_widgets.graph.verdict_style import VERDICT_STYLES
from hlo_widgets.graph.words import counted
from hlo_widgets.widgets.decisions.missing import NO_RECORD

__all__ = ["Shows", "verdict_kinds", "verdict_note", "verdicts_of"]

Shows = Callable[[PairVerdict], bool]
"""Whether a verdict is shown."""

_Area = tuple[float, float, float, float]

LONGEST_WORDS = 400
"""Characters of a verdict in a tooltip; arbitrary, the explanation has all."""


def verdicts_of(graph: Graph, layout: Layout, shows: Shows | None) -> list[dict[str, Any] | None]:
    """Return what is drawn on each arrow, in the order of the edges; None for nothing.

    Words that would lie on others are left out: the arrow has its colour, and pointing tells them.
    """
    taken: list[_Area] = []
    drawn: list[dict[str, Any] | None] = []
    for edge, line in zip(graph.edges, layout.edges, strict=True):
        if edge.verdict is None or shows is None or not shows(edge.verdict):
            drawn.append(None)
            continue
        words = edge.words if line.middle is not None else ()
        area = _area(words, line.middle)
        if area is not None and any(_meet(area, other) for other in taken):
            words = ()
        elif area is not None:
            taken.append(area)
        drawn.append(_verdict(edge.verdict, words, line))
    return drawn


def verdict_kinds(graph: Graph, shows: Shows | None) -> list[dict[str, Any]]:
    """Return how each kind of verdict looks, and how many of it are shown."""
    counts: Counter[WhyKind] = Counter()
    if shows is not None:
        told = (edge.verdict for edge in graph.edges if edge.verdict is not None and edge.words)
        counts.update(verdict.kind for verdict in told if shows(verdict))
    return [
        {
            "kind": kind.value,
            "label": style.meaning,
            "light": style.light,
            "dark": style.dark,
            "dash": style.dash,
            "count": counts[kind],
        }
        for kind, style in VERDICT_STYLES.items()
    ]


def verdict_note(graph: Graph, view: ViewState, shows: Shows | None) -> str:
    """Return what the user should know about the verdicts of a picture."""
    if not view.show_decisions:
        return ""
    if shows is None:
        return NO_RECORD
    verdicts = [edge.verdict for edge in graph.edges if edge.verdict and edge.words]
    shown = sum(shows(verdict) for verdict in verdicts)
    words = []
    if shown < len(verdicts):
        words.append(f"The filter leaves {shown:,} of {counted(len(verdicts), 'verdict')}.")
    elif not verdicts:
        words.append("Nothing is on record about the ops in this view.")
    if graph.apart_left_out:
        more = counted(graph.apart_left_out, "more refused pair")
        words.append(f"{more} without a connection: see the tab Decisions.")
    return " ".join(words)


def _area(words: tuple[str, ...], middle: tuple[float, float] | None) -> _Area | None:
    """Return where words lie, as left, top, right and bottom; None where there are none."""
    if not words or middle is None:
        return None
    across, down = (length / 2 for length in words_size(words))
    return middle[0] - across, middle[1] - down, middle[0] + across, middle[1] + down


def _meet(one: _Area, other: _Area) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _verdict(verdict: PairVerdict, words: tuple[str, ...], line: Line) -> dict[str, Any]:
    return {
        "kind": verdict.kind.value,
        "words": cut(verdict.whole, LONGEST_WORDS),
        "mark": verdict.mark,
        "lines": words,
        "at": None if line.middle is None else [round(place, 1) for place in line.middle],
        "lead": None if line.lead is None else [round(place, 1) for place in line.lead],
        "has_room": line.has_room,
    }
