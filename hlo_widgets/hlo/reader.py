"""From a file, a folder or standard input to a module."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

from hlo_widgets.errors import HloFileError
from hlo_widgets.hlo.compression import MOST_BYTES
from hlo_widgets.hlo.dump_folder import DumpedText, list_dump
from hlo_widgets.hlo.files import text_of_bytes
from hlo_widgets.hlo.module import HloModule
from hlo_widgets.hlo.parser import parse_hlo_module

_ESTIMATES = "the compiler's estimates (cycles, VMEM) are in {name}, written after code generation"


def read_hlo(path: str | os.PathLike[str]) -> HloModule:
    """Read the HLO module in a file.

    Args:
        path: A text file, an HloProto or HloModuleProto, one of these compressed with gzip, xz,
            bzip2 or zstd (told by the content, not by the name); `-` for standard input; or a
            folder that XLA dumped
            into: then its best module, after code generation where there is one. `list_dump` names
                all.

    Returns:
        The module. Its `warnings` also say which other modules a folder holds, and which file has
        the compiler's estimates where the one that was read has none.

    Raises:
        HloParseError: The text is not HLO.
        HloFileError: Nothing of the file can be read, it needs something that is not installed, or
            a folder has no module.
        OSError: The file cannot be opened.
    """
    if os.fspath(path) == "-":
        return _read_stream(sys.stdin.buffer, "standard input")
    place = Path(path).expanduser()
    if place.is_dir():
        return _read_folder(place)
    module = _read_file(place)
    better = _with_estimates(place)
    if better is not None:
        module.warn(_ESTIMATES.format(name=better.name))
    return module


def _read_file(path: Path) -> HloModule:
    with path.open("rb") as file:
        return _read_stream(file, str(path))


def _read_stream(stream: BinaryIO, path: str) -> HloModule:
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise HloFileError(path, f"it has more than {MOST_BYTES / 2**30:g} GiB")
    text, notes = text_of_bytes(data, path)
    module = parse_hlo_module(text)
    module.warn(*notes)
    return module


def _read_folder(folder: Path) -> HloModule:
    dumped = list_dump(folder)
    if not dumped:
        raise HloFileError(
            str(folder), "this folder holds no HLO module; dump into it with xla_dump_to"
        )
    best = dumped[0]
    module = _read_file(best.path)
    module.warn(*_notes(best, dumped))
    return module


def _notes(best: DumpedText, dumped: tuple[DumpedText, ...]) -> list[str]:
    others = sorted({item.module for item in dumped} - {best.module})
    notes = []
    if others:
        named = ", ".join(others[:5]) + (" and more" if len(others) > 5 else "")
        notes.append(f"this is {best.path.name}; the folder also holds {named}")
    if best.stage != "after_codegen":
        notes.append(
            f"this is {best.path.name}; no module here was written after code generation, so"
            " that the compiler's estimates (cycles, VMEM) are missing"
        )
    return notes


def _with_estimates(path: Path) -> Path | None:
    """Return the file beside this one that has the estimates which this one lacks."""
    for stage in ("after_optimizations", "before_optimizations"):
        if stage in path.name:
            better = path.with_name(path.name.replace(stage, "after_codegen"))
            return better if better.exists() else None
    return None
