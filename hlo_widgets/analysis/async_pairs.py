"""Asynchronous pairs: the start that sets something going and the done that waits for its end.

`copy-start` and `copy-done`, `all-gather-start` and `all-gather-done`, `send` and `send-done`,
`fusion-start` and `fusion-done`, with any number of updates between the two. What happens in
between runs beside the operation. The start holds the operands and the called computation, the done
has the result; one of them without the other says little, so all that shows a pair asks here.
"""

from __future__ import annotations

from hlo_widgets.hlo import HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["done_of", "is_memory_move", "pair_members", "start_of", "wrapped_opcode"]

# What these move lies elsewhere afterwards; nothing is computed.
_MEMORY_MOVES = frozenset({"copy", "slice", "dynamic-slice", "dynamic-update-slice"})


def start_of(instruction: HloInstruction) -> HloInstruction | None:
    """Return the start of the pair that an update or a done belongs to, else None."""
    base = opcodes.async_base(instruction.opcode)
    if base is None or opcodes.is_async_start(instruction.opcode):
        return None
    before = instruction
    # As many steps as there are instructions: damaged text could make the updates a circle.
    for _ in range(len(instruction.parent.instructions)):
        if not before.operands:
            return None
        before = before.operands[0]
        if not before.opcode.endswith("-update"):
            break
    # `send-done` ends a `send`.
    return before if before.opcode in (f"{base}-start", base) else None


def done_of(instruction: HloInstruction) -> HloInstruction | None:
    """Return the done of the pair that a start or an update belongs to, else None."""
    base = opcodes.async_base(instruction.opcode) or instruction.opcode
    after = instruction
    for _ in range(len(instruction.parent.instructions)):
        following = [u for u in after.users if opcodes.async_base(u.opcode) == base]
        if not following:
            return None
        after = following[0]
        if opcodes.is_async_done(after.opcode):
            return after
    return None


def pair_members(done: HloInstruction) -> tuple[HloInstruction, ...]:
    """Return start, updates and done of a pair in that order; of anything else itself alone."""
    start = start_of(done) if opcodes.is_async_done(done.opcode) else None
    if start is None:
        return (done,)
    members = [done]
    while members[-1] is not start:
        members.append(members[-1].operands[0])
    return tuple(reversed(members))


def is_memory_move(instruction: HloInstruction) -> bool:
    """Return whether this is part of a pair that only moves data between memories."""
    return opcodes.async_base(instruction.opcode) in _MEMORY_MOVES


def wrapped_opcode(instruction: HloInstruction) -> str:
    """Return what a pair does, in one opcode; of anything else its own opcode.

    `all-gather` of `all-gather-start`; of an `async-start` the root of the called computation.
    """
    base = opcodes.async_base(instruction.opcode)
    if base is None:
        return instruction.opcode
    if base != "async":
        return base
    start = instruction if instruction.opcode == "async-start" else start_of(instruction)
    bodies = start.called_computations if start is not None else ()
    return bodies[0].root_instruction.opcode if bodies else "async"
