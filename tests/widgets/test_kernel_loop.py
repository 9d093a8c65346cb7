"""Work of a thread is done where messages are handled, or at once where nobody handles any."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from hlo_widgets.widgets.controls.failure import failure_words
from hlo_widgets.widgets.kernel_loop import KernelLoop

NAME = contextvars.ContextVar("NAME", default="nobody")


@pytest.fixture
def kernel():
    """A loop in a thread that has handled one message, and the thread."""
    loop, kernel_loop = asyncio.new_event_loop(), KernelLoop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def handle():
        NAME.set("the message")
        kernel_loop.note()

    asyncio.run_coroutine_threadsafe(handle(), loop).result(10)
    yield kernel_loop, thread, loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def test_work_is_done_in_the_loop_and_context_of_the_last_message(kernel):
    kernel_loop, thread, _ = kernel
    seen = []
    kernel_loop.call_and_wait(lambda: seen.append((threading.current_thread(), NAME.get())))
    assert seen == [(thread, "the message")]
    assert kernel_loop.context[NAME] == "the message"


def test_what_the_work_raises_reaches_whoever_waits(kernel):
    kernel_loop = kernel[0]
    with pytest.raises(ZeroDivisionError):
        kernel_loop.call_and_wait(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        KernelLoop().call_and_wait(lambda: 1 / 0)


def test_without_a_loop_work_is_done_at_once():
    kernel_loop, seen = KernelLoop(), []
    kernel_loop.note()
    kernel_loop.call(lambda: seen.append(threading.current_thread()))
    assert seen == [threading.current_thread()]


def test_a_loop_that_is_gone_is_not_waited_for(kernel):
    kernel_loop, thread, loop = kernel
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    seen = []
    kernel_loop.call_and_wait(lambda: seen.append(threading.current_thread()))
    assert seen == [threading.current_thread()]


def test_an_error_of_a_library_is_told_with_the_line_that_called_it():
    try:
        threading.Thread(target=1).join()
    except RuntimeError as error:
        words = failure_words(error).splitlines()
    assert words[0] == "RuntimeError: cannot join thread before it is started"
    assert len(words) == 3
    assert failure_words(KeyError()) == "KeyError"
    assert len(failure_words(ValueError("x" * 10**6))) < 30_000
