"""API keys, receipts, audit events and the recall audit in this process."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.adapters.paging import decode, page
from chalicelib.domain.administration import RECEIPT_DAYS, ApiKey, AuditEvent, Page, Reservation, ReservationState
from chalicelib.domain.query import RecallRecord

LEASE = timedelta(seconds=60)


def _newest_first[T](rows: Sequence[tuple[datetime, str, T]], cursor: str | None, limit: int) -> Page[T]:
    before = decode(cursor) if cursor else None
    ordered = sorted(rows, key=lambda row: row[:2], reverse=True)
    ordered = [row for row in ordered if before is None or row[:2] < before][: limit + 1]
    return page([row[2] for row in ordered], limit, [row[:2] for row in ordered])


class InMemoryKeyStore:
    """`ports.KeyStore`."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}

    def add(self, api_key: ApiKey) -> None:
        self._keys[api_key.id] = api_key

    def get(self, id_: str) -> ApiKey | None:
        return self._keys.get(id_)

    def list(self, org_id: str, cursor: str | None, limit: int) -> Page[ApiKey]:
        return _newest_first(
            [(k.created_at, k.id, k) for k in self._keys.values() if k.org_id == org_id], cursor, limit
        )

    def revoke(self, org_id: str, id_: str, at: datetime) -> bool:
        found = self._keys.get(id_)
        if found is None or found.org_id != org_id:
            return False
        if found.revoked_at is None:
            self._keys[id_] = found.model_copy(update={"revoked_at": at})
        return True


class InMemoryReceiptStore:
    """`ports.ReceiptStore`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._receipts: dict[tuple[str, str, str], tuple[Reservation, datetime]] = {}

    def reserve(self, org_id: str, caller: str, key: str, body_hash: str, now: datetime) -> Reservation:
        name = org_id, caller, key
        with self._lock:
            if name not in self._receipts or self._receipts[name][0].at < now - timedelta(days=RECEIPT_DAYS):
                self._receipts[name] = Reservation(ReservationState.IN_PROGRESS, body_hash, now), now
                return Reservation(ReservationState.NEW, body_hash, now)
            found, lease = self._receipts[name]
            if found.state is ReservationState.IN_PROGRESS and lease < now - LEASE and found.body_hash == body_hash:
                self._receipts[name] = found, now
                return replace(found, state=ReservationState.NEW)
            return found

    def complete(self, org_id: str, caller: str, key: str, response: list[dict[str, Any]]) -> None:
        name = org_id, caller, key
        with self._lock:
            found, lease = self._receipts[name]
            self._receipts[name] = replace(found, state=ReservationState.DONE, response=response), lease

    def release(self, org_id: str, caller: str, key: str) -> None:
        with self._lock:
            found, _ = self._receipts[org_id, caller, key]
            self._receipts[org_id, caller, key] = found, datetime.fromtimestamp(0, UTC)


class InMemoryAuditLog:
    """`ports.AuditLog`."""

    def __init__(self) -> None:
        self._events: dict[tuple[str, str], AuditEvent] = {}

    def add(self, events: Sequence[AuditEvent]) -> None:
        for event in events:
            self._events.setdefault((event.org_id, event.id), event)

    def list(self, org_id: str, cursor: str | None, limit: int) -> Page[AuditEvent]:
        return _newest_first([(e.at, e.id, e) for e in self._events.values() if e.org_id == org_id], cursor, limit)


class InMemoryRecallStore:
    """`ports.RecallStore`."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], RecallRecord] = {}

    def add(self, records: Sequence[RecallRecord]) -> None:
        for record in records:
            self._records.setdefault((record.org_id, record.recall_id), record)

    def get(self, org_id: str, recall_id: str) -> RecallRecord | None:
        return self._records.get((org_id, recall_id))
