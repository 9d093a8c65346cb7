"""The files of an explain compile that travel: chosen and packed by the worker, unpacked here."""

from __future__ import annotations

import io
import lzma
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from hlo_widgets.compiler.explain_keeper import LOG
from hlo_widgets.compiler.framing import FrameError, read_frame, write_frame
from hlo_widgets.errors import DecisionFileError

__all__ = ["collect_records", "pack_records", "unpack_records"]

# What is read from a dump; arbitrary, and far above it for most: a train step of four layers has
# 5 MB. It shrinks to a fortieth on the way.
_MOST_BYTES = 192 * 2**20
_MOST_FILES = 10_000
_SOURCES = ("priority_fusion_dump.txt", "_fusion.pyz", "_fusion.html")
_PASS = re.compile(r"\.(\d{4,6})\..+\.txt$")
_GRAPHS = re.compile(rb'(dots_compressed = ")[^"]*')
_CAPTIONS = "metadata.json"
# Looks back a megabyte. The next ones take several times as long for a tenth less.
_PRESET = 1
# What unpacking may take beside the result; what it looks back over is a sixtieth of it.
_UNPACKER_BYTES = 64 * 2**20


def collect_records(
    folder: Path, module_name: str | None = None, most_bytes: int = _MOST_BYTES
) -> tuple[dict[str, bytes], int]:
    """Choose from a dump folder what says something about fusion.

    Of pictures only the captions are kept, of the log the lines of the fusion passes, of the
    modules around passes those that differ from the one before.

    Args:
        folder: The folder.
        module_name: Name of the module, "jit_f": a GPU compiler dumps others beside it. None leaves
            out the modules around passes.
        most_bytes: What all of them may have. Records come first, then the modules around fusion
            passes, then those around the other passes.

    Returns:
        The files by name, and how many were left out.
    """
    chosen: dict[str, bytes] = {}
    left_out = room_taken = 0
    passes = [] if module_name is None else _passes(folder, module_name)
    for name, data in [*_sources(folder), *passes]:
        if room_taken + len(data) > most_bytes or len(chosen) >= _MOST_FILES:
            left_out += 1
            continue
        chosen[name] = data
        room_taken += len(data)
    return chosen, left_out


def pack_records(files: Mapping[str, bytes]) -> bytes:
    """Pack files into as few bytes as can be made quickly."""
    packed = io.BytesIO()
    for name, data in files.items():
        write_frame(packed, {"name": name}, data)
    # The modules are alike: only a compressor that looks far back sees it.
    return lzma.compress(packed.getvalue(), preset=_PRESET)


def unpack_records(packed: bytes) -> dict[str, bytes]:
    """Unpack what `pack_records` has made, perhaps on another machine.

    Raises:
        DecisionFileError: If it is damaged, or swells to more than there can be.
    """
    where = "the reply of the compiler process"
    try:
        unpacker = lzma.LZMADecompressor(memlimit=_UNPACKER_BYTES)
        data = unpacker.decompress(packed, 2 * _MOST_BYTES)
        if not unpacker.eof:
            raise DecisionFileError(where, "the records are cut off, or too many")
        return dict(_files(data))
    except (lzma.LZMAError, FrameError, KeyError, EOFError) as error:
        raise DecisionFileError(where, f"the records are damaged ({error})") from error


def _files(data: bytes) -> Iterator[tuple[str, bytes]]:
    stream = io.BytesIO(data)
    while (frame := read_frame(stream)) is not None:
        yield str(frame[0]["name"]), frame[1]


def _sources(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.iterdir()):
        if not path.name.endswith((*_SOURCES, LOG)):
            continue
        data = path.read_bytes()
        if path.name.endswith(".pyz"):
            data = _captions_alone(data)
        elif path.name.endswith(".html"):
            data = _GRAPHS.sub(rb"\1", data)
        elif path.name == LOG:
            data = _fusion_lines(data)
        if data:
            yield path.name, data


def _captions_alone(archive: bytes) -> bytes:
    """Leave out the graphs of a fusion visualisation, which are nearly all of it."""
    inner = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(inner, "w") as new:
            new.writestr(zipfile.ZipInfo(_CAPTIONS), old.read(_CAPTIONS), zipfile.ZIP_DEFLATED)
    except (zipfile.BadZipFile, KeyError):
        return archive  # whoever reads it says what is wrong with it
    return inner.getvalue()


def _fusion_lines(log: bytes) -> bytes:
    from hlo_widgets.analysis.decisions.log_lines import fusion_lines

    return "".join(fusion_lines(log.decode("utf-8", errors="replace"))).encode()


def _passes(folder: Path, module_name: str) -> list[tuple[str, bytes]]:
    begins = re.compile(rb"\s*HloModule " + re.escape(module_name.encode()) + rb"[,\s]")
    found: list[tuple[str, bytes]] = []
    before = b""
    for path in sorted(folder.iterdir(), key=_pass_number):
        if _PASS.search(path.name) is None:
            continue
        data = path.read_bytes()
        body = data.partition(b"\n")[2]
        if begins.match(data) and body != before:
            before = body
            found.append((path.name, data))
    return sorted(found, key=lambda item: "fusion" not in item[0].lower())


def _pass_number(path: Path) -> int:
    match = _PASS.search(path.name)
    return int(match[1]) if match else -1
