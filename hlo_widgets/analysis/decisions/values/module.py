"""The values of one module: which op computes which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hlo_widgets.analysis.decisions.values.numbering import HANDS_ON, Look, ValueNumbering
from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloComputation, HloInstruction, HloModule
from hlo_widgets.hlo import opcode as opcodes
from hlo_widgets.hlo.collection import collection_held_back

__all__ = ["ModuleValues", "is_applied", "number_module", "running_ops"]

Reading = tuple[str, int]
"""The name of an op that reads another one, and as which operand."""

_COMPUTES_NOTHING = frozenset({"get-tuple-element", "parameter", "tuple"}) | HANDS_ON
# Called by an op for every element: no value of the program stands in it.
_APPLIES = opcodes.APPLIES - {"call"}
# Calls what is a part of the op, and no place of its own.
_HAS_PARTS = _APPLIES | {"fusion"}
# Compilers nest fusions two or three deep. Arbitrary: deeper ones are not looked into.
_DEEPEST = 16
# In how many places, on average, an op may stand because fusions share a body. Arbitrary: compilers
# give each fusion a body of its own.
_MOST_PLACES = 8


@dataclass(frozen=True)
class ModuleValues:
    """The values of one module.

    A place is a computation outside of fusions, such as the body of a loop, by the name that it had
    first: passes clone them.

    Attributes:
        numbering: Whose numbers they are.
        numbers: The number of each op outside of fusions, by name.
        homes: The ops outside of fusions that compute a value, themselves or inside, by number.
        looks: Opcode and shape of each op outside of fusions, by name.
        places: The place that each computation is, by the computation's name.
        shapes: The shapes of what each place is called with.
        roots: The root op of each place.
        called: The places that an op calls, in order, by the op's name.
        callers: The ops that call a place, by who reads them.
        renamed: Ops that call places and had another name before, by that name.
    """

    numbering: ValueNumbering
    numbers: Mapping[str, int] = field(default_factory=dict)
    homes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    looks: Mapping[str, Look] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    roots: Mapping[str, str] = field(default_factory=dict)
    called: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    callers: Mapping[Reading, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> int | None:
        """Return the number of an op outside of fusions; None where there is none of the name."""
        number = self.numbers.get(name)
        return None if number is None else self.numbering.first(number)

    def first(self, number: int) -> int:
        """Return the number that stands for all that are of one value."""
        return self.numbering.first(number)

    def outputs(self, name: str) -> tuple[int, ...]:
        """Return the numbers of the values that an op gives: several where it gives a tuple."""
        number = self.of(name)
        return () if number is None else self.numbering.parts(number)

    def computing(self, number: int) -> tuple[str, ...]:
        """Return the ops outside of fusions that compute a value."""
        alike = self.numbering.alike(number)
        return tuple(dict.fromkeys(name for one in alike for name in self.homes.get(one, ())))


def running_ops(module: HloModule) -> Iterator[HloInstruction]:
    """Yield the ops that stand outside of fusions."""
    for computation in module.computations:
        if not computation.is_fusion_computation:
            yield from computation.instructions


def is_applied(computation: HloComputation) -> bool:
    """Return whether a computation is only called for every element, as that of a reduction."""
    callers = computation.callers
    return bool(callers) and all(caller.opcode in _APPLIES for caller in callers)


def number_module(
    module: HloModule, before: ModuleValues | ValueNumbering | None = None
) -> ModuleValues:
    """Number the values of a module.

    Args:
        module: The module.
        before: The values before the last pass, or the numbers of the compile for its first module;
            None for numbers of its own.
    """
    before = ValueNumbering() if before is None else before
    values = ModuleValues(before) if isinstance(before, ValueNumbering) else before
    with collection_held_back():
        return _ModuleNumbering(module, values).values()


class _ModuleNumbering:
    """Numbers one module."""

    def __init__(self, module: HloModule, before: ModuleValues) -> None:
        self._numbering, self._before = before.numbering, before
        self._running = [c for c in module.computations if not c.is_fusion_computation]
        self._room = _MOST_PLACES * sum(len(c.instructions) for c in module.computations)
        self._homes: dict[int, dict[str, None]] = defaultdict(dict)
        self._applied: dict[HloComputation, int] = {}
        self._renamed: dict[str, str] = {}
        self._names = {op.name for c in self._running for op in c.instructions}
        self._known = {self._numbering.first(number) for number in before.numbers.values()}
        self._known |= {self._numbering.first(number) for number in before.homes}
        self._places = self._find_places()

    def values(self) -> ModuleValues:
        """Return the values of the module."""
        numbers: dict[str, int] = {}
        looks: dict[str, Look] = {}
        called: dict[str, tuple[str, ...]] = {}
        callers: dict[Reading, str] = {}
        for computation in self._running:
            place = self._places[computation.name]
            known: dict[HloInstruction, int] = {}
            for op in computation.instructions:
                looks[op.name] = look = self._numbering.look_of(op)
                number = self._number_running(op, known, place)
                if self._before.looks.get(op.name) == look:
                    number = self._keep(self._before.numbers[op.name], number)
                known[op] = numbers[op.name] = number
                if op.called_computations and op.opcode not in _HAS_PARTS:
                    names = (c.name for c in op.called_computations)
                    called[op.name] = tuple(self._places.get(name, name) for name in names)
                    callers |= dict.fromkeys(_readings(op), op.name)
        return ModuleValues(
            self._numbering,
            numbers=numbers,
            homes={number: tuple(names) for number, names in self._homes.items()},
            looks=looks,
            places=self._places,
            shapes={self._places[c.name]: _shapes(c) for c in self._running},
            roots={self._places[c.name]: c.root_instruction.name for c in self._running},
            called=called,
            callers=callers,
            renamed=self._renamed,
        )

    def _keep(self, kept: int, number: int) -> int:
        """Return the number of an op that had one before by its name, and has one by what it does.

        Its value is the same, though it may come about in another way. But where what it does now
        was done before by something else, that counts, and not the name.
        """
        kept, number = self._numbering.first(kept), self._numbering.first(number)
        return number if number in self._known else self._numbering.unite(kept, number)

    def _find_places(self) -> dict[str, str]:
        """Return the place that each computation is; no two are one."""
        before = self._before
        places = {c.name: before.places[c.name] for c in self._running if c.name in before.places}
        taken = set(places.values())
        for computation in self._running:
            if computation.name not in places:
                place = self._place_by_caller(computation)
                fits = place is not None and place not in taken
                places[computation.name] = place if fits and place else computation.name
                taken.add(places[computation.name])
        for computation in self._running:
            place = places[computation.name]
            was, now = before.shapes.get(place), _shapes(computation)
            if was is not None and now[: len(was)] != was:
                # What it is called with has moved: no position tells what it was before.
                places[computation.name] = f"{place} of {' '.join(now)}"
        return places

    def _place_by_caller(self, computation: HloComputation) -> str | None:
        for caller in computation.callers:
            if caller.opcode in _HAS_PARTS:
                continue
            position = caller.called_computations.index(computation)
            # A loop that carries more than before is a new op, read by the same ones.
            read = {self._before.callers.get(reading, "") for reading in _readings(caller)}
            for name in (caller.name, *sorted(read - self._names)):
                places = self._before.called.get(name, ())
                if position < len(places):
                    if name != caller.name:
                        self._renamed[name] = caller.name
                    return places[position]
        return None

    def _number_running(
        self, op: HloInstruction, known: Mapping[HloInstruction, int], place: str
    ) -> int:
        """Number an op outside of fusions."""
        if op.opcode == "parameter":
            return self._numbering.of_key("parameter", op.parameter_number, place)
        return self._number(op, known, op.name, depth=0)

    def _number(
        self, op: HloInstruction, known: Mapping[HloInstruction, int], home: str, depth: int
    ) -> int:
        """Number an op, and note where its value is computed."""
        operands = [known[o] if o in known else self._elsewhere(o.name) for o in op.operands]
        if op.opcode == "fusion" and op.called_computations and self._may_enter(depth):
            number = self._number_body(op.called_computations[0], operands, home, depth + 1)
        else:
            called = [self._told_by(op, one, depth) for one in op.called_computations]
            number = self._numbering.of_op(op, operands, called)
        if home and op.opcode not in _COMPUTES_NOTHING:
            self._homes[number][home] = None
            on_the_way = self._numbering.on_the_way(number)
            if on_the_way is not None and op.opcode == "reduce-window":
                self._homes[on_the_way][home] = None
        return number

    def _elsewhere(self, name: str) -> int:
        """Return the number of an operand that the text does not have, or below its user."""
        known = self._before.of(name)
        return self._numbering.of_key(name) if known is None else known

    def _may_enter(self, depth: int) -> bool:
        return depth < _DEEPEST and self._room > 0

    def _number_body(
        self, body: HloComputation, parameters: Sequence[int], home: str, depth: int
    ) -> int:
        self._room -= len(body.instructions)
        known: dict[HloInstruction, int] = {}
        for op in body.instructions:
            position = op.parameter_number
            if position is not None and position < len(parameters):
                known[op] = parameters[position]
            else:
                known[op] = self._number(op, known, home, depth)
        root = body.root_instruction
        return known[root] if root in known else self._numbering.of_key(body.name)

    def _told_by(self, op: HloInstruction, called: HloComputation, depth: int) -> object:
        """Return what a computation that an op calls is told apart by."""
        if op.opcode not in _APPLIES or not self._may_enter(depth):
            return self._places.get(called.name, called.name)
        if called not in self._applied:
            self._applied[called] = -1  # one that calls itself, in a damaged text
            count = len(called.parameters)
            parameters = [self._numbering.of_key("applied", number) for number in range(count)]
            self._applied[called] = self._number_body(called, parameters, "", depth + 1)
        return self._applied[called]


def _shapes(computation: HloComputation) -> tuple[str, ...]:
    """Return the shapes of what a computation is called with; of one tuple those of its parts."""
    shapes = []
    for parameter in computation.parameters:
        try:
            parts = parameter.shape.tuple_shapes or (parameter.shape,)
        except HloParseError:
            return ()
        shapes += [part.to_string(with_layout=False) for part in parts]
    return tuple(shapes)


def _readings(op: HloInstruction) -> Iterator[Reading]:
    """Yield who reads an op, and as which operand."""
    for user in op.users:
        for position, operand in enumerate(user.operands):
            if operand is op:
                yield user.name, position
