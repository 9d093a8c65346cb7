"""The detail widget: shows the facts about one instruction."""

from __future__ import annotations

import anywidget
import traitlets

from hlo_widgets.widgets.front_end import module_text, style_text

__all__ = ["DetailView"]


class DetailView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """Shows one description; the Explorer decides of what."""

    _esm = module_text("page", "elements", "why_panel", "detail_view")
    _css = style_text("detail_view")

    detail = traitlets.Dict().tag(sync=True)
    """What is shown: `describe.describe_instruction`'s facts, the explanation `why` of two ops, or
    `summary` lines of the module.

    - Type: `dict`
    - Default: `{}`, nothing
    """
