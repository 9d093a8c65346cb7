"""Requests that wait for one worker: their order, and newer ones that overtake."""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import call_off, compile_for, compile_newest
from hlo_widgets.compiler.pool import workers
from hlo_widgets.compiler.turns import OvertakenError, Turns
from hlo_widgets.errors import CompileCancelledError
from tests.compiler.support import add_one, is_alive, needs_cuda, needs_libtpu, wait_until

compile_cpu = functools.partial(compile_for, target="cpu")
SPEC = jax.ShapeDtypeStruct((8, 4), jnp.float32)


@pytest.fixture
def pool():
    with ThreadPoolExecutor(60) as pool:
        yield pool


@pytest.fixture
def held(changed_settings):
    """The process id of a worker that is stopped, so that requests to it wait."""
    compile_cpu(add_one, SPEC)
    pid = workers.process_id("cpu")
    os.kill(pid, signal.SIGSTOP)
    yield pid
    if is_alive(pid):
        os.kill(pid, signal.SIGCONT)


def add(number):
    return functools.partial(jnp.add, float(number))


def test_what_is_collected_while_a_queue_is_changed_can_call_off_what_it_waits_for():
    # An Explorer does when it is collected, and the collector runs in the midst of any block.
    turns = Turns(lambda: None)

    class Collected:
        def __del__(self):
            turns.drop("mine", "it is gone")

    def ask():
        held = [Collected()]
        with turns.turn("mine", held.clear):
            pass

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


def test_turns_are_given_in_the_order_of_asking():
    turns, seen = Turns(lambda: None), []

    def wait(number):
        with turns.turn():
            seen.append(number)

    threads = []
    with turns.turn():
        for number in range(20):
            threads.append(threading.Thread(target=wait, args=(number,)))
            threads[-1].start()
            wait_until(lambda wanted=number + 1: turns.waiting() == wanted)
    for thread in threads:
        thread.join()
    assert seen == list(range(20))


def test_a_free_turn_is_taken_only_where_nobody_is():
    turns = Turns(lambda: None)
    with turns.free_turn() as is_free:
        assert is_free
        with turns.free_turn() as is_free_too:
            assert not is_free_too
    with turns.turn(), turns.free_turn() as is_free:
        assert not is_free
    with turns.turn():
        pass  # nothing is left in the queue


def test_only_requests_with_that_key_are_dropped():
    turns, dropped = Turns(lambda: None), []

    def wait(key):
        try:
            with turns.turn(key):
                pass
        except OvertakenError as error:
            dropped.append((key, str(error)))

    with turns.turn():
        threads = [threading.Thread(target=wait, args=(key,)) for key in ("a", "b", None)]
        for thread in threads:
            thread.start()
        wait_until(lambda: turns.waiting() == 3)
        assert not turns.drop(None, "nobody")
        assert turns.drop("a", "why not")
        wait_until(lambda: turns.waiting() == 2)
    for thread in threads:
        thread.join()
    assert dropped == [("a", "why not")]


def test_an_older_request_that_is_traced_longer_does_not_overtake_a_newer_one(pool):
    traced, may_go_on = threading.Event(), threading.Event()

    def slow(x):
        traced.set()
        may_go_on.wait(60)
        return x + 1

    older = pool.submit(compile_newest, "a widget", slow, SPEC, target="cpu")
    traced.wait(60)
    newer = compile_newest("a widget", add(7), SPEC, target="cpu")
    may_go_on.set()
    with pytest.raises(CompileCancelledError, match="a newer request has overtaken it"):
        older.result(timeout=60)
    assert "constant(7)" in newer.hlo_text


def test_a_request_that_is_called_off_while_it_is_traced_says_so(pool):
    traced, may_go_on = threading.Event(), threading.Event()

    def slow(x):
        traced.set()
        may_go_on.wait(60)
        return x + 1

    compiling = pool.submit(compile_newest, "a widget", slow, SPEC, target="cpu")
    traced.wait(60)
    call_off("a widget")
    may_go_on.set()
    with pytest.raises(CompileCancelledError) as caught:
        compiling.result(timeout=60)
    assert str(caught.value) == "compiling for 'cpu' was given up: it was called off"


def test_fifty_quick_changes_compile_the_first_and_the_last(pool, held):
    first = pool.submit(compile_newest, "a widget", add(0), SPEC, target="cpu")
    wait_until(lambda: workers.is_busy("cpu"))
    changes = []
    for number in range(1, 50):
        changes.append(pool.submit(compile_newest, "a widget", add(number), SPEC, target="cpu"))
        wait_until(lambda: workers.waiting("cpu") == 1)
        for overtaken in changes[:-1]:
            with pytest.raises(CompileCancelledError, match="a newer request has overtaken it"):
                overtaken.result(timeout=10)
    assert not changes[-1].done()
    os.kill(held, signal.SIGCONT)
    assert "constant(49)" in changes[-1].result(timeout=60).hlo_text
    assert first.done()
    assert workers.process_id("cpu") == held


def test_a_long_compile_that_is_overtaken_is_ended(pool, held, changed_settings):
    changed_settings.overtake_seconds = 0.2
    long = pool.submit(compile_newest, "a widget", add(1), SPEC, target="cpu")
    wait_until(lambda: workers.is_busy("cpu"))
    newer = pool.submit(compile_newest, "a widget", add(2), SPEC, target="cpu")
    with pytest.raises(CompileCancelledError, match="a newer request has overtaken it"):
        long.result(timeout=30)
    assert "constant(2)" in newer.result(timeout=60).hlo_text
    assert not is_alive(held)


def test_calling_off_ends_what_runs_and_what_waits(pool, held):
    assert not call_off("another widget")
    running = pool.submit(compile_newest, "a widget", add(1), SPEC, target="cpu")
    wait_until(lambda: workers.is_busy("cpu"))
    start = time.monotonic()
    assert call_off("a widget")
    with pytest.raises(CompileCancelledError, match="it was called off"):
        running.result(timeout=30)
    assert time.monotonic() - start < 5
    assert not call_off("a widget")
    assert "add" in compile_cpu(add_one, SPEC).hlo_text


def test_requests_without_a_key_all_get_their_turn(pool, held):
    asked = [pool.submit(compile_cpu, add(number), SPEC) for number in range(1, 6)]
    wait_until(lambda: workers.waiting("cpu") == 4)
    os.kill(held, signal.SIGCONT)
    for number, compiling in enumerate(asked, start=1):
        assert f"constant({number})" in compiling.result(timeout=60).hlo_text


@needs_libtpu
@needs_cuda
def test_workers_of_several_toolchains_are_warm_and_work_at_once(pool):
    for _ in range(2):
        asked = {
            name: pool.submit(compile_for, jnp.tanh, SPEC, target=name)
            for name in ("cpu", "v6e", "h100")
        }
        texts = {name: compiling.result(timeout=120) for name, compiling in asked.items()}
        assert {name: result.target for name, result in texts.items()} == {n: n for n in asked}
    pids = {workers.process_id(toolchain) for toolchain in ("cpu", "tpu", "cuda")}
    assert len(pids) == 3
    assert all(is_alive(pid) for pid in pids)
