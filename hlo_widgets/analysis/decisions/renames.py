"""What became of names from a module before a pass to the module after it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["OpOrigin", "PassStep", "compare_passes", "origins_of"]


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
class PassStep:
    """What one pass did to the names of the ops that run.

    Attributes:
        number: Position of the pass.
        name: Pipeline and pass, as XLA names them.
        renames: New names by old, where what the op computes leaves no choice.
        merged: The fusion that took in an op, where what both compute leaves no choice.
        likely: New names by old, where only the order tells, or which of several alike was merged.
        made: Names that are new and no renamed ones.
        gone: Names that are gone and were not renamed.
    """

    number: int
    name: str
    renames: Mapping[str, str]
    merged: Mapping[str, str]
    likely: Mapping[str, str]
    made: tuple[str, ...]
    gone: tuple[str, ...]


def origins_of(module: HloModule) -> dict[str, OpOrigin]:
    """Return what each op outside of fusions is, by name."""
    return {i.name: OpOrigin(i.opcode, i.metadata.op_name or "") for i in _running(module)}


def compare_passes(
    before: HloModule, after: HloModule, number: int = 0, name: str = ""
) -> PassStep:
    """Compare a module before and after a pass by the ops that run, which are all outside fusions.

    Args:
        before: The module before the pass.
        after: The module after it.
        number: Position of the pass.
        name: Name of the pass.
    """
    old = {i.name: i for i in _running(before)}
    new = {i.name: i for i in _running(after)}
    gone = {n: i for n, i in old.items() if n not in new}
    made = {n: i for n, i in new.items() if n not in old}
    renames = _certain(gone, made)
    for old_name, new_name in renames.items():
        del gone[old_name], made[new_name]
    likely = _by_order(gone, made)
    for old_name, new_name in likely.items():
        del gone[old_name], made[new_name]
    added = {
        n: _content(i) - (_content(old[n]) if n in old else Counter())
        for n, i in new.items()
        if i.opcode == "fusion"
    }
    merged, perhaps = _merged(gone, added)
    return PassStep(number, name, renames, merged, likely | perhaps, tuple(made), tuple(gone))


def _running(module: HloModule) -> Iterator[HloInstruction]:
    for computation in module.computations:
        if not computation.is_fusion_computation:
            yield from computation.instructions


_Signature = tuple[object, ...]


def _certain(
    gone: Mapping[str, HloInstruction], made: Mapping[str, HloInstruction]
) -> dict[str, str]:
    """Pair ops that compute the same from the same operands, each of which only one other does."""
    renames: dict[str, str] = {}
    # A renamed op can make its user's operands known, so that once more is worth a try. Arbitrary.
    for _ in range(8):
        old = _by_signature(gone, renames, set(renames))
        new = _by_signature(made, {}, set(renames.values()))
        found = {
            names[0]: new[signature][0]
            for signature, names in old.items()
            if len(names) == 1 and len(new.get(signature, ())) == 1
        }
        if not found:
            break
        renames |= found
    return renames


def _by_signature(
    ops: Mapping[str, HloInstruction], renames: Mapping[str, str], done: set[str]
) -> dict[_Signature, list[str]]:
    names: dict[_Signature, list[str]] = defaultdict(list)
    for name, op in ops.items():
        if name not in done:
            operands = tuple(renames.get(o.name, o.name) for o in op.operands)
            names[(*_signature(op), operands)].append(name)
    return names


def _signature(op: HloInstruction) -> _Signature:
    shape = op.shape.to_string(with_layout=False)
    return (op.opcode, shape, op.metadata.op_name, tuple(sorted(_content(op).items())))


def _by_order(
    gone: Mapping[str, HloInstruction], made: Mapping[str, HloInstruction]
) -> dict[str, str]:
    """Pair ops that look alike but for their operands, in text order, where there are as many."""
    old: dict[_Signature, list[str]] = defaultdict(list)
    new: dict[_Signature, list[str]] = defaultdict(list)
    for by_signature, ops in ((old, gone), (new, made)):
        for name, op in ops.items():
            by_signature[_signature(op)].append(name)
    pairs: dict[str, str] = {}
    for signature, names in old.items():
        if len(names) == len(new.get(signature, ())):
            pairs |= dict(zip(names, new[signature], strict=True))
    return pairs


_Content = Counter[tuple[str, str, str]]


def _merged(
    gone: Mapping[str, HloInstruction], added: Mapping[str, _Content]
) -> tuple[dict[str, str], dict[str, str]]:
    """Find, for ops that are gone, the one fusion to which all that they computed was added.

    Returns:
        Those that nothing else gone looks like, and those that are several alike.
    """
    contents = {name: _content(op) for name, op in gone.items()}
    certain: dict[str, str] = {}
    likely: dict[str, str] = {}
    for name, content in contents.items():
        homes = [host for host, inside in added.items() if content and content <= inside]
        if len(homes) == 1:
            alike = sum(other == content for other in contents.values())
            (certain if alike == 1 else likely)[name] = homes[0]
    return certain, likely


def _content(op: HloInstruction) -> _Content:
    """Count what an op computes: of a fusion its body, without what only reads or regroups."""
    inside = op.called_computations[0].instructions if op.opcode == "fusion" else (op,)
    plain = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "copy", "convert")
    return Counter(
        (i.opcode, i.metadata.op_name or "", i.shape.to_string(with_layout=False))
        for i in inside
        if i.opcode not in plain
    )
