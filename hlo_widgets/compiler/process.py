"""One worker process, seen from the side that started it."""

from __future__ import annotations

import contextlib
import io
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from hlo_widgets.compiler.framing import FrameError, read_frame, write_frame
from hlo_widgets.compiler.memory_limit import MEMORY_STATUS

__all__ = ["Reply", "WorkerDiedError", "WorkerIdleError", "WorkerProcess", "WorkerTimeoutError"]

_CHUNK_BYTES = 4096
# How long an ended process may take to be gone. Arbitrary: it takes milliseconds.
_END_SECONDS = 5.0


class WorkerTimeoutError(Exception):
    """The worker did not answer in time and was ended."""


class WorkerDiedError(Exception):
    """The worker ended in the middle of a request; the message says how."""


class WorkerIdleError(WorkerDiedError):
    """The worker ended itself, having had nothing to do, before it saw the request."""


@dataclass(frozen=True)
class Reply:
    """One message of a worker.

    Attributes:
        header: What the worker says.
        body: The bytes that go with it.
    """

    header: Mapping[str, Any]
    body: bytes


class WorkerProcess:
    """A running worker.

    Two threads read its output: replies are queued, and the end of its log is kept. One request at
    a time: the caller sees to that.

    Args:
        command: The command line.
        environment: All environment variables of the process.
        log_bytes: How much of the end of its log to keep.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], log_bytes: int
    ) -> None:
        # A session of its own: Ctrl-C in a terminal, or an interrupted notebook, must not reach
        # the compiler.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            start_new_session=True,
        )
        self._log = bytearray()
        self._log_bytes = log_bytes
        self._replies: queue.SimpleQueue[Reply | None] = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=reader, daemon=True)
            for reader in (self._read_replies, self._read_log)
        ]
        self._request_id = 0
        self._hello: Reply | None = None
        self._lock = threading.Lock()
        self._waiting_for: int | None = None
        self._timed_out = False
        self._nonsense: str | None = None
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    @property
    def is_busy(self) -> bool:
        """Whether it has a request that it has not answered."""
        return self._waiting_for is not None

    @property
    def has_said_hello(self) -> bool:
        """Whether `hello` returns at once."""
        return self._hello is not None

    def ask(self, header: Mapping[str, Any], body: bytes, time_limit_seconds: float) -> Reply:
        """Send a request and wait for its reply.

        Args:
            header: The request; its "id" is added here.
            body: The bytes that go with it.
            time_limit_seconds: How long sending and waiting may take.

        Raises:
            WorkerIdleError: If the worker had just ended itself.
            WorkerTimeoutError: If the time limit is reached; the worker has been ended.
            WorkerDiedError: If the worker ends first, or answers with something that is not a
                message.
        """
        self._log.clear()
        with self._time_limit(time_limit_seconds) as request_id:
            # It is gone, or was just closed; the end of its replies says so.
            with contextlib.suppress(OSError, ValueError):
                write_frame(_pipe(self._process.stdin), {**header, "id": request_id}, body)
            return self._await(lambda reply: reply.header.get("id") == request_id)

    def hello(self, time_limit_seconds: float) -> Reply:
        """Return what it said at its start, waiting for it.

        Raises:
            WorkerTimeoutError: If it says nothing in time; the worker has been ended.
            WorkerDiedError: If the worker ends first, or says something else.
        """
        if self._hello is None:
            with self._time_limit(time_limit_seconds):
                self._hello = self._await(lambda reply: reply.header.get("kind") == "hello")
        return self._hello

    @contextlib.contextmanager
    def _time_limit(self, seconds: float) -> Iterator[int]:
        """End the process where the block takes too long; yield the number of this request."""
        self._request_id += 1
        # Ending the process also frees a write to a worker that reads no more.
        seconds = min(seconds, threading.TIMEOUT_MAX)
        timer = threading.Timer(seconds, self._expire, args=(self._request_id,))
        timer.daemon = True
        self._waiting_for = self._request_id
        timer.start()
        try:
            yield self._request_id
        finally:
            with self._lock:
                self._waiting_for = None
            timer.cancel()

    def _expire(self, request_id: int) -> None:
        with self._lock:
            if self._waiting_for == request_id:
                self._timed_out = True
                self._kill()

    def _await(self, is_wanted: Callable[[Reply], bool]) -> Reply:
        while (reply := self._replies.get()) is not None:
            if reply.header.get("kind") == "idle":
                raise WorkerIdleError("it ended, having had nothing to do")
            if is_wanted(reply):
                return reply
        if self._timed_out:
            raise WorkerTimeoutError
        raise WorkerDiedError(self._describe_end())

    def _describe_end(self) -> str:
        if self._nonsense is not None:
            return self._nonsense
        try:
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        if status == MEMORY_STATUS:
            return "it came to hold more memory than settings.memory_limit_bytes allows"
        if status >= 0:
            return f"it ended with status {status}"
        if status == -signal.SIGKILL:
            return "it was ended by SIGKILL, as a system without memory does"
        try:
            return f"it was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"it was ended by signal {-status}"

    def log(self) -> str:
        """Return the end of what it has logged since the last request."""
        if not self.is_running:
            self._readers[1].join(_END_SECONDS)
        return bytes(self._log).decode(errors="replace")

    def close(self, *, grace_seconds: float = 0.0) -> None:
        """End the process and free what it held.

        Args:
            grace_seconds: How long it may take to end by itself, once its input has ended. 0 kills
                it at once.
        """
        if grace_seconds:
            self._close_input()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_seconds)
        self._kill()
        self._process.wait()
        for reader in self._readers:
            reader.join(_END_SECONDS)
        self._close_input()

    def kill(self) -> None:
        """End the process at once; whoever waits for its reply learns of it."""
        self._kill()

    def abandon(self) -> None:
        """Let go of the process without ending it, as a forked child must."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                _pipe(pipe).close()
        # It is not this process's child: nobody here may wait for it.
        self._process.returncode = 0

    def _close_input(self) -> None:
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()

    def _kill(self) -> None:
        if not self.is_running:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)  # and what the compiler has started
            else:
                self._process.kill()

    def _read_replies(self) -> None:
        with io.BufferedReader(_pipe(self._process.stdout)) as stream:  # type: ignore[type-var]
            try:
                while (frame := read_frame(stream)) is not None:
                    if not isinstance(frame[0].get("kind"), str):
                        raise FrameError("a message without its kind")
                    self._replies.put(Reply(*frame))
            except FrameError as error:
                self._nonsense = f"it wrote something that is not a message: {error}"
                self._keep(f"not a message: {error}\n".encode())
                self._kill()
            finally:
                self._replies.put(None)

    def _read_log(self) -> None:
        with _pipe(self._process.stderr) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                self._keep(chunk)

    def _keep(self, logged: bytes) -> None:
        self._log += logged
        del self._log[: -self._log_bytes]


def _pipe(pipe: Any) -> BinaryIO:
    """Say that a pipe of `subprocess.Popen`, which its types call optional, is there."""
    assert pipe is not None  # noqa: S101 - Popen was asked for pipes
    return cast("BinaryIO", pipe)
