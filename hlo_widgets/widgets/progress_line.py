"""One line in the output of a cell that says how far a compile is, and goes when it is done."""

from __future__ import annotations

import contextvars
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.display import display

from hlo_widgets.compiler import Phase, reporting

__all__ = ["progress_line"]

# A compile that is quicker needs no words. Arbitrary.
_QUIET_SECONDS = 0.4
_TICK_SECONDS = 0.2


@contextmanager
def progress_line(shell: Any, target: str) -> Iterator[None]:
    """Show phase and seconds of the compile in a block, where that takes its time.

    Args:
        shell: The IPython shell; only a kernel can replace what it has shown.
        target: What is compiled for.
    """
    if getattr(shell, "kernel", None) is None:
        yield
        return
    line = _Line(target)
    # With the context the line goes to the output of this cell.
    run = contextvars.copy_context().run
    thread = threading.Thread(target=run, args=(line.tick,), daemon=True)
    thread.start()
    try:
        with reporting(line.set_phase):
            yield
    finally:
        line.done.set()
        thread.join()
        line.clear()


class _Line:
    def __init__(self, target: str) -> None:
        self.done = threading.Event()
        self._target = target
        self._phase = Phase.TRACING
        self._id = f"hlo_widgets-{uuid.uuid4()}"
        self._is_shown = False
        self._start = time.monotonic()

    def set_phase(self, phase: Phase) -> None:
        self._phase = phase

    def tick(self) -> None:
        wait = _QUIET_SECONDS
        while not self.done.wait(wait):
            seconds = time.monotonic() - self._start
            self._display(f"{self._phase} for {self._target}… {seconds:.1f} s")
            wait = _TICK_SECONDS

    def clear(self) -> None:
        if self._is_shown:
            self._display("")

    def _display(self, text: str) -> None:
        bundle = {"text/plain": text}
        display(bundle, raw=True, display_id=self._id, update=self._is_shown)
        self._is_shown = True
