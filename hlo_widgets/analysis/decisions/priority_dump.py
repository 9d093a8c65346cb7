"""GPU `priority_fusion_dump.txt`: the steps of the priority queue, in text or binary form."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hlo_widgets.analysis.decisions.log import DecisionSource
from hlo_widgets.analysis.decisions.messages import (
    TextMessage,
    read_text_message,
    read_wire_fields,
)
from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict
from hlo_widgets.errors import DecisionFileError

__all__ = ["read_priority_dump"]

# FusionProcessDumpProto: number in the binary form and name in the text form.
_STEPS, _MODULE = 1, 3
_STEP_KINDS = {4: "fusion", 5: "producer_ineligible", 6: "update_priority"}
_STEP_FIELDS = {
    "fusion": {1: "fusion_name", 2: "producer_name", 3: "consumer_name"},
    "producer_ineligible": {1: "producer_name", 2: "reason"},
    "update_priority": {1: "producer_name", 2: "consumer_names", 3: "us_fused", 4: "us_unfused"},
}
_PASS = "priority-fusion"
_MODULE_NAME = re.compile(r"HloModule ([^\s,]+)")


@dataclass
class _Step:
    kind: str
    fields: dict[str, list[str]] = field(default_factory=dict)

    def first(self, name: str) -> str:
        return next(iter(self.fields.get(name, ())), "")

    def number(self, name: str) -> float | None:
        if name not in self.fields:
            # Protobuf leaves out a field that is 0.
            return 0.0
        try:
            value = float(self.first(name))
        except ValueError:
            return None
        return value if math.isfinite(value) else None


def read_priority_dump(data: bytes, path: str, module: str | None = None) -> DecisionSource:
    """Read a priority dump.

    Args:
        data: What the file holds: a FusionProcessDumpProto as text or as bytes.
        path: Its name.
        module: Name of the module, for a dump that does not carry it.

    Raises:
        DecisionFileError: It is neither, or holds no fusion steps.
    """
    is_text = data.lstrip()[:13] in (b"fusion_steps ", b"fusion_steps{", b"fusion_steps:")
    try:
        steps, module_text = _from_text(data) if is_text else _from_wire(data)
    except ValueError as error:
        raise DecisionFileError(path, f"it is no priority fusion dump ({error})") from error
    if not steps:
        raise DecisionFileError(path, "it holds no fusion steps")
    name = _MODULE_NAME.match(module_text or "")
    module = name[1] if name else module
    decisions: list[FusionDecision] = []
    unread: Counter[str] = Counter()
    for number, step in enumerate(steps):
        decision = _decision(step, number, path, module)
        if decision is None:
            unread[step.kind] += 1
        else:
            decisions.append(decision)
    records = Counter(step.kind for step in steps)
    return DecisionSource(
        path,
        "GPU priority fusion dump",
        tuple(decisions),
        dict(records),
        dict(unread),
        module_text=module_text,
    )


def _from_text(data: bytes) -> tuple[Sequence[_Step], str | None]:
    steps: list[_Step] = []
    module_text = None
    for name, value in read_text_message(data.decode("utf-8", errors="replace")):
        if name == "fusion_steps" and not isinstance(value, str):
            steps.extend(_text_steps(value))
        elif name == "hlo_module_before_fusion" and isinstance(value, str):
            module_text = value
    return steps, module_text


def _text_steps(message: TextMessage) -> Iterator[_Step]:
    for kind, value in message:
        step = _Step(kind)
        for name, item in () if isinstance(value, str) else value:
            if isinstance(item, str):
                step.fields.setdefault(name, []).append(item)
        yield step


def _from_wire(data: bytes) -> tuple[Sequence[_Step], str | None]:
    steps: list[_Step] = []
    module_text = None
    for number, value in read_wire_fields(data):
        if number == _STEPS and isinstance(value, bytes):
            steps.extend(_wire_steps(value))
        elif number == _MODULE and isinstance(value, bytes):
            module_text = value.decode("utf-8", errors="replace")
    return steps, module_text


def _wire_steps(data: bytes) -> Iterator[_Step]:
    for number, value in read_wire_fields(data):
        step = _Step(_STEP_KINDS.get(number, f"step kind {number}"))
        names = _STEP_FIELDS.get(step.kind, {})
        for inner, item in read_wire_fields(value) if isinstance(value, bytes) else ():
            text = item.decode("utf-8", errors="replace") if isinstance(item, bytes) else str(item)
            step.fields.setdefault(names.get(inner, str(inner)), []).append(text)
        yield step


def _decision(step: _Step, number: int, path: str, module: str | None) -> FusionDecision | None:
    producer = step.first("producer_name")
    if step.kind not in _STEP_FIELDS or not producer:
        return None
    consumers = tuple(step.fields.get("consumer_names", step.fields.get("consumer_name", ())))
    unfused = fused = None
    verdict = Verdict.FUSED
    if step.kind == "producer_ineligible":
        verdict = Verdict.INELIGIBLE
    elif step.kind == "update_priority":
        verdict = Verdict.RANKED
        unfused, fused = step.number("us_unfused"), step.number("us_fused")
    known = unfused is not None and fused is not None
    return FusionDecision(
        producer=producer,
        consumer=consumers[0] if len(consumers) == 1 else None,
        verdict=verdict,
        reason=step.first("reason"),
        source=path,
        pass_name=_PASS,
        step=number,
        consumers=consumers,
        fusion_name=step.first("fusion_name") or None,
        unfused_cost=unfused,
        fused_cost=fused,
        cost_unit="us" if known else None,
        priority=unfused - fused if unfused is not None and fused is not None else None,
        module=module,
    )
