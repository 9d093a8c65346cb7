"""The Explorer: graph, detail and table of one module, linked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import ipywidgets
import pandas as pd
import traitlets

from hlo_widgets.analysis import pair_members, work_instructions
from hlo_widgets.analysis.decisions import FusionDecision
from hlo_widgets.analysis.why import Explanation
from hlo_widgets.compiler import CompilationResult
from hlo_widgets.errors import HloLookupError, HloWidgetsError
from hlo_widgets.graph import COLOR_MODES, ViewState
from hlo_widgets.graph.paths import without_copy
from hlo_widgets.graph.view import DEFAULT_NODE_LIMIT
from hlo_widgets.graph.words import counted
from hlo_widgets.hlo import HloInstruction, HloModule
from hlo_widgets.widgets.controls.recompiler import Compiled
from hlo_widgets.widgets.controls.recompiling import Recompiling
from hlo_widgets.widgets.cost.part import CostPart
from hlo_widgets.widgets.decisions.part import DecisionsPart
from hlo_widgets.widgets.decisions.passes_part import PassesPart
from hlo_widgets.widgets.decisions.verdicts import DecisionFilter
from hlo_widgets.widgets.details.asking import Asking
from hlo_widgets.widgets.details.describe import describe_instruction
from hlo_widgets.widgets.details.summary import summary_lines
from hlo_widgets.widgets.details.view import DetailView
from hlo_widgets.widgets.part import Tabs
from hlo_widgets.widgets.picture.graph_view import GraphView
from hlo_widgets.widgets.picture.navigator import Navigator
from hlo_widgets.widgets.picture.picture import picture_of
from hlo_widgets.widgets.picture.search import matching
from hlo_widgets.widgets.plain import plain, plain_text
from hlo_widgets.widgets.replay.part import ReplayPart
from hlo_widgets.widgets.shown import Shown
from hlo_widgets.widgets.static import static_html
from hlo_widgets.widgets.text.part import TextPart

__all__ = ["Explorer"]

HEIGHT = "620px"
"""Of graph and detail; arbitrary, leaves room for the table on a laptop's screen."""

MOST_FOUND = 1_000
"""Ops that one search goes through; arbitrary, more than anybody steps through."""

LONGEST_HOVER = 4_000
"""Characters of an instruction shown on hover; arbitrary, about what a screen holds."""


class Explorer(Recompiling):
    """A module as a graph whose fusions open by a click, its cost table and details of one op.

    Args:
        shown: What to show.
        compiled: How it was compiled from a function; with it there are controls that compile that
            again.
        expanded: Names (or ids) of the instructions that are open at the start.
        color_by: "kind", "cycles" or "memory".
        node_limit: The most nodes in one view; a larger program is shown in part.

    Raises:
        HloLookupError: `expanded` names an instruction that the module does not have.
        DrawingError: The layout program is missing or failed.
    """

    selected = traitlets.Unicode()
    """Id of the selected instruction: its name, after the ids of what it is drawn inside.

    Setting it selects, as `select` does.

    - Type: `str`
    - Default: `""`, none
    """

    def __init__(
        self,
        shown: Shown,
        *,
        compiled: Compiled | None = None,
        expanded: Iterable[str] = (),
        color_by: str = "kind",
        node_limit: int = DEFAULT_NODE_LIMIT,
    ) -> None:
        self._shown = shown
        view = ViewState(color_by=color_by, node_limit=node_limit)
        self._navigator = Navigator(shown.module, view, shown.platform, shown.verdicts.pairs)
        self._filter = DecisionFilter()
        self._answer: dict[str, Any] | None = None
        for name in expanded:
            self._navigator.expand(self._box_id(name))
        self._graph = GraphView(layout={"flex": "5 1 470px", "min_width": "0", "height": HEIGHT})
        self._detail = DetailView(layout={"flex": "1 1 300px", "min_width": "0", "height": HEIGHT})
        decisions = DecisionsPart(self._go_to_decision, self._set_filter)
        passes = PassesPart(self._go_to)
        self._tabs = Tabs(
            [
                CostPart(shown, self._go_to),
                TextPart(self._go_to),
                decisions,
                passes,
                ReplayPart(self._go_to),
            ]
        )
        self._show_picture()
        self._describe()
        self._tabs.show(shown)
        gap = {"width": "100%", "grid_gap": "6px"}
        # Where the page is too narrow for both, the details go below the graph.
        wrap = {"flex_flow": "row wrap"}
        top = ipywidgets.HBox([self._graph, self._detail], layout=gap | wrap)
        super().__init__(compiled, [top, self._tabs.widget], layout=gap)
        self._tell_target(shown)
        self._listen()

    def _listen(self) -> None:
        self._graph.on_msg(lambda _, message, __: self._on_graph(message))
        self._detail.on_msg(lambda _, message, __: self._on_detail(message))
        self._graph.observe(lambda change: self._on_lit(change["new"]), "selected")
        self._graph.observe(lambda change: self._on_asked(change["new"]), "asked")
        self.observe(lambda change: self._on_selected(change["new"]), "selected")

    def __repr__(self) -> str:
        return f"<Explorer of {self.module.name}: {counted(len(self.table), 'row')} of work>"

    @property
    def module(self) -> HloModule:
        """The module shown."""
        return self._shown.module

    @property
    def table(self) -> pd.DataFrame:
        """The cost table, all columns and rows."""
        return self._shown.table

    @property
    def view(self) -> ViewState:
        """What the graph shows now."""
        return self._navigator.view

    @property
    def expanded(self) -> frozenset[str]:
        """Ids of what is open."""
        return self._navigator.view.expanded

    def expand(self, name: str) -> None:
        """Open an instruction, by name or id, and what it lies in.

        Raises:
            HloLookupError: There is no such instruction.
            DrawingError: The view with it cannot be laid out.
        """
        self._navigator.expand(self._box_id(name))
        self._show_picture()

    def collapse(self, name: str) -> None:
        """Close an opened instruction, by name or id, and what is open inside it.

        Raises:
            HloLookupError: There is no such instruction.
        """
        node_id = self._box_id(name)
        if node_id in self.expanded:
            self._navigator.show(self.view.toggled(node_id))
            self._show_picture()

    def toggle(self, name: str) -> None:
        """Open an instruction, or close it when it is open."""
        if self._box_id(name) in self.expanded:
            self.collapse(name)
        else:
            self.expand(name)

    def select(self, name: str) -> None:
        """Select an instruction by name or id, as a click on its table row does.

        Raises:
            HloLookupError: There is no such instruction.
        """
        self._go(self._id(name))

    def why_not_fused(self, a: str, b: str) -> Explanation:
        """Show why two ops, by name or id, are not one kernel, as a click on their arrow does.

        Raises:
            HloLookupError: There is no such instruction.
        """
        ids = [self._id(a), self._id(b)]
        names = [str(self._navigator.instruction(node_id).name) for node_id in ids]
        explanation = self._shown.verdicts.explain(*names)
        self._ask(ids)
        return explanation

    def show(self, **changes: Any) -> None:
        """Change the view: any attribute of a `ViewState`, such as `color_by` or `node_limit`."""
        self._navigator.show(replace(self.view, **changes))
        self._show_picture()

    def show_result(self, result: CompilationResult) -> None:
        """Show another compile in the place of this one.

        What is open, focused and selected stays so where the other module has an op of that id.

        Raises:
            DrawingError: It cannot be laid out; what was shown stays.
        """
        self._show_other(Shown.of_result(result))

    def _show_other(self, shown: Shown) -> None:
        pairs = shown.verdicts.pairs
        navigator = Navigator(shown.module, self._fresh_view(), shown.platform, pairs)
        navigator.return_to(self.view)
        selected = self.selected
        self._shown, self._navigator = shown, navigator
        self._filter, self._graph.asked = DecisionFilter(), []
        # Before the tables, so that it is on its way while those are made.
        self._show_picture()
        self._tabs.show(shown)
        kept = navigator.instruction(selected) if selected else None
        self.selected = selected if kept is not None else ""
        self._mark_selected()
        self._tell_target(shown)

    def _fresh_view(self) -> ViewState:
        """Return the view's options without what they have to do with this module."""
        return replace(self.view, computation=None, expanded=frozenset(), focus=None)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        # What is shown where no kernel and no widget manager runs.
        data["text/html"] = static_html(self.module.name, self._navigator.graph, self.table)
        return bundle

    def _id(self, name: str) -> str:
        """Return the id that a user means: a start's own, although its pair goes by the done."""
        named = without_copy(name.removeprefix("%"))
        found = self._navigator.instruction(named)
        return named if found is not None else self._navigator.resolve(name)

    def _box_id(self, name: str) -> str:
        return self._navigator.resolve(name)

    def _show_picture(self) -> None:
        nav = self._navigator
        key = f"{self.module.name}/{nav.graph.computation}"
        # Words on the arrows move everything: such a picture starts anew.
        key += "/decisions" * nav.view.show_decisions
        shows = self._filter.shows if self._shown.verdicts.pairs is not None else None
        self._graph.picture = plain(picture_of(nav.graph, nav.layout, nav.view, key, shows))

    # What the browser says. Nothing that it sends may raise: a traceback in a kernel's log helps
    # nobody, so an error is told where the user looks.

    def _on_graph(self, message: Mapping[str, Any]) -> None:
        kind = message.get("type")
        node_id = str(message.get("id", ""))
        if kind == "hover":
            self._send_hover(node_id)
        elif kind == "prepare":
            with suppress(HloWidgetsError):  # the click that follows will report it
                if self._navigator.is_openable(node_id):
                    self._navigator.prepare(self.view.toggled(node_id))
        else:
            try:
                with self._telling_problems():
                    self._change(kind, node_id, message)
            finally:
                self._graph.send({"type": "ready"})

    def _change(self, kind: str | None, node_id: str, message: Mapping[str, Any]) -> None:
        """Do what a message asks for that may change the picture."""
        if kind == "find":
            self._find(str(message.get("text", "")))
        elif kind == "option":
            self._navigator.show(_with_option(self.view, message))
        elif kind == "focus" and self._navigator.instruction(node_id) is not None:
            self._navigator.show(replace(self.view, focus=node_id))
            self._go(node_id)
        elif kind == "toggle" and self._navigator.is_openable(node_id):
            self._navigator.show(self.view.toggled(node_id))
        self._show_picture()
        if kind == "toggle":
            self.selected = without_copy(node_id)

    def _find(self, text: str) -> None:
        """Go to the op of that name, else to the next of all that a part of it leads to."""
        try:
            self._go(self._id(text))
            return
        except HloLookupError as error:
            # What does work first: of a fusion and its hundred ops one looks for the fusion.
            work = work_instructions(self.module)
            ordered = dict.fromkeys((*work, *self.module.instructions()))
            ids = [self._navigator.id_of(found) for found in matching(ordered, text)[:MOST_FOUND]]
            found = [node_id for node_id in dict.fromkeys(ids) if node_id is not None]
            if not text or not found:
                raise error from None
        position = found.index(self.selected) + 1 if self.selected in found else 0
        position %= len(found)
        self._go(found[position])
        text = f"{position + 1:,} of {len(found):,} found"
        self._graph.send({"type": "note", "text": text})

    @contextmanager
    def _telling_problems(self) -> Iterator[None]:
        try:
            yield
        except HloWidgetsError as error:
            self._graph.send({"type": "problem", "text": str(error)})

    def _on_detail(self, message: Mapping[str, Any]) -> None:
        node_id = str(message.get("id", ""))
        if message.get("type") == "go":
            with self._telling_problems():
                self._go(self._id(node_id))
        elif message.get("type") == "why":
            with self._telling_problems():
                self._ask([self._id(str(node_id)) for node_id in message.get("ids", ())])
        elif message.get("type") == "pick" and (op := self._navigator.instruction(node_id)):
            self._graph.send({"type": "pick", "id": node_id, "name": plain_text(op.name)})

    def _on_asked(self, ids: list[str]) -> None:
        """Open the explanation of two ops, or close it."""
        answer = None
        if ids:
            with self._telling_problems():
                answer = self._asking.answer(ids)
        self._answer = answer
        if answer is not None:
            self.selected = ""
        self._describe()

    def _ask(self, ids: list[str]) -> None:
        """Bring two ops into the picture and open their explanation."""
        before = self.view
        try:
            boxes = [self._box_id(node_id) for node_id in ids]
            for box in boxes:
                self._navigator.reveal(box)
        finally:
            if self.view != before:
                self._show_picture()
            self._graph.asked = ids
        self._graph.send({"type": "center_pair", "ids": boxes})

    def _go_to_decision(self, decision: FusionDecision) -> None:
        """Show the two ops of a record and why they are not one kernel."""
        ids = self._asking.ids_of(decision)
        with self._telling_problems():
            if len(ids) == 2:
                self._ask(ids)
            elif ids:
                self._go(ids[0])
            else:
                told = plain_text(f"{decision.producer}: not joined with any op of this module")
                self._graph.send({"type": "problem", "text": told})

    def _set_filter(self, chosen: DecisionFilter) -> None:
        """Draw the verdicts alone that a filter of the records leaves."""
        self._filter = chosen
        self._show_picture()

    @property
    def _asking(self) -> Asking:
        return Asking(self._navigator, self._shown.verdicts)

    def _on_lit(self, node_id: str) -> None:
        # The node of a pair is lit for its start too: that is no new selection.
        if node_id != self._lit_id():
            self.selected = without_copy(node_id)

    def _go_to_name(self, name: str) -> None:
        """Go to an op that a failed compile has named."""
        with self._telling_problems():
            self.select(name)

    def _go_to(self, instruction: HloInstruction) -> None:
        """Go to an op that a part below was asked for."""
        node_id = self._navigator.id_of(instruction)
        if node_id is None:
            return
        with self._telling_problems():
            self._go(node_id)
        if instruction.parent.by_name[instruction.name] is not instruction:
            text = f"the text has several {instruction.name}: the first one is shown"
            self._graph.send({"type": "problem", "text": text})

    def _on_selected(self, node_id: str) -> None:
        if node_id and self._navigator.instruction(node_id) is None:
            self.selected = ""
            return
        self._mark_selected()

    def _mark_selected(self) -> None:
        if self.selected:
            self._graph.asked = []
        self._graph.selected = self._lit_id()
        self._describe()
        self._tabs.select(self._selected_instruction())

    def _go(self, node_id: str) -> None:
        """Select an instruction, drawn or not, and bring it into the picture."""
        box = self._box_id(node_id)
        before = self.view
        try:
            self._navigator.reveal(box)
        finally:
            if self.view != before:
                self._show_picture()
            self.selected = node_id
        self._graph.send({"type": "center", "id": box})

    def _lit_id(self) -> str:
        return self._box_id(self.selected) if self.selected else ""

    def _send_hover(self, node_id: str) -> None:
        instruction = self._navigator.instruction(without_copy(node_id))
        if instruction is None:
            return
        text = "\n".join(member.text.strip() for member in pair_members(instruction))
        if len(text) > LONGEST_HOVER:
            text = f"{text[:LONGEST_HOVER]} ... ({len(text):,} characters)"
        self._graph.send({"type": "hover", "id": node_id, "text": plain_text(text)})

    def _selected_instruction(self) -> HloInstruction | None:
        return self._navigator.instruction(self.selected) if self.selected else None

    def _describe(self) -> None:
        instruction = self._selected_instruction()
        if self._answer is not None:
            self._detail.detail = {"why": plain(self._answer)}
        elif instruction is None:
            self._detail.detail = {"summary": plain(summary_lines(self._shown))}
        else:
            detail = describe_instruction(instruction, self.selected, self._shown.platform)
            decisions = self._asking.decisions(instruction)
            self._detail.detail = plain(detail | {"decisions": decisions})


def _with_option(view: ViewState, message: Mapping[str, Any]) -> ViewState:
    """Return the view with what the user chose in the bar; unchanged where that is no choice."""
    name, value = message.get("name"), message.get("value")
    if name == "color_by" and value in COLOR_MODES:
        return replace(view, color_by=value)
    if name in ("show_plumbing", "show_decisions") and isinstance(value, bool):
        return replace(view, **{name: value})
    return view
