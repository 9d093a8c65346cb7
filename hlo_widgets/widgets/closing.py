"""Closing widgets: whatever is not closed is kept for as long as the kernel runs."""

from __future__ import annotations

import ipywidgets

__all__ = ["close_inside", "close_widget"]


def close_widget(widget: ipywidgets.Widget) -> None:
    """Take a widget off the page for good, with its layout, its style and all that lies in it."""
    close_inside(widget)
    widget.close()
    # A widget whose files can change, such as that of a table, is held by those who watch it.
    widget.unobserve_all()


def close_inside(widget: ipywidgets.Widget) -> None:
    """Close everything that a widget has, and not the widget."""
    for child in getattr(widget, "children", ()):
        close_widget(child)
    for name in ("layout", "style"):
        own = getattr(widget, name, None)
        if isinstance(own, ipywidgets.Widget):
            own.close()
