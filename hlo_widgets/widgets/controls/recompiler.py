"""Compiles in a thread while the notebook stays usable; of many changes the newest wins."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from hlo_widgets.compiler import CompilationResult, Phase, call_off, newest, reporting
from hlo_widgets.errors import CompileCancelledError
from hlo_widgets.widgets.controls.kernel_loop import KernelLoop
from hlo_widgets.widgets.controls.variant import Variant
from hlo_widgets.widgets.shown import Shown

__all__ = ["Compiled", "Listener", "Recompiler", "compile_variant"]

SETTLE_SECONDS = 0.12
"""How long changes that follow each other must rest. A key that is held down repeats every 30 ms;
a change that comes alone does not wait."""


@dataclass(frozen=True, eq=False)
class Compiled:
    """What a compile brought.

    Attributes:
        variant: What was compiled.
        result: What the compiler made of it.
        shown: The same, read.
        seconds: From the start of tracing to the compiler's answer.
    """

    variant: Variant
    result: CompilationResult
    shown: Shown
    seconds: float


def compile_variant(variant: Variant, *, refresh: bool = False) -> Compiled:
    """Compile a variant and read what comes; raises as `compile_for`."""
    start = time.perf_counter()
    result = variant.compile(refresh=refresh)
    seconds = time.perf_counter() - start
    # Here rather than where it is shown: a large text takes seconds to read.
    shown = Shown.of_result(result)
    return Compiled(variant, result, shown, seconds)


class Listener(Protocol):
    """Whom a `Recompiler` tells what happens, in the loop of the widget's messages."""

    def on_phase(self, variant: Variant, phase: Phase | None) -> None:
        """A compile has come to a phase; `None` where it is about to begin."""

    def on_compiled(self, compiled: Compiled) -> None:
        """The newest compile is done."""

    def on_failed(self, variant: Variant, error: BaseException) -> None:
        """The newest compile has failed, or was called off."""


class Recompiler:
    """Compiles what an Explorer is asked for.

    Args:
        listener: Whom to tell.
        loop: Where the listener is called.
    """

    def __init__(self, listener: Listener, loop: KernelLoop) -> None:
        self._listener = listener
        self._loop = loop
        self._lock = threading.Lock()
        # What the compiles of this widget are known by in the queues of the workers.
        self._key = object()
        self._number = 0
        self._asked_at = float("-inf")
        self._timer: threading.Timer | None = None
        self._is_closed = False

    def ask(self, variant: Variant) -> None:
        """Compile a variant in a thread, in the place of every one before it."""
        with self._lock:
            if self._is_closed:
                return
            now = time.monotonic()
            delay = SETTLE_SECONDS if now - self._asked_at < SETTLE_SECONDS else 0.0
            self._asked_at = now
            number = self._take_over()
            run = self._loop.context.run
            timer = threading.Timer(delay, run, args=(self._run, number, variant))
            timer.daemon = True
            timer.name = "hlo_widgets compile"
            self._timer = timer
        # Before the thread can tell of its first phase.
        self._listener.on_phase(variant, None)
        timer.start()

    def wait_for(self, variant: Variant) -> None:
        """Compile a variant in this thread, in the place of every one before it.

        The listener has been told when this returns.

        Raises:
            CompileCancelledError: A newer one has overtaken it, or it was called off.
            Exception: As `compile_for`.
        """
        with self._lock:
            number = self._take_over()
        self._loop.call_and_wait(lambda: self._listener.on_phase(variant, None))
        try:
            compiled = self._compiled(number, variant)
        except BaseException as error:
            failed = error
            self._loop.call_and_wait(lambda: self._tell_failed(number, variant, failed))
            raise
        self._loop.call_and_wait(lambda: self._tell_compiled(number, compiled))

    def cancel(self, variant: Variant) -> None:
        """Call off what is being compiled, or about to be."""
        with self._lock:
            number = self._take_over()
            call_off(self._key)
        error = CompileCancelledError(variant.target, "it was called off")
        self._tell_failed(number, variant, error)

    def close(self) -> None:
        """Call off what is under way; nobody is told of anything any more."""
        with self._lock:
            self._is_closed = True
            self._take_over()
            call_off(self._key)

    def _take_over(self) -> int:
        """Make all that was asked for before pointless; with the lock held."""
        self._number += 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return self._number

    def _run(self, number: int, variant: Variant) -> None:
        try:
            compiled = self._compiled(number, variant)
        except BaseException as error:  # noqa: BLE001 - a thread has nobody to raise it to
            failed = error
            self._loop.call(lambda: self._tell_failed(number, variant, failed))
        else:
            self._loop.call(lambda: self._tell_compiled(number, compiled))

    def _compiled(self, number: int, variant: Variant) -> Compiled:
        def tell(phase: Phase) -> None:
            self._loop.call(lambda: self._tell(number, self._listener.on_phase, variant, phase))

        with ExitStack() as stack:
            with self._lock:
                # Under the lock: an older one must not come to the workers after a newer one.
                if number != self._number:
                    raise CompileCancelledError(variant.target, "a newer change has overtaken it")
                stack.enter_context(newest(self._key))
            stack.enter_context(reporting(tell))
            return compile_variant(variant)

    def _tell_compiled(self, number: int, compiled: Compiled) -> None:
        self._tell(number, self._listener.on_compiled, compiled)

    def _tell_failed(self, number: int, variant: Variant, error: BaseException) -> None:
        self._tell(number, self._listener.on_failed, variant, error)

    def _tell(self, number: int, what: Callable[..., None], *facts: Any) -> None:
        # By now a newer change may have come.
        if number == self._number and not self._is_closed:
            what(*facts)
