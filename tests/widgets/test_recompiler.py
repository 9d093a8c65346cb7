"""Which of many jobs is done and told, and to whom its errors go; without a compiler."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from hlo_widgets.compiler.pool import workers
from hlo_widgets.errors import CompileCancelledError, NotCompilableError
from hlo_widgets.widgets.controls import recompiler as recompiler_module
from hlo_widgets.widgets.controls.recompiler import Job, Recompiler
from hlo_widgets.widgets.kernel_loop import KernelLoop
from tests.compiler.support import wait_until

VARIANT = SimpleNamespace(target="cpu")


class Told:
    """Keeps what a recompiler tells."""

    def __init__(self):
        self.all = []

    def on_begun(self, variant, words):
        self.all.append(("begun", words))

    def on_phase(self, variant, words):
        self.all.append(("phase", words))

    def on_failed(self, variant, error):
        self.all.append(("failed", str(error)))

    def on_not_drawn(self, variant, error):
        self.all.append(("not drawn", str(error)))


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def recompiler(told):
    recompiler = Recompiler(told, KernelLoop())
    yield recompiler
    recompiler.close()


def job(told, name, bring=lambda: None):
    return Job(VARIANT, name, bring, lambda _: told.all.append(("shown", name)))


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "hlo_widgets compile"]


def test_the_first_job_does_not_wait_and_those_that_follow_it_closely_settle(told, monkeypatch):
    now = [100.0]
    delays = []

    class Timer(threading.Timer):
        def __init__(self, interval, *args, **kwargs):
            delays.append(interval)
            super().__init__(interval, *args, **kwargs)

    monkeypatch.setattr(recompiler_module.threading, "Timer", Timer)
    recompiler = Recompiler(told, KernelLoop(), clock=lambda: now[0])
    settle = recompiler_module.SETTLE_SECONDS
    for seconds in (0.0, settle / 2, settle / 2, settle * 2):
        now[0] += seconds
        recompiler.request(job(told, f"at {now[0]}"))
    wait_until(lambda: ("shown", f"at {now[0]}") in told.all and not threads())
    assert delays == [0.0, settle, settle, 0.0]
    recompiler.close()


def test_a_job_that_is_overtaken_between_its_end_and_its_telling_is_not_done_in_silence(
    recompiler, told
):
    second = job(told, "second")

    def bring():
        recompiler.request(second)

    with pytest.raises(CompileCancelledError):
        recompiler.wait_for(job(told, "first", bring))
    wait_until(lambda: ("shown", "second") in told.all)
    assert ("shown", "first") not in told.all


def test_a_job_that_is_called_off_at_its_end_is_neither_shown_nor_told(recompiler, told):
    with pytest.raises(CompileCancelledError):
        recompiler.wait_for(job(told, "first", recompiler.cancel))
    assert told.all == [("begun", "first")]


@pytest.mark.parametrize("error", [RecursionError("deep"), SystemExit(3), KeyError("x")])
def test_whatever_a_job_raises_is_told(recompiler, told, error):
    def bring():
        raise error

    recompiler.request(job(told, "first", bring))
    wait_until(lambda: told.all[-1] == ("failed", str(error)))
    with pytest.raises(type(error)):
        recompiler.wait_for(job(told, "first", bring))
    assert told.all[-2:] == [("begun", "first"), ("failed", str(error))]


def test_whatever_showing_it_raises_is_told_and_raised(recompiler, told):
    def show(_):
        raise ValueError("no room")

    odd = Job(VARIANT, "odd", lambda: None, show)
    with pytest.raises(ValueError, match="no room"):
        recompiler.wait_for(odd)
    assert told.all[-1] == ("not drawn", "no room")
    told.all.clear()
    recompiler.request(odd)
    wait_until(lambda: told.all[-1] == ("not drawn", "no room"))


def test_what_is_closed_does_nothing_and_says_so(recompiler, told):
    recompiler.close()
    with pytest.raises(NotCompilableError, match="this Explorer is closed: "):
        recompiler.wait_for(job(told, "late"))
    recompiler.request(job(told, "late"))
    assert not threads()
    assert told.all == []
    assert recompiler._key not in workers._newest
