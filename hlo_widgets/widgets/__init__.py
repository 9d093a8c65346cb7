"""The widgets: the only place that imports ipywidgets and anywidget.

`explorer` links three views: `graph_view` and `detail_view` (one plain ES module each) and
`cost_view` (the cost table). `navigator`, `picture`, `describe` and `static` hold what they show,
without widgets.
"""

from hlo_widgets.widgets.explorer import Explorer

__all__ = ["Explorer"]
