"""Numbers for values: the same one for what does the same to the same operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hlo_widgets.analysis.decisions.values.full_window import as_reduce_and_broadcast
from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.hlo.attributes import CALLING_ATTRIBUTES

__all__ = ["HANDS_ON", "Look", "ValueNumbering"]

Look = tuple[str, str]
"""Opcode and shape of an op, without its layout; a damaged shape as it is written."""

HANDS_ON = frozenset({"copy", "copy-done", "copy-start", "opt-barrier"})
"""Opcodes whose value is that of their operand, though it may lie elsewhere then."""

# Are of their operand's value where the shape stays the same but for the layout.
_HANDS_ON_ALIKE = frozenset({"bitcast", "convert", "reshape"})
# What says how a value is computed or stored, or where it came from, but not what it is. The
# computations that an op calls are compared by what they compute.
_NO_CONTENT = {
    *CALLING_ATTRIBUTES,
    "backend_config",
    "control-predecessors",
    "frontend_attributes",
    "kind",
    "metadata",
    "origin",
    "output_to_operand_aliasing",
    "sharding",
    "statistics",
}


class ValueNumbering:
    """The numbers of all values of one compile, over all of its modules."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._parts: dict[int, tuple[int, ...]] = {}
        self._on_the_way: dict[int, int] = {}
        # The numbers that turned out to be of one value: each by its first one, and the reverse.
        self._first: dict[int, int] = {}
        self._alike: dict[int, tuple[int, ...]] = {}
        # By an instruction's text: from dump to dump most are written alike.
        self._looks: dict[str, Look] = {}
        self._contents: dict[str, tuple[str, ...]] = {}

    def of_key(self, *key: object) -> int:
        """Return the number of what is told apart by a key."""
        return self.first(self._numbers.setdefault(key, len(self._numbers)))

    def first(self, number: int) -> int:
        """Return the number that stands for all that are of one value."""
        return self._first.get(number, number)

    def alike(self, number: int) -> tuple[int, ...]:
        """Return all numbers that are of one value."""
        first = self.first(number)
        return self._alike.get(first, (first,))

    def unite(self, one: int, other: int) -> int:
        """Note that two numbers are of one value, and return the one that stands for both.

        A pass wrote anew how the value comes about: from now on it is known by both ways.
        """
        first, second = sorted((self.first(one), self.first(other)))
        if first != second:
            self._alike[first] = (*self.alike(first), *self.alike(second))
            self._first |= dict.fromkeys(self.alike(second), first)
        return first

    def parts(self, number: int) -> tuple[int, ...]:
        """Return the numbers of what a tuple is made of; of any other value its own number."""
        alike = (self._parts.get(one) for one in self.alike(number))
        parts = next((parts for parts in alike if parts is not None), (number,))
        return tuple(self.first(part) for part in parts)

    def on_the_way(self, number: int) -> int | None:
        """Return the number of the value that an op computes on its way to another one."""
        return self._on_the_way.get(number)

    def look_of(self, op: HloInstruction) -> Look:
        """Return opcode and shape of an op."""
        text = op.text
        look = self._looks.get(text)
        if look is None:
            look = self._looks[text] = _look(op)
        return look

    def of_op(self, op: HloInstruction, operands: Sequence[int], called: Iterable[object]) -> int:
        """Return the number of an op that is no parameter and not looked into.

        Args:
            op: The op.
            operands: The numbers of its operands.
            called: What the computations that it calls are told apart by.
        """
        if op.opcode == "tuple":
            number = self.of_key("tuple", *operands)
            self._parts[number] = tuple(operands)
            return number
        handed = self._handed_on(op, operands[0]) if len(operands) == 1 else None
        if handed is not None:
            return handed
        if op.opcode == "reduce-window" and (both := as_reduce_and_broadcast(op)) is not None:
            reduced = self.of_key(*both.reduce, *called, *operands)
            number = self.of_key(*both.broadcast, reduced)
            self._on_the_way[number] = reduced
            return number
        text = op.text
        content = self._contents.get(text)
        if content is None:
            content = self._contents[text] = (*self.look_of(op), *_content(op))
        return self.of_key(*content, *called, *operands)

    def _handed_on(self, op: HloInstruction, operand: int) -> int | None:
        """Return the number that an op takes over from its only operand, or from a part of it."""
        if op.opcode in HANDS_ON:
            return operand
        if op.opcode == "get-tuple-element":
            parts = self._parts.get(operand, ())
            index = op.attributes.get("index", "")
            return parts[int(index)] if index.isdecimal() and int(index) < len(parts) else None
        if op.opcode in _HANDS_ON_ALIKE:
            _, shape = self.look_of(op)
            return operand if self.look_of(op.operands[0])[1] == shape else None
        return None


def _look(op: HloInstruction) -> Look:
    try:
        return op.opcode, op.shape.to_string(with_layout=False)
    except HloParseError:
        return op.opcode, op.text


def _content(op: HloInstruction) -> tuple[str, ...]:
    told = (f"{key}={value}" for key, value in op.attributes.items() if key not in _NO_CONTENT)
    return (op.literal or "", *sorted(told))
