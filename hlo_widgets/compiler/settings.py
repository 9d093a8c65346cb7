"""What a user may change about the compiler processes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CompilerSettings", "settings"]


@dataclass
class CompilerSettings:
    """Limits of the compiler processes and the command that starts them.

    A change holds from the next compile on; where need be, that compile starts another worker.

    Attributes:
        time_limit_seconds: Longest time from sending a program to its result, the start of the
            process included. A worker that takes longer is ended with `CompileTimeoutError`. The
            drawing of an explained compile may take as long again; where it takes longer, the
            result says so and stands.
        idle_seconds: A worker without work for this long ends itself; the next compile starts
            another.
        log_bytes: How much of the end of a worker's log is kept.
        command: Command line of the worker, split as a shell would; the name of the toolchain and
            options are added at its end. `None` runs this Python. `"ssh box python -m
            hlo_widgets.compiler.worker"` compiles on another machine, whose packages then count
            instead of this one's.
        memory_limit_bytes: A worker that comes to hold more than this is ended with
            `CompileError`; `None` sets no limit. It takes the memory of a machine that others use
            seriously: libtpu alone holds about 400 MB.
        overtake_seconds: How long a compile may go on after a newer one under the same key has
            been asked for. Ending it costs the start of another worker, which most compiles are
            quicker than.
        cache_bytes: Largest size of the cache of compiled texts, and of the records of explained
            compiles, on disk; 0 turns it off. What takes more than half of it is not kept.
        cache_folder: Where that cache is; `None` means the folder that the system has for caches,
            or the one that the environment variable `HLO_WIDGETS_CACHE` names ("off" for none).
    """

    # Arbitrary: far above any compile of a cell, and short enough to be noticed while one waits.
    time_limit_seconds: float = 60.0
    idle_seconds: float = 600.0
    log_bytes: int = 65536
    command: str | None = None
    memory_limit_bytes: int | None = None
    overtake_seconds: float = 2.0
    cache_bytes: int = 256 * 2**20
    cache_folder: str | None = None


settings = CompilerSettings()
"""The settings of this process; change its attributes."""
