"""What the detail panel says about one instruction, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hlo_widgets.analysis import (
    cost_estimate,
    is_work,
    layout_words,
    memory_space_words,
    source_line,
    vmem_use,
)
from hlo_widgets.graph.build import bindings
from hlo_widgets.graph.labels import bytes_in_words
from hlo_widgets.graph.paths import child_id, parent_id
from hlo_widgets.hlo import HloInstruction, Shape

__all__ = ["describe_instruction"]

LONGEST_LIST = 200
"""Links in one list of the panel; more are counted, not listed. Arbitrary."""

LONGEST_TEXT = 20_000
"""Characters of HLO text in the panel; arbitrary, more than any but generated instructions."""


def describe_instruction(
    instruction: HloInstruction, node_id: str, platform: str | None = None
) -> dict[str, Any]:
    """Return the facts of the detail panel, every value text or a list of links.

    Args:
        instruction: The selected instruction.
        node_id: Its id in the graph; links are ids of its neighbours.
        platform: "tpu", "cuda" or "cpu", for the words of memory spaces; None when not known.
    """
    parent = parent_id(node_id)
    return {
        "id": node_id,
        "name": instruction.name,
        "subtitle": _subtitle(instruction),
        "facts": _facts(instruction, platform),
        "operands": _links(instruction.operands, parent),
        "users": _links(instruction.users, parent),
        "calls": [computation.name for computation in instruction.called_computations],
        "parameters": _parameters(instruction, parent),
        "backend_config": instruction.backend_config,
        "text": instruction.text.strip()[:LONGEST_TEXT],
    }


def _subtitle(instruction: HloInstruction) -> str:
    kind = f"{instruction.fusion_kind} " if instruction.fusion_kind else ""
    root = ", ROOT" if instruction.is_root else ""
    return f"{kind}{instruction.opcode} in {instruction.parent.name}{root}"


def _facts(instruction: HloInstruction, platform: str | None) -> list[tuple[str, str]]:
    facts = [*_figures(instruction)] if is_work(instruction) else []
    shape = instruction.shape
    facts.append(("shape", shape.to_string(with_layout=False)))
    if shape.is_array:
        facts.append(("size", _size(shape)))
        facts.append(("memory", memory_space_words(shape.memory_space, platform)))
        if shape.layout is not None:
            facts.append(("layout", layout_words(shape)))
    metadata = instruction.metadata
    if metadata.op_name:
        facts.append(("op_name", metadata.op_name))
    where = source_line(instruction)
    if where is not None:
        in_function = f" in {where.function}" if where.function else ""
        facts.append(("source", f"{where.file}:{where.line}{in_function}"))
    return facts


def _size(shape: Shape) -> str:
    if shape.byte_size is None:
        return "not known"
    return f"{shape.byte_size:,} bytes ({bytes_in_words(shape.byte_size)}), without padding"


def _figures(instruction: HloInstruction) -> Iterable[tuple[str, str]]:
    cost = cost_estimate(instruction)
    if cost.estimated_cycles is None:
        yield "estimated cycles", "not known: the compiler gave no estimate"
    else:
        yield "estimated cycles", f"{cost.estimated_cycles:,} cycles ({cost.source})"
    vmem = vmem_use(instruction)
    if vmem.vmem_bytes is not None:
        exact = f"{vmem.vmem_bytes:,} bytes ({bytes_in_words(vmem.vmem_bytes)})"
        yield "VMEM in use", f"{exact} (used_scoped_memory_configs)"
    if vmem.limit_bytes is not None:
        yield "VMEM limit", f"{vmem.limit_bytes:,} bytes (scoped_memory_configs)"
    if vmem.window_bytes is not None:
        yield "window estimate", f"{vmem.window_bytes:,} bytes of VMEM (window_config)"


def _links(instructions: tuple[HloInstruction, ...], parent: str) -> dict[str, Any]:
    return {
        "shown": [_link(instruction, parent) for instruction in instructions[:LONGEST_LIST]],
        "left_out": max(len(instructions) - LONGEST_LIST, 0),
    }


def _link(instruction: HloInstruction, parent: str) -> dict[str, str]:
    return {
        "id": child_id(parent, instruction),
        "name": instruction.name,
        "about": f"{instruction.opcode} {_shape_words(instruction)}",
    }


def _shape_words(instruction: HloInstruction) -> str:
    shape = instruction.shape
    if shape.is_tuple:
        return f"tuple of {len(shape.tuple_shapes)}"
    return shape.to_string(with_layout=False)


def _parameters(instruction: HloInstruction, parent: str) -> list[dict[str, Any]]:
    """Return the parameters of a fusion's body, each with the operand behind it."""
    if instruction.opcode != "fusion" or not instruction.called_computations:
        return []
    body = instruction.called_computations[0]
    node_id = child_id(parent, instruction)
    return [
        {
            "number": number,
            "parameter": _link(parameter, node_id),
            "operand": _link(operand, parent),
        }
        for number, (parameter, operand) in enumerate(bindings(instruction, body))
    ][:LONGEST_LIST]
