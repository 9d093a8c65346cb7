"""The captions of XLA's fusion visualisation: one a frame, before and after each fusion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hlo_widgets.analysis.decisions.log import DecisionSource
from hlo_widgets.analysis.decisions.record import FusionDecision, Verdict

__all__ = ["read_frames"]

_ABOUT = re.compile(
    r"About to (?:MOF-)?fuse (?:producer )?\|(?P<p>[^|]+)\| into (?:consumer )?\|(?P<c>[^|]+)\|"
    r"(?: inside (?P<pass>.+))?",
    re.DOTALL,
)
_ABOUT_SIBLINGS = re.compile(
    r"About to fuse sibling \|(?P<p>[^|]+)\| into sibling \|(?P<c>[^|]+)\|"
    r"(?: inside (?P<pass>.+))?",
    re.DOTALL,
)
_FUSED = re.compile(
    r"Fused (?:\|(?P<p>[^|]+)\| )?into \|(?P<f>[^|]+)\|(?: inside (?P<pass>.+))?", re.DOTALL
)
_REFUSED = (
    (
        "Not fusing",
        re.compile(r"Not fusing \|(?P<p>[^|]+)\| into \|(?P<c>[^|]+)\| as (?P<why>.*)", re.DOTALL),
    ),
    (
        "Not considering fusion",
        re.compile(
            r"Not considering fusion of producer \|(?P<p>[^|]+)\| into consumer \|(?P<c>[^|]+)\|"
            r" due to: (?P<why>.*)",
            re.DOTALL,
        ),
    ),
    (
        "Not fusing siblings",
        re.compile(
            r"Not fusing siblings \|(?P<p>[^|]+)\| and \|(?P<c>[^|]+)\| due to: (?P<why>.*)",
            re.DOTALL,
        ),
    ),
)


def read_frames(
    labels: Sequence[str], name: str, kind: str, module: str | None = None
) -> DecisionSource:
    """Turn captions into decisions: "About to fuse" and "Fused" make one, "Not fusing" another.

    Args:
        labels: The captions, in order.
        name: Name of the file.
        kind: What kind of file it is.
        module: Name of the module, where it is known.
    """
    reader = _FrameReader(name, module)
    for step, label in enumerate(labels):
        reader.read(step, label)
    reader.close()
    return DecisionSource(
        name, kind, tuple(reader.decisions), dict(reader.records), dict(reader.unread)
    )


class _FrameReader:
    """Reads captions one after the other; an "About to fuse" waits for its "Fused"."""

    def __init__(self, name: str, module: str | None) -> None:
        self.name, self.module = name, module
        self.decisions: list[FusionDecision] = []
        self.records: Counter[str] = Counter()
        self.unread: Counter[str] = Counter()
        self._waiting: tuple[int, re.Match[str], bool] | None = None

    def read(self, step: int, label: str) -> None:
        siblings = _ABOUT_SIBLINGS.fullmatch(label)
        about = siblings or _ABOUT.fullmatch(label)
        if about:
            self.close()
            self.records["About to fuse"] += 1
            self._waiting = (step, about, siblings is not None)
        elif fused := _FUSED.fullmatch(label):
            self.records["Fused"] += 1
            self._fused(step, fused)
        elif not self._refused(step, label):
            # A caption of an unknown kind is told by its first words: the rest is names.
            self.unread[label.partition("|")[0].strip()[:60] or "(no caption)"] += 1

    def close(self) -> None:
        """Keep a fusion that was announced and never said to be done."""
        if self._waiting is not None:
            step, about, siblings = self._waiting
            self._waiting = None
            self._add(step, about, about["c"], Verdict.CONSIDERED, siblings=siblings)

    def _fused(self, step: int, fused: re.Match[str]) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and fused["p"] in (None, waiting[1]["p"]):
            start, about, siblings = waiting
            self._add(start, about, about["c"], Verdict.FUSED, fusion=fused["f"], siblings=siblings)
        elif fused["p"] is not None:
            # The announcement is missing: which op the producer went into is not known.
            self._add(step, fused, None, Verdict.FUSED, fusion=fused["f"])
        else:
            self.unread["Fused into"] += 1

    def _refused(self, step: int, label: str) -> bool:
        for words, pattern in _REFUSED:
            if match := pattern.fullmatch(label):
                self.records[words] += 1
                siblings = words.endswith("siblings")
                self._add(step, match, match["c"], Verdict.REFUSED, match["why"], siblings=siblings)
                return True
        return False

    def _add(
        self,
        step: int,
        match: re.Match[str],
        consumer: str | None,
        verdict: Verdict,
        reason: str = "",
        *,
        fusion: str | None = None,
        siblings: bool = False,
    ) -> None:
        self.decisions.append(
            FusionDecision(
                producer=match["p"],
                consumer=consumer,
                verdict=verdict,
                reason=reason,
                source=self.name,
                pass_name=match.groupdict().get("pass"),
                step=step,
                consumers=() if consumer is None else (consumer,),
                fusion_name=fusion,
                siblings=siblings,
                module=self.module,
            )
        )
