"""The detail widget: shows the facts about one instruction."""

from __future__ import annotations

import pathlib

import anywidget
import traitlets

__all__ = ["DetailView"]

_HERE = pathlib.Path(__file__).parent


class DetailView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """Shows one description; the Explorer decides of what."""

    _esm = _HERE / "detail_view.js"
    _css = _HERE / "detail_view.css"

    detail = traitlets.Dict().tag(sync=True)
    """What is shown: `describe.describe_instruction`'s facts, or `summary` lines of the module.

    - Type: `dict`
    - Default: `{}`, nothing
    """
