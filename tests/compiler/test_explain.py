"""`explain=True` brings back what the compilers wrote down."""

from __future__ import annotations

import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.analysis.decisions import DecisionLog, Exactness, Verdict
from hlo_widgets.compiler import (
    Phase,
    call_off,
    compile_for,
    compile_newest,
    find_target,
    reporting,
    settings,
)
from hlo_widgets.compiler.environment import explain_worker
from hlo_widgets.compiler.explain_records import unpack_records
from hlo_widgets.compiler.pool import workers
from hlo_widgets.errors import CompileCancelledError, CompileError, NotCompilableError
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


def worker_that_draws_so(*lines):
    """The command of a worker that does something else where it is asked to draw."""
    return worker_that(
        "import os, time",
        "from hlo_widgets.compiler.toolchains import Toolchain",
        "compile_it = Toolchain.compile",
        "def drawing(self, request, content):",
        "    if not request.draws:",
        "        return compile_it(self, request, content)",
        *(f"    {line}" for line in lines),
        "Toolchain.compile = drawing",
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("os.abort()", "it was ended by SIGABRT"),
        ("time.sleep(60)", "no answer within 0.5 seconds"),
        ("raise OSError(28, 'No space left on device')", "No space left on device"),
    ],
)
def test_the_result_stands_where_the_drawing_fails(changed_settings, tmp_path, line, words):
    changed_settings.cache_folder = str(tmp_path)
    changed_settings.command = worker_that_draws_so(line)

    def limit_the_drawing(phase):
        if phase == Phase.COMPILING:
            compiles.append(phase)
            changed_settings.time_limit_seconds = 60.0 if len(compiles) % 2 else 0.5

    compiles = []
    with reporting(limit_the_drawing):
        result = compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    (note,) = [note for note in result.notes if words in note]
    assert note.startswith("the compiler made no fusion visualisation: ")
    assert any(record.changes.made for record in result.decisions.passes)
    # An answer would be the same the next time; the end of a process need not be.
    with reporting(limit_the_drawing):
        again = compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    assert again.is_cached == line.startswith("raise")


def test_who_calls_off_a_drawing_gets_no_result(changed_settings):
    changed_settings.command = worker_that_draws_so("time.sleep(60)")
    drawing = threading.Event()
    phases = []

    def listen(phase):
        phases.append(phase)
        if phases.count(Phase.COMPILING) == 2:
            drawing.set()

    def compile_it():
        with reporting(listen):
            compile_newest("a", row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)

    with ThreadPoolExecutor(1) as pool:
        compiling = pool.submit(compile_it)
        assert drawing.wait(60)
        assert call_off("a")
        with pytest.raises(CompileCancelledError):
            compiling.result(timeout=30)


def test_the_drawing_has_a_time_limit_of_its_own(changed_settings):
    compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    changed_settings.command = worker_that(
        "import time",
        "from hlo_widgets.compiler.toolchains import Toolchain",
        "compile_it = Toolchain.compile",
        "def slow(self, request, content):",
        "    compiled = compile_it(self, request, content)",
        "    time.sleep(4.5)",
        "    return compiled",
        "Toolchain.compile = slow",
    )
    changed_settings.time_limit_seconds = 8.0
    result = compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    assert result.notes == ()
    assert len(result.decisions) > 0


def test_the_text_stands_where_the_records_cannot_be_read(changed_settings):
    changed_settings.command = worker_that(
        "from hlo_widgets.compiler import explaining",
        "def full(*_):",
        "    raise OSError(28, 'No space left on device')",
        "explaining.collect_records = full",
    )
    result = compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    assert result.hlo_text.startswith("HloModule jit_row_softmax")
    assert "records could not be read: [Errno 28] No space left" in result.notes[0]
    assert len(result.decisions) == 0


def test_what_was_too_much_is_counted_of_both_compiles(changed_settings):
    whole = compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    passes = sum(".00" in name for name in unpack_records(whole.records))
    changed_settings.command = worker_that(
        "from hlo_widgets.compiler import explain_records",
        "explain_records._PASSES_BYTES = explain_records._PICTURES_BYTES = 1",
    )
    result = compile_for(row_softmax, SOFTMAX_SPEC, target="cpu", explain=True)
    (count,) = [note.split()[0] for note in result.notes if "too much to be sent" in note]
    assert int(count) == passes + 1
    assert len(result.decisions.passes) == 0


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
