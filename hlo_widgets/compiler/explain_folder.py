"""The folder that an explain worker dumps into, and its cleaning, inside the worker."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from hlo_widgets.compiler import explain_keeper

__all__ = ["PREFIX", "ExplainFolder", "has_room", "sweep"]

PREFIX = "hlo_widgets_explain_"
_LOCK = "lock"
# A folder is locked right after it is made; a younger one may be about to be. Arbitrary.
_YOUNG_SECONDS = 60.0
# More than what is left beside a file that was cut. Arbitrary.
_PROBE_BYTES = 2**18


class ExplainFolder:
    """A temporary folder that goes when this process does, even where that is killed.

    A small program waits for the end of this process and removes the folder. Where that program was
    killed, too, the next explain worker does it: nobody holds the folder's lock any more.
    """

    def __init__(self) -> None:
        import filelock

        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = filelock.FileLock(self.path / _LOCK)
        self._lock.acquire()
        # -I and -S: it needs nothing that is installed, and starts in a few milliseconds.
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", explain_keeper.__file__, str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    @contextlib.contextmanager
    def request(self) -> Iterator[Path]:
        """Give a folder to dump into, which is removed at the end of the block.

        What is written to standard error meanwhile goes to a log in it.
        """
        folder = Path(tempfile.mkdtemp(dir=self.path))
        try:
            with _standard_error_to(folder / explain_keeper.LOG):
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def has_room(folder: Path) -> bool:
    """Return whether more could be written to a folder.

    A compiler does not say that a dump was cut. Where one was, it took all the room that there was.
    """
    probe = folder / "probe"
    try:
        probe.write_bytes(b"\xff" * _PROBE_BYTES)
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)
    return True


@contextlib.contextmanager
def _standard_error_to(path: Path) -> Iterator[None]:
    """Send what this process, C++ code included, writes to standard error to a file."""
    with contextlib.ExitStack() as stack:
        own = os.dup(2)
        stack.callback(os.close, own)
        with path.open("wb") as log:
            sys.stderr.flush()
            os.dup2(log.fileno(), 2)
        stack.callback(os.dup2, own, 2)
        stack.callback(sys.stderr.flush)
        yield


def sweep(age_seconds: float = _YOUNG_SECONDS) -> None:
    """Remove the folders of workers that are gone.

    Args:
        age_seconds: Younger ones are left alone.
    """
    import filelock

    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # Another worker may remove it while we look, or it may be another user's.
        with contextlib.suppress(OSError, filelock.Timeout):
            is_young = time.time() - folder.lstat().st_mtime < age_seconds
            if is_young or folder.is_symlink():
                continue
            with filelock.FileLock(folder / _LOCK, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
