"""How far a compile has come, for whoever shows it while it is under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum

__all__ = ["Phase", "report", "reporting"]


class Phase(StrEnum):
    """What a compile is busy with; the value is in words that a user reads."""

    TRACING = "tracing"
    """JAX traces and lowers the function, in the user's process."""

    WAITING = "waiting for the compiler"
    """The compiler process is busy with somebody else's program."""

    STARTING = "starting the compiler"
    """The compiler process loads its libraries."""

    COMPILING = "compiling"
    """The program is with the compiler."""

    READING = "reading"
    """The compiler has answered, and its text is read."""


_LISTENER: ContextVar[Callable[[Phase], None] | None] = ContextVar("listener", default=None)


@contextmanager
def reporting(listener: Callable[[Phase], None]) -> Iterator[None]:
    """Have the phases of every compile of a block, and of this thread, told to a function.

    Args:
        listener: Called as a phase begins, in the thread that compiles. A phase may be left out,
            and may come again. What it raises ends the compile.
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report(phase: Phase) -> None:
    """Tell whoever listens to this thread that a phase begins."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(phase)
