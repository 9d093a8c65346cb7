"""Decompression that keeps what can be read: a file that was cut is still worth a look."""

from __future__ import annotations

import bz2
import importlib
import lzma
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple, Protocol

from hlo_widgets.errors import HloFileError

__all__ = ["MOST_BYTES", "Decompressed", "decompress"]

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Bytes given to a decompressor at a time: what it gave before an error is kept. Arbitrary.
_PIECE = 16_384
# Bytes that one step of a decompressor may give. Arbitrary, far below what memory there is.
_STEP = 2**20
MOST_BYTES = 2 * 2**30
"""Bytes that a file may have, or unpack to: the reader needs several times as much memory."""


class Decompressed(NamedTuple):
    """What a compressed file holds.

    Attributes:
        data: All bytes that could be read.
        problem: Why they are not all; empty where they are.
    """

    data: bytes
    problem: str


class _Decompressor(Protocol):
    """What the decompressors of the standard library have in common, and `_Gzip` with them."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /, max_length: int) -> bytes: ...


class _Gzip:
    """The decompressor of gzip with the interface of the others."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, /, max_length: int) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


def decompress(data: bytes, path: str) -> Decompressed | None:
    """Decompress gzip, xz, bzip2 or zstd, told by the first bytes; None for anything else.

    Args:
        data: What the file holds.
        path: Its name, for errors.

    Raises:
        HloFileError: It is compressed with zstd, and nothing here reads that; or it unpacks to more
            than a module can be.
    """
    if data.startswith(b"\x1f\x8b"):
        return _in_pieces(data, path, _Gzip)
    if data.startswith(b"\xfd7zXZ\x00"):
        return _in_pieces(data, path, lzma.LZMADecompressor)
    if data.startswith(b"BZh"):
        return _in_pieces(data, path, bz2.BZ2Decompressor)
    return _zstd(data, path) if data.startswith(_ZSTD_MAGIC) else None


def _in_pieces(
    data: bytes,
    path: str,
    make: Callable[[], _Decompressor],
    damage: tuple[type[Exception], ...] = (
        OSError,
        EOFError,
        ValueError,
        zlib.error,
        lzma.LZMAError,
    ),
) -> Decompressed:
    """Decompress one stream after another, as far as they go."""
    magic, position = data[:3], 0
    parts: list[bytes] = []
    room = MOST_BYTES
    # What follows a stream is another one, or nothing that matters: tapes are filled with zeros.
    while data.startswith(magic, position):
        stream = make()
        while not stream.eof:
            piece = data[position : position + _PIECE] if stream.needs_input else b""
            if stream.needs_input and not piece:
                return Decompressed(b"".join(parts), "it ends too early")
            position += len(piece)
            try:
                parts.append(stream.decompress(piece, max_length=_STEP))
            except damage as error:
                return Decompressed(b"".join(parts), str(error) or "the data is damaged")
            room -= len(parts[-1])
            if room < 0:
                raise _too_large(path)
        position -= len(stream.unused_data)
    return Decompressed(b"".join(parts), "")


def _zstd(data: bytes, path: str) -> Decompressed:
    module = _zstd_module()
    if module is not None:
        return _in_pieces(data, path, module.ZstdDecompressor, (module.ZstdError, EOFError))
    program = shutil.which("zstd")
    if program is None:
        reason = "it is compressed with zstd, which needs Python 3.14, `pip install backports.zstd`"
        raise HloFileError(path, f"{reason} or the program zstd")
    return _run_zstd(program, data, path)


def _zstd_module() -> ModuleType | None:
    # In the standard library from Python 3.14 on, a package before.
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def _run_zstd(program: str, data: bytes, path: str) -> Decompressed:
    # Files, not pipes: of two pipes one has to be read while the other is written.
    with tempfile.TemporaryFile() as packed, tempfile.TemporaryFile() as words:
        packed.write(data)
        packed.seek(0)
        command = [program, "-dc"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=packed, stdout=pipe, stderr=words) as running:
            assert running.stdout is not None  # noqa: S101 - a pipe was asked for
            unpacked = running.stdout.read(MOST_BYTES + 1)
            if len(unpacked) > MOST_BYTES:
                running.kill()
                raise _too_large(path)
        words.seek(0)
        problem = words.read().decode(errors="replace").strip()
    return Decompressed(unpacked, problem if running.returncode else "")


def _too_large(path: str) -> HloFileError:
    return HloFileError(path, f"it unpacks to more than {MOST_BYTES // 2**30} GiB")
