"""What is kept beside memories: keys, receipts, the audits, the switches of plugins."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from chalicelib.domain.administration import ApiKey, AuditEvent, Page, Reservation
from chalicelib.domain.query import (
    RecallRecord,
)


class KeyStore(Protocol):
    """API keys."""

    def add(self, key: ApiKey) -> None: ...

    def get(self, id_: str) -> ApiKey | None: ...

    def list(self, org_id: str, cursor: str | None, limit: int) -> Page[ApiKey]: ...

    def revoke(self, org_id: str, id_: str, at: datetime) -> bool:
        """Whether a key of that organization was there; revoking twice keeps the first time."""


class ReceiptStore(Protocol):
    """Idempotency keys with their bodies' hashes and their receipts, kept for 7 days."""

    def reserve(self, org_id: str, caller: str, key: str, body_hash: str, now: datetime) -> Reservation:
        """Take the key, or say what it was taken for. A reservation whose work never ended is taken over after a
        minute, under its first time. Of two at once exactly one is NEW."""

    def complete(self, org_id: str, caller: str, key: str, response: list[dict[str, Any]]) -> None:
        """Keep the receipt."""

    def release(self, org_id: str, caller: str, key: str) -> None:
        """Let a repeat take the work over at once, under its first time: it did not end well."""


class PluginSwitches(Protocol):
    """Which plugins an organization switched on or off."""

    def get(self, org_id: str) -> dict[str, bool]:
        """What the organization switched, by the plugins' names; empty where it switched nothing."""

    def put(self, org_id: str, changes: Mapping[str, bool]) -> dict[str, bool]:
        """Switch those plugins and leave the others; what the organization has switched now."""


class AuditLog(Protocol):
    """What was done to rows, newest first."""

    def add(self, events: Sequence[AuditEvent]) -> None:
        """Store events; one that is there already is left as it is."""

    def list(self, org_id: str, cursor: str | None, limit: int) -> Page[AuditEvent]: ...


class RecallStore(Protocol):
    """The recall audit at rest, kept for 90 days."""

    def add(self, records: Sequence[RecallRecord]) -> None:
        """Store records; one that is there already is left as it is."""

    def get(self, org_id: str, recall_id: str) -> RecallRecord | None: ...
