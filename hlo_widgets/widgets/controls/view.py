"""The controls widget: shows what is compiled and how far that is, and passes on what is done."""

from __future__ import annotations

import anywidget
import traitlets

from hlo_widgets.widgets.front_end import module_text, style_text

__all__ = ["ControlsView"]


class ControlsView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """Target, arguments, flags and history; `Controls` decides what is in them."""

    _esm = module_text(
        "page",
        "controls_parts",
        "controls_arguments",
        "controls_flags",
        "controls_history",
        "controls",
    )
    _css = style_text("controls")

    variant = traitlets.Dict().tag(sync=True)
    """What the user has asked for, as `facts.variant_facts` gives it.

    - Type: `dict`
    - Default: `{}`, nothing
    """

    targets = traitlets.List().tag(sync=True)
    """What can be chosen, as `facts.target_facts` gives it.

    - Type: `list` of `dict`
    - Default: `[]`
    """

    status = traitlets.Dict().tag(sync=True)
    """What the compiler is at: `state`, which is "ready", "working", "failed" or "off"; `phase` in
    words; `text`, what came of it or what went wrong; `is_stale`, whether the picture is of another
    variant.

    - Type: `dict`
    - Default: `{}`, nothing
    """

    history = traitlets.Dict().tag(sync=True)
    """What was compiled before: `rows`, as `History.rows` gives them, and the number `shown`.

    - Type: `dict`
    - Default: `{}`, nothing
    """
