"""The phases that a compile reports while it is under way."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import Phase, compile_for, reporting, shut_down
from hlo_widgets.compiler.pool import workers
from tests.compiler.support import add_one

SPEC = jax.ShapeDtypeStruct((8, 4), jnp.float32)


def phases_of(*args, **kwargs):
    phases = []
    with reporting(phases.append):
        compile_for(add_one, *args, target="cpu", refresh=True, **kwargs)
    return phases


def test_a_first_compile_starts_the_compiler_and_the_next_one_does_not():
    shut_down()
    started = phases_of(SPEC)
    assert started == [Phase.TRACING, Phase.STARTING, Phase.COMPILING, Phase.READING]
    assert phases_of(SPEC) == [Phase.TRACING, Phase.COMPILING, Phase.READING]


def test_who_has_to_wait_for_another_request_is_told_so():
    compile_for(add_one, SPEC, target="cpu")
    phases, is_waiting = [], threading.Event()

    def listen(phase):
        phases.append(phase)
        if phase is Phase.WAITING:
            is_waiting.set()

    def compile_one():
        with reporting(listen):
            compile_for(add_one, SPEC, target="cpu", refresh=True)

    thread = threading.Thread(target=compile_one)
    with workers._slot("cpu").turns.turn():
        thread.start()
        assert is_waiting.wait(60)
    thread.join()
    assert phases == [Phase.TRACING, Phase.WAITING, Phase.COMPILING, Phase.READING]


def test_a_cached_result_is_not_compiled(tmp_path, changed_settings):
    changed_settings.cache_folder = str(tmp_path)
    compile_for(add_one, SPEC, target="cpu")
    phases = []
    with reporting(phases.append):
        assert compile_for(add_one, SPEC, target="cpu").is_cached
    assert phases == [Phase.TRACING, Phase.READING]


def test_only_the_thread_and_the_block_that_listen_are_told():
    phases = []
    with reporting(phases.append):
        thread = threading.Thread(
            target=compile_for, args=(add_one, SPEC), kwargs={"target": "cpu"}
        )
        thread.start()
        thread.join()
    compile_for(add_one, SPEC, target="cpu")
    assert phases == []


def test_a_failure_in_the_function_comes_while_it_is_traced():
    phases = []
    with reporting(phases.append), pytest.raises(TypeError, match="add"):
        compile_for(jnp.add, SPEC, target="cpu")
    assert phases == [Phase.TRACING]
