"""The passes that changed a module, from the modules that XLA dumped around each."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hlo_widgets.analysis.decisions.renames import OpOrigin, PassStep, add_origins, compare_passes
from hlo_widgets.analysis.decisions.values import ChainValues, ModuleValues, ValueNumbering
from hlo_widgets.errors import HloFileError, HloParseError
from hlo_widgets.hlo import HloInstruction, HloModule, list_dump, parse_hlo_module, read_hlo

__all__ = [
    "FINAL",
    "DumpedModule",
    "FusionChanges",
    "PassChain",
    "PassRecord",
    "pass_chain",
    "read_pass_chain",
]

FINAL = "after the last dumped pass"
"""Name of the step from the last dumped pass to the final module."""

_NAME = re.compile(r"(?P<pipeline>.+?)\.after_(?P<pass>.+?)(?:\.before_.+)?$")


@dataclass(frozen=True)
class FusionChanges:
    """What a pass did to the fusions of a module, by their names.

    Attributes:
        made: Fusions that are new.
        grown: Fusions that kept their name and took in more.
        merged: Fusions that another one took in: (gone, the one that holds it now).
        renamed: Fusions that compute the same under another name: (old, new).
        dissolved: Fusions that are gone and were neither merged nor renamed.
    """

    made: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()
    merged: tuple[tuple[str, str], ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    dissolved: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.made or self.grown or self.merged or self.renamed or self.dissolved)

    def __str__(self) -> str:
        counts = {
            "made": len(self.made),
            "grown": len(self.grown),
            "merged": len(self.merged),
            "renamed": len(self.renamed),
            "dissolved": len(self.dissolved),
        }
        told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return told or "no fusion changed"


@dataclass(frozen=True)
class PassRecord:
    """A pass that changed a module, and the module after it.

    Attributes:
        number: Position among all passes that were dumped, as XLA numbers them.
        pipeline: The pipeline that the pass ran in; empty for the final module.
        pass_name: The pass. "pipeline-start" stands for what ran between the last dumped pass and
            the start of the pipeline.
        changes: What changed in fusions.
        step: What changed in the names of all ops.
    """

    number: int
    pipeline: str
    pass_name: str
    changes: FusionChanges
    step: PassStep = field(repr=False)
    _compressed: bytes = field(repr=False)

    @property
    def name(self) -> str:
        """Pipeline and pass, such as "fusion: priority-fusion"."""
        return f"{self.pipeline}: {self.pass_name}" if self.pipeline else self.pass_name

    @property
    def text(self) -> str:
        """HLO text of the module after the pass."""
        return zlib.decompress(self._compressed).decode()

    @property
    def module(self) -> HloModule:
        """The module after the pass, parsed anew: of a large program all of them take gigabytes."""
        return parse_hlo_module(self.text)


@dataclass(frozen=True)
class PassChain:
    """The passes that changed a module, and what older names stood for.

    Attributes:
        steps: The passes that changed names, in order.
        origins: What each name stood for when it was first seen.
        passes: All passes that changed the module, in order.
        before: The module before the first of them; None where no passes were dumped.
        values: Who computes what, from the first fusion on.
    """

    steps: tuple[PassStep, ...] = ()
    origins: Mapping[str, OpOrigin] = field(default_factory=dict, repr=False)
    passes: tuple[PassRecord, ...] = field(default=(), repr=False, compare=False)
    before: HloModule | None = field(default=None, repr=False, compare=False)
    values: ChainValues = field(default_factory=ChainValues, repr=False, compare=False)


class DumpedModule(NamedTuple):
    """A module as it was dumped after a pass.

    Attributes:
        number: Position of the pass, from 0; that of the final module is one more than the last.
        name: Pipeline and pass as XLA names the file: "fusion.after_priority-fusion.before_cse".
        module: The module.
    """

    number: int
    name: str
    module: HloModule


def read_pass_chain(folder: Path, module_name: str) -> PassChain:
    """Read the dumps around each pass of one module in a dump folder.

    Args:
        folder: The folder.
        module_name: Name of the module, "jit_f".

    Returns:
        What changed from each to the next; empty where no passes were dumped. A dump that cannot be
        read is passed over.
    """
    return pass_chain(_dumped_modules(folder, module_name))


def pass_chain(dumps: Iterable[DumpedModule]) -> PassChain:
    """Compare the modules that were dumped around the passes, each with the one before it.

    Args:
        dumps: The modules in the order of the passes, the final one last. Those that are like the
            one before are passed over.
    """
    passes: list[PassRecord] = []
    origins: dict[str, OpOrigin] = {}
    values = ChainValues()
    not_needed = ModuleValues(ValueNumbering())
    first: HloModule | None = None
    before: HloModule | None = None
    last: ModuleValues | None = None
    body = ""
    for dumped in dumps:
        # The first line has the module's attributes, which change without its instructions.
        if body == (body := dumped.module.text.partition("\n")[2]):
            continue
        add_origins(origins, dumped.module)
        if before is not None:
            # Records are about names from the first fusion on: of others no values are needed.
            both = not_needed, not_needed
            if last is not None or _fusions(dumped.module):
                both = last or values.add(before), values.add(dumped.module)
                last = both[1]
            passes.append(_record(before, dumped, both))
        first = first or dumped.module
        before = dumped.module
    steps = (record.step for record in passes)
    told = tuple(step for step in steps if step.made or step.gone or step.renames)
    return PassChain(told, origins, tuple(passes), first, values)


def _dumped_modules(folder: Path, module_name: str) -> Iterator[DumpedModule]:
    listed = list_dump(folder)
    # After the last pass comes the module itself, with what was done since.
    final = [d for d in listed if d.stage in ("after_codegen", "after_optimizations")][:1]
    # A function that is compiled for two shapes is there twice, by one name.
    own = {d.compile for d in final} or {d.compile for d in listed[:1]}
    of_passes = (d for d in listed if d.stage == "pass" and d.compile in own)
    passes = sorted(of_passes, key=lambda d: d.pass_number or 0)
    number = -1
    for dumped in [*passes, *final] if passes else []:
        try:
            module = read_hlo(dumped.path)
        except (HloFileError, HloParseError):
            continue
        if module.name == module_name:
            number = number + 1 if dumped.pass_number is None else dumped.pass_number
            yield DumpedModule(number, dumped.pass_name, module)


def _record(
    before: HloModule, dumped: DumpedModule, values: tuple[ModuleValues, ModuleValues]
) -> PassRecord:
    step = compare_passes(before, dumped.module, dumped.number, dumped.name, values)
    named = _NAME.match(dumped.name)
    return PassRecord(
        number=dumped.number,
        pipeline=named["pipeline"] if named else "",
        pass_name=named["pass"] if named else dumped.name or FINAL,
        changes=_fusion_changes(before, dumped.module, step),
        step=step,
        # Level 1: a third of the time, and some megabytes more for a train step.
        _compressed=zlib.compress(dumped.module.text.encode(), level=1),
    )


def _fusion_changes(before: HloModule, after: HloModule, step: PassStep) -> FusionChanges:
    old, new = _fusions(before), _fusions(after)
    moved = {**{name: (now,) for name, now in step.renames.items()}, **step.merged}
    pairs = [(name, home) for name in old for home in moved.get(name, ())]
    # An op that is paired by what it computes is alone in that; one that was taken in is not.
    renamed = tuple(
        (a, b) for a, b in pairs if b in new and _size(new[b]) == _size(old[a]) and b not in old
    )
    merged = tuple(pair for pair in pairs if pair not in renamed)
    return FusionChanges(
        made=tuple(name for name in step.made if name in new),
        grown=tuple(n for n, op in new.items() if n in old and _size(op) > _size(old[n])),
        merged=merged,
        renamed=renamed,
        dissolved=tuple(name for name in old if name not in new and name not in moved),
    )


def _fusions(module: HloModule) -> dict[str, HloInstruction]:
    return {
        op.name: op
        for computation in module.computations
        if not computation.is_fusion_computation
        for op in computation.instructions
        if op.opcode == "fusion"
    }


def _size(fusion: HloInstruction) -> int:
    """Count the ops of a fusion, those of fusions inside included: of each body once."""
    count = 0
    waiting, seen = list(fusion.called_computations), set(fusion.called_computations)
    while waiting:
        for op in waiting.pop().instructions:
            if op.opcode == "fusion":
                inner = [one for one in op.called_computations if one not in seen]
                seen.update(inner)
                waiting += inner
            else:
                count += 1
    return count
