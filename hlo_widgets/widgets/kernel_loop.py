"""Back from a thread to where a widget's messages are handled.

ipykernel 7 handles the messages of widgets in a loop of a thread of its own (a subshell), other
kernels in that of the cells. What a compile brings must be applied there: between two messages,
never in the middle of one.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitTimeoutError
from typing import Any

__all__ = ["KernelLoop"]

# How long a loop may be busy before whoever waits goes on without it. Arbitrary.
_PATIENCE_SECONDS = 10.0


class KernelLoop:
    """The loop that handles a widget's messages; none in a plain script."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self._context: contextvars.Context | None = None
        self._lock = threading.RLock()

    def note(self) -> None:
        """Remember the loop that runs in this thread: call it where a message is handled."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        # With the context the kernel's answers go to where the message came from.
        self._context = contextvars.copy_context()
        self._loop, self._thread = loop, threading.get_ident()

    @property
    def context(self) -> contextvars.Context:
        """A copy of the context of the last message, for a thread that works for it."""
        context = self._context
        return contextvars.copy_context() if context is None else context.copy()

    @property
    def runs_here(self) -> bool:
        """Whether this thread handles messages: as long as it waits, none is answered."""
        loop = self._loop
        return loop is not None and loop.is_running() and self._thread == threading.get_ident()

    def call(self, work: Callable[[], Any]) -> None:
        """Have work done between two messages; at once where there is no other loop to ask."""
        loop = self._loop
        if loop is None or not loop.is_running() or self._thread == threading.get_ident():
            self._do(work)
            return
        try:
            loop.call_soon_threadsafe(self._do, work, context=self._context)
        except RuntimeError:  # the page was loaded anew, and its loop is gone
            self._do(work)

    def call_and_wait(self, work: Callable[[], Any]) -> None:
        """Have work done between two messages, and wait until it is.

        Raises:
            Exception: What the work raises.
        """
        done: Future[None] = Future()

        def once() -> None:
            if not done.set_running_or_notify_cancel():
                return
            try:
                work()
                done.set_result(None)
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                done.set_exception(error)

        self.call(once)
        try:
            done.result(_PATIENCE_SECONDS)
        except WaitTimeoutError:
            if not done.cancel():  # it has begun
                done.result()
                return
            self._do(work)

    def _do(self, work: Callable[[], Any]) -> None:
        with self._lock:
            work()
