"""The player of a replay: a slider, the picture of the moment, and what is to say of it."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from hlo_widgets.analysis.decisions import DecisionLog
from hlo_widgets.analysis.decisions.replay.grouping import Kernel
from hlo_widgets.analysis.decisions.replay.replay import Replay
from hlo_widgets.analysis.words import cut
from hlo_widgets.errors import DrawingError
from hlo_widgets.graph import Graph, ViewState
from hlo_widgets.graph.labels import LONGEST_NAME
from hlo_widgets.graph.replay import KernelNode, ReplayPictures
from hlo_widgets.graph.words import counted, one_line
from hlo_widgets.hlo import HloModule
from hlo_widgets.widgets.closing import close_widget
from hlo_widgets.widgets.message import Message
from hlo_widgets.widgets.picture.graph_view import GraphView
from hlo_widgets.widgets.picture.picture import picture_of
from hlo_widgets.widgets.plain import plain, plain_text
from hlo_widgets.widgets.replay.ahead import BaseLayouts
from hlo_widgets.widgets.replay.layout import moment_layout
from hlo_widgets.widgets.replay.view import ReplayView
from hlo_widgets.widgets.replay.words import describe_moment, describe_steps, step_words

__all__ = ["ReplayPlayer"]

HEIGHT = "540px"
"""Of the picture and the words beside it; arbitrary, both fit a laptop's screen with the bar."""

PLAY_INTERVAL_MS = 1_100
"""Between two steps of play; arbitrary, long enough to read who went into whom."""

LONGEST_OP = 400
"""Characters of the text of one op on hover; arbitrary, some lines."""

MOST_PICTURE_OPS = 8
"""Ops of a kernel whose text is shown on hover; arbitrary, about what a screen holds."""


class ReplayPlayer:
    """Plays a replay.

    Args:
        replay: The replay; it has a module.
        module: The module before fusion.
        log: All records.
        go: Called with the name of a kernel of the end that the user picks in the picture.

    Attributes:
        widget: What is shown.
        slider: The number of the step that is shown; setting its value goes there.
    """

    def __init__(
        self, replay: Replay, module: HloModule, log: DecisionLog, go: Callable[[str], None]
    ) -> None:
        self._replay, self._log, self._go = replay, log, go
        self._pictures = ReplayPictures(replay, module)
        self._layouts = BaseLayouts(self._pictures)
        self._boxes: dict[str, Kernel] = {}
        self._target: int | None = None
        self._selected: tuple[str | None, tuple[int, int] | None] = (None, None)
        self.graph = GraphView(layout={"flex": "3 1 370px", "min_width": "0", "height": HEIGHT})
        self.graph.add_class("hw-replay-graph")
        self.view = ReplayView(layout={"flex": "2 1 300px", "min_width": "0", "height": HEIGHT})
        self._make_bar(len(replay.steps))
        gap = {"width": "100%", "grid_gap": "6px"}
        below = ipywidgets.HBox([self.graph, self.view], layout=gap | {"flex_flow": "row wrap"})
        self.widget = ipywidgets.VBox([self.bar, below], layout=gap)
        self._listen()
        self._show(0)

    def select(self, name: str | None, inside: tuple[int, int] | None = None) -> None:
        """Tell which steps a kernel of the end grew in, and offer to go from one to the next.

        Args:
            name: Its name; None where nothing is selected.
            inside: As `describe_steps` takes it.
        """
        self._selected = name, inside
        self._tell_steps()

    def _tell_steps(self) -> None:
        name, inside = self._selected
        number = self.slider.value
        told = describe_steps(self._replay, name, number, inside) if name is not None else {}
        self.view.selected = plain(told)
        steps = self._replay.steps_of(name) if name is not None else ()
        # After the last comes the first again.
        self._target = next((step for step in steps if step > number), next(iter(steps), None))
        self.jump.disabled = self._target is None
        shown = one_line(name, LONGEST_NAME) if name is not None else "the selected op"
        words = (
            f"No step grew {shown}" if name is not None else "Go to the steps that grew a fusion"
        )
        if self._target is not None:
            words = f"Go to {step_words(steps, self._target)} that grew {shown}"
        self.jump.description = plain_text(words)
        self.jump.tooltip = (
            "Select a fusion above: this goes from one step that grew it to the next"
        )

    def show_step(self, number: int) -> None:
        """Go to a step; 0 is before the first."""
        self.slider.value = min(max(number, 0), self.slider.max)

    def close(self) -> None:
        """Take the player out of the page and out of the kernel's list of widgets."""
        close_widget(self._link)
        close_widget(self.widget)

    def _make_bar(self, last: int) -> None:
        self.slider = ipywidgets.IntSlider(
            0, 0, last, description="Step", layout={"flex": "1 1 220px", "min_width": "160px"}
        )
        self.play = ipywidgets.Play(
            value=0, min=0, max=last, interval=PLAY_INTERVAL_MS, show_repeat=False
        )
        # In the page itself: the buttons and the slider agree without a way through the kernel.
        self._link = ipywidgets.jslink((self.play, "value"), (self.slider, "value"))
        self.first = _small_button("fast-backward", "To before any fusion")
        self.back = _small_button("step-backward", "One step back")
        self.forward = _small_button("step-forward", "One step on")
        self.last = _small_button("fast-forward", "To the final graph")
        self.jump = ipywidgets.Button(disabled=True, layout={"width": "auto"})
        self.select(None)
        buttons = [self.first, self.back, self.play, self.forward, self.last]
        self.bar = ipywidgets.HBox(
            [*buttons, self.slider, self.jump],
            layout={"width": "100%", "flex_flow": "row wrap", "align_items": "center"},
        )
        self.bar.add_class("hw-replay-bar")

    def _listen(self) -> None:
        self.slider.observe(lambda change: self._show(change["new"]), "value")
        ends = {self.first: lambda: 0, self.last: lambda: self.slider.max}
        steps = {
            self.back: lambda: self.slider.value - 1,
            self.forward: lambda: self.slider.value + 1,
            self.jump: lambda: self.slider.value if self._target is None else self._target,
        }
        for button, number in (ends | steps).items():
            button.on_click(lambda _, number=number: self.show_step(number()))
        self.graph.on_msg(lambda _, message, __: self._on_graph(message))
        self.graph.observe(lambda change: self._on_box(change["new"]), "selected")
        self.view.on_msg(lambda _, message, __: self._on_words(message))

    def _show(self, number: int) -> None:
        is_slow = not self._layouts.is_ready(self._pictures.region(number))
        if is_slow:
            self.graph.tell_working()
        try:
            self._draw(number)
        except DrawingError as error:
            self.graph.tell_problem(str(error))
        finally:
            if is_slow:
                self.graph.tell_ready()
        self.view.moment = plain(describe_moment(self._replay, number, self._log))
        self._tell_steps()

    def _draw(self, number: int) -> None:
        graph = self._pictures.build(number)
        region = self._pictures.region(number)
        layout = moment_layout(graph, *self._layouts.of(region))
        nodes = (node for node in graph.nodes if isinstance(node, KernelNode))
        self._boxes = {node.id: node.kernel for node in nodes if node.kernel is not None}
        lit = self._lit(number, graph)
        picture = picture_of(graph, layout, ViewState(), region.key)
        # The last of what was fused is the place of the kernel: it keeps its place on the screen.
        hold = lit[-1] if lit else None
        start = hold or next(iter(self._lit(1, self._pictures.build(1))[-1:]), None)
        picture |= {"note": _note(graph), "start": start or picture["start"], "hold": hold}
        self.graph.selected = ""
        self.graph.picture = plain(picture)
        self.graph.reveal(lit[-2:])
        if number < self.slider.max:
            self._layouts.prepare(self._pictures.region(number + 1))

    def _lit(self, number: int, graph: Graph) -> list[str]:
        """Return the ids of what a step fused, those of the kernels that it made or named last."""
        if number == 0:
            return []
        step = self._replay.steps[number - 1]
        made = {*step.merged, *step.renamed.values()}
        if step.made is not None:
            made.add(step.made.name)
        lit = [node for node in graph.nodes if node.style == "joined"] or [
            node for node in graph.nodes if not made.isdisjoint(node.members)
        ]
        return [node.id for node in sorted(lit, key=lambda n: not made.isdisjoint(n.members))]

    # What the browser says. Nothing that it sends may raise.

    def _on_graph(self, content: object) -> None:
        message = Message(content)
        kind, node_id = message.kind, message.text("id")
        if kind == "hover" and node_id in self._boxes:
            self.graph.show_hover(node_id, _hover(self._boxes[node_id]))
        elif kind == "find":
            self._find(message.text("text"))
        if kind not in ("hover", "prepare"):
            self.graph.tell_ready()

    def _on_box(self, node_id: str) -> None:
        kernel = self._boxes.get(node_id)
        home = self._replay.home_of(kernel) if kernel is not None else None
        if home is not None:
            self._go(home)

    def _on_words(self, content: object) -> None:
        message = Message(content)
        number = message.number("number")
        if message.kind == "step" and number is not None:
            self.show_step(number)
        elif message.kind == "name":
            self._find(message.text("name"))

    def _find(self, text: str) -> None:
        """Light the kernel of that name, else the first whose name or ops hold the text."""
        wanted = text.removeprefix("%").casefold()
        names = {key: kernel.name.casefold() for key, kernel in self._boxes.items()}
        exact = [key for key, name in names.items() if name == wanted]
        parts = [key for key, name in names.items() if wanted in name]
        inside = [
            key
            for key, kernel in self._boxes.items()
            if any(wanted in op.name.casefold() for op in kernel.ops)
        ]
        found = next(iter((*exact, *parts, *inside)), None)
        if found is None:
            self.graph.tell_problem(f"no {text} in this picture")
            return
        self.graph.selected = found
        self.graph.center([found])


def _small_button(icon: str, tooltip: str) -> ipywidgets.Button:
    return ipywidgets.Button(icon=icon, tooltip=tooltip, layout={"width": "36px"})


def _note(graph: Graph) -> str:
    if not graph.left_out:
        return ""
    return (
        f"The program is large: the kernel of this step and what is near it are drawn,"
        f" {counted(graph.left_out, 'op')} of {graph.computation} are not."
    )


def _hover(kernel: Kernel) -> str:
    ops = kernel.ops
    lines = [f"{kernel.name}: {counted(kernel.size, 'op')}"] if kernel.op is None else []
    lines += [cut(op.text.strip(), LONGEST_OP) for op in ops[:MOST_PICTURE_OPS]]
    if len(ops) > MOST_PICTURE_OPS:
        lines.append(f"and {len(ops) - MOST_PICTURE_OPS:,} more")
    return "\n".join(lines)
