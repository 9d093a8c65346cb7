"""Compiled texts on disk, so that an identical compile need not be made again.

One file an entry, named by a hash of everything that the text depends on. A file is written beside
its place and moved there, so that another process sees all of it or nothing; only clearing away the
least recently used takes a lock. A disk that is full or read-only costs the cache, not the compile.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlo_widgets.compiler.framing import FrameError, read_frame, write_frame
from hlo_widgets.compiler.process import Reply
from hlo_widgets.compiler.settings import CompilerSettings, settings

__all__ = ["Cache", "cache_key", "configured_cache"]

_VARIABLE = "HLO_WIDGETS_CACHE"
_SUFFIX = ".compiled"


def cache_key(request: Any, content: bytes, versions: Mapping[str, str]) -> str:
    """Hash everything that a compiled text depends on.

    Args:
        request: What is asked of which worker; values that JSON can hold.
        content: The program.
        versions: Versions of what compiles.
    """
    facts = json.dumps([request, versions], sort_keys=True)
    return hashlib.sha256(facts.encode() + b"\0" + content).hexdigest()


def configured_cache(settings: CompilerSettings = settings) -> Cache | None:
    """Return the cache that the settings and the environment ask for; `None` for none."""
    named = settings.cache_folder or os.environ.get(_VARIABLE)
    if settings.cache_bytes <= 0 or named == "off":
        return None
    if named:
        return Cache(Path(named), settings.cache_bytes)
    import platformdirs

    return Cache(
        Path(platformdirs.user_cache_dir("hlo_widgets")) / "compiles", settings.cache_bytes
    )


@dataclass(frozen=True)
class Cache:
    """A folder of replies.

    Attributes:
        folder: Where they are; made on first use.
        limit_bytes: Most that all of them may take together.
    """

    folder: Path
    limit_bytes: int

    def load(self, key: str) -> Reply | None:
        """Return a reply that was stored; `None` where there is none, or it is damaged."""
        path = self._path(key)
        try:
            with path.open("rb") as stream:
                frame = read_frame(stream)
            if frame is None:
                raise FrameError("empty")
            header, body = frame
            reply = Reply(header["reply"], zlib.decompress(body))
            os.utime(path)  # what is used stays longest
        except FileNotFoundError:
            return None
        except (OSError, FrameError, ValueError, KeyError, zlib.error):
            self._remove(path)
            return None
        return reply

    def store(self, key: str, reply: Reply) -> None:
        """Keep a reply, and clear away the least recently used where they become too many."""
        body = zlib.compress(reply.body, level=1)
        # One program shall not push out all others. An explained result of a layer takes 150 kB.
        if len(body) > self.limit_bytes // 2:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write(self._path(key), {"reply": dict(reply.header)}, body)
            self._clear_away()

    def size_bytes(self) -> int:
        """Return how much the entries take together."""
        return sum(size for _, size, _ in self._entries())

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _write(self, path: Path, header: Mapping[str, Any], body: bytes) -> None:
        descriptor, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                write_frame(stream, header, body)
            Path(name).replace(path)
        except BaseException:
            self._remove(Path(name))
            raise

    def _entries(self) -> list[tuple[float, int, Path]]:
        """List the entries, the least recently used first: when, how large, where."""
        entries = []
        with contextlib.suppress(FileNotFoundError):
            for found in os.scandir(self.folder):
                # Another process may remove one while we look; parts are of one that was killed.
                with contextlib.suppress(FileNotFoundError):
                    if found.name.endswith((_SUFFIX, ".part")):
                        facts = found.stat()
                        entries.append((facts.st_mtime, facts.st_size, Path(found.path)))
        return sorted(entries)

    def _clear_away(self) -> None:
        if self.size_bytes() <= self.limit_bytes:
            return
        import filelock

        # Whoever has the lock clears away for everybody.
        with (
            contextlib.suppress(filelock.Timeout),
            filelock.FileLock(self.folder / "lock", timeout=0),
        ):
            entries = self._entries()
            total = sum(size for _, size, _ in entries)
            for _, size, path in entries:
                if total <= self.limit_bytes:
                    break
                self._remove(path)
                total -= size

    def _remove(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink()
