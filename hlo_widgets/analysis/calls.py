"""What an instruction hands to the computations that it calls."""

from __future__ import annotations

from collections.abc import Iterator

from hlo_widgets.analysis.async_pairs import pair_members, wrapped_opcode
from hlo_widgets.hlo import HloComputation, HloInstruction

__all__ = [
    "binds_operands",
    "fused_computation",
    "parameter_bindings",
    "stays_inside",
    "trivial_reducer",
    "tuple_index",
]

# The parameters of what these call are their operands. A reduce hands over elements instead.
_BINDING = frozenset({"fusion", "call", "while", "conditional", "async"})

# Calls a computation on two elements at a time. A sort does too, but its comparator says which way.
_REDUCING = frozenset(
    "all-reduce reduce reduce-scatter reduce-window scatter select-and-scatter".split()
)
_COMMUTATIVE = frozenset("add and maximum minimum multiply or xor".split())


def fused_computation(instruction: HloInstruction) -> HloComputation | None:
    """Return the computation that a fusion (or its start) names by `calls=`, else None."""
    # `calls=` is the only attribute of a fusion that names a computation.
    bodies = instruction.named_computations
    return bodies[0] if wrapped_opcode(instruction) == "fusion" and bodies else None


def binds_operands(instruction: HloInstruction) -> bool:
    """Return whether the parameters of the called computations are operands of the instruction."""
    return _base(_caller(instruction)) in _BINDING


def stays_inside(instruction: HloInstruction) -> bool:
    """Return whether the value lives in a fused kernel alone: it is never written to a memory.

    The parameters of a fusion's body are read from memory and its root is written there; what is in
    between is what fusing saves.
    """
    return (
        instruction.parent.is_fusion_computation
        and not instruction.is_root
        and instruction.opcode != "parameter"
    )


def parameter_bindings(
    instruction: HloInstruction, place: int = 0
) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Yield the parameters of a called computation, each with the operand that it reads.

    Args:
        instruction: The caller; of an asynchronous pair any member.
        place: Which of its called computations, from 0 in text order.
    """
    caller = _caller(instruction)
    if not binds_operands(caller):
        return
    computation = caller.named_computations[place]
    operands = caller.operands
    if caller.opcode == "conditional":
        # The first operand chooses; each branch has one of the others.
        operands = operands[place + 1 : place + 2]
    for parameter in computation.parameters:
        number = parameter.parameter_number
        if number is not None and number < len(operands):
            yield parameter, operands[number]


def trivial_reducer(instruction: HloInstruction) -> str | None:
    """Return the opcode of a reducer that is one op on its two parameters; else None."""
    caller = _caller(instruction)
    if _base(caller) not in _REDUCING or len(caller.named_computations) != 1:
        return None
    reducer = caller.named_computations[0]
    root = reducer.root_instruction
    numbers = [operand.parameter_number for operand in root.operands]
    in_order = numbers == [0, 1] or (numbers == [1, 0] and root.opcode in _COMMUTATIVE)
    return root.opcode if in_order and len(reducer.instructions) == 3 else None


def _caller(instruction: HloInstruction) -> HloInstruction:
    return pair_members(instruction)[0]


def _base(caller: HloInstruction) -> str:
    # An async-start binds as a call does, whatever it wraps.
    if caller.opcode == "async-start":
        return "async"
    return wrapped_opcode(caller)


def tuple_index(element: HloInstruction) -> int | None:
    """Return which element of a tuple a get-tuple-element reads; None where the text is damaged."""
    text = element.attributes.get("index", "")
    # Nine digits are more than any tuple has elements, and few enough for int() to be quick.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None
