"""How a verdict looks: a colour for each theme and a dash, so that no colour alone tells it."""

from __future__ import annotations

from dataclasses import dataclass

from hlo_widgets.analysis.why import WhyKind

__all__ = ["VERDICT_STYLES", "VerdictStyle"]


@dataclass(frozen=True)
class VerdictStyle:
    """The look of one kind of verdict.

    Attributes:
        meaning: What it means, for the legend.
        light: Colour on a light page.
        dark: Colour on a dark page.
        dash: Lengths of the strokes and gaps of the line; "" for a solid one.
    """

    meaning: str
    light: str
    dark: str
    dash: str = ""

    def color(self, theme: str) -> str:
        """Return the colour for "light" or "dark"."""
        return self.light if theme == "light" else self.dark


VERDICT_STYLES = {
    WhyKind.UNPROFITABLE: VerdictStyle(
        "unprofitable: the compiler weighed it", "#a34a00", "#ffb057", "9 5"
    ),
    WhyKind.BLOCKED: VerdictStyle(
        "blocked: a rule, or something that no fusion can hold", "#b3261e", "#ff8a80"
    ),
    WhyKind.STRUCTURAL: VerdictStyle(
        "structural: the shape of the program", "#1f5fbf", "#82b4ff", "2 4"
    ),
    WhyKind.NOT_KNOWN: VerdictStyle("on record without a cause", "#6b4fa0", "#c5a8ff", "9 4 2 4"),
    WhyKind.FUSED: VerdictStyle("one kernel", "#2e7d32", "#7fc583"),
}
"""The look of each kind. Beside each arrow the kind stands as a word, too."""
