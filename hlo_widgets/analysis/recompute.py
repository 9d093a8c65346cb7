"""Ops that more than one kernel computes: the compiler's trade of arithmetic for memory traffic.

Two ops compute the same when they do the same to the same values; what a fusion reads is followed
to where it comes from. Nothing is guessed from names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from hlo_widgets.analysis.execution import executed_computations
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["Recomputation", "recomputed_ops"]

# What moves or relabels elements costs no arithmetic: only a chain with other ops is worth a word.
_ARITHMETIC = (opcodes.ELEMENTWISE | opcodes.MATRIX | {"reduce", "reduce-window"}) - {
    "convert",
    "bitcast-convert",
}
_CARRIES = frozenset({"copy", "copy-start", "copy-done", "bitcast"})
# Not the same twice, or not only a matter of their operands.
_ONCE = (
    opcodes.COMMUNICATION
    | opcodes.CONTROL_FLOW
    | opcodes.ASYNC_WRAPPERS
    | {"custom-call", "parameter", "rng", "rng-bit-generator", "rng-get-and-update-state"}
)
_IGNORED_ATTRIBUTES = frozenset(
    "metadata backend_config sharding frontend_attributes calls to_apply statistics origin".split()
)


@dataclass(frozen=True)
class Recomputation:
    """One value that several kernels compute, the last of a chain of such.

    Attributes:
        instructions: The ops that compute it, one a kernel.
        kernels: The instructions that run them, in schedule order.
        chain_length: How many arithmetic ops are computed again with it, itself included.
        element_count: Elements of the value; None where the shape does not tell.
        value_bytes: Bytes of the value in the type that it is computed in; None likewise.
    """

    instructions: tuple[HloInstruction, ...]
    kernels: tuple[HloInstruction, ...]
    chain_length: int
    element_count: int | None
    value_bytes: int | None

    @property
    def extra_evaluations(self) -> int | None:
        """Elements computed beyond once each: elements × (kernels - 1)."""
        return None if self.element_count is None else self.element_count * (len(self.kernels) - 1)

    @property
    def avoided_bytes(self) -> int | None:
        """Memory traffic that storing the value would take instead: bytes × kernels.

        The first kernel could compute and write it, and each of the others read it.
        """
        return None if self.value_bytes is None else self.value_bytes * len(self.kernels)


def recomputed_ops(module: HloModule) -> tuple[Recomputation, ...]:
    """Return the values that more than one kernel computes, in schedule order.

    Args:
        module: A compiled module.

    Returns:
        For each chain of ops that the same kernels compute again, its last value.
    """
    found: list[Recomputation] = []
    for executed in executed_computations(module):
        found += _Values(executed.computation).recomputations()
    return tuple(found)


class _Values:
    """The values of one computation, numbered: equal numbers are equal values."""

    def __init__(self, computation: HloComputation) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._operands: dict[int, set[int]] = defaultdict(set)
        # Where each value is computed: one op a kernel.
        self._places: dict[int, dict[HloInstruction, HloInstruction]] = defaultdict(dict)
        self._elements: dict[tuple[int, int], int] = {}
        values: dict[HloInstruction, int] = {}
        for op in computation.instructions:
            values[op] = self._value(op, op, values)

    def recomputations(self) -> list[Recomputation]:
        again = {n: places for n, places in self._places.items() if len(places) > 1}
        work = {n for n, places in again.items() if _is_arithmetic(next(iter(places.values())))}
        below: dict[int, set[int]] = {}
        covered: set[int] = set()
        for number in sorted(again):
            chain = {number} & work
            for operand in self._operands[number]:
                if operand in again and again[operand].keys() == again[number].keys():
                    chain |= below[operand]
            below[number] = chain
            if number in work:
                covered |= chain - {number}
        ends = [n for n in sorted(work) if n not in covered]
        return [self._recomputation(again[n], len(below[n])) for n in ends]

    def _recomputation(
        self, places: Mapping[HloInstruction, HloInstruction], chain_length: int
    ) -> Recomputation:
        ops = tuple(places.values())
        shape = ops[0].shape
        return Recomputation(ops, tuple(places), chain_length, shape.element_count, shape.byte_size)

    def _value(
        self, op: HloInstruction, kernel: HloInstruction, values: Mapping[HloInstruction, int]
    ) -> int:
        operands = tuple(values.get(o, -1) for o in op.operands)
        if op.opcode in _CARRIES and op.operands and op.opcode != "bitcast":
            return operands[0]
        if op.opcode == "fusion" and op.called_computations:
            return self._fusion_value(op, kernel, operands)
        if op.opcode == "get-tuple-element" and operands:
            index = op.attributes.get("index", "")
            known = self._elements.get((operands[0], int(index) if index.isdecimal() else -1))
            if known is not None:
                return known
        number = self._number(_key(op, operands))
        self._operands[number].update(operands)
        if op.opcode == "tuple":
            self._elements.update({(number, i): o for i, o in enumerate(operands)})
        elif op.opcode not in opcodes.PLUMBING and op.opcode not in _ONCE:
            self._places[number].setdefault(kernel, op)
        return number

    def _fusion_value(
        self, fusion: HloInstruction, kernel: HloInstruction, operands: tuple[int, ...]
    ) -> int:
        body = fusion.called_computations[0]
        # The operands of this run of the body; the same body may be called with others.
        values = dict(zip(body.parameters, operands, strict=False))
        for op in body.instructions:
            # A body in its own body is damaged text.
            if op not in values and op.called_computations[:1] != (body,):
                values[op] = self._value(op, kernel, values)
        return values.get(body.root_instruction, -1)

    def _number(self, key: tuple[object, ...]) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _key(op: HloInstruction, operands: tuple[int, ...]) -> tuple[object, ...]:
    if op.opcode in _ONCE or op.is_missing:
        return (op.opcode, op.name, id(op))
    attributes = tuple(
        sorted((k, v) for k, v in op.attributes.items() if k not in _IGNORED_ATTRIBUTES)
    )
    applied = tuple(i.opcode for c in op.called_computations for i in c.instructions)
    shape = op.shape.to_string(with_layout=False)
    return (op.opcode, shape, op.literal, attributes, applied, operands)


def _is_arithmetic(op: HloInstruction) -> bool:
    return op.opcode in _ARITHMETIC
