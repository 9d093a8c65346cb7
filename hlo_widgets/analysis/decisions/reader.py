"""From a file, a dump folder or the files of one to a DecisionLog."""

from __future__ import annotations

import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from hlo_widgets.analysis.decisions.archive import read_fusion_archive
from hlo_widgets.analysis.decisions.joining import join_decisions
from hlo_widgets.analysis.decisions.log import DecisionLog, DecisionSource, merge_sources
from hlo_widgets.analysis.decisions.log_lines import is_compiler_log
from hlo_widgets.analysis.decisions.page import read_fusion_page
from hlo_widgets.analysis.decisions.passes import DumpedModule, pass_chain, read_pass_chain
from hlo_widgets.analysis.decisions.priority_dump import read_priority_dump
from hlo_widgets.analysis.decisions.tpu_log import read_compiler_log
from hlo_widgets.errors import DecisionFileError, HloFileError, HloParseError
from hlo_widgets.hlo import HloModule, list_dump, parse_hlo_module, read_hlo

__all__ = ["read_decision_source", "read_decisions", "read_records"]

# Arbitrary: the pages and logs of large programs have tens of megabytes.
_MOST_BYTES = 512 * 2**20
_MODULE = re.compile(r"module_\d+\.(.+?)(?:\.cl_\d+)?\.(?:_fusion|priority_fusion_dump)")
_COMPRESSED = ("", ".gz", ".xz")
# What a folder is searched for, the most telling first.
_ENDINGS = ("priority_fusion_dump.txt", ".log", "_fusion.pyz", "_fusion.html")
_PASS = re.compile(r"\.(\d{4,6})\.(.+?\.after_.+|.+?\.before_.+)\.txt$")


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


def read_records(
    files: Mapping[str, bytes], module: HloModule, notes: tuple[str, ...] = ()
) -> DecisionLog:
    """Read the files of a dump that are at hand as bytes, and join them with the final module.

    Args:
        files: What the files hold, by name.
        module: The final module.
        notes: What the reader should know beforehand.

    Returns:
        The decisions and the passes; where no file holds any decision, a note says so.
    """
    sources, unreadable = _read_sources(_named(files, lambda name: files[name]))
    if not sources:
        unreadable.append("the compiler wrote no record of its fusion decisions")
    log = merge_sources(sources, (*notes, *unreadable))
    return join_decisions(log, module, pass_chain(_dumped_passes(files, module)))


def read_decision_source(path: Path) -> DecisionSource:
    """Read one file of records; what it is is told by its content.

    Raises:
        DecisionFileError: It holds no decisions, is damaged or is made to do harm.
        OSError: It cannot be opened.
    """
    return _read_source(path.name, _bytes_of(path))


def _bytes_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _read_source(name: str, data: bytes) -> DecisionSource:
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
        return read_priority_dump(data, name, module)
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
    paths = {path.name: path for path in sorted(folder.iterdir()) if path.is_file()}
    own, left_out = _of_one_compile(folder, paths)
    sources, notes = _read_sources(_named(own, lambda name: _bytes_of(own[name])))
    notes += left_out
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


def _of_one_compile(
    folder: Path, paths: Mapping[str, Path]
) -> tuple[Mapping[str, Path], list[str]]:
    """Leave out the records of other compiles of the module that a folder is read for.

    A function that is compiled for two shapes is there twice by one name, told apart by number.
    """
    best = next(iter(list_dump(folder)), None)
    if best is None or not best.compile:
        return paths, []
    name = best.module.removeprefix(f"{best.compile}.").split(".cl_")[0]
    numbered = re.compile(rf"(module_\d+)\.{re.escape(name)}[._]")
    others = {
        match[1]
        for path in paths
        if (match := numbered.search(path)) is not None and match[1] != best.compile
    }
    if not others:
        return paths, []
    own = {
        path: where
        for path, where in paths.items()
        if (match := numbered.search(path)) is None or match[1] == best.compile
    }
    note = f"the folder holds {len(others) + 1} compiles of {name}: read is that of {best.compile}"
    note += ", and a compiler's log, if there is one, is of all of them"
    return own, [note]


def _named(
    names: Mapping[str, object], read: Callable[[str], bytes]
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the files that may hold decisions, the most telling first, each with its reader."""
    for ending in _ENDINGS:
        for name in names:
            if name.endswith(tuple(ending + compression for compression in _COMPRESSED)):
                yield name, partial(read, name)


def _read_sources(
    files: Iterator[tuple[str, Callable[[], bytes]]],
) -> tuple[list[DecisionSource], list[str]]:
    """Read files, and say of those that cannot be read why not."""
    sources: list[DecisionSource] = []
    notes: list[str] = []
    for name, read in files:
        try:
            sources.append(_read_source(name, read()))
        except DecisionFileError as error:
            notes.append(str(error))
    return sources, notes


def _dumped_passes(files: Mapping[str, bytes], module: HloModule) -> Iterator[DumpedModule]:
    """Yield the modules that were dumped around passes, in their order, and the final one."""
    named = [(match, data) for name, data in files.items() if (match := _PASS.search(name))]
    number = -1
    for match, data in sorted(named, key=lambda item: int(item[0][1])):
        try:
            dumped = parse_hlo_module(data.decode("utf-8", errors="replace"))
        except HloParseError:
            continue
        if dumped.name == module.name:
            number = int(match[1])
            yield DumpedModule(number, match[2], dumped)
    if number >= 0:
        yield DumpedModule(number + 1, "", module)
