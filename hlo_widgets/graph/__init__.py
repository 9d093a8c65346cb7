"""From a module and a view of it to DOT text, without drawing anything.

The steps, one module each: `view` says what the user asked to see, `paths` names what is drawn,
`folding` finds what is a box and what hides in an arrow, `neighbourhood` keeps a view within its
node limit, `interest` says what it is built around, `build` makes the `model` (nodes, clusters,
edges), `stubs` splits boxes with many arrows, `labels`, `style` and `coloring` say how an op reads
and looks, `dot` writes DOT.
"""

from hlo_widgets.graph.build import GraphBuilder, build_graph
from hlo_widgets.graph.dot import graph_to_dot
from hlo_widgets.graph.model import Cluster, Edge, Graph, LegendEntry, Node
from hlo_widgets.graph.view import COLOR_MODES, ViewState

__all__ = [
    "COLOR_MODES",
    "Cluster",
    "Edge",
    "Graph",
    "GraphBuilder",
    "LegendEntry",
    "Node",
    "ViewState",
    "build_graph",
    "graph_to_dot",
]
