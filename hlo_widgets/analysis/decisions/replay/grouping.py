"""Which ops form one kernel: a grouping of the ops of the module before fusion.

At first each op outside a fusion is a kernel of its own. To fuse a producer into a consumer puts
the ops of both into one kernel. The producer stays beside it as long as another kernel, or the
caller of the computation, reads what it gives: then what it computes is computed twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hlo_widgets.analysis.execution import executed_computations
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule

__all__ = ["Grouping", "Kernel", "kernel_instructions"]

_NONE: frozenset[HloInstruction] = frozenset()


@dataclass(frozen=True, eq=False)
class Kernel:
    """Ops that run as one.

    Attributes:
        name: What the compiler calls it then: the op's own name as long as it is alone.
        op: The op of the module before fusion that it is; None when it is made of others.
        parts: The kernels that it was made of.
        reads: The ops outside whose values it reads.
        gives: The ops inside whose values leave it.
        unknown: How many ops or kernels it took in that the module before fusion does not have.
        size: How many ops it has; one that is computed twice in it counts twice.
        step: Number of the step that made it; None for an op as it stood.
    """

    name: str
    op: HloInstruction | None = None
    parts: tuple[Kernel, ...] = field(default=(), repr=False)
    reads: frozenset[HloInstruction] = field(default=_NONE, repr=False)
    gives: frozenset[HloInstruction] = field(default=_NONE, repr=False)
    unknown: int = 0
    size: int = 1
    step: int | None = None

    @classmethod
    def of_op(cls, op: HloInstruction) -> Kernel:
        """Return the kernel that an op is as long as it is alone."""
        return cls(op.name, op, (), frozenset(op.operands), frozenset({op}))

    @property
    def is_op(self) -> bool:
        """Whether it is an op as it stood: not made of others, nor an op with a kernel's name."""
        return self.op is not None and self.op.name == self.name

    @property
    def ops(self) -> tuple[HloInstruction, ...]:
        """Its ops, the first producer's first."""
        return tuple(kernel.op for kernel in self._all() if kernel.op is not None)

    @property
    def steps(self) -> tuple[int, ...]:
        """Numbers of the steps that made it what it is, in order."""
        return tuple(sorted({k.step for k in self._all() if k.step is not None}))

    @property
    def computation(self) -> HloComputation | None:
        """The computation that its ops stand in; None where nothing of it is known."""
        return next((kernel.op.parent for kernel in self._all() if kernel.op is not None), None)

    def _all(self) -> list[Kernel]:
        """Return this and all that it was made of, each once, the first producer's first.

        Without recursion, as a chain can be long, and each once, as ways to one part can be many.
        """
        found: dict[Kernel, None] = {}
        waiting = [self]
        while waiting:
            kernel = waiting.pop()
            if kernel not in found:
                found[kernel] = None
                waiting.extend(reversed(kernel.parts))
        return list(found)


class Grouping:
    """The kernels at one moment, by name.

    Args:
        kernels: The kernels by name.

    Attributes:
        kernels: The kernels by name.
        journal: What was put in (name and kernel) and taken out (name and None), in order.
    """

    def __init__(self, kernels: Mapping[str, Kernel]) -> None:
        self.kernels: dict[str, Kernel] = dict(kernels)
        self.journal: list[tuple[str, Kernel | None]] = []
        self._readers: dict[HloInstruction, set[str]] = defaultdict(set)
        for kernel in self.kernels.values():
            for op in kernel.reads:
                self._readers[op].add(kernel.name)

    @classmethod
    def of_module(cls, module: HloModule) -> Grouping:
        """Make each op outside a fusion a kernel of its own."""
        return cls({op.name: Kernel.of_op(op) for op in kernel_instructions(module)})

    def fuse(self, producer: str, consumer: str, name: str, step: int) -> Kernel:
        """Fuse a kernel into another one.

        Args:
            producer: Name of the kernel whose value is read; it may be unknown.
            consumer: Name of the kernel that reads it; it may be unknown.
            name: What the two are called as one.
            step: Number of the step.
        """
        source = self.kernels.get(producer)
        into = self.remove(consumer) if consumer in self.kernels else None
        made = self.put(_fused(name, source, into, step))
        if source is not None and source is not into and not self.is_read(source):
            self.remove(producer)
        return made

    def merge(self, names: Iterable[str], name: str, step: int) -> Kernel:
        """Make one kernel of several, each of which may still be read from outside.

        Args:
            names: The kernels.
            name: What they are called as one.
            step: Number of the step.
        """
        parts = tuple(self.remove(one) for one in dict.fromkeys(names))
        gives = _NONE.union(*(part.gives for part in parts))
        reads = _NONE.union(*(part.reads for part in parts)) - gives
        outside = frozenset(op for op in gives if op.is_root or self._readers[op])
        unknown, size = sum(part.unknown for part in parts), sum(part.size for part in parts)
        return self.put(Kernel(name, None, parts, reads, outside or gives, unknown, size, step))

    def wrap(self, name: str, new: str, step: int) -> Kernel:
        """Make a kernel of one alone, as a step.

        Args:
            name: The kernel.
            new: What it is called then.
            step: Number of the step.
        """
        part = self.remove(name)
        return self.put(replace(part, name=new, op=None, parts=(part,), step=step))

    def remove(self, name: str) -> Kernel:
        """Take a kernel out."""
        kernel = self.kernels.pop(name)
        self.journal.append((name, None))
        for op in kernel.reads:
            self._readers[op].discard(name)
        return kernel

    def put(self, kernel: Kernel) -> Kernel:
        """Put a kernel in, in the place of any other of that name."""
        if kernel.name in self.kernels:
            self.remove(kernel.name)
        self.kernels[kernel.name] = kernel
        self.journal.append((kernel.name, kernel))
        for op in kernel.reads:
            self._readers[op].add(kernel.name)
        return kernel

    def is_read(self, kernel: Kernel) -> bool:
        """Return whether another kernel, or the computation's caller, reads what a kernel gives."""
        return any(op.is_root or self._readers[op] - {kernel.name} for op in kernel.gives)


def _fused(name: str, source: Kernel | None, into: Kernel | None, step: int) -> Kernel:
    parts = tuple(kernel for kernel in (source, into) if kernel is not None)
    reads = into.reads if into is not None else _NONE
    if source is not None:
        reads = (reads - source.gives) | source.reads
    gives = (into or source or Kernel("")).gives
    unknown = 2 - len(parts) + sum(part.unknown for part in parts)
    return Kernel(name, None, parts, reads, gives, unknown, sum(p.size for p in parts), step)


def kernel_instructions(module: HloModule) -> list[HloInstruction]:
    """Return the instructions that a run steps through: those in no fusion and in no reducer."""
    executed = executed_computations(module)
    return [op for one in executed for op in one.computation.instructions]
