"""The panel beside the graph: one op, why two are not one kernel, or the module in a few lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hlo_widgets.analysis.why import Explanation
from hlo_widgets.widgets.details.asking import Answer, Asking
from hlo_widgets.widgets.details.describe import describe_instruction
from hlo_widgets.widgets.details.summary import summary_lines
from hlo_widgets.widgets.details.view import DetailView
from hlo_widgets.widgets.message import Message
from hlo_widgets.widgets.picture.navigator import Navigator
from hlo_widgets.widgets.plain import plain
from hlo_widgets.widgets.shown import Shown

__all__ = ["DetailPanel"]


class DetailPanel:
    """The details.

    Args:
        shown: What is shown.
        navigator: Knows which op an id stands for.
        height: Of the widget, in CSS.
        go: Called with the id of an op that the user follows.
        ask: Called with the ids of two ops whose explanation the user wants.
        pick: Called with the id of an op that the user wants to choose another one for.

    Attributes:
        widget: The widget.
        asking: What can be asked about what is shown.
    """

    def __init__(
        self,
        shown: Shown,
        navigator: Navigator,
        *,
        height: str,
        go: Callable[[str], None],
        ask: Callable[[list[str]], None],
        pick: Callable[[str], None],
    ) -> None:
        self._go, self._ask, self._pick = go, ask, pick
        self.enter(shown, navigator)
        self.widget = DetailView(layout={"flex": "1 1 300px", "min_width": "0", "height": height})
        self.widget.on_msg(lambda _, content, __: self.on_message(content))

    def enter(self, shown: Shown, navigator: Navigator) -> None:
        """Speak of another module from the next `describe` on."""
        self._shown, self._navigator = shown, navigator
        self._answer: Answer | None = None
        self.asking = Asking(navigator, shown.verdicts)

    def explain(self, ids: Sequence[str]) -> Explanation:
        """Open the explanation of two ops, by their ids; the next `describe` shows it.

        Raises:
            HloLookupError: An id stands for no op, or there are not two; none is open then.
        """
        if self._answer is None or self._answer.ids != tuple(ids):
            self._answer = None
            self._answer = self.asking.answer(ids)
        return self._answer.explanation

    def close_explanation(self) -> None:
        """Close it; the next `describe` shows the selected op."""
        self._answer = None

    def describe(self, node_id: str) -> None:
        """Show the open explanation, else the op of an id, else the module."""
        instruction = self._navigator.instruction(node_id) if node_id else None
        detail: dict[str, Any]
        if self._answer is not None:
            detail = {"why": self._answer.words}
        elif instruction is None:
            detail = {"summary": summary_lines(self._shown)}
        else:
            detail = describe_instruction(instruction, node_id, self._shown.platform)
            detail["decisions"] = self.asking.decisions(instruction)
        self.widget.detail = plain(detail)

    def on_message(self, content: object) -> None:
        """Do what a message from the browser asks for."""
        message = Message(content)
        ids = message.texts("ids")
        if message.kind == "go":
            self._go(message.text("id"))
        elif message.kind == "why" and len(ids) == 2:
            self._ask(ids)
        elif message.kind == "pick":
            self._pick(message.text("id"))
