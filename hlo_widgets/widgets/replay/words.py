"""One moment of a replay in words, as the plain data that the front end shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision
from hlo_widgets.analysis.decisions.queue import QueueEntry, QueueMoment
from hlo_widgets.analysis.decisions.replay.replay import Replay
from hlo_widgets.analysis.decisions.replay.start import NO_QUEUE
from hlo_widgets.analysis.decisions.replay.walk import ReplayStep
from hlo_widgets.analysis.why import explained_terms
from hlo_widgets.analysis.words import cost_words, counted, figure_words

__all__ = ["MOST_QUEUED", "describe_moment", "describe_steps", "step_words"]

MOST_QUEUED = 10
"""Producers of the queue that are listed; arbitrary, what stands beside a picture."""

MOST_NAMES = 12
"""Names that one sentence lists; arbitrary."""

MOST_STEPS = 60
"""Steps of one kernel that are listed; arbitrary."""


def describe_moment(replay: Replay, number: int, log: DecisionLog) -> dict[str, Any]:
    """Return what is to say of the moment after a step.

    Args:
        replay: The replay.
        number: Number of the step; 0 for before the first.
        log: All records: those of another source may hold costs.

    Returns:
        `title`; `sentences`, each a list of parts, of which a part with a `name` is a kernel;
        `facts`, pairs of words; `terms`, what the compiler's words among them mean; `queue`, rows
        of the table, with `queue_unit` and `queue_note`; `notes`.
    """
    moment = replay.queue(number) if number else None
    step = replay.steps[number - 1] if number else None
    total = len(replay.steps)
    if step is None:
        kernels = len(replay.kernels(0))
        sentences = [_text(f"Before the first of {counted(total, 'step')}: {kernels:,} ops.")]
        facts: list[tuple[str, str]] = []
    elif step.decision is None:
        sentences, facts = _of_pass(replay, step), []
    else:
        sentences, facts = _of_fusion(step, step.decision), _facts(step.decision, moment, log)
    return {
        "title": f"Step {number:,} of {total:,}" if step is not None else "Before any fusion",
        "sentences": sentences,
        "facts": facts,
        "terms": _terms(step),
        "queue": [] if moment is None or step is None else _queue(moment, step),
        "queue_unit": replay.queue_unit,
        "queue_note": _queue_note(replay, step, moment),
        "notes": _notes(replay, at_end=number == total),
    }


def describe_steps(
    replay: Replay, name: str, number: int, inside: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Return which steps a kernel of the end grew in.

    Args:
        replay: The replay.
        name: Name of the kernel.
        number: Number of the step that is shown.
        inside: How many parameters and how many other instructions the kernel's final body has;
            None for what is no fusion.

    Returns:
        `name`, `words`, the numbers of the `steps` with `at`, that of the step shown, `more` for
        those that are not listed, and `place`, which of them the step shown is.
    """
    steps = replay.steps_of(name)
    if name not in replay.final:
        words = "is not told in this record."
    elif not steps:
        words = "was fused in no step."
    else:
        words = f"grew in {counted(len(steps), 'step')}:"
    left_out = len(steps) - MOST_STEPS
    return {
        "name": name,
        "words": words,
        "steps": list(steps[-MOST_STEPS:]),
        "at": number,
        "more": f"{left_out:,} more before," if left_out > 0 else "",
        "place": step_words(steps, number) if number in steps else "",
        "count": _count_words(replay, name, inside) if steps else "",
    }


def step_words(steps: Sequence[int], number: int) -> str:
    """Return which of the steps that a kernel grew in one of them is: "step 7, 2 of 3"."""
    of_all = (
        f", {steps.index(number) + 1:,} of {len(steps):,}" if len(steps) > 1 else ", the only one"
    )
    return f"step {number:,}{of_all}"


def _count_words(replay: Replay, name: str, inside: tuple[int, int] | None) -> str:
    """Say how many ops went into a kernel, and why the picture of the end has another number."""
    went_in = counted(replay.final[name].size, "op")
    words = f"{went_in} of the module before fusion went into it, each as often as it is computed."
    if inside is not None:
        parameters, others = inside
        words += (
            f" The graph above counts {parameters + others:,} inside: what the compiler made of"
            f" these ({others:,}), and {counted(parameters, 'parameter')}."
        )
    return words


_Parts = list[dict[str, str]]


def _text(text: str) -> _Parts:
    return [{"text": text}]


def _name(name: str) -> dict[str, str]:
    return {"name": name, "text": name}


def _names(names: Iterable[str]) -> _Parts:
    """Return names with commas between them, the first few."""
    every = list(names)
    parts: _Parts = []
    for name in every[:MOST_NAMES]:
        parts += [*([{"text": ", "}] if parts else []), _name(name)]
    if len(every) > MOST_NAMES:
        parts += _text(f" and {len(every) - MOST_NAMES:,} more")
    return parts


def _of_fusion(step: ReplayStep, decision: FusionDecision) -> list[_Parts]:
    producer, consumer = decision.producer, decision.consumer or "an op that is not named"
    if decision.siblings:
        verb = [_name(producer), {"text": " and "}, _name(consumer), {"text": " were fused"}]
    else:
        verb = [_name(producer), {"text": " → "}, _name(consumer), {"text": ": fused"}]
    made = step.made
    sentences = [verb]
    if made is not None:
        known = f" with {counted(made.size, 'op')}"
        grown = made.name == decision.consumer
        what = " keeps its name," if grown else " is what they are called now,"
        sentences.append([_name(made.name), {"text": f"{what}{known}."}])
        if made.unknown:
            count = counted(made.unknown, "op")
            text = f"It also has {count} that the module before fusion does not show."
            sentences.append(_text(text))
    if step.lives_on:
        text = " stays for what else reads it: it is computed twice."
        sentences.append([_name(producer), {"text": text}])
    return sentences


def _terms(step: ReplayStep | None) -> list[tuple[str, str]]:
    """Return the terms in the compiler's words of a step, with what they mean in ours."""
    if step is None or step.decision is None:
        return []
    decision = step.decision
    terms = explained_terms((*decision.reason_parts, decision.pass_name or ""))
    return [(term.word, term.meaning) for term in terms]


def _of_pass(replay: Replay, step: ReplayStep) -> list[_Parts]:
    before = replay.kernels(step.number - 1)
    sentences = [_text(f"Pass {step.pass_name}, told by the modules around it:")]
    for name, parts in list(step.merged.items())[:MOST_NAMES]:
        sentences.append([*_names(parts), {"text": " → one kernel, "}, _name(name)])
    if len(step.merged) > MOST_NAMES:
        sentences.append(_text(f"and {len(step.merged) - MOST_NAMES:,} more"))
    alone = [new for old, new in step.renamed.items() if before[old].is_op]
    if alone:
        text = f"{counted(len(alone), 'single op')} got a kernel of its own: "
        if len(alone) > 1:
            text = f"{len(alone):,} single ops got kernels of their own: "
        sentences.append([*_text(text), *_names(alone)])
    other = [(old, new) for old, new in step.renamed.items() if not before[old].is_op]
    if step.dropped:
        told = _names(step.dropped)
        sentences.append([{"text": "taken out, as nothing reads them: "}, *told])
    for old, new in other[:MOST_NAMES]:
        sentences.append([{"text": f"{old} is called "}, _name(new)])
    if len(other) > MOST_NAMES:
        sentences.append(_text(f"and {len(other) - MOST_NAMES:,} more have other names"))
    return sentences


def _facts(
    decision: FusionDecision, moment: QueueMoment | None, log: DecisionLog
) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    ranked = moment.ranked if moment is not None else _other_record(decision, log)
    if ranked is not None and ranked.priority is not None:
        facts.append(("Priority", _cost(ranked.priority, ranked)))
        facts.append(("Time apart", _cost(ranked.unfused_cost, ranked)))
        facts.append(("Time fused", _cost(ranked.fused_cost, ranked)))
        if len(ranked.consumers) > 1:
            facts.append(("Ranked for", f"all its {len(ranked.consumers):,} readers together"))
        if moment is None:
            facts.append(("Figures from", ranked.source))
    if moment is not None:
        facts.append(("Highest?", _highest(moment)))
    if decision.reason_words:
        facts.append(("Reason", decision.reason_words))
    if decision.pass_name:
        facts.append(("Pass", decision.pass_name))
    return facts


def _highest(moment: QueueMoment) -> str:
    count = len(moment.entries)
    if moment.was_highest is None:
        return f"cannot be checked: {moment.unclear}"
    if moment.was_highest:
        return "yes, the only one" if count == 1 else f"yes, of {count:,} in the queue"
    return f"no: {moment.entries[0].producer} had a higher one"


def _other_record(decision: FusionDecision, log: DecisionLog) -> FusionDecision | None:
    """Return the one record of another source that has figures for the pair of a fusion."""
    found = [
        other
        for other in log.decisions
        if other.producer == decision.producer
        and other.consumers == decision.consumers
        and other.priority is not None
        and other.source != decision.source
    ]
    # Names are used again for other ops: where several records have figures, whose they are is
    # not known.
    return found[0] if len(found) == 1 else None


def _cost(value: float | None, decision: FusionDecision) -> str:
    if value is None:
        return "not given"
    text = cost_words(value, decision.cost_unit)
    odd = value < 0 and value is not decision.priority
    return f"{text}, as the compiler wrote it" if odd else text


def _queue(moment: QueueMoment, step: ReplayStep) -> list[dict[str, Any]]:
    """Return the first rows, and the one that was taken where it is not among them."""
    taken = step.decision.producer if step.decision is not None else ""
    rows = [entry for entry in moment.entries if entry.rank <= MOST_QUEUED]
    rows += [e for e in moment.entries[MOST_QUEUED:] if e.producer == taken]
    return [_row(entry, is_taken=entry.producer == taken) for entry in rows]


def _row(entry: QueueEntry, *, is_taken: bool) -> dict[str, Any]:
    move, words = "", "same place"
    if entry.moved is None:
        move, words = "new", "not in the queue at the fusion before"
    elif entry.moved:
        move = "up" if entry.moved > 0 else "down"
        other = counted(abs(entry.moved), "other")
        words = f"overtook {other}" if entry.moved > 0 else f"{other} overtook it"
    changed = entry.previous is not None and abs(entry.previous - entry.priority) > 1e-9
    was = ""
    if changed and entry.previous is not None:
        was = f"priority was {figure_words(entry.previous)}"
    return {
        "rank": entry.rank,
        "producer": entry.producer,
        "priority": figure_words(entry.priority),
        "move": move,
        "by": abs(entry.moved or 0),
        "words": "; ".join(filter(None, (words, was))),
        "changed": changed,
        "taken": is_taken,
    }


def _queue_note(replay: Replay, step: ReplayStep | None, moment: QueueMoment | None) -> str:
    if not replay.has_queue:
        return NO_QUEUE
    if step is None:
        return "The queue shows from the first step on, as it was when the fusion was taken."
    if moment is None:
        return "A pass has no queue."
    hidden = len(moment.entries) - MOST_QUEUED
    parts = [f"{hidden:,} more below"] if hidden > 0 else []
    parts += [f"{len(moment.entered):,} came in"] if moment.entered else []
    parts += [f"{len(moment.left):,} left since the step before"] if moment.left else []
    return "; ".join(parts)


def _notes(replay: Replay, *, at_end: bool) -> list[str]:
    notes = [note for note in replay.notes if note != NO_QUEUE]
    if replay.unknown:
        count = counted(sum(replay.unknown.values()), "name")
        first = ", ".join(list(replay.unknown)[:5])
        text = f"{count} in the record that no module before that step has ({first}"
        notes.append(f"{text}{', …' if len(replay.unknown) > 5 else ''}): not drawn.")
    if replay.untold:
        told = ", ".join(replay.untold[:5])
        more = ", …" if len(replay.untold) > 5 else ""
        text = f"{counted(len(replay.untold), 'fusion')} that later passes made"
        notes.append(
            f"{text}: which ops of the module before fusion they compute is not known:"
            f" {told}{more}."
        )
    if at_end:
        notes += _checked(replay)
    return [*notes, _WHAT_COUNTS]


_WHAT_COUNTS = (
    "Ops are counted as in the module before fusion, each as often as it is computed; “ops inside”"
    " in the graph above are those of the compiled body, its parameters too."
)


def _checked(replay: Replay) -> list[str]:
    if not replay.checks:
        return ["No module after the fusions was dumped: the end is not checked against one."]
    wrong = [check for check in replay.checks if check.different]
    if not wrong:
        checks = counted(len(replay.checks), "module")
        text = f"Checked: at each of the {checks} that the compiler dumped from here on, every"
        return [f"{text} fusion holds the ops that this replay gives it."]
    return [f"{check}; different: {', '.join(check.different[:5])}." for check in wrong]
