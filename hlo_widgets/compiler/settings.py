"""What a user may change about the compiler processes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CompilerSettings", "settings"]


@dataclass
class CompilerSettings:
    """Limits of the compiler processes and the command that starts them.

    A change of `command` or `idle_seconds` holds for workers started after it: `shut_down()` ends
    the others.

    Attributes:
        time_limit_seconds: Longest time from sending a program to its result, the start of the
            process included. A worker that takes longer is ended with `CompileTimeoutError`.
        idle_seconds: A worker without work for this long ends itself; the next compile starts
            another.
        log_bytes: How much of the end of a worker's log is kept.
        command: Command line of the worker, split as a shell would; the name of the toolchain and
            options are added at its end. `None` runs this Python. `"ssh box python -m
            hlo_widgets.compiler.worker"` compiles on another machine, whose packages then count
            instead of this one's.
    """

    # Arbitrary: far above any compile seen, and short enough that a hang does not last until the
    # next morning.
    time_limit_seconds: float = 300.0
    idle_seconds: float = 600.0
    log_bytes: int = 65536
    command: str | None = None


settings = CompilerSettings()
"""The settings of this process; change its attributes."""
