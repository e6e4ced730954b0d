"""The receipts of erasures and the tombstones in this process."""

import threading
from datetime import datetime

from chalicelib.domain.erasure import ErasureRecord, Person, Tombstone, new_salt


class InMemoryErasureLedger:
    """`ports.ErasureLedger`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._salts: dict[str, str] = {}
        self._records: dict[tuple[str, str], ErasureRecord] = {}
        self._held: dict[tuple[str, str], tuple[str, datetime]] = {}

    def salt(self, org_id: str) -> str:
        with self._lock:
            return self._salts.setdefault(org_id, new_salt())

    def of(self, person: Person) -> ErasureRecord | None:
        found = [one for one in self._records.values() if one.tombstone.is_of(person)]
        return max(found, key=lambda one: one.changed_at, default=None)

    def keep(self, record: ErasureRecord) -> bool:
        name = _name(record)
        with self._lock:
            standing = self._records.get(name)
            if (standing.version if standing else 0) != record.version - 1:
                return False
            self._records[name] = record
            return True

    def adopt(self, record: ErasureRecord) -> bool:
        with self._lock:
            standing = self._records.get(_name(record))
            if standing and standing.changed_at >= record.changed_at:
                return False
            self._records[_name(record)] = record
            return True

    def unfinished(self, limit: int) -> list[ErasureRecord]:
        waiting = [one for one in self._records.values() if not one.is_finished]
        return sorted(waiting, key=lambda one: one.changed_at)[:limit]

    def take(self, record: ErasureRecord, holder: str, now: datetime, until: datetime) -> bool:
        name = _name(record)
        with self._lock:
            by, held_until = self._held.get(name, (holder, until))
            if name not in self._records or (by != holder and held_until > now):
                return False
            self._held[name] = holder, until
            return True

    def tombstones(self, since: datetime) -> list[Tombstone]:
        found = [one for one in self._records.values() if not one.is_finished or one.changed_at >= since]
        return [one.tombstone for one in found]

    def every(self, after: str | None, limit: int) -> tuple[list[ErasureRecord], str | None]:
        ordered = sorted(self._records.values(), key=_position)
        found = [one for one in ordered if after is None or _position(one) > after][:limit]
        return found, _position(found[-1]) if len(found) == limit else None


def _name(record: ErasureRecord) -> tuple[str, str]:
    return record.receipt.org_id, record.digest


def _position(record: ErasureRecord) -> str:
    return "/".join(_name(record))
