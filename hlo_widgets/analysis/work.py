"""Which instructions do work, and so get a row in the cost table.

An instruction does work when the device spends time in it on behalf of the program's values. Values
that are only named, regrouped or read as another shape cost nothing; control flow is made of the
instructions in its bodies, which are counted there; and of an asynchronous pair the start stands
for the whole.
"""

from __future__ import annotations

from collections.abc import Mapping

from hlo_widgets.analysis.async_pairs import is_memory_move
from hlo_widgets.analysis.control_flow import is_control_flow, is_run
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["NO_WORK", "NO_WORK_CUSTOM_CALLS", "does_work", "is_work"]

# Every opcode that does no work beside control flow and parts of pairs, with the reason.
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
    "missing": "stands for an operand that the text does not define",
}

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
        instruction: Any instruction. One inside a fusion, a reducer or a comparator does no work
            of its own: the figures are those of the instruction that calls it.
    """
    return does_work(instruction) and is_run(instruction.parent)


def does_work(instruction: HloInstruction) -> bool:
    """Tell the same of an instruction whose computation is known to be run."""
    opcode = instruction.opcode
    if opcode in NO_WORK or is_control_flow(instruction):
        return False
    if opcode == "custom-call":
        target = instruction.attributes.get("custom_call_target", "").strip('"')
        return target not in NO_WORK_CUSTOM_CALLS
    if opcodes.async_base(opcode) is None:
        return True
    # Moves between memories run beside the work and carry no estimate. Collectives and other
    # asynchronous work (all-gather-start, fusion-start, custom-call-start, send) do get a row.
    return opcodes.is_async_start(opcode) and not is_memory_move(instruction)
