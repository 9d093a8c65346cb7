"""The controls above a graph: a change of what is compiled compiles it again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from hlo_widgets.analysis import asking_ops
from hlo_widgets.compiler import Phase, list_flags
from hlo_widgets.errors import CompileCancelledError, CompileError, HloWidgetsError
from hlo_widgets.widgets.controls.facts import outcome_words, target_facts, variant_facts
from hlo_widgets.widgets.controls.failure import failure_words
from hlo_widgets.widgets.controls.history import Entry, History
from hlo_widgets.widgets.controls.kernel_loop import KernelLoop
from hlo_widgets.widgets.controls.recompiler import Compiled, Recompiler
from hlo_widgets.widgets.controls.variant import Variant
from hlo_widgets.widgets.controls.view import ControlsView
from hlo_widgets.widgets.plain import plain
from hlo_widgets.widgets.shown import Shown

__all__ = ["Controls"]

Show = Callable[[Shown], None]
"""Shows something else in the Explorer; may raise what drawing raises."""


class Controls:
    """What is compiled, changed by hand or by program, with what came of it.

    Args:
        compiled: What the Explorer shows at first, and how it was compiled.
        show: Called with what a compile brought.
        mark_stale: Called with whether what is shown is not what is asked for.
        go: Called with the name of an op that a failure tells of, where the user wants to see it.

    Attributes:
        view: The widget.
        variant: What is asked for; not what is shown while that is compiled, or has failed.
        history: What was compiled.
    """

    def __init__(
        self,
        compiled: Compiled,
        show: Show,
        mark_stale: Callable[[bool], None],
        go: Callable[[str], None],
    ) -> None:
        self.view = ControlsView(layout={"width": "100%"})
        self.variant = compiled.variant
        self.history = History()
        self._show, self._mark_stale, self._go = show, mark_stale, go
        self._asking: list[str] = []
        self._problems: dict[str, str] = {}
        self._seen = ""
        self._loop = KernelLoop()
        self._recompiler = Recompiler(self, self._loop)
        self._shown = self.history.add(compiled, was_timed=False)
        self.view.targets = target_facts()
        self._tell_variant()
        self._tell_shown(self._shown)
        self.view.on_msg(lambda _, message, __: self._on_message(message))

    def compile_and_wait(self, variant: Variant) -> None:
        """Compile and show a variant.

        Raises:
            CompileCancelledError: A change in the controls has overtaken it, or it was cancelled.
            Exception: As `compile_for`.
        """
        self._loop.call_and_wait(lambda: self._take(variant))
        self._recompiler.wait_for(variant)

    def close(self) -> None:
        """Call off what is being compiled, and go."""
        self._recompiler.close()
        self.view.close()

    # What the recompiler tells.

    def on_phase(self, variant: Variant, phase: Phase | None) -> None:
        """Show how far a compile has come."""
        words = "about to compile" if phase is None else str(phase)
        is_stale = bool(self.view.status.get("is_stale"))
        self.view.status = plain(
            {"state": "working", "phase": f"{words} for {variant.target}", "is_stale": is_stale}
        )

    def on_compiled(self, compiled: Compiled) -> None:
        """Show what a compile brought."""
        try:
            self._show(compiled.shown)
        except HloWidgetsError as error:
            self.on_failed(compiled.variant, error)
            return
        self._shown = self.history.add(compiled)
        self._tell_shown(self._shown)

    def on_failed(self, variant: Variant, error: BaseException) -> None:
        """Show why there is no other picture, and that the one there is of something else."""
        was_called_off = isinstance(error, CompileCancelledError | KeyboardInterrupt)
        text = f"called off: {variant.target} was not compiled"
        self._mark_stale(True)
        report = error.memory_report if isinstance(error, CompileError) else None
        ops = () if report is None else asking_ops(report, self._shown.result.module)
        self._asking = [op.name for op in ops]
        self.view.status = plain(
            {
                "state": "off" if was_called_off else "failed",
                "text": text if was_called_off else failure_words(error),
                "is_stale": True,
                "asking": self._asking,
            }
        )
        self._mark_stale(True)

    # What the browser says. Nothing of it may raise.

    def _on_message(self, message: Mapping[str, Any]) -> None:
        self._loop.note()
        self._seen = str(message.get("serial", ""))
        kind, text = message.get("type"), str(message.get("text", ""))
        if kind == "argument":
            self._change_argument(message.get("index"), text)
        elif kind == "target":
            self._change("target", lambda: self.variant.with_target(text))
        elif kind == "flag":
            name = str(message.get("name", "")).strip().lstrip("-")
            value = None if message.get("text") is None else text
            self._change(f"flag {name}", lambda: self.variant.with_flag(name, value))
        elif kind == "cancel":
            self._cancel()
        elif kind == "retry":
            self._recompiler.ask(self.variant)
        elif kind == "show":
            self._show_again(message.get("number"))
        elif kind == "go":
            self._go_to(message.get("number"))
        elif kind == "list flags":
            self._list_flags()

    def _change_argument(self, index: object, text: str) -> None:
        if isinstance(index, int) and 0 <= index < len(self.variant.arguments.arguments):
            change = self.variant.with_argument
            self._change(f"argument {index}", lambda: change(index, text))

    def _change(self, place: str, change: Callable[[], Variant]) -> None:
        """Compile what a change makes of the variant; where it cannot be made, say so beside it."""
        try:
            variant = change()
        except HloWidgetsError as error:
            self._problems[place] = str(error)
            self._tell_variant()
            return
        self._problems.pop(place, None)
        is_news = not variant.is_same(self.variant)
        self.variant = variant
        self._tell_variant()
        if variant.is_same(self._shown.variant):
            self._cancel()
            self._tell_shown(self._shown)
        elif is_news:
            self._recompiler.ask(variant)

    def _cancel(self) -> None:
        if self.view.status.get("state") == "working":
            self._recompiler.cancel(self.variant)

    def _show_again(self, number: object) -> None:
        """Show an earlier variant, without a compile; none is what is shown now."""
        entry = self._shown
        if isinstance(number, int):
            entry = self.history.entry(number) or entry
        self._cancel()
        try:
            self._show(Shown.of_result(entry.result))
        except HloWidgetsError as error:
            self.on_failed(entry.variant, error)
            return
        self._shown = entry
        self._take(entry.variant)
        self._tell_shown(entry)

    def _go_to(self, number: object) -> None:
        """Show one of the ops that asked for too much memory, in the picture that there is."""
        if isinstance(number, int) and 0 <= number < len(self._asking):
            self._go(self._asking[number])

    def _list_flags(self) -> None:
        """Send the compiler's flags, from a thread: it may have to be asked, and busy."""
        target = self.variant.target

        def ask() -> None:
            try:
                rows = [[one.name, one.value, one.kind, one.help] for one in list_flags(target)]
                message = {"type": "flags", "target": target, "flags": rows}
            except HloWidgetsError as error:
                message = {"type": "no flags", "target": target, "text": str(error)}
            self._loop.call(lambda: self.view.send(plain(message)))

        run = self._loop.context.run
        threading.Thread(target=run, args=(ask,), daemon=True, name="hlo_widgets flags").start()

    def _take(self, variant: Variant) -> None:
        self.variant = variant
        self._problems.clear()
        self._tell_variant()

    def _tell_variant(self) -> None:
        self.view.variant = plain(variant_facts(self.variant, self._problems, self._seen))

    def _tell_shown(self, entry: Entry) -> None:
        words = outcome_words(entry, self.history.before(entry))
        self.view.history = plain({"rows": self.history.rows(), "shown": entry.number})
        self._mark_stale(False)
        # Last: whoever waits for it finds everything as it should be.
        self.view.status = plain({"state": "ready", "text": words, "is_stale": False})
