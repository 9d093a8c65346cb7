"""What the detail panel says about one instruction, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from hlo_widgets.analysis import (
    Collective,
    collectives_in,
    cost_estimate,
    done_of,
    fused_computation,
    is_memory_move,
    is_work,
    layout_words,
    memory_space_words,
    pair_members,
    parameter_bindings,
    source_line,
    source_text,
    stays_inside,
    trip_count,
    vmem_use,
)
from hlo_widgets.graph.paths import child_id, sibling_id
from hlo_widgets.graph.style import fusion_kind
from hlo_widgets.graph.words import bytes_in_words, counted
from hlo_widgets.hlo import HloInstruction, Shape

__all__ = ["describe_instruction"]

LONGEST_LIST = 200
"""Links in one list of the panel; more are counted, not listed. Arbitrary."""

LONGEST_TEXT = 20_000
"""Characters of HLO text or of notes; arbitrary, more than any but a kernel's own code needs."""

MOST_LEAVES = 12
"""Elements of a tuple told one by one; arbitrary, more than most fusions return."""


def describe_instruction(
    instruction: HloInstruction, node_id: str, platform: str | None = None
) -> dict[str, Any]:
    """Return the facts of the detail panel, every value text or a list of links.

    Args:
        instruction: The selected instruction.
        node_id: Its id in the graph; links are ids of its neighbours.
        platform: "tpu", "gpu" or "cpu", for the words of memory spaces; None when not known.
    """
    return {
        "id": node_id,
        "name": instruction.name,
        "subtitle": _subtitle(instruction),
        "facts": _facts(instruction, platform),
        "operands": _links(_pair_operands(instruction), node_id),
        "users": _links((done_of(instruction) or instruction).users, node_id),
        "calls": [computation.name for computation in instruction.named_computations],
        "parameters": _parameters(instruction, node_id),
        "backend_config": _backend_config(instruction),
        "text": _cut(instruction.text),
    }


def _subtitle(instruction: HloInstruction) -> str:
    kind = f"{fusion_kind(instruction)} " if fused_computation(instruction) else ""
    root = ", ROOT" if instruction.is_root else ""
    return f"{kind}{instruction.opcode} in {instruction.parent.name}{root}"


def _facts(instruction: HloInstruction, platform: str | None) -> list[tuple[str, str]]:
    facts = [
        *_exchanges(instruction),
        *_figures(instruction),
        *_inside(instruction),
        ("shape", instruction.shape.to_string(with_layout=False)),
    ]
    leaves = list(instruction.shape.leaves())
    for number, leaf in enumerate(leaves[:MOST_LEAVES]):
        of_tuple = f"[{number}] " if instruction.shape.is_tuple else ""
        memory = memory_space_words(leaf.memory_space, platform)
        if stays_inside(instruction):
            memory = "none: a value inside a kernel"
        facts += [(of_tuple + name, value) for name, value in _where(leaf, memory)]
    if len(leaves) > MOST_LEAVES:
        facts.append(("more", f"{len(leaves) - MOST_LEAVES:,} more elements of the tuple"))
    if instruction.metadata.op_name:
        facts.append(("op_name", instruction.metadata.op_name))
    where = source_line(instruction)
    if where is not None:
        in_function = f" in {where.function}" if where.function else ""
        short = source_text(instruction)
        place = short if short == f"cell:{where.line}" else f"{where.file}:{where.line}"
        facts.append(("source", f"{place}{in_function}"))
    return facts


def _where(shape: Shape, memory: str) -> Iterator[tuple[str, str]]:
    """Yield the size, memory space and layout of an array."""
    if not shape.is_array:
        return
    size = "not known"
    if shape.byte_size is not None:
        size = f"{_exactly(shape.byte_size)}, without padding"
    yield "size", size
    yield "memory", memory
    if shape.layout is not None:
        yield "layout", layout_words(shape)


def _exactly(count: int) -> str:
    words = bytes_in_words(count)
    return f"{count:,} bytes ({words})" if count >= 1024 else words


def _figures(instruction: HloInstruction) -> Iterator[tuple[str, str]]:
    if instruction.parent.is_fusion_computation:
        fusions = ", ".join(caller.name for caller in instruction.parent.named_by[:3])
        yield "estimated cycles", f"counted in {fusions}"
        return
    if instruction.opcode == "while":
        runs = trip_count(instruction)
        yield "runs", "not known: the text does not say" if runs is None else counted(runs, "time")
    instruction = pair_members(instruction)[0]
    if is_memory_move(instruction):
        yield "estimated cycles", "not known: the compiler gives none for moves between memories"
    if not is_work(instruction):
        return
    cost = cost_estimate(instruction)
    if cost.estimated_cycles is None:
        yield "estimated cycles", "not known: the compiler gave no estimate"
    else:
        yield "estimated cycles", f"{cost.estimated_cycles:,} cycles ({cost.source})"
    vmem = vmem_use(instruction)
    if vmem.vmem_bytes is not None:
        yield "scoped VMEM", f"{_exactly(vmem.vmem_bytes)} in use, by used_scoped_memory_configs"
    if vmem.limit_bytes is not None:
        yield "VMEM limit", f"{vmem.limit_bytes:,} bytes (scoped_memory_configs)"
    if vmem.window_bytes is not None:
        yield "window estimate", f"{vmem.window_bytes:,} bytes of VMEM (window_config)"


def _inside(instruction: HloInstruction) -> Iterator[tuple[str, str]]:
    """Yield how many instructions a fusion holds, as its box counts them, and what they are."""
    body = fused_computation(pair_members(instruction)[0])
    if body is not None:
        count, parameters = len(body.instructions), len(body.parameters)
        of_them = f"of which {parameters:,} {'is a' if parameters == 1 else 'are'} parameter"
        yield "ops inside", f"{count:,}, {of_them}{'' if parameters == 1 else 's'}"


def _exchanges(instruction: HloInstruction) -> Iterator[tuple[str, str]]:
    """Yield who exchanges data with whom, and how much."""
    found = collectives_in(instruction)
    for one in found[:MOST_LEAVES]:
        inside = " inside" if fused_computation(instruction) else ""
        yield f"collective{inside}", one.title
        yield "between", one.words
        yield "bytes moved", _moved(one)
    if len(found) > MOST_LEAVES:
        yield "more", f"{len(found) - MOST_LEAVES:,} more collectives"


def _moved(one: Collective) -> str:
    if one.bytes_moved is not None:
        return f"{_exactly(one.bytes_moved)} into each device in one run, by shapes and groups"
    if one.part in {"middle", "done"}:
        return "counted where it starts"
    if one.kind == "ragged-all-to-all":
        return "not known: how much goes to whom is data"
    return "not known: the text does not say"


def _pair_operands(instruction: HloInstruction) -> tuple[HloInstruction, ...]:
    """Return the operands; of a pair what enters it from outside."""
    members = pair_members(done_of(instruction) or instruction)
    return tuple(o for member in members for o in member.operands if o not in members)


def _links(instructions: tuple[HloInstruction, ...], node_id: str) -> dict[str, Any]:
    shown = instructions[:LONGEST_LIST]
    return {
        "shown": [_link(instruction, sibling_id(node_id, instruction)) for instruction in shown],
        "left_out": len(instructions) - len(shown),
    }


def _link(instruction: HloInstruction, node_id: str) -> dict[str, str]:
    return {
        "id": node_id,
        "name": instruction.name,
        "about": f"{instruction.opcode} {_shape_words(instruction.shape)}",
    }


def _shape_words(shape: Shape) -> str:
    if shape.is_tuple:
        return f"tuple of {len(shape.tuple_shapes)}"
    return shape.to_string(with_layout=False)


def _parameters(instruction: HloInstruction, node_id: str) -> list[dict[str, Any]]:
    """Return the parameters of a fusion's body, each with the operand behind it."""
    if fused_computation(pair_members(instruction)[0]) is None:
        return []
    return [
        {
            "number": parameter.parameter_number,
            "parameter": _link(parameter, child_id(node_id, parameter, instruction)),
            "operand": _link(operand, sibling_id(node_id, operand)),
        }
        for parameter, operand in islice(parameter_bindings(instruction), LONGEST_LIST)
    ]


def _backend_config(instruction: HloInstruction) -> object:
    """Return the compiler's notes decoded, or as cut text where they are too long for a tree."""
    text = instruction.attributes.get("backend_config", "")
    return instruction.backend_config if len(text) <= LONGEST_TEXT else _cut(text)


def _cut(text: str) -> str:
    text = text.strip()
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]} ... (the first {LONGEST_TEXT:,} of {len(text):,} characters)"
