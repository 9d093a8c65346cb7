"""Why two ops did not become one kernel, with the evidence for it."""

from __future__ import annotations

from hlo_widgets.analysis.why.answer import why_not_fused
from hlo_widgets.analysis.why.explanation import Evidence, Explanation, WhyKind
from hlo_widgets.analysis.why.glossary import Term, explained_terms
from hlo_widgets.analysis.why.verdicts import PairVerdict, PairVerdicts

__all__ = [
    "Evidence",
    "Explanation",
    "PairVerdict",
    "PairVerdicts",
    "Term",
    "WhyKind",
    "explained_terms",
    "why_not_fused",
]
