"""The workers of this process: one a toolchain, started on first use and kept warm."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Mapping
from typing import Any

from hlo_widgets.compiler.environment import worker_command, worker_environment
from hlo_widgets.compiler.process import (
    Reply,
    WorkerDiedError,
    WorkerIdleError,
    WorkerProcess,
    WorkerTimeoutError,
)
from hlo_widgets.compiler.settings import settings
from hlo_widgets.errors import CompileError, CompileTimeoutError

__all__ = ["Workers", "shut_down", "workers"]

# How much of a dead worker's log goes into the error: its end, where the reason is.
_LOG_LINES = 20
# How long a worker may take to see that its input has ended. Arbitrary: it takes milliseconds.
_GRACE_SECONDS = 2.0


class _Slot:
    """The worker of one toolchain, if there is one, and the turn to use it."""

    def __init__(self, toolchain: str) -> None:
        self.toolchain = toolchain
        self.turn = threading.Lock()
        self.process: WorkerProcess | None = None

    def running(self) -> WorkerProcess:
        """Return the worker, started where none runs; only for whoever holds the turn."""
        if self.process is not None and not self.process.is_running:
            self.end()
        if self.process is None:
            command = worker_command(self.toolchain, settings)
            environment = worker_environment(self.toolchain)
            self.process = WorkerProcess(command, environment, settings.log_bytes)
        return self.process

    def end(self) -> None:
        """End the worker; only for whoever holds the turn."""
        process, self.process = self.process, None
        if process is not None:
            process.close()


class Workers:
    """Compiler processes by toolchain; requests of several threads to one wait for each other."""

    def __init__(self) -> None:
        self._slots: dict[str, _Slot] = {}

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
        if slot.turn.acquire(blocking=False):
            try:
                slot.running()
            except OSError as error:
                raise CompileError(
                    target, f"its compiler process did not start: {error}"
                ) from error
            finally:
                slot.turn.release()

    def process_id(self, toolchain: str) -> int | None:
        """Return the process id of the worker; `None` where none has been started."""
        process = self._slot(toolchain).process
        return None if process is None else process.pid

    def is_busy(self, toolchain: str) -> bool:
        """Whether the worker has a request that it has not answered."""
        process = self._slot(toolchain).process
        return process is not None and process.is_busy

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
            CompileError: If it ends before it answers.
        """
        slot = self._slot(toolchain)
        with slot.turn:
            try:
                return _ask(slot, target, header, body)
            except BaseException:
                slot.end()
                raise

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


def _ask(slot: _Slot, target: str, header: Mapping[str, Any], body: bytes) -> Reply:
    process = slot.running()
    try:
        try:
            return process.ask(header, body, settings.time_limit_seconds)
        except WorkerIdleError:
            slot.end()
            process = slot.running()
            return process.ask(header, body, settings.time_limit_seconds)
    except WorkerTimeoutError:
        limit = f"{settings.time_limit_seconds:g} seconds"
        reason = f"no answer within {limit}; its compiler process was ended"
        raise CompileTimeoutError(target, reason, _end_of(process.log())) from None
    except (WorkerDiedError, OSError) as error:
        reason = f"its compiler process failed: {error}"
        raise CompileError(target, reason, _end_of(process.log())) from None


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
