"""TPU `_fusion.pyz`: a zip of captions and graphs around a viewer. It is read, never run."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Mapping

from hlo_widgets.analysis.decisions.frames import read_frames
from hlo_widgets.analysis.decisions.log import DecisionSource
from hlo_widgets.errors import DecisionFileError

__all__ = ["json_labels", "read_fusion_archive"]

_CAPTIONS = "metadata.json"
# Arbitrary, and far above what a compile writes: a train step of four layers has 58 kB of captions
# in 260 frames and 234 graphs.
_MOST_BYTES = 64 * 2**20
_MOST_FRAMES = 500_000
_MOST_ENTRIES = 500_000
# Text of this kind shrinks 20-fold; deflate cannot do more than about 1,030-fold.
_MOST_RATIO = 400
_ODD_NAME = re.compile(r"^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)|\x00")
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_fusion_archive(data: bytes, path: str, module: str | None = None) -> DecisionSource:
    """Read the captions in a `_fusion.pyz`.

    Args:
        data: What the file holds.
        path: Its name.
        module: Name of the module; None takes it from the captions' title.

    Raises:
        DecisionFileError: It is no zip, is damaged, holds no captions, or is made to do harm: a
            path that leads out of it, data that swells, captions of absurd size.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            text = _captions(archive, path)
    # zipfile also raises RuntimeError (encrypted) and NotImplementedError (odd compression).
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, DecisionFileError):
            raise
        raise DecisionFileError(path, f"the zip archive is damaged ({error})") from error
    metadata = _json(text, path)
    if not isinstance(metadata, Mapping):
        raise DecisionFileError(path, f"{_CAPTIONS} is not an object with frames")
    labels = json_labels(metadata.get("frames"), path)
    title = metadata.get("title")
    return read_frames(labels, path, "TPU fusion visualisation", module or _module_of(title))


def json_labels(frames: object, path: str) -> list[str]:
    """Return the captions of frames: objects with a `label`, or lists whose second item is it.

    Raises:
        DecisionFileError: The frames are of another shape.
    """
    if not isinstance(frames, list) or len(frames) > _MOST_FRAMES:
        raise DecisionFileError(path, "it has no list of frames, or an absurdly long one")
    labels: list[str] = []
    for frame in frames:
        label = frame.get("label") if isinstance(frame, dict) else None
        if isinstance(frame, list) and len(frame) > 1:
            label = frame[1]
        if not isinstance(label, str):
            raise DecisionFileError(path, f"frame {len(labels)} has no caption")
        labels.append(label)
    return labels


def _captions(archive: zipfile.ZipFile, path: str) -> bytes:
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise DecisionFileError(path, f"it has {len(entries)} entries")
    odd = next((e.filename for e in entries if _ODD_NAME.search(e.filename)), None)
    if odd is not None:
        raise DecisionFileError(path, f"an entry leads out of the archive: {odd[:80]!r}")
    found = [entry for entry in entries if entry.filename == _CAPTIONS]
    if len(found) != 1:
        raise DecisionFileError(path, f"it holds {len(found)} entries named {_CAPTIONS}, not one")
    entry = found[0]
    swells = entry.file_size > _MOST_RATIO * max(entry.compress_size, 64)
    if entry.file_size > _MOST_BYTES or swells or entry.compress_type not in _PLAIN:
        raise DecisionFileError(path, f"{_CAPTIONS} would unpack to {entry.file_size} bytes")
    with archive.open(entry) as file:
        # The size in the archive's list is a claim; this is the limit.
        text = file.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise DecisionFileError(path, f"{_CAPTIONS} unpacks to more than {_MOST_BYTES} bytes")
    return text


def _json(text: bytes, path: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DecisionFileError(path, f"{_CAPTIONS} is no JSON ({error})") from error
    return value


def _module_of(title: object) -> str | None:
    """Return "jit_f" of the title "jit_f_main.6", which ends in the entry computation's name."""
    match = re.fullmatch(r"(.+)_main(?:\.\d+)?", title) if isinstance(title, str) else None
    return match[1] if match else None
