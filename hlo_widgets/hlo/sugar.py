"""Asynchronous operations written short: `slice-start` for an `async-start` of one `slice`.

XLA's parser makes a computation of one instruction for such a start, and its printer leaves that
computation out again. So does this reader: the computation is in the model and not in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo.attributes import split_attributes
from hlo_widgets.hlo.instruction import FUSION_KINDS, HloInstruction
from hlo_widgets.hlo.module import HloComputation
from hlo_widgets.hlo.scanner import split_top_level
from hlo_widgets.hlo.statement import read_statement

# Attributes of the start itself: which thread runs it, and what must run before it.
_OF_THE_START = frozenset({"async_execution_thread", "control-predecessors"})


def wrapped_computation(
    start: HloInstruction, unused_name: Callable[[str], str]
) -> HloComputation | None:
    """Make the computation that a start written short runs; None where it is no such start.

    Args:
        start: An instruction such as `slice-start`, with its operands.
        unused_name: Gives a computation a name that no other has.
    """
    try:
        written = read_statement(start.text)
    except HloParseError:
        return None
    parts = split_top_level(written.shape[1:-1]) if written.shape.startswith("(") else []
    if len(parts) < 2:
        # Operands, result and perhaps a context: XLA takes nothing else for a start.
        return None
    module = start.parent.parent
    made = HloComputation(unused_name("async_wrapped"), module, start.line)
    parameters = []
    for number, operand in enumerate(start.operands):
        name = f"async_param.{number}" if number else "async_param"
        parameter = HloInstruction(name, "parameter", made, start.line)
        module.texts[parameter] = partial(_parameter_text, parameter, operand, number)
        parameters.append(parameter)
    opcode = start.opcode.removesuffix("-start")
    root = HloInstruction(opcode, opcode, made, start.line)
    root.operands = tuple(parameters)
    if opcode == "fusion":
        root.fusion_kind = FUSION_KINDS.get(start.attributes.get("kind", ""))
    module.texts[root] = partial(_root_text, root, start, parts[1].strip(), written.end)
    for parameter in parameters:
        parameter.users = (root,)
    made.instructions = (*parameters, root)
    made.root_instruction = root
    return made


def _parameter_text(parameter: HloInstruction, operand: HloInstruction, number: int) -> str:
    return f"%{parameter.name} = {operand.shape_text} parameter({number})"


def _root_text(root: HloInstruction, start: HloInstruction, shape: str, end: int) -> str:
    attributes = "".join(
        f", {key}={value}"
        for key, value in split_attributes(start.text, end).items()
        if key not in _OF_THE_START
    )
    operands = ", ".join(f"%{item.name}" for item in root.operands)
    return f"%{root.name} = {shape} {root.opcode}({operands}){attributes}"
