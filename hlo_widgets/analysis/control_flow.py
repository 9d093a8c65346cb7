"""Control flow: which instructions only run other computations, and which computations are run so.

A computation is run as the entry, or because control flow in one that is run calls it. Bodies of
fusions and the small functions of reductions, sorts and scatters are not run in this sense: they
say what one instruction computes.
"""

from __future__ import annotations

from hlo_widgets.hlo import HloComputation, HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["is_control_flow", "is_run"]

# `call-start` is how a printer shortens an `async-start` of one call. Of the other members of a
# pair none counts: the start alone runs something.
_OPCODES = opcodes.CONTROL_FLOW | {f"{name}-start" for name in (*opcodes.CONTROL_FLOW, "async")}


def is_control_flow(instruction: HloInstruction) -> bool:
    """Return whether all that the instruction does is to run the computations that it calls."""
    return instruction.opcode in _OPCODES


def is_run(computation: HloComputation) -> bool:
    """Return whether a run of the module steps through the computation's instructions.

    False of bodies of fusions, of reducers and comparators, of what these call in turn, and of
    computations that nothing calls, as in text whose end is missing.
    """
    entry = computation.parent.entry_computation
    seen = {computation}
    above = [computation]
    while above:
        one = above.pop()
        if one is entry:
            return True
        callers = {caller.parent for caller in one.callers if is_control_flow(caller)} - seen
        seen |= callers
        above.extend(callers)
    return False
