"""A laid-out graph as the plain data that the front end draws."""

from __future__ import annotations

from typing import Any

from hlo_widgets.drawing import Layout
from hlo_widgets.graph import Cluster, Graph, Node, ViewState
from hlo_widgets.graph.dot import colors_of
from hlo_widgets.graph.style import SCALE_COLORS, STYLES
from hlo_widgets.graph.words import counted
from hlo_widgets.widgets.picture.verdict_picture import (
    Shows,
    verdict_kinds,
    verdict_note,
    verdicts_of,
)

__all__ = ["picture_of"]


def picture_of(
    graph: Graph, layout: Layout, view: ViewState, key: str, shows: Shows | None = None
) -> dict[str, Any]:
    """Return the picture for the front end, positions in CSS pixels.

    Args:
        graph: What to draw.
        layout: Where Graphviz put it.
        view: The view it was built from.
        key: Which computation of which module it is; a new one makes the front end start anew.
        shows: In the decisions mode, whether a verdict is shown; None where none is on record.
    """
    boxes = [_item(node, layout) for node in graph.all_nodes() if node.id in layout.boxes]
    frames = [_item(frame, layout) for frame in graph.all_clusters() if frame.id in layout.boxes]
    return {
        "key": key,
        "width": layout.width,
        "height": layout.height,
        "boxes": boxes,
        "frames": frames,
        "arrows": _arrows(graph, layout, verdicts_of(graph, layout, shows)),
        "legend": [
            {"style": entry.style, "label": entry.label, "share": entry.fill_share}
            for entry in graph.legend
        ],
        "styles": {
            name: {"light": style.light, "dark": style.dark} for name, style in STYLES.items()
        },
        "scale": SCALE_COLORS,
        "color_by": view.color_by,
        "show_plumbing": view.show_plumbing,
        "start": graph.start,
        "note": " ".join(filter(None, (_note(graph), verdict_note(graph, view, shows)))),
        "decisions": view.show_decisions,
        "kinds": verdict_kinds(graph, shows) if view.show_decisions else [],
    }


def _item(item: Node | Cluster, layout: Layout) -> dict[str, Any]:
    box = layout.boxes[item.id]
    is_node = isinstance(item, Node)
    return {
        "id": item.id,
        "x": round(box.x, 1),
        "y": round(box.y, 1),
        "width": round(box.width, 1),
        "height": round(box.height, 1),
        "lines": item.lines,
        "style": item.style,
        "meaning": STYLES[item.style].meaning,
        "members": item.members,
        "expandable": item.expandable if isinstance(item, Node) else item.instruction is not None,
        "open": not is_node,
        "root": isinstance(item, Node) and item.is_root,
        "share": item.fill_share,
        "leads_to": item.leads_to if isinstance(item, Node) else None,
        "fill": [colors_of(item.style, item.fill_share, theme)[0] for theme in ("light", "dark")],
    }


def _arrows(
    graph: Graph, layout: Layout, verdicts: list[dict[str, Any] | None]
) -> list[dict[str, Any]]:
    return [
        {
            "tail": edge.tail,
            "head": edge.head,
            "kind": edge.kind,
            "label": edge.label,
            "element": edge.element,
            "via": edge.via,
            "path": path.d,
            "at": _rounded(path.head_label),
            "from": _rounded(path.tail_label),
            **({"verdict": verdict} if verdict is not None else {}),
        }
        for edge, path, verdict in zip(graph.edges, layout.edges, verdicts, strict=True)
        if verdict is not None or edge.kind != "apart"
    ]


def _rounded(place: tuple[float, float] | None) -> list[float] | None:
    return None if place is None else [round(place[0], 1), round(place[1], 1)]


def _note(graph: Graph) -> str:
    if not graph.left_out:
        return ""
    return (
        f"{counted(graph.shown, 'op')} around {graph.focus} shown,"
        f" {graph.left_out:,} of {graph.computation} left out. To get there, click a"
        " “+n before” box, select a row of the table, or find an op by its name."
    )
