"""The graph of what is shown, with where the user is in it and what was chosen above it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from hlo_widgets.analysis import pair_members
from hlo_widgets.errors import HloWidgetsError
from hlo_widgets.graph import COLOR_MODES, ViewState
from hlo_widgets.graph.paths import without_copy
from hlo_widgets.widgets.decisions.filter import DecisionFilter
from hlo_widgets.widgets.kernel_loop import KernelLoop
from hlo_widgets.widgets.message import Message
from hlo_widgets.widgets.picture.changes import ViewChanges
from hlo_widgets.widgets.picture.graph_view import GraphView
from hlo_widgets.widgets.picture.navigator import Navigator
from hlo_widgets.widgets.picture.picture import picture_of
from hlo_widgets.widgets.picture.search import Finder
from hlo_widgets.widgets.plain import plain
from hlo_widgets.widgets.shown import Shown

__all__ = ["Drawn", "GraphPanel"]

LONGEST_HOVER = 4_000
"""Characters of an instruction shown on hover; arbitrary, about what a screen holds."""


@dataclass(frozen=True)
class Drawn:
    """A module that is ready to take the place of another one in the graph.

    Attributes:
        shown: What is shown.
        navigator: Where in it.
        picture: Its picture, for the front end.
    """

    shown: Shown
    navigator: Navigator
    picture: dict[str, Any]


class GraphPanel:
    """The graph.

    Args:
        shown: What to show.
        view: The first view.
        expanded: Names or ids of what is open in it.
        height: Of the widget, in CSS.
        go: Called with the id of an op that the user wants to be selected and brought into view.
        on_lit: Called with the id of a node that was clicked, "" for none; it may be that of none.
        on_asked: Called with the ids of two ops that are to be explained, [] for none any more.

    Attributes:
        widget: The widget.
        navigator: Where the user is.

    Raises:
        HloLookupError: `expanded` names an instruction that the module does not have.
        DrawingError: The layout program is missing or failed.
    """

    def __init__(
        self,
        shown: Shown,
        view: ViewState,
        expanded: Iterable[str],
        *,
        height: str,
        go: Callable[[str], None],
        on_lit: Callable[[str], None],
        on_asked: Callable[[list[str]], None],
    ) -> None:
        self._shown = shown
        self._go, self._tell_lit = go, on_lit
        self._filter = DecisionFilter()
        self._selected = ""
        self._loop = KernelLoop()
        self.navigator = _navigator(shown, view, expanded)
        self._changes = ViewChanges(self.navigator, self._loop, self)
        self.widget = GraphView(layout={"flex": "5 1 470px", "min_width": "0", "height": height})
        self.draw()
        self.widget.on_msg(lambda _, content, __: self.on_message(content))
        self.widget.observe(lambda change: self._on_lit(change["new"]), "selected")
        self.widget.observe(lambda change: on_asked(change["new"]), "asked")

    @property
    def view(self) -> ViewState:
        """What is shown now."""
        return self.navigator.view

    def prepare(self, shown: Shown) -> Drawn:
        """Draw another module, with what is open and focused here where it has that too.

        In any thread: it waits for a layout.

        Raises:
            DrawingError: It cannot be laid out.
        """
        navigator = _navigator(shown, self._changes.wanted)
        return Drawn(shown, navigator, _pictured(shown, navigator, DecisionFilter()))

    def enter(self, drawn: Drawn) -> None:
        """Show another module."""
        wanted = drawn.navigator.known(self._changes.wanted)
        self.call_off()
        self._shown, self.navigator, self._filter = drawn.shown, drawn.navigator, DecisionFilter()
        self._changes = ViewChanges(self.navigator, self._loop, self)
        self.widget.asked = []
        self.widget.picture = drawn.picture
        if wanted != self.view:  # something was clicked while it was drawn
            with self.widget.telling_problems():
                self._changes.ask(wanted)
        if not self._changes.is_waiting:
            self.widget.tell_ready()

    def call_off(self) -> None:
        """End what is being laid out."""
        self._changes.drop()
        self.navigator.layouts.call_off()

    def draw(self) -> None:
        """Send the picture of where the user is."""
        self.widget.picture = _pictured(self._shown, self.navigator, self._filter)

    def set_filter(self, chosen: DecisionFilter) -> None:
        """Draw the verdicts alone that a filter of the records leaves."""
        self._filter = chosen
        self.draw()

    # Calls from a program: they return when it is done, and raise what goes wrong.

    def expand(self, name: str) -> None:
        """Open an instruction, by name or id, and what it lies in.

        Raises:
            HloLookupError: There is no such instruction.
            DrawingError: The view with it cannot be laid out.
        """
        self._show(self.navigator.opened(self.navigator.resolve(name), self._changes.wanted))

    def collapse(self, name: str) -> None:
        """Close an opened instruction, by name or id, and what is open inside it.

        Raises:
            HloLookupError: There is no such instruction.
        """
        node_id, view = self.navigator.resolve(name), self._changes.wanted
        if node_id in view.expanded:
            self._show(view.toggled(node_id))

    def toggle(self, name: str) -> None:
        """Open an instruction, or close it when it is open; raises as these."""
        is_open = self.navigator.resolve(name) in self._changes.wanted.expanded
        (self.collapse if is_open else self.expand)(name)

    def show(self, **changes: Any) -> None:
        """Change attributes of the view.

        Raises:
            DrawingError: It cannot be laid out; the view before stays.
        """
        self._show(replace(self._changes.wanted, **changes))

    def reveal(self, ids: Sequence[str]) -> None:
        """Bring ops into the picture: open what they lie in, move a limited view.

        Raises:
            HloLookupError: An id stands for nothing that the view leads to.
            DrawingError: The view with them cannot be laid out.
        """
        view = self._revealing(ids)
        if view != self.view:
            self._show(view)

    def _show(self, view: ViewState) -> None:
        self._changes.drop()
        self.widget.tell_working()
        try:
            self.navigator.show(view)
            self.draw()
        finally:
            self.widget.tell_ready()

    def _revealing(self, ids: Sequence[str]) -> ViewState:
        view = self._changes.wanted
        for box in [self.navigator.resolve(node_id) for node_id in ids]:
            view = self.navigator.revealing(box, view)
        return view

    # What the user asks for in the page: it is shown as soon as it is laid out.

    def bring(self, ids: Sequence[str]) -> None:
        """Bring ops into the picture and then into view, one or two; raises as `reveal`."""
        wanted = list(ids)
        view = self._revealing(wanted)
        if view == self._changes.wanted and not self._changes.is_waiting:
            self.center(wanted)
        else:
            self._changes.ask(view, lambda: self.center(wanted))

    def on_waiting(self) -> None:
        """Show that another picture is on its way."""
        self.widget.tell_working()

    def on_entered(self) -> None:
        """Show the picture."""
        self.draw()

    def on_failed(self, error: HloWidgetsError) -> None:
        """Show why there is no other picture."""
        self.widget.tell_problem(str(error))

    def on_rest(self) -> None:
        """Show that there is nothing to wait for."""
        self.widget.tell_ready()

    def center(self, ids: Sequence[str]) -> None:
        """Bring ops of the picture into view, one or two; raises as `reveal`."""
        self.widget.center([self.navigator.resolve(node_id) for node_id in ids])

    def select(self, node_id: str) -> None:
        """Light the node of an op, which is that of its pair; "" for none."""
        self._selected = node_id
        self.widget.selected = self._lit_id()

    # What the browser says. Nothing that it sends may raise: a traceback in a kernel's log helps
    # nobody, so an error is told where the user looks.

    def on_message(self, content: object) -> None:
        """Do what a message from the browser asks for."""
        message = Message(content)
        node_id = message.text("id")
        if message.kind == "hover":
            self._show_hover(node_id)
        elif message.kind == "prepare":
            self._prepare(node_id)
        else:
            try:
                with self.widget.telling_problems():
                    self._change(message, node_id)
            finally:
                if not self._changes.is_waiting:
                    self.widget.tell_ready()

    def _prepare(self, node_id: str) -> None:
        """Begin to lay out what a click on a node will ask for."""
        layouts = self.navigator.layouts
        is_busy = self._changes.is_waiting or layouts.is_awaited
        if is_busy or not self.navigator.is_openable(node_id):
            return
        with suppress(HloWidgetsError):  # the click that follows will report it
            layouts.begin(self.view.toggled(node_id))

    def _change(self, message: Message, node_id: str) -> None:
        """Do what a message asks for that may change the picture."""
        view = self._changes.wanted
        if message.kind == "find":
            found = Finder(self.navigator).find(message.text("text"), self._selected)
            self._go(found.node_id)
            if found.words:
                self.widget.tell_note(found.words)
        elif message.kind == "stop":
            self.call_off()
        elif message.kind == "option":
            self._changes.ask(_with_option(view, message))
        elif message.kind == "focus" and self.navigator.instruction(node_id) is not None:
            self._changes.ask(replace(view, focus=node_id))
            self._go(node_id)
        elif message.kind == "toggle" and self.navigator.is_openable(node_id):
            # A second click on what is on its way asks for the same again.
            is_change = message.flag("open") is not (node_id in view.expanded)
            self._changes.ask(view.toggled(node_id) if is_change else view)
        if message.kind == "toggle" and self.navigator.instruction(node_id) is not None:
            self._tell_lit(without_copy(node_id))

    def _on_lit(self, node_id: str) -> None:
        # The node of a pair is lit for its start too: that is no new selection.
        if node_id != self._lit_id():
            self._tell_lit(without_copy(node_id))

    def _lit_id(self) -> str:
        return self.navigator.resolve(self._selected) if self._selected else ""

    def _show_hover(self, node_id: str) -> None:
        instruction = self.navigator.instruction(without_copy(node_id))
        if instruction is None:
            return
        text = "\n".join(member.text.strip() for member in pair_members(instruction))
        if len(text) > LONGEST_HOVER:
            text = f"{text[:LONGEST_HOVER]} ... ({len(text):,} characters)"
        self.widget.show_hover(node_id, text)


def _navigator(shown: Shown, view: ViewState, expanded: Iterable[str] = ()) -> Navigator:
    return Navigator(shown.module, view, shown.platform, shown.verdicts.pairs, expanded)


def _pictured(shown: Shown, navigator: Navigator, chosen: DecisionFilter) -> dict[str, Any]:
    graph, view = navigator.graph, navigator.view
    key = f"{shown.module.name}/{graph.computation}"
    shows = chosen.shows if shown.verdicts.pairs is not None else None
    picture: dict[str, Any] = plain(picture_of(graph, navigator.layout, view, key, shows))
    return picture


def _with_option(view: ViewState, message: Message) -> ViewState:
    """Return the view with what the user chose in the bar; unchanged where that is no choice."""
    name, value, flag = message.text("name"), message.text("value"), message.flag("value")
    if name == "color_by" and value in COLOR_MODES:
        return replace(view, color_by=value)
    if name in ("show_plumbing", "show_decisions") and flag is not None:
        return replace(view, **{name: flag})
    return view
