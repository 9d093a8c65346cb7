"""Ids of what a view draws: the name of an instruction, after the ids of what it is drawn inside.

`fusion.1/reduce.2` is `reduce.2` in the computation that `fusion.1` calls. Of a caller with several
computations the id says which, as names are unique in one computation only: `while.2/:body/add.1`.
The same computation drawn in two places has two ids. A start/done pair goes by the id of its done.

What has a meaning in an id, or cannot be sent, is written `%2F;` where it stands in a name.
"""

from __future__ import annotations

import re
from collections import deque

from hlo_widgets.analysis import done_of, pair_members
from hlo_widgets.hlo import HloComputation, HloInstruction

__all__ = [
    "child_id",
    "copy_id",
    "id_of",
    "instruction_at",
    "note_id",
    "resolve",
    "sibling_id",
    "surrounding_ids",
    "without_copy",
]

_COPY = re.compile(r"@[^/]*$|~\d+$")
_SPECIAL = re.compile("[/%@~:\ud800-\udfff]")
_ESCAPE = re.compile(r"%([0-9A-F]+);")


def child_id(parent: str, instruction: HloInstruction, caller: HloInstruction | None = None) -> str:
    """Return the id of an instruction drawn inside the node `parent`.

    Args:
        parent: Id of the node around; "" for outside of all.
        instruction: The instruction.
        caller: The instruction that `parent` stands for; not needed outside of all.
    """
    name = _escaped(instruction.name)
    if not parent:
        return name
    if caller is not None and len(set(_called(caller))) > 1:
        return f"{parent}/:{_escaped(instruction.parent.name)}/{name}"
    return f"{parent}/{name}"


def sibling_id(node_id: str, instruction: HloInstruction) -> str:
    """Return the id of an instruction of the same computation as the node `node_id`."""
    around, slash, _ = node_id.rpartition("/")
    return around + slash + _escaped(instruction.name)


def copy_id(node_id: str, user_id: str) -> str:
    """Return the id of a copy of a node that is drawn beside one of its users."""
    return f"{node_id}@{_escaped(user_id)}"


def without_copy(node_id: str) -> str:
    """Return the id of the node that a copy stands for; of anything else the id itself.

    A copy stands beside a user of a busy node (`x@fusion`), or is the same computation drawn for
    another branch (`pick/negate~2`).
    """
    return _COPY.sub("", node_id)


def note_id(parent: str, what: str) -> str:
    """Return an id inside a node for what is no instruction: no name can be like it."""
    return f"{parent}/:{_escaped(what)}:"


def surrounding_ids(node_id: str) -> frozenset[str]:
    """Return the ids of all nodes that a node is drawn inside."""
    parts = node_id.split("/")
    around = ("/".join(parts[:length]) for length in range(1, len(parts)))
    return frozenset(one for one in around if not one.rpartition("/")[2].startswith(":"))


def instruction_at(base: HloComputation, node_id: str) -> HloInstruction | None:
    """Return the instruction that an id stands for in views of `base`; None when there is none."""
    computations: tuple[HloComputation, ...] = (base,)
    found = None
    for segment in without_copy(node_id).split("/"):
        name = _unescaped(segment.removeprefix(":"))
        if segment.startswith(":"):
            computations = tuple(c for c in computations if c.name == name)
            found = None
            continue
        inside = (computation.by_name.get(name) for computation in computations)
        found = next((instruction for instruction in inside if instruction is not None), None)
        if found is None:
            return None
        computations = _called(found)
    return found


def id_of(base: HloComputation, instruction: HloInstruction) -> str | None:
    """Return the shortest id of an instruction in views of `base`; None when none leads to it.

    Of a start or an update it is the id of the done, by which the pair goes.
    """
    first = done_of(instruction) or instruction
    steps: dict[HloInstruction, HloInstruction | None] = {first: None}
    waiting = deque([first])
    while waiting:
        step = waiting.popleft()
        if step.parent is base:
            return _id_along(step, steps)
        for caller in step.parent.named_by:
            box = done_of(caller) or caller
            if box not in steps:
                steps[box] = step
                waiting.append(box)
    return None


def resolve(base: HloComputation, text: str) -> str | None:
    """Return the id that a user means by an id or a name, with or without `%`; None for neither.

    Raises:
        HloLookupError: No instruction of the module has that name.
    """
    named = text.removeprefix("%")
    found = instruction_at(base, named)
    if found is None:
        return id_of(base, base.parent.instruction(named))
    return sibling_id(without_copy(named), done_of(found) or found)


def _id_along(outermost: HloInstruction, steps: dict[HloInstruction, HloInstruction | None]) -> str:
    node_id, caller = child_id("", outermost), outermost
    while (inner := steps[caller]) is not None:
        node_id, caller = child_id(node_id, inner, caller), inner
    return node_id


def _called(instruction: HloInstruction) -> tuple[HloComputation, ...]:
    return pair_members(instruction)[0].named_computations


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"%{ord(found[0]):X};", text)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if len(found[1]) < 6 else "", text)
