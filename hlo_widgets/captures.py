"""Compiled text of small programs that comes with the package, and how it is made again.

So that there is something to explore where no compiler runs, `captures/` holds for each program and
target the text as the compiler printed it, and `manifest.json` with what made it and the figures
that it must give. The programs are in `captures/programs.py`, which is only run to compile them.
"""

from __future__ import annotations

import datetime as dt
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from hlo_widgets.compiler import CompilationResult, compile_for
from hlo_widgets.errors import UnknownCaptureError
from hlo_widgets.hlo import parse_hlo_module
from hlo_widgets.tables import cost_table

__all__ = [
    "TARGETS",
    "capture",
    "load",
    "manifest",
    "program_names",
    "targets_of",
    "write_capture",
    "write_overview",
]

# The targets that a program is captured for at first.
TARGETS = ("v5e", "v6e")

# The program whose captures for many targets have a table of their own.
_OVERVIEW = "mlp"
_KINDS = ("kLoop", "kInput", "kOutput", "kCustom")

# What the compiled text calls the programs' file, wherever the package lies.
_PROGRAMS_FILE = "captures/programs.py"
_MANIFEST = "manifest.json"
# Columns of the cost table that the manifest records.
_FIGURES = (
    "name",
    "opcode",
    "computation",
    "trip_count",
    "estimated_cycles",
    "vmem_bytes",
    "window_vmem_bytes",
)

Entry = dict[str, Any]


def load(program: str, target: str) -> CompilationResult:
    """Load a capture as if it had just been compiled.

    Args:
        program: Name of a program, such as "row_softmax".
        target: What it was compiled for, such as "v6e".

    Returns:
        The text with the target, versions and flags from the manifest.

    Raises:
        UnknownCaptureError: There is no capture of that program for that target.
    """
    entries = manifest()
    entry = next((e for e in entries if (e["program"], e["target"]) == (program, target)), None)
    if entry is None:
        known = [f"{e['program']} for {e['target']}" for e in entries]
        name = f"{program} for {target}"
        raise UnknownCaptureError(name, known, difflib.get_close_matches(name, known, n=2))
    return CompilationResult(
        hlo_text=(_folder() / entry["file"]).read_text(encoding="utf-8"),
        target=entry["target"],
        versions=entry["versions"],
        compile_seconds=entry["compile_seconds"],
        flags=entry["flags"],
        notes=tuple(entry.get("notes", ())),
    )


def manifest(folder: Path | None = None) -> list[Entry]:
    """Return what is recorded about each capture, in the programs' order.

    Args:
        folder: A folder that `write_capture` has written to; by default the package's own.

    Returns:
        One entry a capture with `program`, `target`, `file`, `arguments`, `flags`, `versions`,
        `date` (ISO, UTC), `compile_seconds`, `notes` (the compile's), `total_estimated_cycles` with
        `known_rows` of `rows` in it, and `figures`: the rows of the cost table, null where the
        compiler gave no figure. Empty where nothing has been written.
    """
    path = (folder or _folder()) / _MANIFEST
    if not path.exists():
        return []
    entries: list[Entry] = json.loads(path.read_text(encoding="utf-8"))["captures"]
    return entries


def program_names() -> list[str]:
    """Return the names of the programs that can be captured. Imports jax."""
    return list(_programs())


def targets_of(program: str, folder: Path | None = None) -> list[str]:
    """Return the targets that a folder holds a program for, in its manifest's order.

    Args:
        program: Name of a program.
        folder: As in `manifest`.

    Returns:
        Their names; `TARGETS` where it holds none.
    """
    held = [e["target"] for e in manifest(folder) if e["program"] == program]
    return held or list(TARGETS)


def capture(program: str, target: str, flags: Mapping[str, Any] | None = None) -> tuple[str, Entry]:
    """Compile one of the programs.

    Args:
        program: One of `program_names()`.
        target: What to compile for.
        flags: Compiler options.

    Returns:
        The text without any path of this machine, and its entry for the manifest.

    Raises:
        UnknownCaptureError: There is no such program.
        CompileError: The compiler refused it or cannot be used here.
    """
    programs = _programs()
    if program not in programs:
        raise UnknownCaptureError(
            program, list(programs), difflib.get_close_matches(program, programs)
        )
    fun, specs = programs[program]
    # In a thread of its own the stack holds nothing of whoever called, and JAX records the stack:
    # so the same program gives the same text from a test, a notebook and the command line.
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(compile_for, fun, *specs, target=target, flags=flags).result()
    text = _without_paths(result.hlo_text)
    table = cost_table(result.module, target=result.target)
    return text, {
        "program": program,
        "target": result.target,
        "file": f"{program}.{result.target}.hlo.txt",
        "arguments": [_spec_words(spec) for spec in specs],
        "flags": dict(result.flags),
        "versions": dict(result.versions),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "compile_seconds": round(result.compile_seconds, 2),
        "notes": list(result.notes),
        "total_estimated_cycles": table.attrs["total_estimated_cycles"],
        "known_rows": table.attrs["known_rows"],
        "rows": table.attrs["rows"],
        "figures": json.loads(table[list(_FIGURES)].to_json(orient="records")),
    }


def write_capture(folder: Path, text: str, entry: Entry) -> None:
    """Write a capture's text into `folder`, which is made if need be, and enter it in the manifest.

    An entry that differs in its date and duration only is left as it was, so that capturing again
    with the same compiler changes no file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / entry["file"]).write_text(text, encoding="utf-8", newline="\n")
    entries = {e["file"]: e for e in manifest(folder)}
    old = entries.get(entry["file"])
    if old is None or _lasting(old) != _lasting(entry):
        entries[entry["file"]] = entry
    names = program_names()  # runs the programs' file: once for all entries
    ordered = sorted(entries.values(), key=lambda one: _place(one, names))
    content = json.dumps({"captures": ordered}, indent=1, ensure_ascii=False)
    (folder / _MANIFEST).write_text(content + "\n", encoding="utf-8", newline="\n")


def write_overview(folder: Path) -> Path | None:
    """Write the table of the MLP on every target that `folder` holds it for.

    Args:
        folder: A folder that `write_capture` has written to.

    Returns:
        The file, `mlp.md`; None where the folder does not hold the MLP.
    """
    entries = [e for e in manifest(folder) if e["program"] == _OVERVIEW]
    if not entries:
        return None
    path = folder / f"{_OVERVIEW}.md"
    rows = "".join(f"{_overview_row(folder, entry)}\n" for entry in entries)
    path.write_text(_OVERVIEW_HEAD + rows, encoding="utf-8", newline="\n")
    return path


_OVERVIEW_HEAD = """\
# The MLP on every target

`mlp` of `programs.py`, arguments in bf16. Kernels by kind of fusion, as `cost_table` counts them; cycles are the sum of the compiler's
estimates, with the number of rows that have one. "not known" is what the compiler did not say. Cycles of one compiler's targets can be compared;
those of a TPU and a GPU cannot. `hlo-widgets capture` writes this table.

| target | rows | kLoop | kInput | kOutput | kCustom | estimated cycles | rows with an estimate |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""  # noqa: E501 - a page in Markdown is laid out by hand


def _overview_row(folder: Path, entry: Entry) -> str:
    module = parse_hlo_module((folder / entry["file"]).read_text(encoding="utf-8"))
    kinds = cost_table(module, target=entry["target"])["fusion_kind"].value_counts()
    total = entry["total_estimated_cycles"]
    cells = [
        entry["target"],
        entry["rows"],
        *(int(kinds.get(kind, 0)) for kind in _KINDS),
        "not known" if total is None else f"{total:,}",
        entry["known_rows"],
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _lasting(entry: Entry) -> Entry:
    return {k: v for k, v in entry.items() if k not in {"date", "compile_seconds"}}


def _place(entry: Entry, names: Sequence[str]) -> tuple[int, str]:
    program = entry["program"]
    return (names.index(program) if program in names else len(names), entry["file"])


def _folder() -> Path:
    # In a wheel the folder lies inside the package; in a checkout beside it.
    here = Path(__file__).parent
    packaged = here / "_captures"
    return packaged if packaged.is_dir() else here.parent / "captures"


def _programs() -> Mapping[str, tuple[Any, tuple[Any, ...]]]:
    """Run the programs' file, under the name that the compiled text shall know it by."""
    source = (_folder() / "programs.py").read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "captures.programs", "__file__": _PROGRAMS_FILE}
    exec(compile(source, _PROGRAMS_FILE, "exec"), namespace)  # noqa: S102 - our own file
    programs: Mapping[str, tuple[Any, tuple[Any, ...]]] = namespace["PROGRAMS"]
    return programs


def _spec_words(spec: Any) -> str:
    return f"{spec.dtype}[{','.join(map(str, spec.shape))}]"


def _without_paths(text: str) -> str:
    """Leave the last part alone of every file's path in the source tables but the programs' own."""

    def shorten(match: re.Match[str]) -> str:
        path = match[2]
        if path == _PROGRAMS_FILE:
            return match[0]
        name = PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name
        return f'{match[1]}"{name}"'

    head, names, rest = text.partition("\nFileNames\n")
    table, end, body = rest.partition("\n\n")
    return head + names + re.sub(r'(?m)^(\d+ )"(.*)"$', shorten, table) + end + body
