"""What compilers write down about fusion: reading it, and finding it again in the final module."""

from __future__ import annotations

from hlo_widgets.analysis.decisions.joining import join_decisions, joined
from hlo_widgets.analysis.decisions.log import DecisionLog, DecisionSource, merge_sources
from hlo_widgets.analysis.decisions.passes import (
    FusionChanges,
    PassChain,
    PassRecord,
    read_pass_chain,
)
from hlo_widgets.analysis.decisions.reader import (
    read_decision_source,
    read_decisions,
    read_records,
)
from hlo_widgets.analysis.decisions.reasons import reason_parts, reason_words
from hlo_widgets.analysis.decisions.record import (
    DecisionJoin,
    Exactness,
    FusionDecision,
    Verdict,
)
from hlo_widgets.analysis.decisions.renames import PassStep

__all__ = [
    "DecisionJoin",
    "DecisionLog",
    "DecisionSource",
    "Exactness",
    "FusionChanges",
    "FusionDecision",
    "PassChain",
    "PassRecord",
    "PassStep",
    "Verdict",
    "join_decisions",
    "joined",
    "merge_sources",
    "read_decision_source",
    "read_decisions",
    "read_pass_chain",
    "read_records",
    "reason_parts",
    "reason_words",
]
