"""Who is being erased, known to every process within seconds and at no cost to a request.

A process asks for what changed every few seconds, and not with each request. What a request or a piece of work that knows
nothing yet stores in that time goes with the second look of the erasure, which comes when all of them have ended.
"""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from chalicelib.domain.caller import Caller
from chalicelib.domain.erasure import Person, Tombstone
from chalicelib.errors import BeingErased, StoreUnavailable
from chalicelib.ports import Clock, ErasureLedger, Telemetry

REFRESH_SECONDS = 5.0
REMEMBERED = timedelta(days=15)  # a message waits at most 14 days in SQS
OVERLAP = timedelta(minutes=1)  # clocks of processes differ


class Tombstones:
    """What this process knows of erasures. Where the truth cannot be asked it goes on with what it knows."""

    def __init__(
        self,
        ledger: ErasureLedger,
        clock: Clock,
        telemetry: Telemetry,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """`seconds` tells seconds that only rise."""
        self._ledger = ledger
        self._clock = clock
        self._telemetry = telemetry
        self._seconds = seconds
        self._lock = threading.Lock()
        self._due: float | None = None
        self._since = clock() - REMEMBERED
        self._finished: dict[tuple[str, str], Tombstone] = {}
        self._unfinished: tuple[Tombstone, ...] = ()

    def refuse(self, caller: Caller) -> None:
        """BeingErased where all that is kept of the caller is being erased."""
        if self.is_being_erased(Person(caller.org_id, caller.user_id)):
            raise BeingErased("what is kept of this user is being erased; nothing is taken until that is done")

    def is_being_erased(self, person: Person) -> bool:
        """Whether an erasure of the person is under way."""
        self._refresh()
        return any(one.is_of(person) for one in self._unfinished)

    def was_erased(self, person: Person) -> bool:
        """Whether the person was erased within the time that anything queued before it may still arrive in."""
        self._refresh()
        return any(one.is_of(person) for one in list(self._finished.values()))

    def look_again(self) -> None:
        """Ask the truth at the next question."""
        self._due = None

    def _refresh(self) -> None:
        now = self._seconds()
        if (self._due is not None and now < self._due) or not self._lock.acquire(blocking=self._due is None):
            return
        try:
            self._due = now + REFRESH_SECONDS
            asked = self._clock()
            self._take(self._ledger.tombstones(self._since - OVERLAP))
            self._since = asked
        except StoreUnavailable as error:
            self._telemetry.event("tombstones_unreadable", reason=error.message)
        finally:
            self._lock.release()

    def _take(self, found: list[Tombstone]) -> None:
        oldest = self._clock() - REMEMBERED
        self._finished |= {(one.org_id, one.digest): one for one in found if one.finished}
        self._finished = {name: one for name, one in self._finished.items() if one.changed_at >= oldest}
        self._unfinished = tuple(one for one in found if not one.finished)
