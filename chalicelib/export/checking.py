"""A receipt checked again: every store is searched for the person, whatever the receipt says."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from chalicelib.domain.erasure import ErasureRecord, Person, Step
from chalicelib.errors import NotFound
from chalicelib.export.positions import decoded, encoded
from chalicelib.export.stages import LIMIT
from chalicelib.ports import ErasureLedger, PersonalRecords, PersonalTraces

NOBODY = "nothing is kept of such a user"
"""Of whoever is not there for the caller, and whoever is not there at all."""


@dataclass(frozen=True)
class Found:
    """What is kept of a person now, by kind: every kind that was gone through to its end, and those where something was
    found. `cursor` is from where to go on; None where all was gone through."""

    counts: dict[str, int]
    cursor: str | None

    @property
    def total(self) -> int:
        """How many things."""
        return sum(self.counts.values())


class ErasureCheck:
    """`traces` is None where no Redis is configured."""

    def __init__(self, ledger: ErasureLedger, records: PersonalRecords, traces: PersonalTraces | None) -> None:
        self._ledger = ledger
        self._records = records
        self._traces = traces
        self._kinds = (*records.counted, *(traces.counted if traces else ()))

    def record(self, person: Person) -> ErasureRecord:
        """The record of the person's erasures. NotFound where there was none."""
        found = self._ledger.of(person)
        if found is None:
            raise NotFound(NOBODY)
        return found

    def left(self, person: Person, cursor: str | None, time_is_up: Callable[[], bool]) -> Found:
        """Count what is kept of the person, from `cursor` on, until time is up."""
        place, after = decoded(cursor, len(self._kinds))
        counts: Counter[str] = Counter()
        while place < len(self._kinds) and not time_is_up():
            kind = self._kinds[place]
            step = self._count(person, kind, after)
            counts[kind] += step.removed
            after = step.after
            if after is None:
                place += 1
        return Found(dict(counts), None if place == len(self._kinds) else encoded(place, after))

    def anything(self, person: Person, time_is_up: Callable[[], bool]) -> bool:
        """Whether anything is kept of the person; also where that is not known when time is up."""
        cursor: str | None = None
        while not time_is_up():
            found = self.left(person, cursor, _once())
            if found.total or found.cursor is None:
                return found.total > 0
            cursor = found.cursor
        return True

    def _count(self, person: Person, kind: str, after: str | None) -> Step:
        if self._traces and kind in self._traces.counted:
            return self._traces.left(person, kind, after, LIMIT)
        return self._records.left(person, kind, after, LIMIT)


def _once() -> Callable[[], bool]:
    """Time for one step."""
    asked = iter((False,))
    return lambda: next(asked, True)
