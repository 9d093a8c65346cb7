"""The Explorer: graph, detail and table of one module, linked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import ipywidgets
import traitlets

from hlo_widgets.analysis import module_platform, target_platform
from hlo_widgets.errors import DrawingError, HloLookupError
from hlo_widgets.graph import COLOR_MODES, ViewState
from hlo_widgets.hlo import HloInstruction, HloModule
from hlo_widgets.tables import cost_table
from hlo_widgets.widgets.cost_view import cost_view, shown_rows
from hlo_widgets.widgets.describe import describe_instruction
from hlo_widgets.widgets.detail_view import DetailView
from hlo_widgets.widgets.graph_view import GraphView
from hlo_widgets.widgets.navigator import Navigator
from hlo_widgets.widgets.picture import picture_of
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

LONGEST_HOVER = 4_000
"""Characters of an instruction shown on hover; arbitrary, about what a screen holds."""


class Explorer(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types for its base
    """A module as a graph whose fusions open by a click, its cost table and details of one op.

    Args:
        module: What to show.
        target: The name of the target that it was compiled for; None when it is not known.
        versions: Versions of the compiler's packages, shown with the title.
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

    - Type: `str`
    - Default: `""`, none
    """

    def __init__(
        self,
        module: HloModule,
        *,
        target: str | None = None,
        versions: Mapping[str, str] | None = None,
        expanded: Iterable[str] = (),
        color_by: str = "kind",
        node_limit: int | None = None,
    ) -> None:
        self.module = module
        self.table = cost_table(module, target=target, versions=versions)
        self._target = target
        self._versions = dict(versions or {})
        self._platform = target_platform(target) or module_platform(module)
        view = ViewState(color_by=color_by)
        if node_limit is not None:
            view = replace(view, node_limit=node_limit)
        self._navigator = Navigator(module, view)
        for name in expanded:
            self._navigator.expand(self._id(name))
        self._graph = GraphView(layout={"flex": "1 1 540px", "min_width": "0", "height": HEIGHT})
        self._detail = DetailView(
            layout={"flex": "0 1 340px", "min_width": "260px", "height": HEIGHT}
        )
        self._rows = shown_rows(self.table)
        self._cost = cost_view(self._rows)
        self._show_picture()
        self._describe()
        gap = {"width": "100%", "grid_gap": "6px"}
        top = ipywidgets.HBox([self._graph, self._detail], layout=gap)
        super().__init__([top, self._cost], layout=gap)
        self._graph.on_msg(lambda _, message, __: self._on_graph(message))
        self._detail.on_msg(lambda _, message, __: self._on_detail(message))
        self._graph.observe(lambda change: self._on_lit(change["new"]), "selected")
        self._cost.observe(lambda change: self._on_rows(change["new"]), "selected_rows")

    def __repr__(self) -> str:
        return f"<Explorer of {self.module.name}: {len(self.table)} rows of work>"

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
        self._navigator.expand(self._id(name))
        self._show_picture()

    def collapse(self, name: str) -> None:
        """Close an opened instruction, by name or id, and what is open inside it.

        Raises:
            HloLookupError: There is no such instruction.
        """
        node_id = self._id(name)
        if node_id in self.expanded:
            self._navigator.show(self.view.toggled(node_id))
            self._show_picture()

    def toggle(self, name: str) -> None:
        """Open an instruction, or close it when it is open."""
        node_id = self._id(name)
        if node_id in self.expanded:
            self.collapse(node_id)
        else:
            self.expand(node_id)

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
        data["text/html"] = static_html(self.module, self.view, self._rows)
        return bundle

    def _id(self, name: str) -> str:
        name = name.removeprefix("%")
        if self._navigator.instruction(name) is not None:
            return name
        node_id = self._navigator.id_of(self.module.instruction(name))
        if node_id is None:
            raise HloLookupError("instruction that this view can show called", name)
        return node_id

    def _show_picture(self) -> None:
        nav = self._navigator
        key = f"{self.module.name}/{nav.graph.computation}"
        self._graph.picture = picture_of(nav.graph, nav.layout, nav.view, key)

    def _on_graph(self, message: Mapping[str, Any]) -> None:
        kind = message.get("type")
        node_id = str(message.get("id", ""))
        if kind == "hover":
            self._send_hover(node_id)
            return
        if kind == "prepare":
            with suppress(DrawingError):  # the click that follows will report it
                self._navigator.prepare(self.view.toggled(node_id))
            return
        self._change(kind, node_id, message)
        self._graph.send({"type": "ready"})

    def _change(self, kind: str | None, node_id: str, message: Mapping[str, Any]) -> None:
        """Do what a message asks for that may change the picture."""
        try:
            if kind == "toggle":
                self._navigator.show(self.view.toggled(node_id))
            elif kind == "focus":
                self._navigator.show(replace(self.view, focus=node_id))
            elif kind == "option":
                self._navigator.show(_with_option(self.view, message))
            elif kind == "find":
                self._find(str(message.get("text", "")))
                return
        except DrawingError as error:
            self._graph.send({"type": "problem", "text": str(error)})
            return
        self._show_picture()
        if kind == "toggle":
            self._select_id(node_id)

    def _on_lit(self, node_id: str) -> None:
        # The box of a pair is lit for its start too: that is no new selection.
        if node_id != self._lit_id():
            self._select_id(node_id)

    def _lit_id(self) -> str:
        return self._navigator.box_id(self.selected) if self.selected else ""

    def _on_detail(self, message: Mapping[str, Any]) -> None:
        if message.get("type") == "go":
            self._go(str(message.get("id", "")))

    def _find(self, text: str) -> None:
        try:
            self._go(self._id(text))
        except HloLookupError as error:
            self._graph.send({"type": "problem", "text": str(error)})

    def _go(self, node_id: str) -> None:
        """Select an instruction, drawn or not, and bring it into the picture."""
        box = self._navigator.box_id(node_id)
        before = self.view
        try:
            self._navigator.reveal(box)
        except DrawingError as error:
            self._graph.send({"type": "problem", "text": str(error)})
        if self.view != before:
            self._show_picture()
        self._select_id(node_id)
        self._graph.send({"type": "center", "id": box})

    def _send_hover(self, node_id: str) -> None:
        instruction = self._navigator.instruction(node_id)
        if instruction is None:
            return
        text = instruction.text.strip()
        if len(text) > LONGEST_HOVER:
            text = f"{text[:LONGEST_HOVER]} ... ({len(text):,} characters)"
        self._graph.send({"type": "hover", "id": node_id, "text": text})

    def _select_id(self, node_id: str) -> None:
        node_id = node_id.partition("@")[0]
        if node_id and self._navigator.instruction(node_id) is None:
            node_id = ""
        self.selected = node_id
        self._graph.selected = self._lit_id()
        self._describe()
        self._cost.selected_rows = self._rows_of(node_id)

    def _describe(self) -> None:
        instruction = self._navigator.instruction(self.selected) if self.selected else None
        if instruction is None:
            self._detail.detail = {"summary": self._summary()}
        else:
            self._detail.detail = describe_instruction(instruction, self.selected, self._platform)

    def _summary(self) -> list[str]:
        count = sum(len(computation.instructions) for computation in self.module.computations)
        lines = [self.module.name or "module without a name"]
        if self._target:
            lines.append(f"compiled for {self._target}")
        lines.append(str(self.table.attrs["total"]))
        lines.append(f"{count:,} instructions in {len(self.module.computations):,} computations")
        lines += [f"{package} {version}" for package, version in self._versions.items()]
        lines += self.module.warnings
        return lines + HELP

    def _rows_of(self, node_id: str) -> list[int]:
        instruction = self._navigator.instruction(node_id) if node_id else None
        if instruction is None:
            return []
        names, computations = self._rows["name"], self._rows["computation"]
        found = (names == instruction.name) & (computations == instruction.parent.name)
        return [int(row) for row in found.to_numpy().nonzero()[0][:1]]

    def _on_rows(self, rows: list[int]) -> None:
        if not rows or rows == self._rows_of(self.selected):
            return
        row = self._rows.iloc[rows[0]]
        instruction = self._instruction_of_row(str(row["name"]), str(row["computation"]))
        node_id = self._navigator.id_of(instruction)
        if node_id is not None:
            self._go(node_id)

    def _instruction_of_row(self, name: str, computation: str) -> HloInstruction:
        return self.module.computation(computation).by_name[name]


def _with_option(view: ViewState, message: Mapping[str, Any]) -> ViewState:
    """Return the view with what the user chose in the bar; unchanged where that is no choice."""
    name, value = message.get("name"), message.get("value")
    if name == "color_by" and value in COLOR_MODES:
        return replace(view, color_by=value)
    if name == "show_plumbing" and isinstance(value, bool):
        return replace(view, show_plumbing=value)
    return view
