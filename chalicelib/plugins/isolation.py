"""What keeps one plugin from harming the rest: a thread with a time limit, few threads each, and a rest after cuts.

A thread of Python cannot be killed. A plugin that is cut off runs on in its thread until it ends by itself; nobody waits
for it, and what it gives then is dropped.
"""

import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

from chalicelib.domain.budget import aside, time_left

THREADS = 4  # a plugin that hangs holds so many threads, and none of another plugin's
CUTS = 3  # spec/product.md "Cognitive plugins"


class Cut(Exception):
    """The plugin took too long. `is_its_fault` is False where the request's time was up anyway."""

    def __init__(self, reason: str, *, is_its_fault: bool = True) -> None:
        super().__init__(reason)
        self.is_its_fault = is_its_fault


class Raised(Exception):
    """The plugin failed with `error`."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


class Threads:
    """The few threads of one plugin."""

    def __init__(self, name: str, most: int = THREADS) -> None:
        self._name = name
        self._free = threading.BoundedSemaphore(most)

    def call(self, work: Callable[[], Any], seconds: float) -> Any:
        """What `work` gives in a thread, within `seconds` and what is left of the request's time. Cut, or Raised."""
        left = time_left()
        if left <= 0:
            raise Cut("the time of the request is up", is_its_fault=False)
        limit = min(seconds, left)
        until = time.monotonic() + limit
        if not self._free.acquire(timeout=limit):
            raise Cut("all of its threads are still at work")
        done, outcome = threading.Event(), list[tuple[Any, BaseException | None]]()
        context = copy_context()
        threading.Thread(
            target=self._work,
            args=(lambda: context.run(_bounded, work, limit), done, outcome),
            name=f"plugin-{self._name}",
            daemon=True,
        ).start()
        if not done.wait(until - time.monotonic()):
            raise Cut(f"it took longer than {limit * 1000:.0f} ms", is_its_fault=limit >= seconds)
        value, error = outcome[0]
        if error is not None:
            raise Raised(error) from error
        return value

    def _work(
        self, work: Callable[[], Any], done: threading.Event, outcome: list[tuple[Any, BaseException | None]]
    ) -> None:
        try:
            outcome.append((work(), None))
        except BaseException as error:  # noqa: BLE001 - also a plugin that calls sys.exit answers for itself alone
            outcome.append((None, error))
        finally:
            self._free.release()
            done.set()


def _bounded(work: Callable[[], Any], seconds: float) -> Any:
    """Every store that the plugin asks knows how little time there is; one it had no time for has not failed the request."""
    with aside(seconds):
        return work()


class Rest:
    """Three cuts in a row, and the plugin is not asked for a while; then once, and at the next cut it rests again."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._cuts = 0
        self._until: float | None = None

    def is_over(self) -> bool:
        """Whether the plugin may be asked. After a rest one call is let through, and the others wait for what it finds."""
        with self._lock:
            if self._until is None:
                return True
            if self._clock() < self._until:
                return False
            self._until = self._clock() + self._seconds
            return True

    def cut(self) -> bool:
        """Note a cut; whether a rest begins with it."""
        with self._lock:
            self._cuts += 1
            if self._cuts < CUTS:
                return False
            self._until = self._clock() + self._seconds
            return True

    def answered(self) -> None:
        """Note that the plugin answered in time."""
        with self._lock:
            self._cuts, self._until = 0, None
