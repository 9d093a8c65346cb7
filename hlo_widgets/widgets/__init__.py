"""The widgets: the only place that imports ipywidgets and anywidget.

`explorer` links what it is made of: `graph_view` and `detail_view` (one plain ES module each) on
top, and below them the parts, one in a tab each (`part` says what a part is; `cost_part` is the
first). `shown` is what they all show. `navigator`, `picture`, `describe`, `summary` and `static`
hold what they show, without widgets.
"""

from hlo_widgets.widgets.explorer import Explorer
from hlo_widgets.widgets.shown import Shown

__all__ = ["Explorer", "Shown"]
