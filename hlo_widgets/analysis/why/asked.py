"""From a name that a user asks about to the instruction that runs it, and what it stands for."""

from __future__ import annotations

import difflib
from typing import NamedTuple

from hlo_widgets.analysis.calls import parameter_bindings
from hlo_widgets.analysis.connections import running_instruction
from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.why.quotes import final_words
from hlo_widgets.analysis.words import counted
from hlo_widgets.errors import HloLookupError
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["Asked", "find_asked"]


class Asked(NamedTuple):
    """What a name stands for.

    Attributes:
        name: The name, without `%`.
        op: The instruction of that name; None for an earlier name.
        kernel: The instruction that runs it.
        note: What the name stands for, in words; "" for the kernel's own name.
    """

    name: str
    op: HloInstruction | None
    kernel: HloInstruction
    note: str


def find_asked(
    module: HloModule, wanted: str | HloInstruction, log: DecisionLog | None = None
) -> Asked:
    """Find what runs an op.

    Args:
        module: The module.
        wanted: Its name, with or without `%`: of an instruction, of an argument as the traced
            function calls it or, with decisions, of what an op was called earlier. Or the
            instruction itself.
        log: Decisions joined with the module; None for none.

    Raises:
        HloLookupError: There is no such op; its hint says what is known of the name.
    """
    name = getattr(wanted, "name", wanted)
    if not isinstance(name, str) or not name.strip():
        raise HloLookupError("op", repr(wanted), hint="Give the name of an op as text.")
    name = name.strip().removeprefix("%")
    try:
        op = module.instruction(name)
    except HloLookupError as error:
        found = _argument(module, name) or _earlier(module, name, log)
        if found is None:
            raise _unknown(module, name, error, log) from None
        return found
    kernel = running_instruction(module, op)
    return Asked(name, op, kernel, _place(op, kernel))


def _argument(module: HloModule, name: str) -> Asked | None:
    """Return the argument that the compiler calls "x.1" where the function calls it "x"."""
    for parameter in module.entry_computation.parameters:
        if parameter.metadata.op_name == name:
            return Asked(name, parameter, parameter, f"{name} is the argument {parameter.name}.")
    return None


def _earlier(module: HloModule, name: str, log: DecisionLog | None) -> Asked | None:
    for decision in log.decisions if log is not None else ():
        join = decision.join
        if join is None:
            continue
        for side, final in (
            (decision.producer, join.producers),
            (decision.consumer, join.consumers),
        ):
            if side == name and final:
                note = f"{name} is an earlier name, {final_words((name,), join, final)}."
                if len(final) > 1:
                    note += f" The answer is about {final[0]}."
                return Asked(name, None, module.instruction(final[0]), note)
    return None


def _place(op: HloInstruction, kernel: HloInstruction) -> str:
    """Say where an op stands that is not the kernel itself."""
    if op is kernel:
        return ""
    if op.opcode == "parameter":
        bound = next((o for p, o in parameter_bindings(kernel) if p is op), None)
        if bound is not None:
            return f"{op.name} is what the body of {kernel.name} calls its operand {bound.name}."
    if op.parent.is_fusion_computation:
        return f"{op.name} is an op inside of the kernel {kernel.name}."
    return f"{op.name} stands in {op.parent.name}, which {kernel.name} calls for what it computes."


def _unknown(
    module: HloModule, name: str, error: HloLookupError, log: DecisionLog | None
) -> HloLookupError:
    hint = ""
    computation = next((one for one in module.computations if one.name == name), None)
    records = log.about(name) if log is not None else ()
    if computation is not None:
        root = computation.root_instruction.name
        hint = f"It is a computation: name one of its instructions, such as its root {root!r}."
    elif records:
        hint = (
            f"The compiler wrote {counted(len(records), 'record')} about it, and nothing tells what"
            " became of it: it is not found in the final module."
        )
    known = (
        {name for one in log.decisions for name in (one.producer, *one.consumers)} if log else ()
    )
    near = error.suggestions or difflib.get_close_matches(name, sorted(known), n=2)
    return HloLookupError("op", name, near, hint)
