"""The Explorer: graph, detail and tables of one module, linked."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import ipywidgets
import pandas as pd
import traitlets

from hlo_widgets.analysis.decisions import FusionDecision
from hlo_widgets.analysis.why import Explanation
from hlo_widgets.compiler import CompilationResult
from hlo_widgets.errors import NotCompilableError
from hlo_widgets.graph import ViewState
from hlo_widgets.graph.view import DEFAULT_NODE_LIMIT
from hlo_widgets.graph.words import counted
from hlo_widgets.hlo import HloInstruction, HloModule
from hlo_widgets.widgets.closing import close_inside
from hlo_widgets.widgets.controls.compiled import Compiled
from hlo_widgets.widgets.controls.panel import Controls
from hlo_widgets.widgets.cost.part import CostPart
from hlo_widgets.widgets.decisions.part import DecisionsPart
from hlo_widgets.widgets.decisions.passes_part import PassesPart
from hlo_widgets.widgets.details.panel import DetailPanel
from hlo_widgets.widgets.part import Part, Tabs
from hlo_widgets.widgets.picture.panel import Drawn, GraphPanel
from hlo_widgets.widgets.replay.part import ReplayPart
from hlo_widgets.widgets.shown import Shown
from hlo_widgets.widgets.static import static_html
from hlo_widgets.widgets.text.part import TextPart

__all__ = ["Explorer"]

HEIGHT = "620px"
"""Of graph and detail; arbitrary, leaves room for the table on a laptop's screen."""


class Explorer(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types for its base
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

    Setting it selects by name or id, and raises `HloLookupError` where there is no such
    instruction. `select` brings that into the picture, too.

    - Type: `str`
    - Default: `""`, none
    """

    target = traitlets.Unicode()
    """What the module was compiled for; "" where nobody knows.

    Setting it compiles the function for another target, as `recompile` does.

    - Type: `str`
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
        self._picture = GraphPanel(
            shown,
            ViewState(color_by=color_by, node_limit=node_limit),
            expanded,
            height=HEIGHT,
            go=self._bring,
            on_lit=self._on_lit,
            on_asked=self._on_asked,
        )
        self._details = DetailPanel(
            shown,
            self._picture.navigator,
            height=HEIGHT,
            go=self._go_to,
            ask=self._on_why,
            pick=self._on_pick,
        )
        self._tabs = Tabs(self._parts())
        super().__init__(layout={"width": "100%", "grid_gap": "6px"})
        self._controls: Controls | None = None
        if compiled is not None:
            self._controls = Controls(
                compiled, self._picture.prepare, self._enter, self._mark_stale, self._go_to
            )
        self._lay_out()
        self.target = shown.target or ""
        self._details.describe("")
        self._tabs.show(shown)
        self.observe(lambda _: self._mark_selected(), "selected")

    def _parts(self) -> list[Part]:
        return [
            CostPart(self._go_to),
            TextPart(self._go_to),
            DecisionsPart(self._go_to_decision, self._picture.set_filter),
            PassesPart(self._go_to),
            ReplayPart(self._go_to),
        ]

    def _lay_out(self) -> None:
        # Where the page is too narrow for both, the details go below the graph.
        wrap = {"width": "100%", "grid_gap": "6px", "flex_flow": "row wrap"}
        top = ipywidgets.HBox([self._picture.widget, self._details.widget], layout=wrap)
        controls = [] if self._controls is None else [self._controls.view]
        self.children = [*controls, top, self._tabs.widget]

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
        return self._picture.view

    @property
    def expanded(self) -> frozenset[str]:
        """Ids of what is open."""
        return self.view.expanded

    def expand(self, name: str) -> None:
        """Open an instruction, by name or id, and what it lies in.

        Raises:
            HloLookupError: There is no such instruction.
            DrawingError: The view with it cannot be laid out.
        """
        self._picture.expand(name)

    def collapse(self, name: str) -> None:
        """Close an opened instruction, by name or id, and what is open inside it.

        Raises:
            HloLookupError: There is no such instruction.
        """
        self._picture.collapse(name)

    def toggle(self, name: str) -> None:
        """Open an instruction, or close it when it is open."""
        self._picture.toggle(name)

    def select(self, name: str) -> None:
        """Select an instruction by name or id, as a click on its table row does.

        Raises:
            HloLookupError: There is no such instruction.
        """
        self._go(self._picture.navigator.meant(name))

    def why_not_fused(self, a: str, b: str) -> Explanation:
        """Show why two ops, by name or id, are not one kernel, as a click on their arrow does.

        Raises:
            HloLookupError: There is no such instruction.
        """
        ids = [self._picture.navigator.meant(name) for name in (a, b)]
        explanation = self._details.explain(ids)
        self._ask(ids)
        return explanation

    def show(self, **changes: Any) -> None:
        """Change the view: any attribute of a `ViewState`, such as `color_by` or `node_limit`."""
        self._picture.show(**changes)

    def show_result(self, result: CompilationResult) -> None:
        """Show another compile in the place of this one.

        What is open, focused and selected stays so where the other module has an op of that id.

        Raises:
            DrawingError: It cannot be laid out; what was shown stays.
        """
        shown = Shown.of_result(result)
        self._enter(self._picture.prepare(shown))
        if self._controls is not None:
            self._controls.on_other(shown)

    def recompile(
        self,
        *args: Any,
        target: str | None = None,
        flags: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Compile the function in another way, wait, and show that in the place of this one.

        The controls above the graph follow. A change that is made in them compiles without waiting.

        Args:
            *args: Other positional arguments, all of them; none leaves them as they are.
            target: Another target.
            flags: Other compiler flags, in the place of all of before.
            **kwargs: Keyword arguments of the function to set; the others stay.

        Raises:
            NotCompilableError: This Explorer was not made from a function.
            CompileCancelledError: A change in the controls has overtaken it, or it was cancelled.
            Exception: As `compile_for`; what was shown stays, marked as stale.
        """
        if self._controls is None:
            raise NotCompilableError(
                "this Explorer shows a module and has no function to compile again: make it with "
                "hw.explore(function, arguments, target=...)"
            )
        self._controls.recompile(args, kwargs, target, flags)

    def close(self) -> None:
        """Call off what is being compiled for it, and take it off the page, for good."""
        if self._controls is not None:
            self._controls.close()
        self._picture.call_off()
        self._tabs.close()
        close_inside(self)
        super().close()

    def __del__(self) -> None:
        # Every widget is closed when it is collected. One that was refused before it was made has
        # nothing to close, and at the end of Python nothing is left to close it with.
        if "_controls" in vars(self) and not sys.is_finalizing():
            super().__del__()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        # What is shown where no kernel and no widget manager runs.
        graph = self._picture.navigator.graph
        data["text/html"] = static_html(self.module.name, graph, self.table)
        return bundle

    # Showing something else.

    def _enter(self, drawn: Drawn) -> None:
        # Nothing of it raises: picture, details and tables are of one module.
        shown = self._shown = drawn.shown
        self._details.enter(shown, drawn.navigator)
        self._picture.enter(drawn)
        self._tabs.show(shown)
        self.selected = self.selected if self._instruction(self.selected) is not None else ""
        self._mark_selected()
        self.target = shown.target or ""

    def _mark_stale(self, is_stale: bool) -> None:
        (self.add_class if is_stale else self.remove_class)("hw-stale")

    @traitlets.validate("target")
    def _compile_for_target(self, proposal: Mapping[str, Any]) -> str:
        if proposal["value"] != (self._shown.target or ""):
            self.recompile(target=proposal["value"])
        return self._shown.target or ""

    # What is selected, or asked about.

    @traitlets.validate("selected")
    def _id_of_selected(self, proposal: Mapping[str, Any]) -> str:
        name = proposal["value"]
        return self._picture.navigator.meant(name) if name else ""

    def _instruction(self, node_id: str) -> HloInstruction | None:
        return self._picture.navigator.instruction(node_id) if node_id else None

    def _mark_selected(self) -> None:
        if self.selected:
            self._picture.widget.asked = []
        self._picture.select(self.selected)
        self._details.describe(self.selected)
        self._tabs.select(self._instruction(self.selected))

    def _go(self, node_id: str) -> None:
        """Select an instruction, drawn or not, and bring it into the picture."""
        try:
            self._picture.reveal([node_id])
        finally:
            self.selected = node_id
        self._picture.center([node_id])

    def _ask(self, ids: list[str]) -> None:
        """Bring two ops into the picture and open their explanation."""
        try:
            self._picture.reveal(ids)
        finally:
            self._picture.widget.asked = ids
        self._picture.center(ids)

    # The same without waiting for a picture, for what the user does in the page.

    def _bring(self, node_id: str) -> None:
        try:
            self._picture.bring([node_id])
        finally:
            self.selected = node_id

    def _bring_asked(self, ids: list[str]) -> None:
        try:
            self._picture.bring(ids)
        finally:
            self._picture.widget.asked = ids

    # What the user does in one part, for all. Nothing of it may raise: what goes wrong is told
    # above the graph.

    def _on_lit(self, node_id: str) -> None:
        self.selected = node_id if self._instruction(node_id) is not None else ""
        # Where that is no change, what was lit goes out.
        self._picture.select(self.selected)

    def _on_asked(self, ids: list[str]) -> None:
        """Open the explanation of two ops, or close it."""
        if ids:
            with self._picture.widget.telling_problems():
                self._details.explain(ids)
                self.selected = ""
        else:
            self._details.close_explanation()
        self._details.describe(self.selected)

    def _on_why(self, ids: list[str]) -> None:
        with self._picture.widget.telling_problems():
            self._bring_asked([self._picture.navigator.meant(node_id) for node_id in ids])

    def _on_pick(self, node_id: str) -> None:
        instruction = self._instruction(node_id)
        if instruction is not None:
            self._picture.widget.pick_other(node_id, instruction.name)

    def _go_to(self, wanted: HloInstruction | str) -> None:
        """Go to an op that a part was asked for, or to the one of a name or id."""
        widget = self._picture.widget
        with widget.telling_problems():
            if isinstance(wanted, str):
                self._bring(self._picture.navigator.meant(wanted))
                return
            node_id = self._picture.navigator.id_of(wanted)
            if node_id is None:
                widget.tell_problem(f"{wanted.name}: nothing that is drawn leads to it")
                return
            self._bring(node_id)
            if wanted.parent.by_name[wanted.name] is not wanted:
                widget.tell_problem(f"the text has several {wanted.name}: the first one is shown")

    def _go_to_decision(self, decision: FusionDecision) -> None:
        """Show the two ops of a record and why they are not one kernel."""
        ids = self._details.asking.ids_of(decision)
        widget = self._picture.widget
        with widget.telling_problems():
            if len(ids) == 2:
                self._bring_asked(ids)
            elif ids:
                self._bring(ids[0])
            else:
                widget.tell_problem(f"{decision.producer}: not joined with any op of this module")
