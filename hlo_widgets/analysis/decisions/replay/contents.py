"""What a kernel computes, in numbers: how the kernels of two modules are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hlo_widgets.analysis.decisions.replay.grouping import Kernel, kernel_instructions
from hlo_widgets.analysis.decisions.values.full_window import as_reduce_and_broadcast
from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule, Shape
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["NOT_COUNTED", "Contents", "OpCounts", "PassCheck", "check_kernels"]

NOT_COUNTED = opcodes.RELABELS | {"parameter", "constant", "copy", "convert"}
"""What hands values on or changes their precision: compilers put it in and out without a record."""

OpCounts = Counter[tuple[object, ...]]
"""How often an op of each opcode, op name and dimensions stands in a kernel."""


class Contents:
    """Counts ops, in one way for all modules of one compile.

    Args:
        with_names: Whether to tell ops apart by the names that JAX gave: not where one of the
            modules was written without them.
    """

    def __init__(self, *, with_names: bool = True) -> None:
        self._with_names = with_names
        self._known: dict[Kernel, OpCounts] = {}

    def of_kernel(self, kernel: Kernel) -> OpCounts:
        """Count the ops of a kernel."""
        if kernel not in self._known:
            self._known[kernel] = self._summed(kernel)
        return self._known[kernel]

    def _summed(self, kernel: Kernel) -> OpCounts:
        """Add up the counts of parts, each part's once: it can be a part of many."""
        summed: dict[Kernel, OpCounts] = {}
        waiting = [kernel]
        while waiting:
            part = waiting[-1]
            missing = [one for one in part.parts if one not in summed and part not in self._known]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if part in self._known:
                summed[part] = self._known[part]
            elif part.op is not None:
                summed[part] = self.of((part.op,))
            else:
                summed[part] = Counter()
                for one in part.parts:
                    summed[part].update(summed[one])
        return summed[kernel]

    def mend(self, kernel: Kernel, counts: OpCounts) -> None:
        """Take another count for a kernel: the compiler computes once what came in twice."""
        self._known[kernel] = counts

    def of(self, ops: Iterable[HloInstruction]) -> OpCounts:
        """Count ops by opcode, op name and dimensions; of a fusion those inside.

        Constants, conversions and what only hands values on are left out, and element types too:
        compilers change precision inside of fusions.
        """
        counts: OpCounts = Counter()
        waiting = list(ops)
        seen: set[HloComputation] = set()
        while waiting:
            op = waiting.pop()
            if op.opcode == "fusion":
                # Each body once: in a damaged text bodies can call each other.
                for body in [one for one in op.called_computations if one not in seen]:
                    seen.add(body)
                    waiting.extend(body.instructions)
            elif op.opcode not in NOT_COUNTED:
                for key in self._keys(op):
                    counts[key] += 1
        return counts

    def _keys(self, op: HloInstruction) -> Iterable[tuple[object, ...]]:
        """Return what an op counts as: two ops where a compiler wrote them as one."""
        name = op.metadata.op_name or "" if self._with_names else ""
        if op.opcode == "reduce-window" and (both := as_reduce_and_broadcast(op)) is not None:
            yield "reduce", _applied(op), both.reduced, both.reduce[-1].removeprefix("dimensions=")
            along = both.broadcast[-1].removeprefix("dimensions=")
            yield "broadcast", name, _dimensions_of(op), along
        else:
            # Written as one with its broadcast, a reduce has the name of that.
            name = _applied(op) if op.opcode == "reduce" else name
            yield op.opcode, name, _dimensions_of(op), op.attributes.get("dimensions", "")


def _applied(op: HloInstruction) -> str:
    """Return what a reduction does to two elements, such as "maximum"."""
    return op.called_computations[0].root_instruction.opcode if op.called_computations else ""


def _dimensions_of(op: HloInstruction) -> tuple[object, ...]:
    try:
        return _dimensions(op.shape)
    except HloParseError:
        return (op.shape_text,)


def _dimensions(shape: Shape) -> tuple[object, ...]:
    if shape.is_tuple:
        return tuple(_dimensions(inner) for inner in shape.tuple_shapes)
    return shape.dimensions


@dataclass(frozen=True)
class PassCheck:
    """How the kernels of a replay compare with the fusions of a dumped module.

    Attributes:
        pass_name: The pass after which the module was dumped.
        after_step: Number of the last step before it.
        equal: Names of fusions that hold the same ops, equally often.
        once: Names of fusions that hold the same ops, some of them another number of times: the
            compiler computes once what two fusions brought in, or writes it in another way.
        different: Names of fusions that hold other ops, or that the replay does not have.
    """

    pass_name: str
    after_step: int
    equal: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    different: tuple[str, ...] = ()

    def __str__(self) -> str:
        total = len(self.equal) + len(self.once) + len(self.different)
        text = f"{len(self.equal) + len(self.once):,} of {total:,} fusions hold the same ops"
        return f"{text} after {self.pass_name}"


def check_kernels(
    kernels: Mapping[str, Kernel],
    module: HloModule,
    contents: Contents,
    pass_name: str,
    after_step: int,
) -> PassCheck:
    """Compare kernels with the fusions of a module.

    Args:
        kernels: The kernels by name.
        module: The module as the compiler dumped it.
        contents: How to count.
        pass_name: Name of the pass after which it was dumped.
        after_step: Number of the last step before it.
    """
    groups: dict[str, list[str]] = {"equal": [], "once": [], "different": []}
    for op in kernel_instructions(module):
        if op.opcode == "fusion":
            real = contents.of((op,))
            kernel = kernels.get(op.name)
            known = kernel is not None and not kernel.unknown
            own = contents.of_kernel(kernel) if kernel is not None and known else None
            alike = own is not None and set(own) == set(real)
            if kernel is not None and alike:
                contents.mend(kernel, real)
            groups["equal" if own == real else "once" if alike else "different"].append(op.name)
    told = (tuple(groups[key]) for key in ("equal", "once", "different"))
    return PassCheck(pass_name, after_step, *told)
