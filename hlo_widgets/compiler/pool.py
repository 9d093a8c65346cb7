"""The workers of this process: one a toolchain, started on first use and kept warm.

One that explains its decisions is a worker of its own, beside the plain one of its platform.
"""

from __future__ import annotations

import atexit
import itertools
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from hlo_widgets.compiler.environment import (
    compiler_variables,
    platform_of,
    worker_command,
    worker_environment,
)
from hlo_widgets.compiler.handshake import check_hello, check_reply, installed_versions
from hlo_widgets.compiler.process import (
    Reply,
    WorkerDiedError,
    WorkerIdleError,
    WorkerProcess,
    WorkerTimeoutError,
)
from hlo_widgets.compiler.progress import Phase, report
from hlo_widgets.compiler.settings import settings
from hlo_widgets.compiler.turns import CALLED_OFF, OVERTAKEN, OvertakenError, Turn, Turns
from hlo_widgets.errors import CompileCancelledError, CompileError, CompileTimeoutError

__all__ = ["Workers", "shut_down", "workers"]

# How much of a dead worker's log goes into the error: its end, where the reason is.
_LOG_LINES = 20
# How long a worker may take to see that its input has ended. Arbitrary: it takes milliseconds.
_GRACE_SECONDS = 2.0

# The key and the number of the request that this thread makes, where it has one.
_REQUEST: ContextVar[tuple[Hashable, int] | None] = ContextVar("request", default=None)


class _Slot:
    """The worker of one toolchain, if there is one, and the turns to use it."""

    def __init__(self, toolchain: str) -> None:
        self.toolchain = toolchain
        self.turns = Turns(self._end_running)
        self.process: WorkerProcess | None = None
        self._made_of: object = None

    def running(self) -> WorkerProcess:
        """Return the worker, started where none runs; only for whoever has the turn."""
        command = worker_command(self.toolchain, settings)
        # A warm worker goes on with what was installed, and set, when it was started.
        made_of = (command, compiler_variables(), installed_versions(platform_of(self.toolchain)))
        if self.process is not None and (not self.process.is_running or made_of != self._made_of):
            self.end()
        if self.process is None:
            self._made_of = made_of
            environment = worker_environment()
            self.process = WorkerProcess(command, environment, settings.log_bytes)
        return self.process

    def end(self) -> None:
        """End the worker; only for whoever has the turn."""
        process, self.process = self.process, None
        if process is not None:
            process.close()

    def _end_running(self) -> None:
        process = self.process
        if process is not None:
            process.kill()


class Workers:
    """Compiler processes by toolchain; requests of several threads to one wait for each other."""

    def __init__(self) -> None:
        self._slots: dict[str, _Slot] = {}
        self._newest: dict[Hashable, int] = {}
        self._numbers = itertools.count()

    @contextmanager
    def newest(self, key: Hashable) -> Iterator[None]:
        """Make the requests of a block those of a key, and drop all older ones with that key.

        One whose turn it is goes on for `settings.overtake_seconds`.
        """
        number = self._drop(key, OVERTAKEN, settings.overtake_seconds)[0]
        token = _REQUEST.set((key, number))
        try:
            yield
        finally:
            _REQUEST.reset(token)

    def call_off(self, key: Hashable) -> bool:
        """Drop every request with a key, ending the worker where one is under way.

        Returns:
            Whether there was one in a queue.
        """
        number, was_there = self._drop(key, CALLED_OFF, 0.0)
        # A key that is not used again is not remembered. One that is, and newer, stays.
        if self._newest.get(key) == number:
            self._newest.pop(key, None)
        return was_there

    def _drop(self, key: Hashable, why: str, grace_seconds: float) -> tuple[int, bool]:
        number = next(self._numbers)
        # First, so that one that is still being traced is dropped where it comes to a queue.
        self._newest[key] = number
        slots = list(self._slots.values())
        # In all of them: with its target, a widget's requests go from one toolchain to another.
        found = [slot.turns.drop(key, why, grace_seconds) for slot in slots]
        return number, any(found)

    def _slot(self, toolchain: str) -> _Slot:
        # One step of the interpreter, so that two threads get the same slot.
        return self._slots.setdefault(toolchain, _Slot(toolchain))

    def start(self, toolchain: str, target: str) -> None:
        """Begin to start the worker, without waiting, so that it loads while the caller traces.

        Raises:
            CompileError: If its command cannot be run.
        """
        slot = self._slot(toolchain)
        # Whoever has the turn has a worker, too.
        with slot.turns.free_turn() as is_free:
            if not is_free:
                return
            _running(slot, target)

    def process_id(self, toolchain: str) -> int | None:
        """Return the process id of the worker; `None` where none has been started."""
        process = self._slot(toolchain).process
        return None if process is None else process.pid

    def is_busy(self, toolchain: str) -> bool:
        """Whether the worker has a request that it has not answered."""
        process = self._slot(toolchain).process
        return process is not None and process.is_busy

    def waiting(self, toolchain: str) -> int:
        """Count the requests that wait for their turn."""
        return self._slot(toolchain).turns.waiting()

    def versions(self, toolchain: str, target: str) -> Mapping[str, str]:
        """Return the versions that the worker compiles with, started where none runs.

        Raises:
            CompileError: As `request`.
        """

        def ask(process: WorkerProcess) -> Mapping[str, str]:
            versions: Mapping[str, str] = _hello(process, target)["versions"]
            return versions

        return self._with_worker(toolchain, target, ask)

    def request(self, toolchain: str, target: str, header: Mapping[str, Any], body: bytes) -> Reply:
        """Ask the worker of a toolchain, and wait for its answer.

        Whatever goes wrong, an interrupt included, ends that worker: the next request has a new
        one.

        Args:
            toolchain: Which worker.
            target: Name of the target, for errors.
            header: The request.
            body: The bytes that go with it.

        Raises:
            CompileTimeoutError: If it does not answer within `settings.time_limit_seconds`.
            CompileCancelledError: If a newer request with the same key overtakes it, or `call_off`
                is called with that.
            CompileError: If it ends before it answers, or this side cannot work with it or read its
                answer.
        """

        def ask(process: WorkerProcess) -> Reply:
            hello = _hello(process, target)
            report(Phase.COMPILING)
            reply = process.ask(header, body, settings.time_limit_seconds)
            problem = check_reply(reply.header, hello)
            if problem is not None:
                raise CompileError(target, problem)
            return reply

        return self._with_worker(toolchain, target, ask)

    def _with_worker(self, toolchain: str, target: str, ask: Callable[[WorkerProcess], Any]) -> Any:
        slot = self._slot(toolchain)
        key, number = _REQUEST.get() or (None, 0)

        def why_dropped() -> str | None:
            newest = self._newest.get(key)
            if key is None or newest == number:
                return None
            # Calling off forgets the key.
            return CALLED_OFF if newest is None else OVERTAKEN

        if slot.turns.is_taken():
            report(Phase.WAITING)
        try:
            with slot.turns.turn(key, why_dropped) as turn:
                try:
                    return _ask(slot, target, ask, turn)
                except BaseException:
                    slot.end()
                    raise
        except OvertakenError as error:
            raise CompileCancelledError(target, str(error)) from None

    def close(self) -> None:
        """End every worker, whatever it is doing. The next request starts another."""
        for slot in list(self._slots.values()):
            # Without waiting for the turn: whoever has it may wait for a compiler that hangs.
            process = slot.process
            if process is not None:
                process.close(grace_seconds=_GRACE_SECONDS)

    def forget(self) -> None:
        """Let go of every worker without ending it.

        A forked child must not speak over its parent's pipes, and starts workers of its own.
        """
        slots, self._slots = self._slots, {}
        for slot in slots.values():
            if slot.process is not None:
                slot.process.abandon()


def _running(slot: _Slot, target: str) -> WorkerProcess:
    try:
        return slot.running()
    except (OSError, ValueError) as error:
        raise CompileError(target, f"its compiler process did not start: {error}") from error


def _ask(slot: _Slot, target: str, ask: Callable[[WorkerProcess], Any], turn: Turn) -> Any:
    process = _running(slot, target)
    try:
        try:
            return ask(process)
        except WorkerIdleError:
            slot.end()
            process = _running(slot, target)
            return ask(process)
    except WorkerTimeoutError:
        turn.check()
        limit = f"{settings.time_limit_seconds:g} seconds"
        reason = (
            f"no answer within {limit}, and its compiler process was ended; "
            "hlo_widgets.compiler.settings.time_limit_seconds sets the limit"
        )
        raise CompileTimeoutError(target, reason, _end_of(process.log())) from None
    except (WorkerDiedError, OSError) as error:
        turn.check()
        reason = f"its compiler process failed: {error}"
        raise CompileError(target, reason, _end_of(process.log())) from None


def _hello(process: WorkerProcess, target: str) -> Mapping[str, Any]:
    """Return what a worker said at its start.

    Raises:
        CompileError: If this side cannot work with it.
    """
    if not process.has_said_hello:
        report(Phase.STARTING)
    hello = process.hello(settings.time_limit_seconds).header
    problem = check_hello(hello)
    if problem is not None:
        raise CompileError(target, problem)
    return hello


def _end_of(log: str) -> str:
    return "\n".join(log.strip().splitlines()[-_LOG_LINES:])


workers = Workers()
"""The workers of this process."""


def shut_down() -> None:
    """End the compiler processes.

    The next compile starts another; one in another thread that is under way is a `CompileError`.
    """
    workers.close()


atexit.register(shut_down)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=workers.forget)
