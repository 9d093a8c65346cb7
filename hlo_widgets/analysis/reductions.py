"""Reductions that one pass over the data cannot hold together with what uses their result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hlo_widgets.hlo import HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["ReducedAndSpread", "reduced_and_spread"]

# Through these a value keeps what it is, element by element.
_SAME_ELEMENTS = frozenset(
    "bitcast bitcast-convert convert copy copy-done copy-start get-tuple-element reshape"
    " transpose".split()
)


@dataclass(frozen=True)
class ReducedAndSpread:
    """A reduction whose results are spread again over the elements that it folded.

    Attributes:
        reduce: The reduction.
        spread: The broadcast that spreads its results.
        folded: How many elements one result is made of; None where the shapes do not tell.
    """

    reduce: HloInstruction
    spread: HloInstruction
    folded: int | None


def reduced_and_spread(
    producer: HloInstruction, consumer: HloInstruction
) -> ReducedAndSpread | None:
    """Find a reduction in one kernel whose result the next kernel spreads over as many elements.

    The first element of such a consumer needs the last element that the reduction reads, so one
    pass over the data cannot hold both.

    Args:
        producer: A reduction or a fusion.
        consumer: An instruction that reads it, through plumbing and copies.
    """
    for spread, element in _spreads(producer, consumer):
        written, smaller = spread.shape.element_count, spread.operands[0].shape.element_count
        for reduce in _reductions(producer, element):
            read = reduce.operands[0].shape.element_count
            result = reduce.shape.tuple_shapes[0] if reduce.shape.is_tuple else reduce.shape
            if read and written and smaller and smaller < written and written >= read:
                folded = read // result.element_count if result.element_count else None
                return ReducedAndSpread(reduce, spread, folded)
    return None


def _reductions(producer: HloInstruction, element: int | None) -> Iterator[HloInstruction]:
    """Yield the reductions that a result of the producer is made of; `element` of a tuple."""
    if producer.opcode != "fusion" or not producer.called_computations:
        waiting = [producer]
    else:
        root = producer.called_computations[0].root_instruction
        picks = root.opcode == "tuple" and element is not None and element < len(root.operands)
        waiting = [root.operands[element]] if picks and element is not None else [root]
    seen = set(waiting)
    while waiting:
        op = waiting.pop()
        if op.opcode == "reduce" and op.operands:
            yield op
        if op is not producer:
            waiting += [o for o in dict.fromkeys(op.operands) if o not in seen]
            seen.update(op.operands)


def _spreads(
    producer: HloInstruction, consumer: HloInstruction
) -> Iterator[tuple[HloInstruction, int | None]]:
    """Yield the broadcasts in `consumer` of values that are the producer's, element by element.

    With each comes which result of the producer it is; None for a producer of one.
    """
    for parameter, operand in _inputs(consumer):
        origin, element = _origin(operand)
        if origin is not producer:
            continue
        waiting, seen = [parameter], {parameter}
        while waiting:
            op = waiting.pop()
            for user in op.users if op is not consumer else (consumer,):
                if user.opcode == "broadcast":
                    yield user, element
                # Element-wise ops on the way, such as a division by a count, keep one a result.
                elif user not in seen and user.opcode in _SAME_ELEMENTS | opcodes.ELEMENTWISE:
                    seen.add(user)
                    waiting.append(user)


def _inputs(consumer: HloInstruction) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Yield what stands for each operand inside of the consumer, and the operand."""
    if consumer.opcode == "fusion" and consumer.called_computations:
        body = consumer.called_computations[0]
        yield from zip(body.parameters, consumer.operands, strict=False)
    elif consumer.opcode == "broadcast":
        yield from ((consumer, operand) for operand in consumer.operands)


def _origin(operand: HloInstruction) -> tuple[HloInstruction, int | None]:
    """Return where an operand comes from through plumbing, and which result of a tuple it is."""
    element = None
    # A chain of plumbing is short; the limit is arbitrary and guards against circular text.
    for _ in range(16):
        if operand.opcode not in _SAME_ELEMENTS or not operand.operands:
            break
        if operand.opcode == "get-tuple-element":
            index = operand.attributes.get("index", "")
            element = int(index) if index.isdecimal() else None
        operand = operand.operands[0]
    return operand, element
