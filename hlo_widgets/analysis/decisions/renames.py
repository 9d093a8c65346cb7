"""What became of names from a module before a pass to the module after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from hlo_widgets.analysis.decisions.merges import content_of, find_merged
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["OpOrigin", "PassStep", "add_origins", "compare_passes", "origins_of"]


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
    origins: dict[str, OpOrigin] = {}
    add_origins(origins, module)
    return origins


def add_origins(origins: dict[str, OpOrigin], module: HloModule) -> None:
    """Add what each op outside of fusions is, by name, where the name is not there yet.

    Args:
        origins: What names stood for before; is changed.
        module: The module.
    """
    for op in _running(module):
        # Metadata is read on first use: of most ops a module before this one has told it.
        if op.name not in origins:
            origins[op.name] = OpOrigin(op.opcode, op.metadata.op_name or "")


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
    looks = _Looks()
    renames = _certain(gone, made, looks)
    for old_name, new_name in renames.items():
        del gone[old_name], made[new_name]
    likely = _by_order(gone, made, looks)
    for old_name, new_name in likely.items():
        del gone[old_name], made[new_name]
    merged, perhaps = find_merged(gone, old, new, renames | likely)
    likely |= perhaps
    return PassStep(number, name, renames, merged, likely, tuple(made), tuple(gone))


def _running(module: HloModule) -> Iterator[HloInstruction]:
    for computation in module.computations:
        if not computation.is_fusion_computation:
            yield from computation.instructions


_Signature = tuple[object, ...]


class _Looks(dict[HloInstruction, _Signature]):
    """What ops compute, each put together when it is first asked for: it is asked for many times.

    The keys are instructions, the values tuples of opcode, shape, op name and content.
    """

    def __missing__(self, op: HloInstruction) -> _Signature:
        look = self[op] = _signature(op)
        return look


_TOLD_BY_SHAPE = ("bitcast", "copy", "reshape", "tuple")


def _certain(
    gone: Mapping[str, HloInstruction], made: Mapping[str, HloInstruction], looks: _Looks
) -> dict[str, str]:
    """Pair ops that compute the same in the same place, where each is alone in that.

    The place is what an op reads, or who reads it. A pass that numbers the names anew tells by the
    name.
    """
    renames = {
        name: f"{name}.0"
        for name, op in gone.items()
        if f"{name}.0" in made and looks[op] == looks[made[f"{name}.0"]]
    }
    # A renamed op can make its neighbours' places known, so that once more is worth a try.
    # Arbitrary.
    for _ in range(8):
        found: dict[str, str] = {}
        for place in (_operands, _readers):
            known = renames | found
            rest = {name: op for name, op in gone.items() if name not in known}
            taken = set(known.values())
            free = {name: op for name, op in made.items() if name not in taken}
            old = _by_signature(rest, partial(place, renames=known), looks)
            new = _by_signature(free, partial(place, renames={}), looks)
            found |= {
                names[0]: new[signature][0]
                for signature, names in old.items()
                if len(names) == 1 and len(new.get(signature, ())) == 1
            }
        if not found:
            break
        renames |= found
    return renames


_Place = Callable[[HloInstruction], tuple[object, ...] | None]


def _operands(op: HloInstruction, renames: Mapping[str, str]) -> tuple[object, ...]:
    return tuple(renames.get(o.name, o.name) for o in op.operands)


def _readers(op: HloInstruction, renames: Mapping[str, str]) -> tuple[object, ...] | None:
    places = [
        (renames.get(user.name, user.name), position)
        for user in op.users
        for position, operand in enumerate(user.operands)
        if operand is op
    ]
    # What nobody reads has no place, or is the result.
    return ("read by", *sorted(places)) if places else None


def _by_signature(
    ops: Mapping[str, HloInstruction], place: _Place, looks: _Looks
) -> dict[_Signature, list[str]]:
    names: dict[_Signature, list[str]] = defaultdict(list)
    for name, op in ops.items():
        where = place(op)
        if where is not None:
            # A late pass makes bitcasts anew without the name that JAX gave; what they compute is
            # told by shape and operand all the same.
            look = looks[op][:2] if op.opcode in _TOLD_BY_SHAPE else looks[op]
            names[(*look, where)].append(name)
    return names


def _signature(op: HloInstruction) -> _Signature:
    shape = op.shape.to_string(with_layout=False)
    content = (op.attributes.get("index"), *sorted(content_of(op).items()))
    return (op.opcode, shape, op.metadata.op_name, content)


def _by_order(
    gone: Mapping[str, HloInstruction], made: Mapping[str, HloInstruction], looks: _Looks
) -> dict[str, str]:
    """Pair ops that look alike but for their operands, in text order, where there are as many."""
    old: dict[_Signature, list[str]] = defaultdict(list)
    new: dict[_Signature, list[str]] = defaultdict(list)
    for by_signature, ops in ((old, gone), (new, made)):
        for name, op in ops.items():
            by_signature[looks[op]].append(name)
    pairs: dict[str, str] = {}
    for signature, names in old.items():
        if len(names) == len(new.get(signature, ())):
            pairs |= dict(zip(names, new[signature], strict=True))
    return pairs
