"""From the bytes of a file to HLO text: compression and protocol buffers."""

from __future__ import annotations

import bz2
import gzip
import importlib
import importlib.util
import lzma
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable

from hlo_widgets.errors import HloFileError

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Seconds for a protocol buffer to become text. Arbitrary: a module of 8 MB takes one.
_PROTO_LIMIT_SECONDS = 120
# Reads a serialised HloModuleProto from standard input. In a process of its own, because XLA ends
# the process it runs in where a proto is not as it expects.
_PROTO_TO_TEXT = """
import sys
from jaxlib import _hlo
module = _hlo.HloModule.from_serialized_hlo_module_proto(sys.stdin.buffer.read())
sys.stdout.buffer.write(module.to_string().encode())
"""


def text_of_bytes(data: bytes, path: str) -> str:
    """Return the HLO text in the bytes of a file: text or a protocol buffer, perhaps compressed.

    Args:
        data: What the file holds.
        path: Its name, for errors.

    Raises:
        HloFileError: The bytes are damaged, or need something that is not installed.
    """
    # A file compressed twice is somebody's mistake, and one that is easily undone.
    for _ in range(3):
        decompress = _decompressor(data, path)
        if decompress is None:
            break
        try:
            data = decompress(data)
        except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
            raise HloFileError(path, f"the compressed data is damaged ({error})") from error
    if _looks_binary(data):
        return _text_of_proto(data, path)
    return data.decode("utf-8", errors="replace")


def _decompressor(data: bytes, path: str) -> Callable[[bytes], bytes] | None:
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress
    if data.startswith(b"\xfd7zXZ\x00"):
        return lzma.decompress
    if data.startswith(b"BZh"):
        return bz2.decompress
    return _zstd(path) if data.startswith(_ZSTD_MAGIC) else None


def _zstd(path: str) -> Callable[[bytes], bytes]:
    # In the standard library from Python 3.14 on, a package or a program before.
    for name in ("compression.zstd", "backports.zstd"):
        try:
            decompress: Callable[[bytes], bytes] = importlib.import_module(name).decompress
        except ImportError:
            continue
        return decompress
    program = shutil.which("zstd")
    if program is None:
        reason = "it is compressed with zstd, which needs Python 3.14, `pip install backports.zstd`"
        raise HloFileError(path, f"{reason} or the program zstd")

    def run(data: bytes) -> bytes:
        done = subprocess.run([program, "-dc"], input=data, capture_output=True, check=False)
        if done.returncode:
            raise OSError(done.stderr.decode(errors="replace").strip())
        return done.stdout

    return run


def _looks_binary(data: bytes) -> bool:
    return b"\x00" in data[:4096] or (data[:1] == b"\n" and _field_1(data) is not None)


def _field_1(data: bytes) -> bytes | None:
    """Return field 1 of a protocol buffer where it stands first and has a length; else None."""
    if data[:1] != b"\x0a":
        return None
    size = shift = 0
    for position in range(1, min(len(data), 6)):
        size |= (data[position] & 0x7F) << shift
        shift += 7
        if data[position] < 0x80:
            # A name alone is no module: something follows it.
            start = position + 1
            return data[start : start + size] if 0 < size <= len(data) - start else None
    return None


def _text_of_proto(data: bytes, path: str) -> str:
    """Turn an HloModuleProto, or an HloProto or HloSnapshot around one, into text."""
    # The first field of a module is its name. What wraps a module begins with the module, which
    # begins with the tag of its name, a line feed: no name begins so.
    inner = _field_1(data)
    while inner is not None and inner[:1] == b"\x0a":
        data = inner
        inner = _field_1(data)
    if inner is None:
        raise HloFileError(path, "it is neither text nor an HLO protocol buffer")
    if importlib.util.find_spec("jaxlib") is None:
        reason = "it is a protocol buffer, which is read by XLA: `pip install jax`, or dump text"
        raise HloFileError(path, f"{reason} with --xla_dump_hlo_as_text")
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROTO_TO_TEXT],
            input=data,
            capture_output=True,
            check=False,
            timeout=_PROTO_LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise HloFileError(path, f"XLA took more than {_PROTO_LIMIT_SECONDS} seconds") from error
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise HloFileError(
            path, f"XLA cannot read this protocol buffer: {words[-1] if words else ''}"
        )
    return done.stdout.decode("utf-8", errors="replace")
