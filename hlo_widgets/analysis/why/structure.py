"""Answers that follow from the graph: no edge, something in between, a reduction in the way."""

from __future__ import annotations

from hlo_widgets.analysis.connections import shared_operands, without_plumbing
from hlo_widgets.analysis.obstacles import is_obstacle, obstacle_words, other_half
from hlo_widgets.analysis.reductions import reduced_and_spread
from hlo_widgets.analysis.why.explanation import INFERRED, Evidence, Explanation, WhyKind
from hlo_widgets.hlo import HloComputation, HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["apart", "between", "edge"]

_SOURCES = {"parameter": "an input of the program", "constant": "a constant"}


def apart(a: HloInstruction, b: HloInstruction) -> Explanation:
    """Explain two kernels with no way of data between them."""
    if a.parent is not b.parent:
        return _elsewhere(a, b)
    source = next((op for op in (a, b) if op.opcode in _SOURCES), None)
    if source is not None:
        return _no_op(source, (a.name, b.name), ())
    shared = [op.name for op in shared_operands(a, b)]
    headline = "No data goes from one to the other, in either direction."
    if shared:
        text = f"both read {', '.join(shared)}; neither reads the other"
        needed = "multi-output fusion of siblings (kernels that read one value)"
    else:
        text = "there is no connection in either direction, and they read nothing in common"
        needed = "horizontal fusion (kernels that have nothing to do with each other)"
    note = Evidence(INFERRED, text, (a.name, b.name, *shared))
    return Explanation(WhyKind.STRUCTURAL, headline, a.name, b.name, (note,), needed_fusion=needed)


def between(connection: tuple[HloInstruction, ...]) -> Explanation | None:
    """Explain a connection that leads over other ops; None for a direct edge."""
    ops = without_plumbing(connection)
    start, end, inside = ops[0], ops[-1], ops[1:-1]
    if not inside:
        return None
    names = tuple(op.name for op in ops)
    blockers = tuple(op for op in inside if is_obstacle(op))
    notes = [_obstacle_note(op) for op in blockers if not _told_before(op, blockers)]
    if len(blockers) == len(inside):
        headline = f"Between them stands {'; and '.join(note.text for note in notes)}."
        return Explanation(
            WhyKind.BLOCKED,
            headline,
            start.name,
            end.name,
            tuple(notes),
            names,
            tuple(op.name for op in blockers),
        )
    way = Evidence(INFERRED, f"the shortest connection is {' → '.join(names)}", names)
    rest = [op.name for op in inside if op not in blockers]
    verb = "comes" if len(rest) == 1 else "come"
    return Explanation(
        WhyKind.STRUCTURAL,
        f"{end.name} does not read {start.name}: {', '.join(rest)} {verb} between.",
        start.name,
        end.name,
        (way, *notes),
        names,
        tuple(op.name for op in blockers),
        f"fusion along the whole connection: {', '.join(rest)} would have to join one side first",
    )


def edge(start: HloInstruction, end: HloInstruction) -> Explanation | None:
    """Explain a direct edge whose ends or flow of data rule one kernel out; else None."""
    for op in (start, end):
        if is_obstacle(op):
            note = _obstacle_note(op)
            names = (start.name, end.name)
            headline = f"One of the two cannot be in a fusion: {note.text}."
            pair = tuple(o.name for o in (op, other_half(op)) if o is not None)
            return Explanation(WhyKind.BLOCKED, headline, *names, (note,), names, pair)
    return _source_or_root(start, end) or _reduction(start, end)


def _elsewhere(a: HloInstruction, b: HloInstruction) -> Explanation:
    """Explain two kernels that run in different computations."""
    names = (a.name, b.name)
    holders = [_beside(one, other) for one, other in ((a, b), (b, a))]
    for holder, held in zip(holders, (a, b), strict=True):
        if holder in (a, b):
            text = f"{held.name} runs in {_computation_words(held.parent)}"
            note = Evidence(INFERRED, f"{text}: no kernel reaches over both", names)
            what = obstacle_words(holder) or f"a {holder.opcode}"
            headline = (
                f"{holder.name} is {what} and runs {held.name} inside: it is no kernel itself."
            )
            return Explanation(WhyKind.STRUCTURAL, headline, *names, (note,))
    where = " and ".join(f"{op.name} in {_computation_words(op.parent)}" for op in (a, b))
    notes = [Evidence(INFERRED, f"{where}: no kernel reaches over both", names)]
    for holder, held, other in zip(holders, (a, b), (b, a), strict=True):
        if holder is not None:
            text = (
                f"beside {other.name} runs {holder.name}, which holds {held.name}: ask about those"
            )
            notes.append(Evidence(INFERRED, text, (holder.name, other.name)))
    headline = "They run in different computations, so no edge joins them."
    return Explanation(WhyKind.STRUCTURAL, headline, *names, tuple(notes))


def _beside(op: HloInstruction, other: HloInstruction) -> HloInstruction | None:
    """Return what runs an op, in the computation of another one; None where nothing does."""
    for _ in op.parent.parent.computations:
        if op.parent is other.parent:
            return op
        if not op.parent.callers:
            return None
        op = op.parent.callers[0]
    return None


def _computation_words(computation: HloComputation) -> str:
    if computation.is_entry_computation:
        return f"the entry computation, {computation.name}"
    for caller in computation.callers:
        for role, called in caller.called_by_attribute.items():
            if computation in called:
                return f"{computation.name}, the {role.replace('_', ' ')} of {caller.name}"
    return f"{computation.name}, which nothing calls"


def _no_op(
    source: HloInstruction, names: tuple[str, str], connection: tuple[str, ...]
) -> Explanation:
    """Explain a pair of which one is no op that a kernel could hold."""
    what = _SOURCES[source.opcode]
    if source.opcode == "parameter" and not source.parent.is_entry_computation:
        what = f"what {_computation_words(source.parent)}, is called with"
    text = f"{source.name} is {what}: nothing computes it"
    note = Evidence(INFERRED, text, (source.name,))
    headline = f"There is no op to fuse: {text}."
    return Explanation(WhyKind.STRUCTURAL, headline, *names, (note,), connection)


def _source_or_root(start: HloInstruction, end: HloInstruction) -> Explanation | None:
    names = (start.name, end.name)
    if start.opcode in _SOURCES:
        return _no_op(start, names, names)
    if end.is_root and end.opcode in opcodes.RELABELS:
        text = f"{end.name} is the root output of {end.parent.name}: it only names what is returned"
        note = Evidence(INFERRED, text, (end.name,))
        headline = f"The result of {start.name} has to be in memory: {text}."
        return Explanation(WhyKind.BLOCKED, headline, *names, (note,), names, (end.name,))
    return None


def _reduction(start: HloInstruction, end: HloInstruction) -> Explanation | None:
    found = reduced_and_spread(start, end)
    if found is None:
        return None
    count = f"{found.folded:,} elements" if found.folded else "many elements"
    over = found.reduce.attributes.get("dimensions", "").strip("{}")
    folds = (
        f"{found.reduce.name} folds {count} into each of its results (dimension {over} of"
        f" {found.reduce.operands[0].shape.to_string(with_layout=False)})"
    )
    spreads = (
        f"{end.name} spreads these results over as many elements again"
        f" ({found.spread.name} = broadcast), so that its first element needs the last one that"
        f" {found.reduce.name} reads"
    )
    names = (start.name, end.name)
    notes = tuple(Evidence(INFERRED, text, names) for text in (folds, spreads))
    return Explanation(
        WhyKind.STRUCTURAL,
        "One pass over the data cannot hold both: the second needs every element that the first"
        " has to read before it can begin.",
        *names,
        notes,
        names,
        needed_fusion="one that keeps all reduced elements on chip between two passes over them, as"
        " the Triton softmax fusions of XLA's GPU compiler do, or a kernel written by hand",
    )


def _obstacle_note(op: HloInstruction) -> Evidence:
    half = other_half(op)
    names = (op.name,) if half is None else (op.name, half.name)
    if half is not None and op.opcode.endswith("-done"):
        names = names[::-1]
    return Evidence(INFERRED, f"{'/'.join(names)}, {obstacle_words(op)}", names)


def _told_before(op: HloInstruction, blockers: tuple[HloInstruction, ...]) -> bool:
    """Return whether the other half of an asynchronous pair speaks for this one."""
    return op.opcode.endswith("-done") and other_half(op) in blockers
