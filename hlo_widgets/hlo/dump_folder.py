"""What is in a folder that XLA wrote with `xla_dump_to`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# Longest first: what is left of a name after its ending is the module and the stage.
_ENDINGS = tuple(
    f"{kind}{compression}"
    for kind in (".hlo.txt", ".hlo.pb", ".txt", ".hlo", ".pb")
    for compression in ("", ".gz", ".xz", ".bz2", ".zst")
)
_FILE = re.compile(r"(?:(module_[0-9]+)\.)?(.+)")
_NUMBER = re.compile(r"module_[0-9]+(?=\.)")
_STAGE = re.compile(
    r"\.(?:[\w.]*?_)?(before_optimizations|after_optimizations|after_codegen)"
    r"(?:_((?:before|after)_buffer_assignment))?$"
)
_PASS = re.compile(r"\.([0-9]{1,6})\.(.+?)\.(after_.+?)(?:\.(before_.+))?$")
# The best to look at first: only text after code generation has the compiler's estimates.
STAGES = ("after_codegen", "after_optimizations", "before_optimizations")


@dataclass(frozen=True, slots=True)
class DumpedText:
    """One file of a dump folder that holds a module.

    Attributes:
        path: The file.
        module: The module it is of: "module_0002.jit_f".
        stage: "after_codegen", "after_optimizations", "before_optimizations", or "pass", or "" for
            a file whose name says nothing.
        pass_number: Position of the pass; None for what is no pass.
        pass_name: Pipeline and pass, as XLA names them; for a stage with several texts, which of
            them; else empty.
        size_bytes: Size of the file.
    """

    path: Path
    module: str
    stage: str
    pass_number: int | None
    pass_name: str
    size_bytes: int

    @property
    def compile(self) -> str:
        """Which compile of the process it is of: "module_0002"; empty where the name has none."""
        number = _NUMBER.match(self.module)
        return number[0] if number else ""


def list_dump(folder: str | Path) -> tuple[DumpedText, ...]:
    """List the modules and passes in a dump folder, the best to read first.

    Files that hold something else (buffer assignments, flags, protocol texts) are not listed; of a
    module that is there as text and as protocol buffer only the text is.

    Raises:
        NotADirectoryError: There is no such folder.
    """
    found: dict[tuple[str, str, str, int | None], DumpedText] = {}
    for path in sorted(Path(folder).iterdir()):
        ending = next((ending for ending in _ENDINGS if path.name.endswith(ending)), None)
        if ending is None or not path.is_file():
            continue
        dumped = _describe(path, path.name.removesuffix(ending))
        if dumped is None:
            continue
        # A pass may run several times, each time under another number.
        key = (dumped.module, dumped.stage, dumped.pass_name, dumped.pass_number)
        known = found.get(key)
        if known is None or ".pb" in known.path.name:
            found[key] = dumped
    order = {stage: number for number, stage in enumerate((*STAGES, "", "pass"))}

    def rank(item: DumpedText) -> tuple[object, ...]:
        # The largest module is the one that people dump for; the last pass is nearest to the end.
        if item.pass_number is not None:
            return order[item.stage], item.module, -item.pass_number
        return order[item.stage], bool(item.pass_name), -item.size_bytes, item.path.name

    return tuple(sorted(found.values(), key=rank))


def _describe(path: Path, stem: str) -> DumpedText | None:
    match = _FILE.fullmatch(stem)
    if match is None:
        return None
    size = path.stat().st_size
    name = match[2]
    prefix = f"{match[1]}." if match[1] else ""
    stage = _STAGE.search(name)
    if stage is not None:
        return DumpedText(
            path, prefix + name[: stage.start()], stage[1], None, stage[2] or "", size
        )
    one_pass = _PASS.search(name)
    if one_pass is not None:
        module = prefix + name[: one_pass.start()]
        words = f"{one_pass[2]}.{one_pass[3]}"
        return DumpedText(path, module, "pass", int(one_pass[1]), words, size)
    return DumpedText(path, prefix + name, "", None, "", size) if _holds_module(path) else None


def _holds_module(path: Path) -> bool:
    """Return whether a file whose name says nothing begins like HLO text."""
    with path.open("rb") as file:
        return file.read(200).lstrip().startswith((b"HloModule ", b"ENTRY "))
