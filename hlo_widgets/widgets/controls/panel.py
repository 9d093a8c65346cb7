"""The controls above a graph: a change of what is compiled compiles it again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hlo_widgets.analysis import asking_ops
from hlo_widgets.compiler import Phase, list_flags
from hlo_widgets.errors import CompileCancelledError, CompileError
from hlo_widgets.hlo import HloModule
from hlo_widgets.widgets.controls import status
from hlo_widgets.widgets.controls.compiled import Compiled, compile_variant
from hlo_widgets.widgets.controls.facts import history_facts, target_facts, variant_facts
from hlo_widgets.widgets.controls.failure import failure_words
from hlo_widgets.widgets.controls.history import Entry, History
from hlo_widgets.widgets.controls.recompiler import Job, Recompiler
from hlo_widgets.widgets.controls.variant import Variant
from hlo_widgets.widgets.controls.view import ControlsView
from hlo_widgets.widgets.kernel_loop import KernelLoop
from hlo_widgets.widgets.message import Message
from hlo_widgets.widgets.plain import plain
from hlo_widgets.widgets.shown import Shown

__all__ = ["Controls"]

Prepare = Callable[[Shown], Any]
"""Draws what is to be shown next; may take its time, and raise what drawing raises."""


class Controls:
    """What is compiled, changed by hand or by program, with what came of it.

    Args:
        compiled: What the Explorer shows at first, and how it was compiled.
        prepare: Called with what a compile brought, in a thread.
        show: Called with what that returned, in the loop of the widget's messages.
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
        prepare: Prepare,
        show: Callable[[Any], None],
        mark_stale: Callable[[bool], None],
        go: Callable[[str], None],
    ) -> None:
        self.view = ControlsView(layout={"width": "100%"})
        self.variant = compiled.variant
        self.history = History()
        self._prepare, self._show = prepare, show
        self._mark_stale, self._go = mark_stale, go
        self._memory_askers: list[str] = []
        self._problems: dict[str, str] = {}
        self._seen = ""
        self._loop = KernelLoop()
        self._recompiler = Recompiler(self, self._loop)
        # Of the module on show, which may come from elsewhere: then it is nobody's entry.
        self._module = compiled.shown.module
        self._shown: Entry | None = self.history.add(compiled, was_timed=False)
        self.view.targets = target_facts()
        self._tell_variant()
        self._tell_shown(self._shown)
        self.view.on_msg(lambda _, content, __: self._on_message(content))

    def compile_and_wait(self, variant: Variant) -> None:
        """Compile and show a variant.

        Raises:
            NotCompilableError: The Explorer is closed.
            CompileCancelledError: A change in the controls has overtaken it, or it was cancelled.
            DrawingError: It was compiled, and is in the history, but cannot be drawn.
            Exception: As `compile_for`.
        """
        self._recompiler.wait_for(self._compile_job(variant))

    def on_other(self, shown: Shown) -> None:
        """Say that what is shown is something else by now, which was not compiled here.

        It is the newest wish: what is being compiled is called off.
        """
        self._loop.call_and_wait(lambda: self._take_other(shown))

    def recompile(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        target: str | None,
        flags: Mapping[str, Any] | None,
    ) -> None:
        """Compile what a change of the variant gives, and show it; raises as `compile_and_wait`.

        Args:
            args: Other positional arguments, all of them; none leaves them as they are.
            kwargs: Keyword arguments to set; the others stay.
            target: Another target; `None` leaves it.
            flags: Other flags, in the place of all of before; `None` leaves them.
        """
        variant = self.variant
        if args or kwargs:
            variant = variant.with_call(args, kwargs)
        if target is not None:
            variant = variant.with_target(target)
        if flags is not None:
            variant = variant.with_flags(flags)
        self.compile_and_wait(variant)

    def close(self) -> None:
        """Call off what is being compiled, and go."""
        self._recompiler.close()
        self.view.close()

    # What the recompiler tells.

    def on_begun(self, variant: Variant, words: str) -> None:
        """Show what is asked for, which a program may have asked for."""
        if variant is not self.variant:
            self._take(variant)
        self.on_phase(variant, words)

    def on_phase(self, variant: Variant, words: str) -> None:
        """Show how far it has come."""
        self._tell(status.working(variant, words, bool(self.view.status.get("is_stale"))))

    def on_failed(self, variant: Variant, error: BaseException) -> None:
        """Show why there is no other picture, and that the one there is of something else."""
        self._memory_askers = _memory_askers(error, self._module)
        self._mark_stale(True)
        self._tell(status.failed(variant, error, self._memory_askers))

    def on_not_drawn(self, variant: Variant, error: Exception) -> None:
        """Show why what a compile brought is not to be seen."""
        self._mark_stale(True)
        self._tell(status.not_drawn(variant, error))

    def _compile_job(self, variant: Variant) -> Job:
        begins = "about to compile"

        def bring() -> tuple[Compiled, Callable[[], None]]:
            compiled = compile_variant(variant)
            return compiled, self._drawn(compiled.shown)

        return Job(variant, begins, bring, self._show_compiled)

    def _drawn(self, shown: Shown) -> Callable[[], None]:
        """Draw something in this thread; return what shows it, or raises why it is not drawn."""
        try:
            drawn = self._prepare(shown)
        except Exception as error:  # noqa: BLE001 - of whatever kind: it was compiled all the same
            failure = error

            def fail() -> None:
                raise failure

            return fail
        return lambda: self._show(drawn)

    def _show_compiled(self, brought: tuple[Compiled, Callable[[], None]]) -> None:
        compiled, show = brought
        # First: whether it can be drawn or not, it was compiled, and can be shown later.
        entry = self.history.add(compiled)
        self._tell_history()
        self._show_entry(entry, compiled.shown.module, show)

    def _show_entry(self, entry: Entry, module: HloModule, show: Callable[[], None]) -> None:
        show()
        self._shown, self._module = entry, module
        self._tell_shown(entry)

    # What the browser says. Nothing of it may raise.

    def _on_message(self, content: object) -> None:
        self._loop.note()
        message = Message(content)
        self._seen = message.text("serial")
        number = message.number("number")
        if message.kind == "cancel":
            self._call_off()
        elif message.kind == "retry":
            self._recompiler.request(self._compile_job(self.variant))
        elif message.kind == "show" and number is not None:
            self._show_again(self.history.entry(number))
        elif message.kind == "back":
            self._show_again(self._shown)
        elif message.kind == "go":
            self._go_to(number)
        elif message.kind == "list flags":
            self._list_flags()
        else:
            self._read_change(message)

    def _read_change(self, message: Message) -> None:
        text, index = message.text("text"), message.number("index")
        name = message.text("name").strip().lstrip("-")
        if message.kind == "target":
            self._change("target", lambda: self.variant.with_target(text))
        elif message.kind == "flag":
            self._change(f"flag {name}", lambda: self.variant.with_flag(name, text))
        elif message.kind == "unset flag":
            self._change(f"flag {name}", lambda: self.variant.with_flag(name, None))
        elif message.kind == "argument" and index in range(len(self.variant.arguments.arguments)):
            self._change(f"argument {index}", lambda: self.variant.with_argument(index, text))

    def _change(self, place: str, change: Callable[[], Variant]) -> None:
        """Compile what a change makes of the variant; where it cannot be made, say so beside it."""
        try:
            variant = change()
        except Exception as error:  # noqa: BLE001 - of whatever kind: the user has to correct it
            self._problems[place] = failure_words(error)
            self._tell_variant()
            return
        self._problems.pop(place, None)
        is_news = not variant.is_same(self.variant)
        self.variant = variant
        self._tell_variant()
        if self._shown is not None and variant.is_same(self._shown.variant):
            self._recompiler.cancel()
            self._tell_shown(self._shown)
        elif is_news:
            self._recompiler.request(self._compile_job(variant))

    def _call_off(self) -> None:
        if self.view.status.get("state") == "working":
            self._recompiler.cancel()
            self.on_failed(self.variant, CompileCancelledError(self.variant.target, "cancelled"))

    def _show_again(self, entry: Entry | None) -> None:
        """Show what was compiled before, without a compile."""
        if entry is None:
            return
        again = entry
        self._take(entry.variant)

        def bring() -> tuple[HloModule, Callable[[], None]]:
            shown = again.read()
            return shown.module, self._drawn(shown)

        # In the thread: a large text takes seconds to read.
        begins = str(Phase.READING)
        show = self._show_entry
        self._recompiler.request(Job(entry.variant, begins, bring, lambda b: show(again, *b)))

    def _go_to(self, number: int | None) -> None:
        """Show one of the ops that asked for too much memory, in the picture that there is."""
        if number is not None and 0 <= number < len(self._memory_askers):
            self._go(self._memory_askers[number])

    def _list_flags(self) -> None:
        """Send the compiler's flags, from a thread: it may have to be asked, and busy."""
        target = self.variant.target

        def ask() -> None:
            try:
                rows = [[one.name, one.value, one.kind, one.help] for one in list_flags(target)]
                message = {"type": "flags", "target": target, "flags": rows}
            except Exception as error:  # noqa: BLE001 - it is told where the list would stand
                message = {"type": "no flags", "target": target, "text": failure_words(error)}
            self._loop.call(lambda: self.view.send(plain(message)))

        run = self._loop.context.run
        threading.Thread(target=run, args=(ask,), daemon=True, name="hlo_widgets flags").start()

    def _take(self, variant: Variant) -> None:
        self.variant = variant
        self._problems.clear()
        self._tell_variant()

    def _take_other(self, shown: Shown) -> None:
        self._recompiler.cancel()
        self._shown, self._module = None, shown.module
        self._tell_history()
        self._mark_stale(False)  # it is what the user wants to see
        self._tell(status.other(shown))

    def _tell_variant(self) -> None:
        self.view.variant = plain(variant_facts(self.variant, self._problems, self._seen))

    def _tell_history(self) -> None:
        self.view.history = plain(history_facts(self.history, self._shown))

    def _tell_shown(self, entry: Entry) -> None:
        self._tell_history()
        self._mark_stale(False)
        # Last: whoever waits for it finds everything as it should be.
        self._tell(status.ready(entry, self.history.before(entry)))

    def _tell(self, facts: dict[str, Any]) -> None:
        self.view.status = plain(facts)


def _memory_askers(error: BaseException, module: HloModule) -> list[str]:
    """Return the names of the ops of a module that asked for too much memory."""
    # Only a help: what is wrong with it must not be in the way of the error itself.
    with suppress(Exception):
        report = error.memory_report if isinstance(error, CompileError) else None
        return [] if report is None else [op.name for op in asking_ops(report, module)]
    return []
