"""What passes without a record did to the kernels of a replay, told by the modules around them.

Multi-output fusion, renaming and the wrapping of single ops leave no record of each step, and a TPU
compiler's log leaves out some fusions of the main pass. Which ops a kernel of the module after a
pass computes is told by their values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from hlo_widgets.analysis.decisions.replay.contents import NOT_COUNTED, Contents, OpCounts
from hlo_widgets.analysis.decisions.replay.grouping import Grouping, Kernel, kernel_instructions
from hlo_widgets.analysis.decisions.values import number_module
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["LaterPasses", "PassEffect"]


@dataclass(frozen=True)
class PassEffect:
    """What a pass did to kernels.

    Attributes:
        dropped: Kernels that it took out, as nothing reads what they give.
        merged: What became one kernel, by its name: kernels, and ops that it computes again.
        renamed: Fusions that one kernel became alone, by its name before: a fusion under another
            name, or a single op that got a kernel of its own.
        untold: Names of fusions that it made of which nothing tells what they compute.
    """

    dropped: tuple[str, ...] = ()
    merged: dict[str, tuple[str, ...]] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    untold: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.merged or self.renamed or self.dropped)


class LaterPasses:
    """Follows the modules after each pass, in their order.

    Args:
        module: The module before fusion.
        contents: How to count ops.
    """

    def __init__(self, module: HloModule, contents: Contents) -> None:
        self._contents = contents
        self._values = number_module(module)
        self._numbers = {
            op: number
            for op in kernel_instructions(module)
            if (number := self._values.of(op.name)) is not None
        }
        self._givers: dict[int, HloInstruction] = {}

    def follow(self, grouping: Grouping, module: HloModule, step: int) -> PassEffect:
        """Change a grouping as a pass did.

        Args:
            grouping: The kernels before the pass.
            module: The module after it.
            step: Number that the kernels which the pass made get.
        """
        self._values = number_module(module, self._values)
        self._givers = {self._values.first(number): op for op, number in self._numbers.items()}
        after = {op.name: op for op in kernel_instructions(module)}
        effect = PassEffect(_drop_unread(grouping, after))
        held = self._held(after)
        gone = _Gone(grouping, after)
        for name, op in after.items():
            if name in held and (op.opcode == "fusion" or name not in grouping.kernels):
                self._change(grouping, gone, op, held[name], step, effect)
            elif op.opcode == "fusion" and name not in grouping.kernels:
                effect.untold.append(name)
        known = {op for ops in held.values() for op in ops}
        for name, kernel in gone.kernels.items():
            # What was written anew, so that no value tells where it went, stays as it was.
            working = _working(kernel.ops)
            if working and working <= known:
                grouping.remove(name)
        return effect

    def _held(self, after: Mapping[str, HloInstruction]) -> dict[str, list[HloInstruction]]:
        """Return the ops of the module before fusion that each kernel computes, by its name."""
        held: dict[str, list[HloInstruction]] = defaultdict(list)
        for op, number in self._numbers.items():
            for home in self._values.computing(number):
                if home in after:
                    held[home].append(op)
        return held

    def _change(
        self,
        grouping: Grouping,
        gone: _Gone,
        after: HloInstruction,
        ops: list[HloInstruction],
        step: int,
        effect: PassEffect,
    ) -> None:
        """Make a kernel what it is after the pass, and note what became of which."""
        name = after.name
        known = grouping.kernels.get(name)
        real = self._contents.of((after,))
        is_same = known is not None and self._contents.of_kernel(known) == real
        # Its value can be told by what only converts it, and what it does in another precision
        # has another value: an op counts where one like it is there.
        was = known.ops if known is not None else ()
        ops = [op for op in dict.fromkeys((*was, *ops)) if self._is_in(real, op)]
        wanted = _working(ops)
        if known is not None and (is_same or _working(known.ops) == wanted):
            if known.unknown:
                grouping.put(replace(known, unknown=0))
            return
        if not wanted:
            if known is None and after.opcode == "fusion":
                effect.untold.append(name)
            return
        parts = [known] if known is not None and _working(known.ops) <= wanted else []
        parts += gone.within(wanted)
        if known is None and len(parts) == 1 and _working(parts[0].ops) == wanted:
            effect.renamed[parts[0].name] = name
            grouping.put(replace(parts[0], name=name, unknown=0))
            return
        covered = {op for part in parts for op in part.ops}
        parts += [Kernel.of_op(op) for op in ops if op not in covered]
        effect.merged[name] = tuple(part.name for part in parts if _working(part.ops))
        grouping.put(self._made(after, tuple(parts), ops, step))

    def _is_in(self, real: OpCounts, op: HloInstruction) -> bool:
        return op.opcode in NOT_COUNTED or any(key in real for key in self._contents.of((op,)))

    def _made(
        self,
        after: HloInstruction,
        parts: tuple[Kernel, ...],
        ops: list[HloInstruction],
        step: int,
    ) -> Kernel:
        """Make a kernel of its parts; what it reads and gives is told by the module."""
        read = [n for operand in after.operands for n in self._values.outputs(operand.name)]
        reads = frozenset(self._givers[number] for number in read if number in self._givers)
        outputs = self._values.outputs(after.name)
        gives = frozenset(op for op in ops if self._values.first(self._numbers[op]) in outputs)
        size = sum(part.size for part in parts)
        return Kernel(after.name, None, parts, reads, gives or frozenset(ops), 0, size, step)


class _Gone:
    """The kernels that a pass took away, by what they computed.

    Args:
        grouping: The kernels before the pass.
        after: The kernels after it.

    Attributes:
        kernels: The kernels, by name.
    """

    def __init__(self, grouping: Grouping, after: Collection[str]) -> None:
        self.kernels = {n: kernel for n, kernel in grouping.kernels.items() if n not in after}
        self._with: dict[HloInstruction, list[Kernel]] = defaultdict(list)
        for kernel in self.kernels.values():
            for op in _working(kernel.ops):
                self._with[op].append(kernel)

    def within(self, ops: frozenset[HloInstruction]) -> list[Kernel]:
        """Return the kernels that computed nothing but some of these ops."""
        near = dict.fromkeys(kernel for op in ops for kernel in self._with.get(op, ()))
        found = [kernel for kernel in near if _working(kernel.ops) <= ops]
        return sorted(found, key=lambda kernel: kernel.name)


def _working(ops: Iterable[HloInstruction]) -> frozenset[HloInstruction]:
    """Return the ops that compute something: others come and go without a record."""
    return frozenset(op for op in ops if op.opcode not in NOT_COUNTED)


def _drop_unread(grouping: Grouping, after: Collection[str]) -> tuple[str, ...]:
    """Take out what is gone and was read by nothing, then what only that read, and so on."""
    givers: dict[HloInstruction, list[str]] = defaultdict(list)
    for kernel in grouping.kernels.values():
        for op in kernel.gives:
            givers[op].append(kernel.name)
    dropped: list[str] = []
    waiting = [name for name in grouping.kernels if name not in after]
    while waiting:
        name = waiting.pop()
        if name in after or name not in grouping.kernels:
            continue
        kernel = grouping.kernels[name]
        if grouping.is_read(kernel):
            continue
        grouping.remove(name)
        if not kernel.is_op:
            dropped.append(name)
        waiting += [giver for op in kernel.reads for giver in givers.get(op, ())]
    return tuple(sorted(dropped))
