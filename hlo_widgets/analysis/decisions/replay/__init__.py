"""The fusion of a module replayed: from its ops, step by step, to the kernels of the end."""

from __future__ import annotations

from hlo_widgets.analysis.decisions.replay.replay import Replay, replay_decisions
from hlo_widgets.analysis.decisions.replay.walk import ReplayStep

__all__ = ["Replay", "ReplayStep", "replay_decisions"]
