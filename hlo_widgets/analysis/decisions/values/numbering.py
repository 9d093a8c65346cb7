"""Numbers for values: the same one for what does the same to the same operands."""

from __future__ import annotations

import re
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

# Are of their operand's value where the shape stays the same: but for the layout, or with it for a
# bitcast, which reads the same bytes in another order.
_HANDS_ON_ALIKE = frozenset({"bitcast", "convert", "reshape"})
# Two of them that read the same do not give the same.
_NEVER_ALIKE = frozenset("after-all infeed outfeed recv rng rng-get-and-update-state send".split())
# What says how a value is computed or stored or where it came from, but not what it is; of a custom
# call the backend's notes are what it computes. The computations that an op calls are compared by
# what they compute.
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
_COPY = re.compile(r"(?:\.clone(?:\.\d+)?)+$")


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
        self._contents: dict[str, tuple[object, ...]] = {}

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
        if op.opcode in _NEVER_ALIKE or "custom_call_has_side_effect" in op.attributes:
            return self.of_key(op.opcode, op.name)
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
            index = op.attributes.get("index", "")
            parts = self.parts(operand)
            is_tuple = parts != (operand,) and index.isdecimal() and int(index) < len(parts)
            return parts[int(index)] if is_tuple else None
        if op.opcode in _HANDS_ON_ALIKE:
            read = op.operands[0]
            if self.look_of(op)[1] != self.look_of(read)[1]:
                return None
            return operand if op.opcode != "bitcast" or _order(op) == _order(read) else None
        return None


def _look(op: HloInstruction) -> Look:
    try:
        return op.opcode, op.shape.to_string(with_layout=False)
    except HloParseError:
        return op.opcode, op.text


def _content(op: HloInstruction) -> tuple[object, ...]:
    told = [f"{key}={value}" for key, value in op.attributes.items() if key not in _NO_CONTENT]
    if op.opcode == "custom-call":
        told.append(op.attributes.get("backend_config", ""))
    elif op.opcode == "bitcast":
        told.append(f"{_order(op)} {_order(op.operands[0]) if op.operands else ''}")
    literal = op.literal or ""
    if "..." in literal:
        # Printed without its elements. A copy of it is called after it.
        literal = _COPY.sub("", op.name)
    return (literal, *sorted(told))


def _order(op: HloInstruction) -> str:
    """Return the order in which the elements of an array lie in memory."""
    try:
        layout = op.shape.layout
    except HloParseError:
        return op.text
    return "" if layout is None else str(layout.minor_to_major)
