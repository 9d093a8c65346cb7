"""What a compiler writes down where it draws its fusions, asked for once the text is here."""

from __future__ import annotations

from collections.abc import Callable

from hlo_widgets.compiler.process import Reply
from hlo_widgets.errors import CompileCancelledError, CompileError

__all__ = ["with_pictures"]

# What the reason may take in a note. Arbitrary.
_MOST_CHARACTERS = 200


def with_pictures(reply: Reply, ask: Callable[[], Reply]) -> tuple[Reply, bool]:
    """Add the records that come of drawing to a reply, or a note that there are none.

    Args:
        reply: The reply to the program, of kind "compiled".
        ask: Sends the program once more, to be drawn.

    Returns:
        The reply, and whether another try would bring the same.

    Raises:
        CompileCancelledError: If nobody wants the reply any more.
    """
    try:
        drawn = ask()
    except CompileCancelledError:
        raise
    except CompileError as error:
        return _without(reply, error.reason), False
    if drawn.header["kind"] != "drawn":
        return _without(reply, drawn.header["reason"]), True
    sums = {
        "records_bytes": reply.header["records_bytes"] + len(drawn.body),
        "records_left_out": reply.header["records_left_out"] + drawn.header["records_left_out"],
        "notes": [*reply.header["notes"], *drawn.header["notes"]],
    }
    whole = Reply({**reply.header, **sums}, reply.body + drawn.body)
    return whole, drawn.header["is_whole"]


def _without(reply: Reply, reason: str) -> Reply:
    note = f"the compiler made no fusion visualisation: {reason}"
    if len(note) > _MOST_CHARACTERS:
        note = note[:_MOST_CHARACTERS] + "…"
    return Reply({**reply.header, "notes": [*reply.header["notes"], note]}, reply.body)
