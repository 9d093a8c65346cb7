"""Works in a thread while the notebook stays usable; of many changes the newest wins."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from hlo_widgets.compiler import Phase, call_off, newest, reporting
from hlo_widgets.errors import CompileCancelledError, NotCompilableError
from hlo_widgets.widgets.controls.variant import Variant
from hlo_widgets.widgets.kernel_loop import KernelLoop

__all__ = ["Job", "Listener", "Recompiler"]

SETTLE_SECONDS = 0.12
"""How long changes that follow each other must rest. A key that is held down repeats every 30 ms;
a change that comes alone does not wait."""


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be shown, and how that is had.

    Attributes:
        variant: Whose compile is to be shown.
        begins: What it does before a phase is reported, in words.
        bring: Has it, in a thread; may compile, and may take its time.
        apply: Shows what `bring` returned, in the loop of the widget's messages.
    """

    variant: Variant
    begins: str
    bring: Callable[[], Any]
    apply: Callable[[Any], None]


class Listener(Protocol):
    """Whom a `Recompiler` tells what happens, in the loop of the widget's messages."""

    def on_begun(self, variant: Variant, words: str) -> None:
        """A job is about to be done, in the place of every one before it."""

    def on_phase(self, variant: Variant, words: str) -> None:
        """A job has come to a phase."""

    def on_failed(self, variant: Variant, error: BaseException) -> None:
        """What the newest job should bring is not to be had, or was called off."""

    def on_not_drawn(self, variant: Variant, error: Exception) -> None:
        """What the newest job brought cannot be shown."""


class Recompiler:
    """Does what an Explorer is asked for.

    Args:
        listener: Whom to tell.
        loop: Where the listener is called.
        clock: Seconds that never go back.
    """

    def __init__(
        self, listener: Listener, loop: KernelLoop, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._listener = listener
        self._loop = loop
        self._clock = clock
        self._lock = threading.Lock()
        # What the compiles of this widget are known by in the queues of the workers.
        self._key = object()
        self._number = 0
        self._requested_at = float("-inf")
        self._timer: threading.Timer | None = None
        self._is_closed = False

    def request(self, job: Job) -> None:
        """Do a job in a thread, in the place of every one before it."""
        with self._lock:
            if self._is_closed:
                return
            now = self._clock()
            delay = SETTLE_SECONDS if now - self._requested_at < SETTLE_SECONDS else 0.0
            self._requested_at = now
            number = self._take_over()
            run = self._loop.context.run
            timer = threading.Timer(delay, run, args=(self._run, number, job))
            timer.daemon = True
            timer.name = "hlo_widgets compile"
            self._timer = timer
        # Before the thread can tell of its first phase.
        self._listener.on_begun(job.variant, job.begins)
        timer.start()

    def wait_for(self, job: Job) -> None:
        """Do a job in this thread, in the place of every one before it.

        What it brings is shown when this returns.

        Raises:
            NotCompilableError: The widget is closed.
            CompileCancelledError: A newer one has overtaken it, or it was called off.
            Exception: What the job raises.
        """
        with self._lock:
            if self._is_closed:
                raise NotCompilableError(
                    "this Explorer is closed: make another one with "
                    "hw.explore(function, arguments, target=...)"
                )
            number = self._take_over()
        tell = self._loop.call_and_wait
        tell(lambda: self._tell(number, self._listener.on_begun, job.variant, job.begins))
        try:
            brought = self._brought(number, job)
        except BaseException as error:
            failed = error
            tell(lambda: self._tell(number, self._listener.on_failed, job.variant, failed))
            raise
        tell(lambda: self._apply(number, job, brought))

    def cancel(self) -> None:
        """Call off what is being done, or about to be; the listener is not told."""
        with self._lock:
            self._take_over()
            call_off(self._key)

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

    def _run(self, number: int, job: Job) -> None:
        tell = self._loop.call
        try:
            brought = self._brought(number, job)
        except BaseException as error:  # noqa: BLE001 - a thread has nobody to raise it to
            failed = error
            tell(lambda: self._tell(number, self._listener.on_failed, job.variant, failed))
        else:
            tell(lambda: self._apply_and_tell(number, job, brought))

    def _brought(self, number: int, job: Job) -> Any:
        def tell(phase: Phase) -> None:
            facts = job.variant, str(phase)
            self._loop.call(lambda: self._tell(number, self._listener.on_phase, *facts))

        with ExitStack() as stack:
            with self._lock:
                # Under the lock: an older one must not come to the workers after a newer one.
                self._check_newest(number, job)
                stack.enter_context(newest(self._key))
            stack.enter_context(reporting(tell))
            return job.bring()

    def _apply(self, number: int, job: Job, brought: Any) -> None:
        """Show what came; whatever that raises is told, and raised to whoever waits."""
        self._check_newest(number, job)
        try:
            job.apply(brought)
        except Exception as error:
            self._listener.on_not_drawn(job.variant, error)
            raise

    def _apply_and_tell(self, number: int, job: Job, brought: Any) -> None:
        with suppress(Exception):  # it is told, or of a job that nobody wants any more
            self._apply(number, job, brought)

    def _check_newest(self, number: int, job: Job) -> None:
        if not self._is_newest(number):
            reason = "a newer change has overtaken it, or it was called off"
            raise CompileCancelledError(job.variant.target, reason)

    def _is_newest(self, number: int) -> bool:
        return number == self._number and not self._is_closed

    def _tell(self, number: int, what: Callable[..., None], *facts: Any) -> None:
        # By now a newer change may have come.
        if self._is_newest(number):
            what(*facts)
