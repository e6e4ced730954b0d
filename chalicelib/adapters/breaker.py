"""The one mechanism for stores that fail: each call bounded in time, none to a store that is known not to answer.

    closed ── `failures` in a row ──▶ open ── after a rest ──▶ half-open ── one call ──▶ closed, or open for twice as long

A store that has failed a piece of work is not asked again for the same work either, so that a dead or hanging store costs
it one timeout. Every change is said by telemetry.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from chalicelib.domain.budget import budget, failure_of, note_failure, time_left
from chalicelib.errors import NotSupported, StoreUnavailable
from chalicelib.ports import Telemetry
from chalicelib.settings import BreakerSettings


class Breaker:
    """The breaker of one store. Safe under threads."""

    def __init__(
        self,
        store: str,
        settings: BreakerSettings | None = None,
        telemetry: Telemetry | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._settings = settings or BreakerSettings()
        self._telemetry = telemetry
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._rest = 0.0
        self._open_until: float | None = None

    @contextmanager
    def call(self, seconds: float, *, probing: bool = False) -> Iterator[None]:
        """One call that may take `seconds`, or what is left of the budget. What is inside raises StoreUnavailable where the
        store does not answer; a call that is not made raises it at once. A probe is made whatever the state."""
        left = time_left()
        trial = probing or self._admit(left)
        try:
            with budget(seconds):
                yield
        except NotSupported:
            self._succeeded()
            raise
        except StoreUnavailable as error:
            note_failure(self._store, error.reason)
            if left < seconds and time_left() <= 0:
                raise StoreUnavailable(self._store, "the time of the request is up") from error
            self._failed(error.reason, trial=trial)
            raise
        self._succeeded()

    def _admit(self, left: float) -> bool:
        """Whether the call is the one that finds out if the store is back. StoreUnavailable where it must not be made."""
        if reason := failure_of(self._store):
            raise StoreUnavailable(self._store, f"{reason}, and it is not asked twice for one request")
        if left <= 0:
            raise StoreUnavailable(self._store, "the time of the request is up")
        with self._lock:
            if self._open_until is None:
                return False
            if self._clock() < self._open_until:
                raise StoreUnavailable(self._store, f"it failed {self._failures} times in a row and rests")
            self._open_until = self._clock() + self._rest  # the others wait for what this one finds
            return True

    def _failed(self, reason: str, *, trial: bool) -> None:
        with self._lock:
            self._failures += 1
            opened = self._open_until is None
            # calls that were under way when it opened say nothing new
            if self._failures < self._settings.failures or not (opened or trial):
                return
            most = self._settings.most_seconds
            self._rest = self._settings.seconds if opened else min(most, 2 * self._rest)
            self._open_until = self._clock() + self._rest
        if opened:
            self._say("breaker_opened", "error", reason=reason, failures=self._failures)

    def _succeeded(self) -> None:
        with self._lock:
            closed = self._open_until is not None
            self._failures, self._open_until = 0, None
        if closed:
            self._say("breaker_closed", "info")

    def _say(self, name: str, level: Any, **fields: Any) -> None:
        if self._telemetry:
            self._telemetry.event(name, level=level, store=self._store, **fields)

    @property
    def state(self) -> str:
        """`closed`, `open` or `half_open`."""
        with self._lock:
            if self._open_until is None:
                return "closed"
            return "open" if self._clock() < self._open_until else "half_open"
