"""The widgets: the only place that imports ipywidgets and anywidget.

`explorer` links what it is made of: `graph_view` and `detail_view` (one plain ES module each) on
top, and below them the parts, one in a tab each (`part` says what a part is; `cost_part` is the
first). `shown` is what they all show. `navigator`, `picture`, `describe`, `summary` and `static`
hold what they show, without widgets.

The tab of the fusion steps is `replay_part`: `replay_player` shows a moment as the picture that
`replay_layout` places (`replay_ahead` runs the layout program) and in the words of `replay_words`.

What was made from a function can be compiled again: `variant` is what is compiled, `recompiler`
compiles it in a thread, `controls` (their front end is `controls_view`) change it, and `history`
keeps what there was. `kernel_loop` brings what a thread made to where messages are handled.
"""

from hlo_widgets.widgets.explorer import Explorer
from hlo_widgets.widgets.recompiler import Compiled, compile_variant
from hlo_widgets.widgets.shown import Shown
from hlo_widgets.widgets.variant import Source, Variant

__all__ = ["Compiled", "Explorer", "Shown", "Source", "Variant", "compile_variant"]
