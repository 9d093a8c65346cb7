"""The graph widget: shows a picture and passes on what the user does."""

from __future__ import annotations

import anywidget
import traitlets

from hlo_widgets.widgets.front_end import module_text, style_text

__all__ = ["GraphView"]


class GraphView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """Draws one picture; the Explorer decides what is in it."""

    _esm = module_text("page", "drawing", "camera", "panels", "verdicts", "graph_view")
    # itables takes no style sheet; the table stands below every graph, so its rules come with it.
    _css = style_text("graph_view") + style_text("verdicts") + style_text("cost_table")

    picture = traitlets.Dict().tag(sync=True)
    """What is drawn, as `picture.picture_of` gives it.

    - Type: `dict`
    - Default: `{}`, nothing
    """

    selected = traitlets.Unicode().tag(sync=True)
    """Id of the node that is lit.

    - Type: `str`
    - Default: `""`, none
    """

    asked = traitlets.List(traitlets.Unicode()).tag(sync=True)
    """Ids of the two ops whose explanation is open.

    - Type: `list[str]`, two or none
    - Default: `[]`, none
    """
