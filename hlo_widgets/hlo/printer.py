"""From the model back to text that this reader and XLA's parser read as the same module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hlo_widgets.hlo.instruction import HloInstruction
    from hlo_widgets.hlo.module import HloComputation, HloModule

# XLA numbers every fifth element of a long list in a comment.
_NUMBERED = 5


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """What to write.

    Attributes:
        metadata: Whether to write metadata and the source tables that it points into.
        backend_config: Whether to write backend configs.
        operand_shapes: Whether to write the shape before each operand.
    """

    metadata: bool = True
    backend_config: bool = True
    operand_shapes: bool = False


def module_text(module: HloModule, options: PrintOptions) -> str:
    """Write a module."""
    parts = [f"HloModule {module.name}{module.header}\n"]
    if options.metadata and module.tables_text:
        parts.append(f"\n{module.tables_text.strip()}\n\n")
    implied = {root.parent for root in module.async_wrapped.values()}
    parts += (
        f"\n{computation_text(item, options)}\n"
        for item in module.computations
        if item not in implied
    )
    return "".join(parts)


def computation_text(computation: HloComputation, options: PrintOptions) -> str:
    """Write a computation, with its signature."""
    is_entry = computation.parent.entry_computation is computation
    parameters = _numbered(
        f"{item.name}: {item.shape.to_string(with_layout=False)}" for item in computation.parameters
    )
    result = computation.root_instruction.shape.to_string(with_layout=False)
    lines = [f"{'ENTRY ' if is_entry else ''}%{computation.name} ({parameters}) -> {result} {{"]
    for item in computation.instructions:
        # `%p#1` is written where it is read, and nowhere else.
        if "#" not in item.name:
            root = "ROOT " if item.is_root else ""
            lines.append(f"  {root}{instruction_text(item, options)}")
    lines.append(f"}}{computation.trailer}")
    return "\n".join(lines)


def instruction_text(instruction: HloInstruction, options: PrintOptions) -> str:
    """Write an instruction, without a mark for the root."""
    shape = instruction.shape_text
    operands = _operands_text(instruction, options)
    attributes = "".join(
        f", {key}={_value(instruction, key, value)}"
        for key, value in instruction.attributes.items()
        if (options.metadata or key != "metadata")
        and (options.backend_config or key != "backend_config")
    )
    return f"%{instruction.name} = {shape} {instruction.opcode}({operands}){attributes}"


def _operands_text(instruction: HloInstruction, options: PrintOptions) -> str:
    if not instruction.operands:
        return instruction.operands_text
    if not options.operand_shapes:
        return _numbered(f"%{item.name}" for item in instruction.operands)
    return _numbered(f"{item.shape_text} %{item.name}" for item in instruction.operands)


def _value(instruction: HloInstruction, key: str, value: str) -> str:
    """Write an attribute as it is read, but a computation written in place by its name."""
    names = instruction.parent.parent.inline_calls.get(instruction, {}).get(key)
    if names is None:
        return value
    if key in {"branch_computations", "called_computations"}:
        return f"{{{', '.join(f'%{name}' for name in names)}}}"
    return ", ".join(f"%{name}" for name in names)


def _numbered(items: Iterator[str]) -> str:
    return ", ".join(
        f"/*index={number}*/{item}" if number and number % _NUMBERED == 0 else item
        for number, item in enumerate(items)
    )
