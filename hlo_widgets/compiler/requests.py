"""Compiles that newer ones overtake: what live controls need."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable
from typing import Any

from hlo_widgets.compiler.compile import compile_for
from hlo_widgets.compiler.pool import workers
from hlo_widgets.compiler.result import CompilationResult

__all__ = ["call_off", "compile_newest", "newest"]


def newest(key: Hashable) -> contextlib.AbstractContextManager[None]:
    """Make the compiles of a block, in this thread, those of a key, and drop all older ones.

    They raise as `compile_newest`.
    """
    return workers.newest(key)


def compile_newest(
    key: Hashable, fun: Callable[..., Any], *args: Any, **kwargs: Any
) -> CompilationResult:
    """Compile as `compile_for` does, unless a newer call with the same key comes.

    Of the calls that wait for a worker only the newest is compiled. One that is being compiled goes
    on for `settings.overtake_seconds` and is then ended. Call it from a thread: it waits.

    Args:
        key: What the compile is for, such as one widget.
        fun: As `compile_for` takes it.
        *args: As `compile_for` takes them.
        **kwargs: As `compile_for` takes them.

    Raises:
        CompileCancelledError: If a newer call has overtaken this one, or `call_off` dropped it.
        Exception: As `compile_for`.
    """
    with workers.newest(key):
        return compile_for(fun, *args, **kwargs)


def call_off(key: Hashable) -> bool:
    """Drop every compile with a key, ending one that is under way.

    Returns:
        Whether there was one.
    """
    return workers.call_off(key)
