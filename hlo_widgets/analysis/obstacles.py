"""Ops that no fusion can hold, and words for what they are."""

from __future__ import annotations

from hlo_widgets.analysis.memory import memory_space_words
from hlo_widgets.analysis.platforms import module_platform
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["carries_value", "is_obstacle", "obstacle_words", "other_half"]

_MOVES = frozenset({"copy", "slice", "dynamic-slice", "dynamic-update-slice"})
_COMMUNICATES = frozenset({"infeed", "outfeed", "send", "recv", "send-done", "recv-done"})


def carries_value(op: HloInstruction) -> bool:
    """Return whether the op's value is its operand's, in another place or layout."""
    return op.opcode in ("copy", "copy-start", "copy-done")


def is_obstacle(op: HloInstruction) -> bool:
    """Return whether no fusion pass can put the op into one kernel with others."""
    return obstacle_words(op) is not None


def obstacle_words(op: HloInstruction) -> str | None:
    """Say what an op is that no fusion can hold.

    Args:
        op: An instruction outside of fusions.

    Returns:
        Words such as "a collective (all-reduce)"; None for an op that could be fused as far as the
        text tells.
    """
    opcode = op.opcode
    base = opcodes.async_base(opcode)
    if base in _MOVES:
        return _move_words(op, base)
    if opcode == "copy":
        return _copy_words(op)
    if opcode in opcodes.COLLECTIVES:
        return f"a collective ({opcode})"
    if opcode == "custom-call":
        target = op.attributes.get("custom_call_target", "").strip('"')
        return f"a custom call ({target})" if target else "a custom call"
    if opcode in opcodes.CONTROL_FLOW:
        return f"control flow ({opcode})"
    if opcode in _COMMUNICATES:
        return f"a transfer to or from elsewhere ({opcode})"
    if opcode == "opt-barrier":
        return "an optimization barrier"
    # Asynchronous work of other kinds: a fusion or a call that runs beside the rest.
    return f"asynchronous work ({opcode})" if base is not None else None


def other_half(op: HloInstruction) -> HloInstruction | None:
    """Return the start of a done, or the done of a start; None for an op of no such pair."""
    base = opcodes.async_base(op.opcode)
    if base is None:
        return None
    others = op.users if opcodes.is_async_start(op.opcode) else op.operands
    return next((other for other in others if opcodes.async_base(other.opcode) == base), None)


def _move_words(op: HloInstruction, base: str) -> str:
    start = op if opcodes.is_async_start(op.opcode) else other_half(op)
    done = other_half(op) if start is op else op
    words = f"an asynchronous {base}"
    if start is None or done is None or not start.operands:
        return words
    source, target = start.operands[0].shape.memory_space, done.shape.memory_space
    if source == target:
        return words
    return f"{words} from {_space(op, source)} into {_space(op, target)}"


def _copy_words(op: HloInstruction) -> str | None:
    if not op.operands:
        return None
    source = op.operands[0].shape
    if source.memory_space != op.shape.memory_space:
        spaces = _space(op, source.memory_space), _space(op, op.shape.memory_space)
        return f"a copy from {spaces[0]} into {spaces[1]}"
    before, after = source.layout, op.shape.layout
    turns = before and after and before.minor_to_major != after.minor_to_major
    # Only a TPU compiler leaves such a copy to a kernel of its own in every case seen.
    if turns and module_platform(op.parent.parent) == "tpu":
        return "a copy into another layout"
    return None


def _space(op: HloInstruction, space: int) -> str:
    words = memory_space_words(space, module_platform(op.parent.parent))
    return f"{words}, S({space})" if space else words
