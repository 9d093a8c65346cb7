"""An error of a compile in the words that a user needs, with the user's own line."""

from __future__ import annotations

import os
import tempfile
import traceback
from importlib import util
from pathlib import Path

from hlo_widgets.errors import HloWidgetsError

__all__ = ["failure_words"]

MOST_CHARACTERS = 20_000
"""Of one error; arbitrary, a compiler may print a page for each buffer that did not fit."""

_OUR_NOTE = "hlo_widgets: "
"""What our notes on the errors of others begin with; those of JAX are about its own traceback."""

_OURS = str(Path(__file__).parents[2]) + os.sep


def failure_words(error: BaseException) -> str:
    """Say what went wrong; of an error in the traced function also at which of the user's lines."""
    message = _message(error)
    if isinstance(error, HloWidgetsError):
        words = message
    else:
        words = f"{type(error).__name__}: {message}" if message else type(error).__name__
        notes = [note for note in getattr(error, "__notes__", ()) if note.startswith(_OUR_NOTE)]
        words = "\n".join([words, *_users_line(error), *notes])
    return words if len(words) <= MOST_CHARACTERS else f"{words[:MOST_CHARACTERS]}…"


def _message(error: BaseException) -> str:
    try:
        return str(error).strip()
    except Exception as worse:  # noqa: BLE001 - any class may have a __str__ of its own
        return f"it cannot be put in words, for {type(worse).__name__}"


def _users_line(error: BaseException) -> list[str]:
    """Return the innermost line of the traceback that is neither ours nor JAX's."""
    others = (_OURS, *map(_folder_of, ("jax", "jaxlib")))
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((*others, "<frozen")) and frame.lineno is not None
    ]
    if not frames:
        return []
    frame = frames[-1]
    return [f"{_place(frame.filename, frame.lineno or 0)}, in {frame.name}:", f"  {frame.line}"]


def _folder_of(package: str) -> str:
    spec = util.find_spec(package)
    origin = spec.origin if spec is not None else None
    return str(Path(origin).parent) + os.sep if origin else "<none>"


def _place(file: str, line: int) -> str:
    """Name a line; a kernel keeps cells in files of no name that means anything."""
    is_cell = file.startswith((tempfile.gettempdir() + os.sep + "ipykernel", "<ipython"))
    return f"line {line} of the cell" if is_cell else f"{file}, line {line}"
