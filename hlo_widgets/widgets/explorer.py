"""The Explorer: graph, detail and table of one module, linked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import ipywidgets
import traitlets

from hlo_widgets.analysis import (
    executed_computations,
    is_memory_move,
    module_platform,
    pair_members,
    start_of,
    target_platform,
    work_instructions,
)
from hlo_widgets.errors import HloLookupError, HloWidgetsError
from hlo_widgets.graph import COLOR_MODES, ViewState
from hlo_widgets.graph.labels import counted
from hlo_widgets.graph.paths import without_copy
from hlo_widgets.graph.view import DEFAULT_NODE_LIMIT
from hlo_widgets.hlo import HloModule
from hlo_widgets.tables import cost_table
from hlo_widgets.widgets.cost_view import cost_view, shown_rows
from hlo_widgets.widgets.describe import describe_instruction
from hlo_widgets.widgets.detail_view import DetailView
from hlo_widgets.widgets.graph_view import GraphView
from hlo_widgets.widgets.navigator import Navigator
from hlo_widgets.widgets.picture import picture_of
from hlo_widgets.widgets.plain import plain, plain_text
from hlo_widgets.widgets.search import matching
from hlo_widgets.widgets.static import static_html

__all__ = ["Explorer"]

HEIGHT = "620px"
"""Of graph and detail; arbitrary, leaves room for the table on a laptop's screen."""

HELP = [
    "Click a rounded box to open it in place, and its title to close it.",
    "Select any box or row of the table to see its operands, layout, memory and figures here.",
    "Drag to move, Ctrl+wheel (or + and -) to zoom, 0 to see all.",
    "Tab and the arrow keys go from box to box, Enter opens, Esc clears the selection.",
]
"""What the detail panel says while nothing is selected."""

MOST_FOUND = 1_000
"""Ops that one search goes through; arbitrary, more than anybody steps through."""

LONGEST_HOVER = 4_000
"""Characters of an instruction shown on hover; arbitrary, about what a screen holds."""


class Explorer(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types for its base
    """A module as a graph whose fusions open by a click, its cost table and details of one op.

    Args:
        module: What to show.
        target: The name of the target that it was compiled for; None when it is not known.
        versions: Versions of the compiler's packages, shown with the title.
        notes: What the compiler process has to say about the result, shown with the title.
        expanded: Names (or ids) of the instructions that are open at the start.
        color_by: "kind", "cycles" or "memory".
        node_limit: The most nodes in one view; a larger program is shown in part.

    Attributes:
        module: The module shown.
        table: The cost table, all columns and rows.

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
        module: HloModule,
        *,
        target: str | None = None,
        versions: Mapping[str, str] | None = None,
        notes: Iterable[str] = (),
        expanded: Iterable[str] = (),
        color_by: str = "kind",
        node_limit: int = DEFAULT_NODE_LIMIT,
    ) -> None:
        self.module = module
        self.table = cost_table(module, target=target, versions=versions)
        self._about = [f"compiled for {target}"] if target else []
        self._about += [str(self.table.attrs["total"]), *notes, *module.warnings]
        self._about += [f"{package} {version}" for package, version in (versions or {}).items()]
        self._platform = target_platform(target) or module_platform(module)
        view = ViewState(color_by=color_by, node_limit=node_limit)
        self._navigator = Navigator(module, view, self._platform)
        for name in expanded:
            self._navigator.expand(self._box_id(name))
        self._rows = shown_rows(self.table)
        self._work = list(work_instructions(module))
        self._graph = GraphView(layout={"flex": "5 1 470px", "min_width": "0", "height": HEIGHT})
        self._detail = DetailView(layout={"flex": "1 1 300px", "min_width": "0", "height": HEIGHT})
        self._cost = cost_view(self._rows)
        self._show_picture()
        self._describe()
        gap = {"width": "100%", "grid_gap": "6px"}
        # Where the page is too narrow for both, the details go below the graph.
        wrap = {"flex_flow": "row wrap"}
        top = ipywidgets.HBox([self._graph, self._detail], layout=gap | wrap)
        super().__init__([top, *self._rows_note(), self._cost], layout=gap)
        self._listen()

    def _listen(self) -> None:
        self._graph.on_msg(lambda _, message, __: self._on_graph(message))
        self._detail.on_msg(lambda _, message, __: self._on_detail(message))
        self._graph.observe(lambda change: self._on_lit(change["new"]), "selected")
        self._cost.observe(lambda change: self._on_rows(change["new"]), "selected_rows")
        self.observe(lambda change: self._on_selected(change["new"]), "selected")

    def __repr__(self) -> str:
        return f"<Explorer of {self.module.name}: {counted(len(self.table), 'row')} of work>"

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

    def show(self, **changes: Any) -> None:
        """Change the view: `color_by`, `show_plumbing`, `focus`, `node_limit`, `computation`."""
        self._navigator.show(replace(self.view, **changes))
        self._show_picture()

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
        self._graph.picture = plain(picture_of(nav.graph, nav.layout, nav.view, key))

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
            ordered = dict.fromkeys((*self._work, *self.module.instructions()))
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
        if message.get("type") == "go":
            with self._telling_problems():
                self._go(self._id(str(message.get("id", ""))))

    def _on_lit(self, node_id: str) -> None:
        # The node of a pair is lit for its start too: that is no new selection.
        if node_id != self._lit_id():
            self.selected = without_copy(node_id)

    def _on_rows(self, rows: list[int]) -> None:
        if not rows or rows == self._rows_of(self.selected):
            return
        # The table has the same instructions in the same order.
        instruction = self._work[int(self._rows.index[rows[0]])]
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
        self._graph.selected = self._lit_id()
        self._describe()
        self._cost.selected_rows = self._rows_of(node_id)

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

    def _describe(self) -> None:
        instruction = self._navigator.instruction(self.selected) if self.selected else None
        if instruction is None:
            self._detail.detail = {"summary": plain(self._summary())}
        else:
            detail = describe_instruction(instruction, self.selected, self._platform)
            self._detail.detail = plain(detail)

    def _summary(self) -> list[str]:
        count = sum(len(computation.instructions) for computation in self.module.computations)
        size = f"{count:,} instructions in {len(self.module.computations):,} computations"
        title = self.module.name or "module without a name"
        return [title, *self._about, *self._what_totals_hold(), size, *HELP]

    def _what_totals_hold(self) -> list[str]:
        held = []
        if (self.table["trip_count"].fillna(1) != 1).any():
            held.append("What runs in a loop is counted as often as it runs.")
        moves = sum(
            is_memory_move(instruction) and start_of(instruction) is None
            for executed in executed_computations(self.module)
            for instruction in executed.computation.instructions
        )
        if moves:
            held.append(
                f"Not counted: {counted(moves, 'asynchronous move')} between memories, of which the"
                " compiler gives no figures."
            )
        return held

    def _rows_note(self) -> list[ipywidgets.Widget]:
        left_out = len(self.table) - len(self._rows)
        if not left_out:
            return []
        shown = f"The table shows the {len(self._rows):,} costliest rows; {left_out:,} more are"
        return [ipywidgets.Label(f"{shown} in the Explorer's `table`.")]

    def _rows_of(self, node_id: str) -> list[int]:
        instruction = self._navigator.instruction(node_id) if node_id else None
        if instruction is None:
            return []
        # The row of a pair is its start's.
        names = [member.name for member in pair_members(instruction)]
        same = self._rows["computation"] == instruction.parent.name
        found = self._rows["name"].isin(names) & same
        return [int(row) for row in found.to_numpy().nonzero()[0][:1]]


def _with_option(view: ViewState, message: Mapping[str, Any]) -> ViewState:
    """Return the view with what the user chose in the bar; unchanged where that is no choice."""
    name, value = message.get("name"), message.get("value")
    if name == "color_by" and value in COLOR_MODES:
        return replace(view, color_by=value)
    if name == "show_plumbing" and isinstance(value, bool):
        return replace(view, show_plumbing=value)
    return view
