"""The graph widget: shows a picture and passes on what the user does."""

from __future__ import annotations

import pathlib

import anywidget
import traitlets

__all__ = ["GraphView"]

_HERE = pathlib.Path(__file__).parent


class GraphView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """Draws one picture; the Explorer decides what is in it."""

    _esm = _HERE / "graph_view.js"
    _css = _HERE / "graph_view.css"

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
