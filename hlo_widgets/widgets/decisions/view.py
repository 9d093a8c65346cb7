"""The widgets of the lists of records and of passes; the parts that own them have the data."""

from __future__ import annotations

import anywidget
import traitlets

from hlo_widgets.widgets.front_end import module_text, style_text

__all__ = ["DecisionBar", "PassesView"]


class DecisionBar(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """Counts by verdict and reason, each a button that filters, and the filter by cost."""

    _esm = module_text("page", "elements", "decision_bar")
    _css = style_text("decision_bar")

    summary = traitlets.Dict().tag(sync=True)
    """What `counts.summary_of` gives.

    - Type: `dict`
    - Default: `{}`, nothing
    """

    chosen = traitlets.Dict().tag(sync=True)
    """The filter: `verdict`, `reason`, `price`, `least`; see `DecisionFilter`. The reason is its
    place among those of the summary: its words are told here as a page can show them.

    - Type: `dict`
    - Default: `{}`, everything
    """

    told = traitlets.Unicode().tag(sync=True)
    """How many records the filter leaves.

    - Type: `str`
    - Default: `""`
    """


class PassesView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """The list of passes, each with what it did to the fusions."""

    _esm = module_text("page", "elements", "passes_view")
    _css = style_text("passes_view")

    passes = traitlets.List().tag(sync=True)
    """What `pass_list.describe_passes` gives.

    - Type: `list`
    - Default: `[]`, none
    """

    note = traitlets.Unicode().tag(sync=True)
    """What stands above the list.

    - Type: `str`
    - Default: `""`
    """
