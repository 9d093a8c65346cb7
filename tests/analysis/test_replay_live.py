"""Replays of live compiles: the compilers of today still tell what a replay needs."""

from __future__ import annotations

import importlib.util

import pytest

import hlo_widgets as hw
from hlo_widgets.analysis.decisions.replay.grouping import kernel_instructions
from hlo_widgets.analysis.decisions.replay.replay import replay_decisions
from tests.analysis.decision_programs import programs
from tests.analysis.dumps import were_highest

PACKAGES = {"v6e": "libtpu", "tpu7x": "libtpu", "h100": "jax_cuda12_plugin"}
PACKAGES["a100"] = PACKAGES["h100"]


@pytest.mark.slow
@pytest.mark.parametrize("target", PACKAGES)
@pytest.mark.parametrize("name", ["mlp", "train_step", "loop_between"])
def test_the_replay_of_a_live_compile_ends_in_its_kernels(target, name):
    if importlib.util.find_spec(PACKAGES[target]) is None:
        pytest.skip(f"{PACKAGES[target]} is not installed")
    function, *arguments = programs()[name]
    result = hw.compile_for(function, *arguments, target=target, explain=True)
    replay = replay_decisions(result.decisions)
    assert replay.steps
    assert replay.unknown == {}
    assert replay.untold == ()
    assert [check for check in replay.checks if check.different] == []
    assert were_highest(replay)[False] == 0
    fusions = {op.name for op in kernel_instructions(result.module) if op.opcode == "fusion"}
    assert fusions <= set(replay.final)
