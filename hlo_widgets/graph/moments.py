"""The kernels of one computation at one moment of a replay, and what reads what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from hlo_widgets.analysis.decisions.replay.grouping import Kernel
from hlo_widgets.hlo import HloComputation, HloInstruction

__all__ = ["Moment"]


class Moment:
    """The kernels of one computation at one moment.

    Args:
        kernels: The kernels by name.
        computation: The computation; kernels of others are left out.
        is_drawn: Whether an op that is alone has a box. Arrows pass through those that have none.

    Attributes:
        drawn: The kernels that have a box, in text order of where they stand.
        named: The same by name.
    """

    def __init__(
        self,
        kernels: Mapping[str, Kernel],
        computation: HloComputation,
        is_drawn: Callable[[HloInstruction], bool],
    ) -> None:
        own = [k for k in kernels.values() if k.gives and k.computation is computation]
        self._order = {op: place for place, op in enumerate(computation.instructions)}
        self._givers = {op: kernel for kernel in own for op in kernel.gives}
        drawn = [kernel for kernel in own if kernel.op is None or is_drawn(kernel.op)]
        self.drawn: tuple[Kernel, ...] = tuple(sorted(drawn, key=self._position))
        self.named: dict[str, Kernel] = {kernel.name: kernel for kernel in self.drawn}

    @cached_property
    def neighbours(self) -> dict[Kernel, list[Kernel]]:
        """The kernels that an arrow joins to each kernel."""
        found: dict[Kernel, list[Kernel]] = {}
        for kernel in self.drawn:
            for op in self.sources(kernel.reads):
                giver = self._givers[op]
                found.setdefault(kernel, []).append(giver)
                found.setdefault(giver, []).append(kernel)
        return found

    def anchor(self, kernel: Kernel) -> HloInstruction:
        """Return the op in whose place a kernel stands: the last of those whose values leave it."""
        return max(kernel.gives, key=lambda op: self._order.get(op, -1))

    def giver(self, op: HloInstruction) -> Kernel:
        """Return the kernel that gives a value."""
        return self._givers[op]

    def sources(self, operands: Iterable[HloInstruction]) -> list[HloInstruction]:
        """Return the values that kernels with a box give, through those that have none."""
        found: dict[HloInstruction, None] = {}
        seen: set[HloInstruction] = set()
        waiting = sorted(operands, key=lambda op: op.name, reverse=True)
        while waiting:
            op = waiting.pop()
            giver = self._givers.get(op)
            if giver is None or op in seen:
                continue
            seen.add(op)
            if giver.name in self.named:
                found[op] = None
            else:
                waiting.extend(op.operands)
        return list(found)

    def _position(self, kernel: Kernel) -> int:
        return self._order.get(self.anchor(kernel), -1)
