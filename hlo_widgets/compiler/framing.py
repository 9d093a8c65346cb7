"""Messages over a pipe: a JSON header and bytes, each with its length in front.

No pickles: a frame from a worker, which may run on another machine, can hold nothing that runs
code here.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

__all__ = ["FrameError", "read_frame", "write_frame"]

# The mark tells a frame from whatever else a program may print, such as a greeting of ssh.
_MARK = b"HLOW"
_HEAD = struct.Struct(">4sIQ")
# A damaged length must not ask for all memory at once. Arbitrary.
_PART_BYTES = 2**24


class FrameError(Exception):
    """The bytes that were read are not a frame."""


def write_frame(stream: BinaryIO, header: Mapping[str, Any], body: bytes = b"") -> None:
    """Write one message.

    Args:
        stream: Where to write; it may be unbuffered.
        header: Values that JSON can hold.
        body: The bytes that go with it.

    Raises:
        OSError: If the other side is gone.
    """
    text = json.dumps(header).encode()
    _write_all(stream, _HEAD.pack(_MARK, len(text), len(body)) + text)
    _write_all(stream, body)
    stream.flush()


def _write_all(stream: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        # An unbuffered pipe takes what fits.
        view = view[stream.write(view) :]


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Read one message, waiting for it.

    Returns:
        Its header and bytes, or `None` where the stream ends between two messages.

    Raises:
        FrameError: If the stream holds something else or ends inside a message.
    """
    head = _read_up_to(stream, _HEAD.size)
    if not head:
        return None
    if not head.startswith(_MARK) or len(head) < _HEAD.size:
        raise FrameError(f"expected a message, read {head!r}")
    _, header_size, body_size = _HEAD.unpack(head)
    text = _read_up_to(stream, header_size)
    body = _read_up_to(stream, body_size)
    if len(text) < header_size or len(body) < body_size:
        raise FrameError("the stream ended inside a message")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"the header of a message is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise FrameError(f"the header of a message is a {type(header).__name__}")
    return header, body


def _read_up_to(stream: BinaryIO, size: int) -> bytes:
    parts = []
    while size and (part := stream.read(min(size, _PART_BYTES))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
