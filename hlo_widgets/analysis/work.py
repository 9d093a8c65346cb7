"""Which instructions do work, and so get a row in the cost table.

An instruction does work when the device spends time in it on behalf of the program's values. Values
that are only named, regrouped or read as another shape cost nothing; control flow is made of the
instructions in its bodies, which are counted there; and of an asynchronous pair the start stands
for both halves.
"""

from __future__ import annotations

from collections.abc import Mapping

from hlo_widgets.hlo import HloInstruction

__all__ = ["CONTROL_FLOW", "NO_WORK", "NO_WORK_CUSTOM_CALLS", "is_work"]

# Instructions whose called computations are run; their instructions get the rows.
CONTROL_FLOW = frozenset({"while", "conditional", "call", "async-start"})

# Every opcode that does no work, with the reason.
NO_WORK: Mapping[str, str] = {
    "parameter": "a value that is handed in",
    "constant": "a value that the program carries",
    "tuple": "regroups values",
    "get-tuple-element": "names a part of a value",
    "bitcast": "the same bytes under another shape",
    "after-all": "orders others",
    "add-dependency": "orders others",
    "opt-barrier": "orders others",
    "domain": "marks a region",
    "partition-id": "a number that the device knows",
    "replica-id": "a number that the device knows",
    "get-dimension-size": "a number that the shape knows",
    "set-dimension-size": "marks a shape",
    "async-update": "stands between the halves of an asynchronous pair",
    "missing": "stands for an operand that the text does not define",
    **dict.fromkeys(CONTROL_FLOW, "its bodies' instructions are counted"),
}

# Starts of moves between memories: they run beside the work and carry no estimate. Collectives and
# other asynchronous work (all-gather-start, fusion-start, custom-call-start, send) do get a row.
_MEMORY_MOVES = frozenset(
    {"copy-start", "slice-start", "dynamic-slice-start", "dynamic-update-slice-start"}
)

# Custom calls that stand for no code: they give a buffer a place or tell the compiler something.
NO_WORK_CUSTOM_CALLS = frozenset(
    {
        "AllocateBuffer",
        "AssumeGatherIndicesInBound",
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "xla.sdy.FuncResultSharding",
        "xla.sdy.GlobalToLocalShape",
        "xla.sdy.LocalToGlobalShape",
    }
)


def is_work(instruction: HloInstruction) -> bool:
    """Tell whether `instruction` does work of its own and gets a row in the cost table.

    Args:
        instruction: An instruction of a computation that is run (see `executed_computations`); of
            an instruction inside a fusion the answer says nothing, as the fusion does its work.
    """
    opcode = instruction.opcode
    if opcode in NO_WORK or opcode in _MEMORY_MOVES or opcode.endswith("-done"):
        return False
    if opcode == "custom-call":
        target = instruction.attributes.get("custom_call_target", "").strip('"')
        return target not in NO_WORK_CUSTOM_CALLS
    return True
