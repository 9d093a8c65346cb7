"""`explain=True` brings back what the compilers wrote down."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.analysis.decisions import DecisionLog, Exactness, Verdict
from hlo_widgets.compiler import Phase, compile_for, find_target, reporting, settings
from hlo_widgets.compiler.environment import explain_worker
from hlo_widgets.compiler.pool import workers
from hlo_widgets.errors import CompileError, NotCompilableError
from tests.compiler.support import (
    SOFTMAX_SPEC,
    mlp,
    needs_cuda,
    needs_libtpu,
    row_softmax,
    worker_that,
)

MLP_SPECS = tuple(
    jax.ShapeDtypeStruct(shape, jnp.bfloat16)
    for shape in [(1024, 512), (512, 2048), (2048, 512), (2048,)]
)


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
    assert all(d.priority is None and d.unfused_cost is None for d in log.decisions)
    assert "no costs, no priorities, no queue" in log.notes[0]
    assert any(record.changes.made for record in log.passes)


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


def test_an_explained_result_is_kept_on_disk_beside_the_plain_one(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "cache_folder", str(tmp_path))
    compile_it = functools.partial(compile_for, row_softmax, SOFTMAX_SPEC, target="cpu")
    plain, first = compile_it(), compile_it(explain=True)
    again = compile_it(explain=True)
    assert (plain.is_cached, first.is_cached, again.is_cached) == (False, False, True)
    assert again.records == first.records
    assert len(again.decisions) == len(first.decisions) > 0
    assert len(compile_it().decisions) == 0
    assert not compile_it(explain=True, refresh=True).is_cached


def test_the_phases_of_an_explain_compile_are_told():
    phases = []
    with reporting(phases.append):
        compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    assert phases[-2:] == [Phase.COMPILING, Phase.READING]


@needs_libtpu
def test_a_refusal_is_the_compilers_own():
    with pytest.raises(CompileError, match="No such compile option"):
        compile_for(
            row_softmax, SOFTMAX_SPEC, target="v6e", explain=True, flags={"xla_nonsense": True}
        )


@needs_cuda
def test_a_gpu_without_estimates_is_explained_once():
    result = compile_for(row_softmax, SOFTMAX_SPEC, target="a100", explain=True)
    assert any("no cost model" in note for note in result.notes)
    kinds = [source.kind for source in result.decisions.sources]
    assert kinds == ["GPU priority fusion dump", "fusion visualisation page"]


def test_a_program_in_the_public_form_is_explained_too(changed_settings):
    changed_settings.command = worker_that("from jaxlib.mlir import ir", "del ir.Module.parse")
    result = compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    assert result.module.name == "jit_call"
    assert len(result.decisions) > 0


def test_a_large_program_is_not_drawn_and_says_so(changed_settings):
    changed_settings.command = worker_that(
        "from hlo_widgets.compiler import explaining",
        "explaining._MOST_DRAWN = 100",
    )
    target = "v6e" if find_target("v6e").availability.is_available else "h100"
    if not find_target(target).availability.is_available:
        pytest.skip("a CPU compiler writes nothing but pictures")
    result = compile_for(row_softmax, SOFTMAX_SPEC, target=target, explain=True)
    assert any("visualisation was not asked for" in note for note in result.notes)
    (source,) = result.decisions.sources
    assert source.kind in {"TPU compiler log", "GPU priority fusion dump"}
    assert len(result.decisions.passes) > 3
