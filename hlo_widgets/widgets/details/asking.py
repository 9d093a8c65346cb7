"""Asking why two ops are not one kernel: from ids of the graph to the panel's data and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlo_widgets.analysis import pair_members
from hlo_widgets.analysis.decisions import FusionDecision
from hlo_widgets.analysis.why import Explanation
from hlo_widgets.errors import HloLookupError
from hlo_widgets.graph.paths import without_copy
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.hlo import opcode as opcodes
from hlo_widgets.widgets.decisions.verdicts import Verdicts
from hlo_widgets.widgets.details.op_records import describe_decisions
from hlo_widgets.widgets.details.why_words import describe_explanation
from hlo_widgets.widgets.picture.navigator import Navigator

__all__ = ["Answer", "Asking"]

MOST_SIDES = 8
"""Ops that one side of a record is looked for in; arbitrary."""

MOST_PLUMBING = 100
"""Plumbing in a row; arbitrary, damaged text could make it endless."""


@dataclass(frozen=True)
class Answer:
    """Why two ops are not one kernel.

    Attributes:
        ids: The ids that were asked about.
        explanation: The answer.
        words: The same for the detail panel.
    """

    ids: tuple[str, ...]
    explanation: Explanation
    words: dict[str, Any]


class Asking:
    """What can be asked about the module on show.

    Args:
        navigator: Knows which op an id stands for.
        verdicts: What is on record.
    """

    def __init__(self, navigator: Navigator, verdicts: Verdicts) -> None:
        self._navigator = navigator
        self._verdicts = verdicts

    def answer(self, ids: Sequence[str]) -> Answer:
        """Explain why the two ops of these ids are not one kernel.

        Raises:
            HloLookupError: An id stands for no op, or there are not two.
        """
        ops = [self._navigator.instruction(without_copy(node_id)) for node_id in ids]
        if len(ops) != 2 or ops[0] is None or ops[1] is None:
            raise HloLookupError("pair of ops", " and ".join(ids))
        # The log speaks of the start of a pair: by it data enters, by the done it leaves.
        names = (ops[0].name, pair_members(ops[1])[0].name)
        explanation = self._verdicts.explain(*names)
        words = describe_explanation(explanation, self.link, self._verdicts.finals, names)
        return Answer(tuple(ids), explanation, words)

    def decisions(self, instruction: HloInstruction) -> dict[str, Any]:
        """Return what is on record about an op, for the detail panel."""
        names = [member.name for member in pair_members(instruction)]
        home = instruction.parent
        body = home.name if home.is_fusion_computation else ""
        records, finals = self._verdicts.about(instruction), self._verdicts.finals
        return describe_decisions(records, names, self.link, finals, body)

    def ids_of(self, decision: FusionDecision) -> list[str]:
        """Return the ids of the final ops of a record's two sides: two, one or none.

        Where a side lives on in several ops, a pair of two kernels comes first. For plumbing, which
        is folded into an arrow, the op at that arrow's end stands.
        """
        join = decision.join
        if join is None:
            return []
        producers = [self._boxed(name, "operands") for name in join.producers[:MOST_SIDES]]
        consumers = [self._boxed(name, "users") for name in join.consumers[:MOST_SIDES]]
        pairs = [(p, c) for p in producers for c in consumers]
        pairs.sort(key=lambda pair: pair[0] == pair[1])
        names = pairs[0] if pairs else (*producers[:1], *consumers[:1])
        return [node_id for name in names if (node_id := self.link(name)["id"])]

    def _boxed(self, name: str, towards: str) -> str:
        """Return the name of the op at the end of the arrow that a plumbing op is folded into."""
        try:
            op = self._verdicts.module.instruction(name)
        except HloLookupError:
            return name
        for _ in range(MOST_PLUMBING):
            following = getattr(op, towards)
            if op.opcode not in opcodes.RELABELS or op.is_root or not following:
                break
            op = following[0]
        return str(op.name)

    def link(self, name: str) -> dict[str, str]:
        """Return the link to an op of a name: id, name, about; the id is "" where none leads."""
        try:
            instruction = self._verdicts.module.instruction(name)
        except HloLookupError:
            return {"id": "", "name": name, "about": ""}
        shape = instruction.shape
        words = f"tuple of {len(shape.tuple_shapes)}" if shape.is_tuple else shape.to_string(False)
        return {
            "id": self._navigator.id_of(instruction) or "",
            "name": name,
            "about": f"{instruction.opcode} {words}",
        }
