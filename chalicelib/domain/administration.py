"""Rows that are not memories: API keys, audit events, idempotency records, the ledger of scopes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import Field

from chalicelib.domain.caller import Role
from chalicelib.domain.wire import UtcTime, Wire

RECEIPT_DAYS = 7  # spec/product.md "Retention"
RECALL_DAYS = 90


class ApiKey(Wire):
    """An API key as it is stored: never the key itself, but the SHA-256 of its secret part."""

    id: str
    org_id: str
    name: str
    secret_hash: str = Field(exclude=True)
    user_id: str
    roles: tuple[Role, ...]
    spaces: tuple[str, ...] = ()
    universes: tuple[str, ...] = ()
    act_as: bool = False
    created_at: UtcTime
    created_by: str
    expires_at: UtcTime | None = None
    revoked_at: UtcTime | None = None


class AuditEvent(Wire):
    """Something that was done to a row and by whom."""

    id: str
    org_id: str
    at: UtcTime
    action: str
    actor: str
    on_behalf_by: str | None = None
    target: str | None = None
    details: dict[str, Any] = Field(default_factory=dict)


class ReservationState(StrEnum):
    """Where an idempotency key stands."""

    NEW = "new"
    IN_PROGRESS = "in_progress"
    DONE = "done"


@dataclass(frozen=True)
class Reservation:
    """What reserving an idempotency key found. `at` is when it was first reserved: the clock of the work behind it."""

    state: ReservationState
    body_hash: str
    at: UtcTime
    response: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class Page[T]:
    """One page of a list, and the cursor of the next where there is one."""

    items: tuple[T, ...]
    cursor: str | None = None
