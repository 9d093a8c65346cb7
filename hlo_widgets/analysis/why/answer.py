"""why_not_fused: the answer for any two ops that a user picks."""

from __future__ import annotations

from dataclasses import replace

from hlo_widgets.analysis.async_pairs import done_of, pair_members
from hlo_widgets.analysis.connections import shortest_connection
from hlo_widgets.analysis.cost import cost_estimate
from hlo_widgets.analysis.decisions.joining import joined
from hlo_widgets.analysis.decisions.log import DecisionLog
from hlo_widgets.analysis.decisions.record import Verdict
from hlo_widgets.analysis.recompute import recomputed_ops
from hlo_widgets.analysis.why import structure
from hlo_widgets.analysis.why.asked import Asked, find_asked
from hlo_widgets.analysis.why.explanation import (
    COMPILER,
    INFERRED,
    Evidence,
    Explanation,
    WhyKind,
)
from hlo_widgets.analysis.why.records import Edge, compiler_evidence, price_of_edge, words_on_edge
from hlo_widgets.hlo import HloInstruction, HloModule

__all__ = ["explain_pair", "why_not_fused"]


def why_not_fused(
    module: HloModule,
    a: str | HloInstruction,
    b: str | HloInstruction,
    decisions: DecisionLog | None = None,
) -> Explanation:
    """Explain why two ops are not one kernel.

    Args:
        module: A compiled module.
        a: Name of an op, inside a fusion or not, or of an argument as the traced function calls it;
            or the instruction. With decisions also a name that the op had earlier.
        b: Name of another.
        decisions: What the compiler wrote down; None explains by the graph alone.

    Returns:
        The explanation. Its evidence is marked: "compiler" for words of the compiler, verbatim,
        "inferred" for what follows from the graph. A cause that neither holds is not made up: then
        the kind is "not known". Of an op inside of a fusion it is about that fusion, and says so.

    Raises:
        HloLookupError: No op has such a name.
    """
    log = _joined(decisions, module)
    first, second = find_asked(module, a, log), find_asked(module, b, log)
    notes = tuple(dict.fromkeys(one.note for one in (first, second) if one.note))
    if first.kernel is second.kernel:
        return replace(_fused(first, second, log), notes=notes)
    members = pair_members(done_of(first.kernel) or first.kernel)
    if second.kernel in members:
        return replace(_parts(members, (first.kernel.name, second.kernel.name)), notes=notes)
    answer = _with_more(explain_pair(first.kernel, second.kernel, log), module, log)
    return replace(answer, notes=notes)


def explain_pair(
    first: HloInstruction, second: HloInstruction, log: DecisionLog | None
) -> Explanation:
    """Explain why two kernels are not one, with no more evidence than the answer rests on.

    Args:
        first: An instruction that runs.
        second: Another one.
        log: Decisions joined with the module, those about the two at least; None for none.
    """
    connection = shortest_connection(first, second)
    if connection is None:
        connection = shortest_connection(second, first)
    if connection is None:
        return structure.apart(first, second)
    return structure.between(connection) or _direct(connection, log)


def _direct(connection: tuple[HloInstruction, ...], log: DecisionLog | None) -> Explanation:
    start, end = connection[0], connection[-1]
    edge = Edge(start.name, end.name, tuple(op.name for op in connection[1:-1]))
    # A price says that the compiler could have done it; other refusals may only name the symptom.
    priced = price_of_edge(log, edge) if log is not None else None
    words = words_on_edge(log, edge) if log is not None else None
    return priced or structure.edge(start, end) or words or _not_known(start, end, edge, log)


def _not_known(
    start: HloInstruction, end: HloInstruction, edge: Edge, log: DecisionLog | None
) -> Explanation:
    names = (start.name, end.name)
    notes = [Evidence(INFERRED, f"{end.name} reads {start.name} directly", names)]
    if start.is_root or any(user.is_root and user.opcode == "tuple" for user in start.users):
        text = f"{start.name} is also an output, so it has to be in memory in any case"
        notes.append(Evidence(INFERRED, text, (start.name,)))
    headline = "Nothing in the graph rules it out, and no compiler record was given."
    if log is not None:
        headline = "Nothing in the graph rules it out, and the compiler's record holds no cause."
        quotes = compiler_evidence(log, edge)
        if any(quote.decision and quote.decision.reason for quote in quotes):
            headline = (
                "The compiler refused it and names only a place in its source, which is no cause."
            )
    return Explanation(WhyKind.NOT_KNOWN, headline, *names, tuple(notes), names)


def _with_more(answer: Explanation, module: HloModule, log: DecisionLog | None) -> Explanation:
    """Add what the compiler wrote, and what the two compute both."""
    quotes = compiler_evidence(log, Edge(answer.producer, answer.consumer))
    more = [quote for quote in quotes if quote not in answer.evidence]
    more += _recomputed(module, answer.producer, answer.consumer)
    return replace(answer, evidence=(*answer.evidence, *more))


def _recomputed(module: HloModule, a: str, b: str) -> list[Evidence]:
    notes = []
    for found in recomputed_ops(module):
        kernels = [kernel.name for kernel in found.kernels]
        if a not in kernels or b not in kernels:
            continue
        cycles = [cost_estimate(kernel).estimated_cycles for kernel in found.kernels]
        priced = ", ".join(f"{k} {c:,} cycles" for k, c in zip(kernels, cycles, strict=True) if c)
        text = f"{found.instructions[0].opcode} is computed in {' and in '.join(kernels)}"
        if found.chain_length > 1:
            before = found.chain_length - 1
            text += f", with {before} more {'op' if before == 1 else 'ops'} before it"
        if found.extra_evaluations is not None and found.avoided_bytes is not None:
            text += (
                f": {found.extra_evaluations:,} evaluations more, instead of"
                f" {found.avoided_bytes:,} bytes written and read again"
            )
        text += f" (the kernels take {priced})" if priced else ""
        names = tuple(op.name for op in found.instructions)
        notes.append(Evidence(INFERRED, text, names))
    return notes


def _fused(first: Asked, second: Asked, log: DecisionLog | None) -> Explanation:
    kernel, names = first.kernel, (first.name, second.name)
    headline = f"They are one kernel: {kernel.name}."
    text = f"both are in {kernel.name}, which is one kernel"
    if first.name == second.name:
        headline = f"{first.name} is one op: name another one to ask about the two."
        text = f"both names stand for {first.name}"
    elif kernel.name in names:
        text = f"{names[names[0] == kernel.name]} is a part of what {kernel.name} runs"
    elif kernel.opcode != "fusion":
        text = f"both are run by {kernel.name}"
    notes = [Evidence(INFERRED, text, (kernel.name,))]
    homes = {member.name for member in pair_members(kernel)}
    for decision in log.decisions if log is not None else ():
        sides = {decision.producer, *decision.consumers}
        join = decision.join
        # Another op may be called as one of them was: it ended in another kernel.
        is_here = join is not None and homes & {*join.producers, *join.consumers}
        if decision.verdict is Verdict.FUSED and is_here and sides & set(names):
            made = f"{decision.producer} into {decision.consumer}, as {decision.fusion_name}"
            notes.append(Evidence(COMPILER, f"fused {made}", (kernel.name,), decision))
    return Explanation(WhyKind.FUSED, headline, kernel.name, kernel.name, tuple(notes))


def _parts(members: tuple[HloInstruction, ...], kernels: tuple[str, str]) -> Explanation:
    """Answer for two parts of one asynchronous op."""
    names = [member.name for member in members]
    text = f"{', '.join(names)} are one asynchronous op: the first starts it, the last waits for it"
    note = Evidence(INFERRED, text, tuple(names))
    headline = f"They are one op, {names[0]}, in {len(names)} parts: name another one to ask about."
    return Explanation(WhyKind.FUSED, headline, *kernels, (note,))


def _joined(decisions: DecisionLog | None, module: HloModule) -> DecisionLog | None:
    return None if decisions is None else joined(decisions, module)
