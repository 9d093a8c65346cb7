"""From the bytes of a file to HLO text: what is compressed, and protocol buffers."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import NamedTuple

from hlo_widgets.errors import HloFileError
from hlo_widgets.hlo.compression import decompress

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


class FileText(NamedTuple):
    """The HLO text in a file.

    Attributes:
        text: The text.
        notes: What is to be told about the file.
    """

    text: str
    notes: tuple[str, ...]


def text_of_bytes(data: bytes, path: str) -> FileText:
    """Return the HLO text in the bytes of a file: text or a protocol buffer, perhaps compressed.

    Args:
        data: What the file holds.
        path: Its name, for errors.

    Returns:
        The text. Of compressed text that is damaged, or ends too early, it is what could be read.

    Raises:
        HloFileError: Nothing of the bytes can be read, or it needs something that is not
            installed.
    """
    problem = ""
    # A file compressed twice is somebody's mistake, and one that is easily undone.
    for _ in range(3):
        found = decompress(data, path)
        if found is None:
            break
        if found.problem:
            problem = problem or found.problem
            # Half a protocol buffer is none.
            if not found.data or _looks_binary(found.data):
                raise HloFileError(path, f"the compressed data is damaged ({problem})")
        data = found.data
    if _looks_binary(data):
        return FileText(_text_of_proto(data, path), ())
    notes = (f"the compressed file is damaged ({problem}); this is what could be read",)
    return FileText(data.decode("utf-8", errors="replace"), notes if problem else ())


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
