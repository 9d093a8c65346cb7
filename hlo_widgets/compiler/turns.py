"""Whose turn it is to use a worker: first come, first served, but the newest of a kind wins."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["CALLED_OFF", "OVERTAKEN", "OvertakenError", "Turn", "Turns"]

CALLED_OFF = "it was called off"
OVERTAKEN = "a newer request has overtaken it"


class OvertakenError(Exception):
    """A newer request under the same key has come, or the request was called off."""


@dataclass(eq=False)
class Turn:
    """One request's place in the queue.

    Attributes:
        key: What it is for; a newer request with the same key makes it pointless. `None` stands
            for itself alone.
        dropped: Why it is pointless; `None` while it is not.
    """

    key: Hashable = None
    dropped: str | None = None
    _may_go: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raise where the request has become pointless.

        Raises:
            OvertakenError: If it has.
        """
        if self.dropped is not None:
            raise OvertakenError(self.dropped)


class Turns:
    """A queue for one worker.

    Args:
        end_running: Ends what the request whose turn it is waits for. It is called from a timer.
    """

    def __init__(self, end_running: Callable[[], None]) -> None:
        # Can be entered again: an Explorer that is collected calls off what it waits for, and the
        # collector runs wherever it likes, in the midst of a block of this lock, too.
        self._lock = threading.RLock()
        self._queue: list[Turn] = []
        self._end_running = end_running

    @contextmanager
    def turn(
        self, key: Hashable = None, why_dropped: Callable[[], str | None] = lambda: None
    ) -> Iterator[Turn]:
        """Wait for a turn, and have it as long as the block lasts.

        Args:
            key: What `drop` knows the request by.
            why_dropped: Says why the request has become pointless by now; `None` where it has not.

        Raises:
            OvertakenError: If the request is dropped while it waits, or has been before.
        """
        mine = Turn(key)
        with self._lock:
            # Under the lock: whoever makes a newer one drops those that are in the queue by then.
            why = why_dropped()
            if why is not None:
                raise OvertakenError(why)
            self._queue.append(mine)
            self._wake_first()
        try:
            mine._may_go.wait()  # noqa: SLF001 - of this module
            mine.check()
            yield mine
        finally:
            with self._lock:
                self._queue.remove(mine)
                self._wake_first()

    @contextmanager
    def free_turn(self) -> Iterator[bool]:
        """Take a turn only where nobody waits or works; yield whether that was so."""
        mine = Turn()
        with self._lock:
            is_free = not self._queue
            if is_free:
                self._queue.append(mine)
        try:
            yield is_free
        finally:
            if is_free:
                with self._lock:
                    self._queue.remove(mine)
                    self._wake_first()

    def drop(self, key: Hashable, why: str, grace_seconds: float = 0.0) -> bool:
        """Drop every request with a key.

        Args:
            key: Which; `None` drops none.
            why: What their `OvertakenError` says.
            grace_seconds: How long one whose turn it is already may go on.

        Returns:
            Whether there was one.
        """
        with self._lock:
            dropped = [turn for turn in self._queue if turn.key == key and key is not None]
            for turn in dropped:
                is_news = turn.dropped is None
                turn.dropped = turn.dropped or why
                if turn is not self._queue[0]:
                    turn._may_go.set()  # noqa: SLF001 - of this module
                elif is_news or not grace_seconds:
                    self._end_later(turn, grace_seconds)
            return bool(dropped)

    def is_taken(self) -> bool:
        """Whether a request made now would have to wait."""
        with self._lock:
            return bool(self._queue)

    def waiting(self) -> int:
        """Count the requests that wait, the one whose turn it is not included."""
        with self._lock:
            return max(len(self._queue) - 1, 0)

    def _end_later(self, turn: Turn, seconds: float) -> None:
        seconds = min(seconds, threading.TIMEOUT_MAX)
        timer = threading.Timer(seconds, self._end_if_running, args=(turn,))
        timer.daemon = True
        timer.start()

    def _end_if_running(self, turn: Turn) -> None:
        with self._lock:
            if self._queue and self._queue[0] is turn:
                self._end_running()

    def _wake_first(self) -> None:
        if self._queue:
            self._queue[0]._may_go.set()  # noqa: SLF001 - of this module
