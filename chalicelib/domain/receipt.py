"""What a write answers: one receipt an item, each of them true."""

from enum import StrEnum
from typing import Any

from chalicelib.domain.admission import VerdictReceipt
from chalicelib.domain.memory import IndexState, Status
from chalicelib.domain.plugins import PluginReport
from chalicelib.domain.scope import Scope
from chalicelib.domain.wire import Wire


class Outcome(StrEnum):
    """What became of an item."""

    STORED = "stored"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"
    SKIPPED = "skipped"
    INVALID = "invalid"


class IndexReceipt(Wire):
    """Whether the memory can be recalled by meaning already; `reason` says why where it cannot."""

    state: IndexState
    reason: str | None = None


class Refusal(Wire):
    """Why an item may not be stored, as the same error says it of a single memory."""

    code: str
    message: str
    details: dict[str, Any]


class Receipt(Wire):
    """The receipt of one item. `id` is the one that every other endpoint accepts; a dry run, which stores nothing, gives
    the outcome that the item would have, and no id of its own. `plugins` names those that changed the item or what became
    of it, and those that were left out; absent where there are none."""

    outcome: Outcome
    id: str | None = None
    scope: Scope | None = None
    scope_id: str | None = None
    status: Status | None = None
    revision: int | None = None
    reason: str | None = None
    redacted: tuple[str, ...] = ()
    error: Refusal | None = None
    index: IndexReceipt | None = None
    plugins: tuple[PluginReport, ...] | None = None
    admission: VerdictReceipt | None = None
    dry_run: bool | None = None
