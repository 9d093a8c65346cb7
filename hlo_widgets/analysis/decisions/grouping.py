"""Which ops form one kernel: a grouping of the ops of the module before fusion.

At first each op outside a fusion is a kernel of its own. To fuse a producer into a consumer puts
the ops of both into one kernel. The producer stays beside it as long as another kernel, or the
caller of the computation, reads what it gives: then what it computes is computed twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule

__all__ = ["Grouping", "Kernel", "OpCounts", "module_counts", "op_counts"]

OpCounts = Counter[tuple[str, str, str]]
"""How often an op of each opcode, op name and shape stands in a kernel."""

# What only hands values on, or that compilers add to kernels and take away without a record.
_PLAIN = frozenset(
    {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "copy", "convert"}
)


@dataclass(frozen=True)
class Kernel:
    """Ops that run as one.

    Attributes:
        name: What the compiler calls it then: the op's own name as long as it is alone.
        ops: Its ops of the module before fusion; one that is computed twice stands there twice.
        reads: The ops outside whose values it reads.
        gives: The ops inside whose values leave it.
        unknown: How many ops or kernels it took in that the module before fusion does not have.
        steps: Numbers of the steps that made it, as a tree: (number, what it was before).
    """

    name: str
    ops: tuple[HloInstruction, ...]
    reads: frozenset[HloInstruction] = frozenset()
    gives: frozenset[HloInstruction] = frozenset()
    unknown: int = 0
    steps: tuple[object, ...] = field(default=(), repr=False, compare=False)

    @property
    def is_fused(self) -> bool:
        """Whether it is more than one op as it stands in the module before fusion."""
        return bool(self.steps)

    @property
    def computation(self) -> HloComputation | None:
        """The computation that its ops stand in."""
        return self.ops[0].parent if self.ops else None

    @cached_property
    def counts(self) -> OpCounts:
        """How often an op of each sort stands in it."""
        return op_counts(self.ops)

    @property
    def step_numbers(self) -> tuple[int, ...]:
        """Numbers of the steps that made it, in order."""
        numbers: set[int] = set()
        seen: set[int] = set()
        waiting: list[tuple[object, ...]] = [self.steps]
        while waiting:
            node = waiting.pop()
            if not node or id(node) in seen:
                continue
            seen.add(id(node))
            number, *before = node
            if isinstance(number, int):
                numbers.add(number)
            waiting.extend(part for part in before if isinstance(part, tuple))
        return tuple(sorted(numbers))


class Grouping:
    """The kernels at one moment, by name.

    Args:
        kernels: The kernels by name.

    Attributes:
        kernels: The kernels by name.
    """

    def __init__(self, kernels: Mapping[str, Kernel]) -> None:
        self.kernels: dict[str, Kernel] = dict(kernels)
        self._readers: dict[HloInstruction, set[str]] = defaultdict(set)
        for kernel in self.kernels.values():
            self._add_reads(kernel)

    @classmethod
    def of_module(cls, module: HloModule) -> Grouping:
        """Make each op outside a fusion a kernel of its own."""
        fused = {
            c
            for computation in module.computations
            for op in computation.instructions
            if op.opcode == "fusion"
            for c in op.called_computations
        }
        alone = {
            op.name: Kernel(op.name, (op,), frozenset(op.operands), frozenset({op}))
            for computation in module.computations
            if computation not in fused
            for op in computation.instructions
        }
        return cls(alone)

    def fuse(self, producer: str, consumer: str, name: str, step: int) -> Kernel:
        """Fuse a kernel into another one.

        Args:
            producer: Name of the kernel whose value is read; it may be unknown.
            consumer: Name of the kernel that reads it; it may be unknown.
            name: What the two are called as one.
            step: Number of the step.
        """
        into = self.kernels.pop(consumer, None)
        source = self.kernels.get(producer)
        if into is not None:
            self._take_reads(into)
        made = _joined(name, source, into, step)
        self._put(made)
        if source is not None and source is not into and not self.is_read(source):
            self.remove(producer)
        return made

    def merge(self, names: Iterable[str], name: str, step: int, unknown: int = 0) -> Kernel:
        """Make one kernel of several that may all be read from outside.

        Args:
            names: The kernels.
            name: What they are called as one.
            step: Number of the step.
            unknown: How many more it took in that nobody knows.
        """
        parts = [self.remove(one) for one in dict.fromkeys(names)]
        ops = tuple(op for part in parts for op in part.ops)
        gives = frozenset[HloInstruction]().union(*(part.gives for part in parts))
        reads = frozenset[HloInstruction]().union(*(part.reads for part in parts)) - gives
        outside = frozenset(op for op in gives if self._readers.get(op) or _leaves(op))
        steps = (step, *(part.steps for part in parts))
        count = unknown + sum(part.unknown for part in parts)
        made = Kernel(name, ops, reads, outside or gives, count, steps)
        self._put(made)
        return made

    def rename(self, name: str, new: str, step: int | None = None) -> None:
        """Call a kernel by another name."""
        kernel = self.remove(name)
        steps = kernel.steps if step is None else (step, kernel.steps)
        self._put(replace(kernel, name=new, steps=steps))

    def remove(self, name: str) -> Kernel:
        """Take a kernel out."""
        kernel = self.kernels.pop(name)
        self._take_reads(kernel)
        return kernel

    def is_read(self, kernel: Kernel) -> bool:
        """Return whether another kernel, or the computation's caller, reads what a kernel gives."""
        return any(_leaves(op) or self._readers.get(op, set()) - {kernel.name} for op in kernel.gives)

    def readers(self, op: HloInstruction) -> tuple[Kernel, ...]:
        """Return the kernels that read the value of an op from outside."""
        return tuple(self.kernels[name] for name in sorted(self._readers.get(op, ())))

    def _put(self, kernel: Kernel) -> None:
        if kernel.name in self.kernels:
            self.remove(kernel.name)
        self.kernels[kernel.name] = kernel
        self._add_reads(kernel)

    def _add_reads(self, kernel: Kernel) -> None:
        for op in kernel.reads:
            self._readers[op].add(kernel.name)

    def _take_reads(self, kernel: Kernel) -> None:
        for op in kernel.reads:
            self._readers[op].discard(kernel.name)


def _joined(name: str, source: Kernel | None, into: Kernel | None, step: int) -> Kernel:
    known = [kernel for kernel in (source, into) if kernel is not None]
    reads = frozenset[HloInstruction]()
    gives = frozenset[HloInstruction]()
    if into is not None:
        reads = into.reads - source.gives if source is not None else into.reads
        gives = into.gives
    if source is not None:
        reads |= source.reads
        gives = gives or source.gives
    return Kernel(
        name,
        tuple(op for kernel in known for op in kernel.ops),
        reads,
        gives,
        2 - len(known) + sum(kernel.unknown for kernel in known),
        (step, *(kernel.steps for kernel in known)),
    )


def _leaves(op: HloInstruction) -> bool:
    """Return whether a value leaves its computation, or the op acts on more than values."""
    return op.is_root


def op_counts(ops: Iterable[HloInstruction]) -> OpCounts:
    """Count ops by opcode, op name and shape; of a fusion what is inside.

    What only reads, regroups or converts is left out: compilers add and remove it without a record.
    """
    counts: OpCounts = Counter()
    waiting = list(ops)
    while waiting:
        op = waiting.pop()
        if op.opcode == "fusion":
            for computation in op.called_computations:
                waiting.extend(computation.instructions)
        elif op.opcode not in _PLAIN:
            shape = op.shape.to_string(with_layout=False)
            counts[op.opcode, op.metadata.op_name or "", shape] += 1
    return counts


def module_counts(module: HloModule) -> dict[str, OpCounts]:
    """Count the ops of each fusion of a module that is not inside another one, by its name."""
    inside = {
        computation
        for computation in module.computations
        if any(caller.opcode == "fusion" for caller in computation.callers)
    }
    return {
        op.name: op_counts((op,))
        for computation in module.computations
        if computation not in inside
        for op in computation.instructions
        if op.opcode == "fusion"
    }
