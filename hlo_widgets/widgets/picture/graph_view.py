"""The graph widget: shows a picture and passes on what the user does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import anywidget
import traitlets

from hlo_widgets.errors import HloWidgetsError
from hlo_widgets.widgets.front_end import module_text, style_text
from hlo_widgets.widgets.plain import plain

__all__ = ["GraphView"]


class GraphView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types for its base
    """Draws one picture; the Explorer decides what is in it."""

    _esm = module_text("page", "drawing", "camera", "places", "panels", "verdicts", "graph_view")
    # itables takes no style sheet; the table stands below every graph, so its rules come with it.
    _css = style_text("graph_view") + style_text("verdicts") + style_text("cost_table")

    picture = traitlets.Dict().tag(sync=True)
    """What is drawn, as `picture.picture_of` gives it.

    - Type: `dict`
    - Default: `{}`, nothing
    """

    selected = traitlets.Unicode().tag(sync=True)
    """Id of the node that is lit.

    - Type: `str`
    - Default: `""`, none
    """

    asked = traitlets.List(traitlets.Unicode()).tag(sync=True)
    """Ids of the two ops whose explanation is open.

    - Type: `list[str]`, two or none
    - Default: `[]`, none
    """

    # The messages; every text of them is made safe to send in `_tell`.

    def tell_problem(self, text: str) -> None:
        """Say in the line above the picture what went wrong."""
        self._tell("problem", text=text)

    @contextmanager
    def telling_problems(self) -> Iterator[None]:
        """Say what goes wrong inside, where the user looks, and go on after it."""
        try:
            yield
        except HloWidgetsError as error:
            self.tell_problem(str(error))

    def tell_note(self, text: str) -> None:
        """Say something in the line above the picture."""
        self._tell("note", text=text)

    def tell_working(self) -> None:
        """Say that another picture is on its way; `tell_ready` ends it."""
        self._tell("working")

    def tell_ready(self) -> None:
        """Say that all that was asked for is there, or is told why it is not."""
        self._tell("ready")

    def show_hover(self, node_id: str, text: str) -> None:
        """Show a text beside the pointer, where it still is on that node."""
        self._tell("hover", id=node_id, text=text)

    def center(self, ids: Sequence[str]) -> None:
        """Bring one node into view, or two with what is between them."""
        if len(ids) == 1:
            self._tell("center", id=ids[0])
        else:
            self._tell("center_pair", ids=ids)

    def reveal(self, ids: Sequence[str]) -> None:
        """Move the picture as little as shows some nodes."""
        self._tell("reveal", ids=ids)

    def pick_other(self, node_id: str, name: str) -> None:
        """Let the user choose the op that is asked about together with this one."""
        self._tell("pick", id=node_id, name=name)

    def _tell(self, kind: str, **facts: Any) -> None:
        self.send(plain({"type": kind, **facts}))
