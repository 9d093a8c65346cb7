"""Live compiles write what the kept dumps hold: the readers follow the compilers of today."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from hlo_widgets.analysis.decisions import Exactness, Verdict, read_decisions
from tests.analysis.dumps import decisions_of

RECORDER = Path(__file__).with_name("decision_programs.py")
COMPILERS = {"tpu": ("v6e", "libtpu"), "cuda": ("h100", "jax_cuda12_plugin")}


@pytest.mark.slow
@pytest.mark.parametrize("platform", COMPILERS)
def test_a_live_compile_of_the_mlp_has_the_known_counts(platform, tmp_path):
    target, package = COMPILERS[platform]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    command = [sys.executable, str(RECORDER), platform, str(tmp_path), "mlp"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    with tarfile.open(tmp_path / f"mlp.{target}.tar.xz") as archive:
        archive.extractall(tmp_path / "dump", filter="data")
    live, kept = read_decisions(tmp_path / "dump"), decisions_of(f"mlp.{target}")
    assert live.unread == {}
    assert live.by_exactness[Exactness.EXACT] == len(live)
    # A TPU compiler asks again about some pairs, in an order that differs from run to run.
    assert abs(len(live) - len(kept)) < 10
    assert live.by_verdict[Verdict.FUSED] == kept.by_verdict[Verdict.FUSED]
    if platform == "tpu":
        (frames,) = (s.records for s in live.sources if s.name.endswith(".pyz"))
        assert frames == {"About to fuse": 37, "Fused": 37, "Not fusing": 23}
    else:
        (steps,) = (s.records for s in live.sources if s.name.endswith("dump.txt"))
        assert steps == {"update_priority": 107, "fusion": 30, "producer_ineligible": 21}
