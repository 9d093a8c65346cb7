"""`explain=True` brings back what the compilers wrote down, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import threading

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.analysis.decisions import DecisionLog, Exactness, Verdict
from hlo_widgets.compiler import compile_for, shut_down
from hlo_widgets.compiler.environment import explain_worker
from hlo_widgets.compiler.explain_folder import PREFIX
from hlo_widgets.compiler.pool import workers
from hlo_widgets.errors import CompileError, NotCompilableError
from tests.compiler.support import (
    SOFTMAX_SPEC,
    mlp,
    needs_cuda,
    needs_libtpu,
    row_softmax,
    wait_until,
)

MLP_SPECS = tuple(
    jax.ShapeDtypeStruct(shape, jnp.bfloat16)
    for shape in [(1024, 512), (512, 2048), (2048, 512), (2048,)]
)


@pytest.fixture
def dumps(tmp_path, monkeypatch):
    """List the folders of explain workers; of those that start in this test alone."""
    shut_down()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield lambda: list(tmp_path.glob(f"{PREFIX}*"))
    shut_down()


@needs_libtpu
def test_a_tpu_compiler_gives_what_is_known_of_the_mlp():
    log = compile_for(mlp, *MLP_SPECS, target="v6e", explain=True).decisions
    (frames,) = (s.records for s in log.sources if s.name.endswith(".pyz"))
    assert frames == {"About to fuse": 37, "Fused": 37, "Not fusing": 23}
    assert log.unread == {}
    assert log.by_exactness[Exactness.EXACT] == len(log)
    assert log.by_verdict[Verdict.FUSED] == 37


@needs_cuda
def test_a_gpu_compiler_gives_what_is_known_of_the_mlp():
    log = compile_for(mlp, *MLP_SPECS, target="h100", explain=True).decisions
    (steps,) = (s.records for s in log.sources if s.name.endswith("dump.txt"))
    assert steps == {"update_priority": 107, "fusion": 30, "producer_ineligible": 21}
    assert log.unread == {}
    assert log.by_exactness[Exactness.EXACT] == len(log)


def test_a_cpu_compiler_writes_a_picture_of_its_fusions():
    log = compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True).decisions
    assert {source.kind for source in log.sources} == {"fusion visualisation page"}
    assert log.by_verdict[Verdict.FUSED] > 0


@pytest.mark.parametrize(
    "target",
    ["cpu", pytest.param("v6e", marks=needs_libtpu), pytest.param("h100", marks=needs_cuda)],
)
def test_the_text_is_that_of_a_plain_compile(target):
    plain = compile_for(row_softmax, SOFTMAX_SPEC, target=target)
    explained = compile_for(row_softmax, SOFTMAX_SPEC, target=target, explain=True)
    assert explained.hlo_text == plain.hlo_text
    assert plain.decisions == DecisionLog()
    assert explained.decisions is explained.decisions
    assert workers.process_id(target_worker(target)) != workers.process_id(platform(target))


def platform(target):
    return {"v6e": "tpu", "h100": "cuda"}.get(target, target)


def target_worker(target):
    return explain_worker(platform(target))


def test_flags_that_explain_sets_are_refused():
    with pytest.raises(NotCompilableError, match="xla_dump_to itself"):
        compile_for(
            row_softmax, SOFTMAX_SPEC, target="cpu", explain=True, flags={"xla_dump_to": "x"}
        )


def test_the_dumps_of_a_request_are_gone_after_it_and_the_folder_with_its_worker(dumps):
    compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    (folder,) = dumps()
    assert [path.name for path in folder.iterdir()] == ["lock"]
    shut_down()
    wait_until(lambda: dumps() == [])


@needs_libtpu
def test_a_killed_worker_leaves_no_dump_and_the_next_one_works(dumps):
    compile_for(row_softmax, SOFTMAX_SPEC, target="v6e", explain=True)
    caught = []

    def compile_slowly():
        try:
            compile_for(mlp, *MLP_SPECS, target="v6e", explain=True)
        except CompileError as error:
            caught.append(error)

    thread = threading.Thread(target=compile_slowly)
    thread.start()
    (folder,) = dumps()
    wait_until(lambda: any(folder.glob("*/*after_pipeline-start*")))
    os.kill(workers.process_id("tpu+explain"), signal.SIGKILL)
    thread.join()
    assert "SIGKILL" in str(caught[0])
    assert "jit_mlp" in caught[0].log
    wait_until(lambda: not folder.exists())
    assert len(compile_for(row_softmax, SOFTMAX_SPEC, target="v6e", explain=True).decisions) > 0
