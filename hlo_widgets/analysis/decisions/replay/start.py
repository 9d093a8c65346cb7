"""Where a replay starts: the records to follow and the module before the first of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hlo_widgets.analysis.decisions.log import DecisionLog, DecisionSource
from hlo_widgets.analysis.decisions.passes import PassRecord
from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict
from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import HloModule, parse_hlo_module

__all__ = ["ReplayStart", "find_start"]

# Sources that tell fusions in their order, the most telling first.
_QUEUE = "GPU priority fusion dump"
_LOG = "TPU compiler log"
_IN_ORDER = (_QUEUE, "TPU fusion visualisation", "fusion visualisation page", _LOG)

_QUEUE_PASS = "priority-fusion"

NO_RECORD = "The record tells no fusion in its order."
NO_MODULE = (
    "The module before fusion was not dumped, so the steps cannot be drawn"
    " (xla_dump_hlo_pass_re=.*fusion.* dumps it)."
)
NO_QUEUE = (
    "This compiler records the order of its fusions, and no queue: ranks and the check that the"
    " highest priority was taken are not possible."
)
IN_PART = (
    "The compiler's log names a part of its fusions, in their order; the module after a pass tells"
    " the others, all at once."
)
SEVERAL_FILES = "The record is one file a computation: the order between computations is not told."


@dataclass(frozen=True)
class ReplayStart:
    """What a replay begins with.

    Attributes:
        module: The module before fusion; None where none was dumped.
        decisions: The records of the sources that tell fusions in their order.
        passes: The passes after that module, in order.
        has_queue: Whether the records tell a priority queue.
        has_names: Whether the ops of the module have the names that JAX gave.
        notes: What the record does not allow to say.
    """

    module: HloModule | None
    decisions: tuple[FusionDecision, ...] = ()
    passes: tuple[PassRecord, ...] = field(default=(), repr=False)
    has_queue: bool = False
    has_names: bool = True
    notes: tuple[str, ...] = ()

    @property
    def fusions(self) -> tuple[FusionDecision, ...]:
        """The records of fusions, in order."""
        return tuple(d for d in self.decisions if d.verdict is Verdict.FUSED)


def find_start(log: DecisionLog) -> ReplayStart:
    """Find the records to follow in a log and the module before the first of them."""
    sources = _sources(log)
    decisions = tuple(d for source in sources for d in source.decisions)
    fusions = [d for d in decisions if d.verdict is Verdict.FUSED]
    if not sources:
        return ReplayStart(None, notes=(NO_RECORD,))
    has_queue = sources[0].kind == _QUEUE
    notes = [] if has_queue else [NO_QUEUE]
    if sources[0].kind == _LOG:
        notes.append(IN_PART)
    if len([s for s in sources if any(d.verdict is Verdict.FUSED for d in s.decisions)]) > 1:
        notes.append(SEVERAL_FILES)
    module, passes = _before(log, fusions, has_queue=has_queue)
    own = _own_module(sources)
    if own is not None and (module is None or _missing(own, fusions) < _missing(module, fusions)):
        module = own
    if module is None:
        notes.append(NO_MODULE)
    has_names = module is not None and any(op.metadata.op_name for op in module.instructions())
    return ReplayStart(module, decisions, passes, has_queue, has_names, tuple(notes))


def _sources(log: DecisionLog) -> list[DecisionSource]:
    """Return the sources of the most telling kind, of one module."""
    wanted = log.before.name if log.before is not None else None
    for kind in _IN_ORDER:
        found = [s for s in log.sources if s.kind == kind]
        if wanted is not None:
            named = [s for s in found if wanted in {d.module for d in s.decisions}]
            found = named or [s for s in found if {d.module for d in s.decisions} <= {None}]
        elif found:
            most = max(found, key=lambda source: len(source.decisions))
            modules = {d.module for d in most.decisions}
            found = [s for s in found if {d.module for d in s.decisions} <= modules]
        if found:
            return found
    return []


def _before(
    log: DecisionLog, fusions: Sequence[FusionDecision], *, has_queue: bool
) -> tuple[HloModule | None, tuple[PassRecord, ...]]:
    """Return the module before the pass that was recorded, and the passes from that one on."""
    made = {d.fusion_name for d in fusions if d.fusion_name} - set(_first_names(fusions))

    def is_first(record: PassRecord) -> bool:
        if has_queue:
            return record.pass_name == _QUEUE_PASS
        return not made.isdisjoint((*record.changes.made, *record.changes.grown))

    places = range(len(log.passes))
    # No dump may have what a record made: the pass may have called it otherwise in the end. Then it
    # is the first one that made any fusion.
    first = next((at for at in places if is_first(log.passes[at])), None)
    if first is None:
        first = next((at for at in places if log.passes[at].changes.made), 0)
    before = log.passes[first - 1].module if first else log.before
    return before, log.passes[first:]


def _own_module(sources: Iterable[DecisionSource]) -> HloModule | None:
    for source in sources:
        if source.module_text:
            try:
                return parse_hlo_module(source.module_text)
            except HloParseError:
                continue
    return None


def _missing(module: HloModule, fusions: Sequence[FusionDecision]) -> int:
    names = {op.name for op in module.instructions()}
    return len(set(_first_names(fusions)) - names)


def _first_names(fusions: Iterable[FusionDecision]) -> list[str]:
    """Return the names that records use before a record made them: those of ops as they stood."""
    made: set[str] = set()
    names: list[str] = []
    for decision in fusions:
        names += [n for n in (decision.producer, *decision.consumers) if n not in made]
        if decision.fusion_name is not None:
            made.add(decision.fusion_name)
    return names
