from __future__ import annotations

import io

import pytest

from hlo_widgets.compiler.framing import FrameError, read_frame, write_frame


def written(*messages):
    stream = io.BytesIO()
    for header, body in messages:
        write_frame(stream, header, body)
    return stream.getvalue()


class Trickle(io.BytesIO):
    """A stream that takes and gives at most three bytes at a time, as a pipe may."""

    def read(self, size=-1):
        return super().read(min(size, 3))

    def write(self, data):
        return super().write(bytes(data[:3]))


def test_messages_come_back_in_order_and_then_the_end():
    messages = [({"a": [1, None, "é"]}, b"\x00\xff" * 50_000), ({}, b"")]
    stream = io.BytesIO(written(*messages))
    assert [read_frame(stream), read_frame(stream), read_frame(stream)] == [*messages, None]


def test_a_stream_that_takes_and_gives_little_at_a_time():
    stream = Trickle()
    write_frame(stream, {"kind": "hello"}, b"0123456789")
    stream.seek(0)
    assert read_frame(stream) == ({"kind": "hello"}, b"0123456789")


def test_text_that_is_no_message_is_named():
    with pytest.raises(FrameError, match="Welcome to"):
        read_frame(io.BytesIO(b"Welcome to the machine\n"))


def test_every_cut_through_a_message_is_noticed():
    whole = written(({"kind": "hello"}, b"body"))
    for size in range(1, len(whole)):
        with pytest.raises(FrameError):
            read_frame(io.BytesIO(whole[:size]))


@pytest.mark.parametrize("header", [b"{", b"[1]", b"null", b"\xff", b"[" * 100_000])
def test_a_header_that_is_no_json_object_is_no_message(header):
    frame = b"HLOW" + len(header).to_bytes(4, "big") + bytes(8) + header
    with pytest.raises(FrameError, match="header of a message"):
        read_frame(io.BytesIO(frame))


def test_a_length_that_is_damaged_asks_for_no_memory():
    with pytest.raises(FrameError, match="ended inside"):
        read_frame(io.BytesIO(b"HLOW" + bytes(4) + b"\xff" * 8 + b"body"))
