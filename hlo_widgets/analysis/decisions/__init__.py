"""What compilers write down about fusion: reading it, and finding it again in the final module."""

from __future__ import annotations

from hlo_widgets.analysis.decisions.joining import join_decisions
from hlo_widgets.analysis.decisions.log import DecisionLog, DecisionSource, merge_sources
from hlo_widgets.analysis.decisions.reader import read_decision_source, read_decisions
from hlo_widgets.analysis.decisions.record import (
    DecisionJoin,
    Exactness,
    FusionDecision,
    Verdict,
    reason_words,
)
from hlo_widgets.analysis.decisions.renames import PassChain, PassStep, read_pass_chain

__all__ = [
    "DecisionJoin",
    "DecisionLog",
    "DecisionSource",
    "Exactness",
    "FusionDecision",
    "PassChain",
    "PassStep",
    "Verdict",
    "join_decisions",
    "merge_sources",
    "read_decision_source",
    "read_decisions",
    "read_pass_chain",
    "reason_words",
]
