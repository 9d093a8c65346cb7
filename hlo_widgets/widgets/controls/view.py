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
    """How it stands, as the functions of `status` give it: `state`, which is "ready", "working",
    "failed", "not drawn", "off" (called off) or "other" (what is shown comes from elsewhere);
    `words` for it; `text`, all of what went wrong; `is_stale`, whether the picture is of something
    else than what is asked for; `memory_askers`, names of ops that asked for too much memory.

    - Type: `dict`
    - Default: `{}`, nothing
    """

    history = traitlets.Dict().tag(sync=True)
    """What was compiled before, as `facts.history_facts` gives it: `rows` and the number `shown`.

    - Type: `dict`
    - Default: `{}`, nothing
    """
