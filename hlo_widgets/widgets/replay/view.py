"""The words of a replay: what happened in a step, and the queue at that moment."""

from __future__ import annotations

import anywidget
import traitlets

from hlo_widgets.widgets.front_end import module_text, style_text

__all__ = ["ReplayView"]


class ReplayView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """Shows one moment in words; the player decides which."""

    _esm = module_text("page", "elements", "replay_view")
    _css = style_text("replay_view")

    moment = traitlets.Dict().tag(sync=True)
    """What `replay_words.describe_moment` gives.

    - Type: `dict`
    - Default: `{}`, nothing
    """

    selected = traitlets.Dict().tag(sync=True)
    """Which steps the selected op grew in, as `replay_words.describe_steps` gives it.

    - Type: `dict`
    - Default: `{}`, no op is selected
    """
