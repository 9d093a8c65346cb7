"""Decompression that keeps what can be read: a file that was cut is still worth a look."""

from __future__ import annotations

import bz2
import importlib
import lzma
import shutil
import subprocess
import zlib
from collections.abc import Callable
from typing import NamedTuple, Protocol

from hlo_widgets.errors import HloFileError

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Bytes given to a decompressor at a time: what it gave before an error is kept. Arbitrary.
_PIECE = 16_384


class Decompressed(NamedTuple):
    """What a compressed file holds.

    Attributes:
        data: All bytes that could be read.
        problem: Why they are not all; empty where they are.
    """

    data: bytes
    problem: str


class _Decompressor(Protocol):
    """What the decompressors of the standard library have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def decompress(data: bytes, path: str) -> Decompressed | None:
    """Decompress gzip, xz, bzip2 or zstd, told by the first bytes; None for anything else.

    Args:
        data: What the file holds.
        path: Its name, for errors.

    Raises:
        HloFileError: It is compressed with zstd, and nothing here reads that.
    """
    if data.startswith(b"\x1f\x8b"):
        return _in_pieces(data, lambda: zlib.decompressobj(wbits=31))
    if data.startswith(b"\xfd7zXZ\x00"):
        return _in_pieces(data, lzma.LZMADecompressor)
    if data.startswith(b"BZh"):
        return _in_pieces(data, bz2.BZ2Decompressor)
    return _zstd(data, path) if data.startswith(_ZSTD_MAGIC) else None


def _in_pieces(data: bytes, make: Callable[[], _Decompressor]) -> Decompressed:
    """Decompress one stream after another, as far as they go."""
    magic = data[:3]
    parts = []
    while True:
        stream = make()
        position = 0
        while position < len(data) and not stream.eof:
            try:
                parts.append(stream.decompress(data[position : position + _PIECE]))
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                return Decompressed(b"".join(parts), str(error) or "the data is damaged")
            position += _PIECE
        if not stream.eof:
            return Decompressed(b"".join(parts), "it ends too early")
        data = stream.unused_data + data[position:]
        # What follows is another stream, or nothing that matters: tapes are filled with zeros.
        if not data.startswith(magic):
            return Decompressed(b"".join(parts), "")


def _zstd(data: bytes, path: str) -> Decompressed:
    # In the standard library from Python 3.14 on, a package or a program before.
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return _in_pieces(data, importlib.import_module(name).ZstdDecompressor)
        except ImportError:
            continue
    program = shutil.which("zstd")
    if program is None:
        reason = "it is compressed with zstd, which needs Python 3.14, `pip install backports.zstd`"
        raise HloFileError(path, f"{reason} or the program zstd")
    done = subprocess.run([program, "-dc"], input=data, capture_output=True, check=False)
    words = done.stderr.decode(errors="replace").strip()
    return Decompressed(done.stdout, words if done.returncode else "")
