"""A limit on the memory of a worker.

The limits that a system itself can set count memory that is only reserved, of which libtpu and XLA
reserve many times what they use. So the worker watches what it really holds.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["MEMORY_STATUS", "resident_bytes", "watch_memory"]

MEMORY_STATUS = 87
"""Exit status of a worker that has reached its limit. Arbitrary, and nobody else's."""

# A compiler that allocates as fast as it can gets some hundred megabytes further in this time.
_INTERVAL_SECONDS = 0.05


def resident_bytes() -> int | None:
    """Return how much memory this process holds; `None` where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def watch_memory(limit_bytes: int, end: Callable[[int], object]) -> None:
    """Watch this process in a thread, and end it when it holds too much.

    Args:
        limit_bytes: How much it may hold.
        end: Ends the process with a status.
    """
    threading.Thread(target=_watch, args=(limit_bytes, end), daemon=True).start()


def _watch(limit_bytes: int, end: Callable[[int], object]) -> None:
    while (held := resident_bytes()) is not None:
        if held > limit_bytes:
            print(f"holds {held} bytes, limit {limit_bytes}", file=sys.stderr)  # noqa: T201 - the log
            end(MEMORY_STATUS)
        time.sleep(_INTERVAL_SECONDS)
