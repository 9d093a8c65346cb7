"""A TPU compiler's log: what it said about each pair that it looked at."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace

from hlo_widgets.analysis.decisions.log import DecisionSource, QuotedFusion
from hlo_widgets.analysis.decisions.log_lines import (
    COMPUTATION,
    DETAILS,
    PATTERNS,
    LogMessage,
    messages,
)
from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict
from hlo_widgets.errors import DecisionFileError
from hlo_widgets.hlo.collection import collection_held_back

__all__ = ["MULTI_OUTPUT_PASS", "read_compiler_log"]

_OPENS = frozenset({"Pre-considering", "Evaluating fusion", "Considering fusion"})
_MULTI_OUTPUT = frozenset(
    {
        "Considering candidate",
        "Fuse!",
        "Looking at instruction",
        "Operand not profitable",
        "User refused",
    }
)
_DETAILS = "(details)"
_KINDS = {**PATTERNS, _DETAILS: DETAILS}
_MAIN_PASS, MULTI_OUTPUT_PASS = "TpuInstructionFusion", "multi-output fusion"
_INSTRUCTION = re.compile(r"%([\w.-]+) = (?:[^\n]*? calls=%([\w.-]+))?[^\n]*")


@dataclass
class _Pair:
    """A pair that the compiler is looking at."""

    producer: str
    consumer: str
    step: int
    module: str | None
    remarks: list[str] = field(default_factory=list)
    reason: str = ""
    costs: tuple[float, float, float] | None = None


@dataclass
class _Thread:
    """What one thread of the compiler is at."""

    pair: _Pair | None = None
    fused_at: int | None = None
    looking_at: str | None = None
    candidates: _Pair | None = None


def read_compiler_log(text: str, path: str) -> DecisionSource:
    """Read the messages of the fusion passes in a log.

    Args:
        text: The log, or a part of it.
        path: Name of the file.

    Returns:
        A decision for each pair that was looked at; messages of an unknown kind are counted in
        `unread`.

    Raises:
        DecisionFileError: No line is of a fusion pass.
    """
    reader = _LogReader(path)
    with collection_held_back():
        for message in messages(text):
            reader.read(message)
    reader.close()
    if not reader.records and not reader.unread:
        raise DecisionFileError(path, "no line of this log was written by a fusion pass")
    return DecisionSource(
        path,
        "TPU compiler log",
        tuple(reader.decisions),
        dict(reader.records),
        dict(reader.unread),
        texts=reader.texts,
        fusions=reader.fusions,
    )


class _LogReader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.decisions: list[FusionDecision] = []
        self.records: Counter[str] = Counter()
        self.unread: Counter[str] = Counter()
        self.texts: dict[str, str] = {}
        self.fusions: dict[str, QuotedFusion] = {}
        # By the name of what it calls: how an op was quoted last.
        self._callers: dict[str, tuple[str, str]] = {}
        self._usual: dict[str, str] = {}
        self._threads: dict[str, _Thread] = {}
        self._step = -1

    def read(self, message: LogMessage) -> None:
        self._step += 1
        thread = self._threads.setdefault(message.thread, _Thread())
        word, match = self._kind(message)
        if match is None:
            words = " ".join(message.text.split(maxsplit=4)[:4])
            self.unread[f"{message.place.partition(':')[0]}: {words[:60]}"] += 1
            return
        self.records[word] += 1
        if word != _DETAILS:
            self._known(word, match, message, thread)
        elif (body := COMPUTATION.match(message.text)) is not None:
            caller = self._callers.get(body["name"])
            if caller is not None and body["text"][-1] == "}":
                name, text = caller
                self.fusions.setdefault(name, QuotedFusion(text, body["text"]))

    def _kind(self, message: LogMessage) -> tuple[str, re.Match[str] | None]:
        """Return the word for a message and what its pattern finds; None for an unknown one."""
        # One line of the compiler's source writes messages of one kind, as a rule.
        usual = self._usual.get(message.place)
        match = None if usual is None else _KINDS[usual].match(message.text)
        if usual is not None and match is not None:
            return usual, match
        for word, pattern in _KINDS.items():
            match = pattern.match(message.text)
            if match is not None:
                self._usual[message.place] = word
                return word, match
        return "", None

    def close(self) -> None:
        """Keep what the threads were at when the log ended."""
        for thread in self._threads.values():
            self._leave(thread)

    def _known(self, word: str, match: re.Match[str], message: LogMessage, thread: _Thread) -> None:
        if word in _OPENS:
            self._keep_texts(message.text)
            self._open(thread, match["p"], match["c"], message)
        elif word == "Fusing":
            pair = self._open(thread, match["p"], match["c"], message)
            thread.pair = None
            thread.fused_at = len(self.decisions)
            # A consumer that is a fusion already takes the producer in; a new one is told next.
            self._add(pair, Verdict.FUSED, fusion=match["c"])
        elif word in ("created new fusion", "After fusion"):
            self._keep_texts(message.text)
            self._name_fusion(thread, match["f"])
        elif word == "Not fusing":
            pair = self._open(thread, match["p"], match["c"], message)
            if pair.reason:
                pair.remarks.append(pair.reason)
            pair.reason = match["why"].strip()
            self._leave(thread)
        elif word == "Operand is not fusible":
            consumer = thread.pair.consumer if thread.pair else None
            if consumer is not None:
                self._open(thread, match["p"], consumer, message).reason = match["why"]
                self._leave(thread)
        elif word in _MULTI_OUTPUT:
            self._multi_output(word, match, message, thread)
        elif thread.pair is not None:
            _note(word, match, thread.pair)

    def _open(self, thread: _Thread, producer: str, consumer: str, message: LogMessage) -> _Pair:
        pair = thread.pair
        if pair is None or (pair.producer, pair.consumer) != (producer, consumer):
            self._leave(thread)
            pair = thread.pair = _Pair(producer, consumer, self._step, message.module)
        thread.fused_at = None
        return pair

    def _leave(self, thread: _Thread) -> None:
        pair, thread.pair = thread.pair, None
        if pair is not None:
            refused = Verdict.REFUSED if pair.reason else Verdict.CONSIDERED
            self._add(pair, Verdict.RANKED if pair.costs and not pair.reason else refused)

    def _name_fusion(self, thread: _Thread, name: str) -> None:
        if thread.fused_at is not None:
            decision = self.decisions[thread.fused_at]
            self.decisions[thread.fused_at] = replace(decision, fusion_name=name)
            thread.fused_at = None

    def _multi_output(
        self, word: str, match: re.Match[str], message: LogMessage, thread: _Thread
    ) -> None:
        self._leave(thread)
        if word == "Looking at instruction":
            thread.looking_at = match["c"]
        elif word == "Considering candidate":
            thread.candidates = _Pair(match["p"], match["c"], self._step, message.module)
        elif word == "Fuse!":
            if thread.candidates is not None:
                thread.fused_at = len(self.decisions)
                self._add(thread.candidates, Verdict.FUSED, pass_name=MULTI_OUTPUT_PASS)
            thread.candidates = None
        elif thread.looking_at is not None and match["p"] != thread.looking_at:
            pair = _Pair(match["p"], thread.looking_at, self._step, message.module)
            pair.reason = match["why"]
            siblings = word == "User refused"
            self._add(pair, Verdict.REFUSED, pass_name=MULTI_OUTPUT_PASS, siblings=siblings)

    def _keep_texts(self, text: str) -> None:
        for match in _INSTRUCTION.finditer(text):
            self.texts.setdefault(match[1], match[0])
            if match[2] is not None:
                self._callers[match[2]] = match[1], match[0]

    def _add(
        self,
        pair: _Pair,
        verdict: Verdict,
        *,
        fusion: str | None = None,
        pass_name: str = _MAIN_PASS,
        siblings: bool = False,
    ) -> None:
        unfused, fused, priority = pair.costs or (None, None, None)
        self.decisions.append(
            FusionDecision(
                producer=pair.producer,
                consumer=pair.consumer,
                verdict=verdict,
                reason=pair.reason if verdict is Verdict.REFUSED else "",
                remarks=tuple(dict.fromkeys(pair.remarks)),
                source=self.name,
                pass_name=pass_name,
                step=pair.step,
                consumers=(pair.consumer,),
                fusion_name=fusion,
                unfused_cost=unfused,
                fused_cost=fused,
                cost_unit="cycles" if pair.costs else None,
                priority=priority,
                siblings=siblings,
                module=pair.module,
            )
        )


def _note(word: str, match: re.Match[str], pair: _Pair) -> None:
    """Keep what a message says about the pair that is looked at."""
    if word == "JFF":
        try:
            costs = (float(match["unfused"]), float(match["fused"]), float(match["priority"]))
        except ValueError:
            return
        if all(map(math.isfinite, costs)):
            pair.costs = costs
    elif word == "Not allowed":
        pair.reason = match["why"]
    elif word in ("Fusion rejected", "No fusing", "Did fuse", "Remark"):
        pair.remarks.append(match["remark"].strip())
