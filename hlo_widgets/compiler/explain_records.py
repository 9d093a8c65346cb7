"""The files of an explain compile that travel: chosen and packed by the worker, unpacked here."""

from __future__ import annotations

import hashlib
import io
import lzma
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from hlo_widgets.compiler.explain_keeper import LOG
from hlo_widgets.compiler.framing import FrameError, read_frame, write_frame
from hlo_widgets.errors import DecisionFileError

__all__ = ["collect_records", "pack_records", "unpack_records"]

# What is kept of the dump of a compile with its passes, and of one with its pictures. Arbitrary,
# and above what most have: a train step of four layers has 5 MB of both, one of 24 layers (34,000
# instructions) 250 MB. It shrinks to a thirtieth on the way.
_PASSES_BYTES = 512 * 2**20
_PICTURES_BYTES = 64 * 2**20
_MOST_FILES = 10_000
# What both together, with the names of the files, can never be.
_MOST_BYTES = 2 * (_PASSES_BYTES + _PICTURES_BYTES)
_SOURCES = ("priority_fusion_dump.txt", "_fusion.pyz", "_fusion.html")
_PASS = re.compile(r"\.(\d{4,6})\..+\.txt$")
_GRAPHS = re.compile(rb'(dots_compressed = ")[^"]*')
_CAPTIONS = "metadata.json"
_WHERE = "the reply of the compiler process"
# Looks back a megabyte. The next ones take several times as long for a tenth less.
_PRESET = 1
# What unpacking may take beside the result; what it looks back over is a sixtieth of it.
_UNPACKER_BYTES = 64 * 2**20


def collect_records(
    folder: Path, module_name: str | None = None, most_bytes: int | None = None
) -> tuple[dict[str, bytes], int]:
    """Choose from a dump folder what says something about fusion.

    Of pictures only the captions are kept, of the log what the fusion passes tell, of the
    modules around passes those that differ from the one before. No more is held than is returned,
    and one file.

    Args:
        folder: The folder.
        module_name: Name of the module, "jit_f": a GPU compiler dumps others beside it. None leaves
            out the modules around passes.
        most_bytes: What all of them may have, records first, then modules around fusion passes.
            None for as much as can be unpacked together with what the other compile brings.

    Returns:
        The files by name, and how many were left out.
    """
    if most_bytes is None:
        most_bytes = _PICTURES_BYTES if module_name is None else _PASSES_BYTES
    chosen: dict[str, bytes] = {}
    left_out = 0
    for name, size, read in _candidates(folder, module_name):
        if size > most_bytes or len(chosen) >= _MOST_FILES:
            left_out += 1
            continue
        chosen[name] = data = read()
        most_bytes -= len(data)
    return chosen, left_out


def pack_records(files: Mapping[str, bytes]) -> bytes:
    """Pack files into as few bytes as can be made quickly."""
    packed = io.BytesIO()
    # The modules are alike: only a compressor that looks far back sees it.
    with lzma.open(packed, "wb", preset=_PRESET) as stream:
        for name, data in files.items():
            write_frame(stream, {"name": name}, data)
    return packed.getvalue()


def unpack_records(packed: bytes) -> dict[str, bytes]:
    """Unpack what `pack_records` has made, perhaps on another machine.

    Args:
        packed: What it has made, once or several times, one after the other. Of files of the same
            name the last one counts.

    Raises:
        DecisionFileError: If it is damaged, or swells to more than there can be.
    """
    files: dict[str, bytes] = {}
    room = _MOST_BYTES
    try:
        while packed:
            unpacker = lzma.LZMADecompressor(memlimit=_UNPACKER_BYTES)
            data = unpacker.decompress(packed, room)
            if not unpacker.eof:
                raise DecisionFileError(_WHERE, "the records are cut off, or too many")
            files |= _files(data)
            room -= len(data)
            packed = unpacker.unused_data
    except (lzma.LZMAError, FrameError, KeyError, EOFError) as error:
        raise DecisionFileError(_WHERE, f"the records are damaged ({error})") from error
    return files


def _files(data: bytes) -> Iterator[tuple[str, bytes]]:
    stream = io.BytesIO(data)
    while (frame := read_frame(stream)) is not None:
        yield str(frame[0]["name"]), frame[1]


def _candidates(
    folder: Path, module_name: str | None
) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    """Yield what there is to choose from: name, size and how to read it, the best first."""
    for path in sorted(folder.iterdir()):
        if path.name.endswith((*_SOURCES, LOG)) and (data := _read_source(path)):
            yield path.name, len(data), lambda data=data: data
    for path in [] if module_name is None else _passes(folder, module_name):
        yield path.name, path.stat().st_size, path.read_bytes


def _read_source(path: Path) -> bytes:
    if path.name.endswith(".pyz"):
        return _captions_alone(path)
    if path.name.endswith(".html"):
        return _GRAPHS.sub(rb"\1", path.read_bytes())
    return _condensed_log(path) if path.name == LOG else path.read_bytes()


def _captions_alone(archive: Path) -> bytes:
    """Leave out the graphs of a fusion visualisation, which are nearly all of it."""
    inner = io.BytesIO()
    try:
        with zipfile.ZipFile(archive) as old, zipfile.ZipFile(inner, "w") as new:
            new.writestr(zipfile.ZipInfo(_CAPTIONS), old.read(_CAPTIONS), zipfile.ZIP_DEFLATED)
    except (zipfile.BadZipFile, KeyError):
        return archive.read_bytes()  # whoever reads it says what is wrong with it
    return inner.getvalue()


def _condensed_log(log: Path) -> bytes:
    from hlo_widgets.analysis.decisions.log_lines import condensed

    # Line by line: the log of a large program has gigabytes.
    with log.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        return "".join(condensed(lines)).encode()


def _passes(folder: Path, module_name: str) -> list[Path]:
    """Find the modules that a pass has changed, those around fusion passes first."""
    begins = re.compile(rb"\s*HloModule " + re.escape(module_name.encode()) + rb"[,\s]")
    found: list[Path] = []
    before = b""
    for path in sorted(folder.iterdir(), key=_pass_number):
        if _PASS.search(path.name) is None:
            continue
        # A digest in the place of the text: of a large program, all of them are gigabytes.
        with path.open("rb") as file:
            if not begins.match(file.readline()):
                continue
            body = hashlib.file_digest(file, "sha256").digest()
        if body != before:
            before = body
            found.append(path)
    return sorted(found, key=lambda path: "fusion" not in path.name.lower())


def _pass_number(path: Path) -> int:
    match = _PASS.search(path.name)
    return int(match[1]) if match else -1
