"""Removes the dumps of an explain worker once that is gone, however it ended.

A program of its own, run by its path with the folder as its argument: standard library only. Its
standard input ends when the worker does; in a session of its own it outlives whoever kills that.
What the compiler wrote last stands in the folder and goes to standard error first: it says why a
worker crashed.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

LOG = "compiler.log"
# As much of a log's end as the other side keeps by default.
_LOG_BYTES = 65536


def main(folder: str) -> None:
    """Wait for the end of standard input, then hand on the log's end and remove the folder."""
    sys.stdin.buffer.read()
    try:
        for log in sorted(Path(folder).glob(f"*/{LOG}")):
            with log.open("rb") as file:
                file.seek(max(0, log.stat().st_size - _LOG_BYTES))
                os.write(2, file.read())
    except OSError:
        pass  # nobody is left to read it
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
