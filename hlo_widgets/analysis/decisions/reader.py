"""From a file or a dump folder to a DecisionLog."""

from __future__ import annotations

import lzma
import os
import re
import zlib
from pathlib import Path

from hlo_widgets.analysis.decisions.archive import read_fusion_archive
from hlo_widgets.analysis.decisions.joining import join_decisions
from hlo_widgets.analysis.decisions.log import DecisionLog, DecisionSource, merge_sources
from hlo_widgets.analysis.decisions.log_lines import is_compiler_log
from hlo_widgets.analysis.decisions.page import read_fusion_page
from hlo_widgets.analysis.decisions.priority_dump import read_priority_dump
from hlo_widgets.analysis.decisions.renames import read_pass_chain
from hlo_widgets.analysis.decisions.tpu_log import read_compiler_log
from hlo_widgets.errors import DecisionFileError, HloFileError, HloParseError
from hlo_widgets.hlo import read_hlo

__all__ = ["read_decision_source", "read_decisions"]

# Arbitrary: the pages and logs of large programs have tens of megabytes.
_MOST_BYTES = 512 * 2**20
_MODULE = re.compile(r"module_\d+\.(.+?)(?:\.cl_\d+)?\.(?:_fusion|priority_fusion_dump)")
_COMPRESSED = ("", ".gz", ".xz")
# What a folder is searched for, the most telling first.
_ENDINGS = ("priority_fusion_dump.txt", ".log", "_fusion.pyz", "_fusion.html")


def read_decisions(path: str | os.PathLike[str]) -> DecisionLog:
    """Read what a compiler wrote down about fusion.

    Args:
        path: A file: `_fusion.pyz` (read as a zip, never run), `_fusion.html`,
            `priority_fusion_dump.txt` (text or binary protocol buffer) or a TPU compiler's log;
            each may be compressed by gzip or xz. Or a folder that XLA dumped into (`xla_dump_to`):
            then all such files in it, joined with its final module through its pass dumps.

    Returns:
        The decisions. Those of one file are not joined with a module yet: see `join_decisions`.

    Raises:
        DecisionFileError: The file holds no decisions, is damaged or is made to do harm; the folder
            holds no such file.
        OSError: The file cannot be opened.
    """
    place = Path(path).expanduser()
    if place.is_dir():
        return _read_folder(place)
    return merge_sources([read_decision_source(place)])


def read_decision_source(path: Path) -> DecisionSource:
    """Read one file of records; what it is is told by its content.

    Raises:
        DecisionFileError: It holds no decisions, is damaged or is made to do harm.
        OSError: It cannot be opened.
    """
    name = path.name
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    data = _unpacked(data, name)
    named = _MODULE.search(name)
    module = named[1] if named else None
    # A zip that can be run may have a line for the shell before it.
    if data.startswith(b"PK") or name.removesuffix(".gz").endswith(".pyz"):
        return read_fusion_archive(data, name, module)
    if b"<html" in data[:1024]:
        return read_fusion_page(data.decode("utf-8", errors="replace"), name, module)
    # The first bytes of both forms of a dump: a field's name, or the tag of field 1.
    if data.lstrip().startswith(b"fusion_steps") or data[:1] == b"\x0a":
        return read_priority_dump(data, name)
    text = data.decode("utf-8", errors="replace")
    if is_compiler_log(text):
        return read_compiler_log(text, name)
    kinds = "a _fusion.pyz, a _fusion.html, a priority_fusion_dump.txt or a TPU compiler's log"
    raise DecisionFileError(name, f"it is not {kinds}")


def _unpacked(data: bytes, name: str) -> bytes:
    try:
        if data.startswith(b"\x1f\x8b"):
            # 16 tells zlib that a gzip header comes first.
            data = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(data, _MOST_BYTES + 1)
        elif data.startswith(b"\xfd7zXZ\x00"):
            data = lzma.LZMADecompressor().decompress(data, _MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DecisionFileError(name, f"the compressed data is damaged ({error})") from error
    if len(data) > _MOST_BYTES:
        raise DecisionFileError(name, f"it has more than {_MOST_BYTES} bytes")
    return data


def _read_folder(folder: Path) -> DecisionLog:
    files = sorted(folder.iterdir())
    wanted = [
        path
        for ending in _ENDINGS
        for path in files
        if path.is_file() and path.name.endswith(tuple(ending + c for c in _COMPRESSED))
    ]
    sources: list[DecisionSource] = []
    notes: list[str] = []
    for path in wanted:
        try:
            sources.append(read_decision_source(path))
        except DecisionFileError as error:
            notes.append(str(error))
    if not sources:
        hint = "dump into it with xla_dump_to and xla_dump_fusion_visualization (TPU) or"
        hint += " xla_dump_hlo_pass_re=.*fusion.* (GPU)"
        reason = "; ".join(notes) or f"this folder holds no fusion records; {hint}"
        raise DecisionFileError(str(folder), reason)
    log = merge_sources(sources, tuple(notes))
    try:
        module = read_hlo(folder)
    except (HloFileError, HloParseError) as error:
        return merge_sources(sources, (*notes, f"not joined with a final module: {error}"))
    return join_decisions(log, module, read_pass_chain(folder, module.name))
