"""Whose turn it is at a store: as many calls at once as it has connections, the others wait in the time of their request.

Waiting for a turn is nobody's failure. Inside a driver's pool it would count against the limit of the call itself, and
a burst of requests would take a store that is well for one that does not answer.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from chalicelib.domain.budget import time_left
from chalicelib.errors import StoreUnavailable

LONGEST_WAIT = 30.0  # where no request sets a limit


class Turns:
    """The turns at one store. Safe under threads; a call that is made inside another of the same thread has its turn."""

    def __init__(self, store: str, count: int) -> None:
        self._store = store
        self._free = threading.BoundedSemaphore(count)
        self._mine = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """One turn, for what is inside. StoreUnavailable where none came in the time of the request."""
        if getattr(self._mine, "taken", False):
            yield
            return
        if not self._free.acquire(timeout=max(0.0, min(time_left(), LONGEST_WAIT))):
            raise StoreUnavailable(self._store, "every connection to it was in use for the time of the request")
        self._mine.taken = True
        try:
            yield
        finally:
            self._mine.taken = False
            self._free.release()
