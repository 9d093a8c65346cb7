"""The text widget: shows the lines around the selection, and asks for others as they are read."""

from __future__ import annotations

import anywidget
import traitlets

from hlo_widgets.widgets.front_end import module_text, style_text

__all__ = ["TextView"]


class TextView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """Shows a window of a long text; the part that owns it has the text."""

    _esm = module_text("page", "elements", "text_rows", "text_view")
    _css = style_text("text_view")

    document = traitlets.Dict().tag(sync=True)
    """What is shown: `text`, the number of the text; `key`, of the text folded as it is; `count` of
    lines, `fold`; `start`, the line to open another text on; `first` and `lines`: some lines to
    begin with, each a pair of its text and whether an op stands on it.

    - Type: `dict`
    - Default: `{}`, nothing
    """

    marked = traitlets.Dict().tag(sync=True)
    """The lines of what is selected: `ranges` of first and last lines, and `at`, the line to bring
    into view.

    - Type: `dict`
    - Default: `{}`, none
    """
