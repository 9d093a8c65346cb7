"""Ids of what a view draws: the name of an instruction, after the ids of what it is drawn inside.

`while.2/fusion.1` is `fusion.1` in a computation that `while.2` calls. The same computation drawn
in two places has two ids. A `/` in a name is written `%2F`, a `%` is written `%25`.
"""

from __future__ import annotations

from hlo_widgets.graph.folding import async_start_of
from hlo_widgets.hlo import HloComputation, HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["box_of", "child_id", "id_of", "instruction_at", "parent_id", "surrounding_ids"]


def child_id(parent: str, instruction: HloInstruction) -> str:
    """Return the id of an instruction drawn inside the node `parent` ("" for outside of all)."""
    name = instruction.name.replace("%", "%25").replace("/", "%2F")
    return f"{parent}/{name}" if parent else name


def parent_id(node_id: str) -> str:
    """Return the id of the node that a node is drawn inside; "" for outside of all."""
    return node_id.rpartition("/")[0]


def surrounding_ids(node_id: str) -> frozenset[str]:
    """Return the ids of all nodes that a node is drawn inside."""
    parts = node_id.split("/")
    return frozenset("/".join(parts[:length]) for length in range(1, len(parts)))


def instruction_at(base: HloComputation, node_id: str) -> HloInstruction | None:
    """Return the instruction that an id stands for in views of `base`; None when there is none."""
    computations: tuple[HloComputation, ...] = (base,)
    found = None
    for segment in node_id.split("/"):
        name = segment.replace("%2F", "/").replace("%25", "%")
        inside = (computation.by_name.get(name) for computation in computations)
        found = next((instruction for instruction in inside if instruction is not None), None)
        if found is None:
            return None
        start = async_start_of(found)
        computations = (start if start is not None else found).called_computations
    return found


def id_of(base: HloComputation, instruction: HloInstruction) -> str | None:
    """Return the id of an instruction in views of `base`, by its first caller where it has several.

    None when `base` does not lead to it.
    """
    chain = [instruction]
    while chain[-1].parent is not base:
        callers = chain[-1].parent.callers
        # Damaged text can call itself in a circle; the walk must end all the same.
        if not callers or len(chain) > len(base.parent.computations):
            return None
        chain.append(box_of(callers[0]))
    node_id = ""
    for step in reversed(chain):
        node_id = child_id(node_id, step)
    return node_id


def box_of(instruction: HloInstruction) -> HloInstruction:
    """Return the done of a start, by which the pair's box goes, else the instruction itself."""
    if opcodes.is_async_start(instruction.opcode):
        for user in instruction.users:
            if async_start_of(user) is instruction:
                return user
    return instruction
