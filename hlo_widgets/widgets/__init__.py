"""The widgets: the only place that imports ipywidgets and anywidget.

`explorer` links what it is made of; `shown` is what all of it shows:

- `controls`: above, for what was made from a function: change the call, compile it again.
- `picture` and `details`: the graph, and the panel beside it.
- below, the parts, one in a tab each (`part` says what a part is): `cost`, `text`, `decisions`
  (records and passes) and `replay` (the fusion steps).

In each, `view` is the widget with its traits, and `part` or `panel` links it; the other modules
hold what is shown, without widgets. `front` has the front ends: plain JavaScript and style sheets.
What these send is read as a `message`, and `closing` takes widgets off the page for good.
"""

from hlo_widgets.widgets.controls.compiled import Compiled, compile_variant
from hlo_widgets.widgets.controls.variant import Source, Variant
from hlo_widgets.widgets.explorer import Explorer
from hlo_widgets.widgets.shown import Shown

__all__ = ["Compiled", "Explorer", "Shown", "Source", "Variant", "compile_variant"]
