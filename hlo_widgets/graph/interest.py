"""Which op a picture that cannot show everything is built around, and starts on."""

from __future__ import annotations

from collections.abc import Mapping

from hlo_widgets.analysis import (
    cycles_inside,
    is_control_flow,
    pair_members,
    readable_shape,
)
from hlo_widgets.analysis.work import does_work
from hlo_widgets.graph.folding import FoldedComputation
from hlo_widgets.hlo import HloInstruction

__all__ = ["most_interesting"]


def most_interesting(
    folded: FoldedComputation, cycles: Mapping[HloInstruction, int]
) -> HloInstruction:
    """Return the node of a computation that takes the most time, as far as one can tell.

    That with the most estimated cycles in a run, those of what a loop runs included. Without any
    figure that which reads and writes the most bytes, of several the last: the nearest to the
    result. Where nothing does work the root.

    Args:
        folded: The computation.
        cycles: What `run_cycles` gives for its module.
    """
    # In a pair the start does the work.
    work = {node: pair_members(node)[0] for node in folded.drawn}
    work = {node: op for node, op in work.items() if does_work(op) or is_control_flow(op)}
    if not work:
        return folded.computation.root_instruction
    costs = {node: _cycles(op, cycles) for node, op in work.items()}
    if not any(costs.values()):
        costs = {node: _bytes(op) + _bytes_read(op) for node, op in work.items()}
    return max(reversed(costs), key=lambda node: costs[node])


def _cycles(op: HloInstruction, cycles: Mapping[HloInstruction, int]) -> int:
    known = cycles_inside(op, cycles) if is_control_flow(op) else cycles.get(op)
    return known or 0


def _bytes(op: HloInstruction) -> int:
    shape = readable_shape(op)
    return (shape.byte_size if shape is not None else None) or 0


def _bytes_read(op: HloInstruction) -> int:
    # An operand that stands twice is read from one place.
    return sum(map(_bytes, dict.fromkeys(op.operands)))
