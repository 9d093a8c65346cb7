"""What became of names from a module before a pass to the module after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from hlo_widgets.analysis.decisions.values import (
    ModuleValues,
    number_module,
    running_ops,
)
from hlo_widgets.hlo import HloInstruction, HloModule
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["HandedOn", "OpOrigin", "PassStep", "add_origins", "compare_passes", "origins_of"]


@dataclass(frozen=True)
class OpOrigin:
    """What an op was, beside its name.

    Attributes:
        opcode: Its opcode; "fusion" for a fusion.
        op_name: The name that JAX gave to what it comes from.
    """

    opcode: str
    op_name: str


@dataclass(frozen=True)
class HandedOn:
    """The two sides of an op that only handed on a value, such as a bitcast.

    Attributes:
        operands: Names of what it read.
        users: Names of what read it.
    """

    operands: tuple[str, ...]
    users: tuple[str, ...]


@dataclass(frozen=True)
class PassStep:
    """What one pass did to the names of the ops that run.

    Attributes:
        number: Position of the pass.
        name: Pipeline and pass, as XLA names them.
        renames: New names by old, of ops that compute the same in the same way.
        merged: The ops that compute now what an op computed: fusions that took it in, several where
            it was copied into each.
        passed_on: What was read, and by whom, through an op that is gone and only handed on a
            value.
        made: Names that are new and no renamed ones.
        gone: Names that are gone and were not renamed.
    """

    number: int
    name: str
    renames: Mapping[str, str]
    merged: Mapping[str, tuple[str, ...]]
    passed_on: Mapping[str, HandedOn]
    made: tuple[str, ...]
    gone: tuple[str, ...]


def origins_of(module: HloModule) -> dict[str, OpOrigin]:
    """Return what each op outside of fusions is, by name."""
    origins: dict[str, OpOrigin] = {}
    add_origins(origins, module)
    return origins


def add_origins(origins: dict[str, OpOrigin], module: HloModule) -> None:
    """Add what each op outside of fusions is, by name, where the name is not there yet.

    Args:
        origins: What names stood for before; is changed.
        module: The module.
    """
    for op in running_ops(module):
        # Metadata is read on first use: of most ops a module before this one has told it.
        if op.name not in origins:
            origins[op.name] = OpOrigin(op.opcode, op.metadata.op_name or "")


def compare_passes(
    before: HloModule,
    after: HloModule,
    number: int = 0,
    name: str = "",
    values: tuple[ModuleValues, ModuleValues] | None = None,
) -> PassStep:
    """Compare a module before and after a pass by the ops that run, which are all outside fusions.

    Args:
        before: The module before the pass.
        after: The module after it.
        number: Position of the pass.
        name: Name of the pass.
        values: The values of both; None to number them here.
    """
    old = {i.name: i for i in running_ops(before)}
    new = {i.name: i for i in running_ops(after)}
    gone = {n: i for n, i in old.items() if n not in new}
    made = {n: i for n, i in new.items() if n not in old}
    old_values = number_module(before) if values is None else values[0]
    new_values = number_module(after, old_values) if values is None else values[1]
    renames = _renames(gone, made, old_values, new_values)
    for old_name, new_name in renames.items():
        del gone[old_name], made[new_name]
    passed_on, merged = {}, {}
    for old_name, op in gone.items():
        value = old_values.of(old_name)
        is_own = value not in {old_values.of(o.name) for o in op.operands}
        if op.opcode in opcodes.RELABELS or not is_own:
            place = old_values.places.get(op.parent.name, "")
            passed_on[old_name] = _handed_on(op, new_values.roots.get(place))
        if is_own and value is not None and (homes := new_values.computing(value)):
            merged[old_name] = homes
    return PassStep(number, name, renames, merged, passed_on, tuple(made), tuple(gone))


def _handed_on(op: HloInstruction, root: str | None) -> HandedOn:
    """Return the sides of an op, of a root the one that its computation has now among them."""
    users = tuple(user.name for user in op.users)
    if op.is_root and root is not None:
        users = (*users, root)
    return HandedOn(tuple(o.name for o in op.operands), users)


def _renames(
    gone: Mapping[str, HloInstruction],
    made: Mapping[str, HloInstruction],
    old: ModuleValues,
    new: ModuleValues,
) -> dict[str, str]:
    """Pair ops that compute the same in the same way, where as many did before as do now."""
    before: dict[tuple[int, str], list[str]] = defaultdict(list)
    after: dict[tuple[int, str], list[str]] = defaultdict(list)
    for values, ops, names in ((old, gone, before), (new, made, after)):
        for name, op in ops.items():
            number = values.of(name)
            if number is not None:
                names[number, op.opcode].append(name)
    # Where several compute one value, any of them may stand for any other: in text order.
    pairs = {
        name: now
        for key, names in before.items()
        if len(names) == len(after.get(key, ()))
        for name, now in zip(names, after[key], strict=True)
    }
    loops = {a: b for a, b in new.renamed.items() if a in gone and b in made}
    return pairs | loops
