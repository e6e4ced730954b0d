"""One row of before, as a memory of today: what it says stays, what today's rows need is added, and what came in unchecked
is cleaned and guarded like anything that comes in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chalicelib.domain.incoming import cleaned
from chalicelib.domain.memory import IndexState, Memory, MemoryType, Status
from chalicelib.domain.scope import Scope
from chalicelib.domain.text.cleaning import carries_recall
from chalicelib.domain.validation import validated
from chalicelib.domain.wire import utc
from chalicelib.errors import InvalidInput
from chalicelib.ports import VECTOR_FIELDS
from chalicelib.write.cleaning import checked_content
from chalicelib.write.guarding import injections, quarantined

_STORED = frozenset(info.alias or name for name, info in Memory.model_fields.items()) - {"embedding"}
_DERIVED = frozenset(
    {"_id", "layer", "scopeKey", "live", "contentKey", "terms", "termCounts", "length", "timestamp", *VECTOR_FIELDS}
)
MOST_SOURCE = 200


@dataclass(frozen=True)
class Migrated:
    """The memory, the kinds of secrets that were in it, and the fields that today's rows have no place for."""

    memory: Memory
    redacted: tuple[str, ...]
    left_out: tuple[str, ...]


def migrated(document: Mapping[str, Any], now: datetime, organization: str | None = None) -> Migrated:
    """The row as a memory of its author's user scope, unless it names a scope. InvalidInput names the field for want of
    which, or because of which, it cannot be one. `organization` is whose a row is that names none."""
    values = {name: value for name, value in document.items() if name in _STORED and value is not None}
    values |= {"orgId": values.get("orgId") or organization, "id": str(values.get("id") or document["_id"])}
    for name in ("orgId", "userId", "content"):
        if not isinstance(values.get(name), str):
            raise InvalidInput(name, "is missing")
    values |= {"scope": values.get("scope") or Scope.USER, "revision": values.get("revision") or 1}
    if not values.get("scopeId"):
        values["scopeId"] = _scope_id(values)
    values |= _times(document, now)
    values |= {"type": values.get("type") or MemoryType.FACT, "status": values.get("status") or Status.ACTIVE}
    values |= {"source": _source(document), "indexState": IndexState.PENDING}
    memory, redacted = cleaned(validated(Memory, {name: value for name, value in values.items() if value is not None}))
    checked_content(memory.content, "content")
    if carries_recall(memory.content) or injections(memory):
        memory = memory if memory.is_forgotten else quarantined(memory)
    return Migrated(memory, redacted, tuple(sorted(document.keys() - _STORED - _DERIVED)))


def _scope_id(values: Mapping[str, Any]) -> str:
    if values["scope"] == Scope.USER:
        return str(values["userId"])
    if values["scope"] == Scope.ORGANIZATION:
        return str(values["orgId"])
    raise InvalidInput("scopeId", "is missing")


def _times(document: Mapping[str, Any], now: datetime) -> dict[str, datetime]:
    """The times that a row must have, each from what comes nearest to it."""
    made = _time(document, "createdAt", "timestamp") or _made_at(document["_id"]) or now
    return {
        "createdAt": utc(made),
        "eventTime": utc(_time(document, "eventTime", "timestamp") or made),
        "updatedAt": utc(_time(document, "updatedAt") or made),
        "admittedAt": utc(_time(document, "admittedAt") or made),
    }


def _made_at(identity: object) -> datetime | None:
    """What an ObjectId says of its time."""
    made = getattr(identity, "generation_time", None)
    return made if isinstance(made, datetime) else None


def _time(document: Mapping[str, Any], *names: str) -> datetime | None:
    for name in names:
        value = document.get(name)
        if isinstance(value, str):
            try:
                value = datetime.fromisoformat(value)
            except ValueError:
                raise InvalidInput(name, "is no time") from None
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
    return None


def _source(document: Mapping[str, Any]) -> str | None:
    """Where it came from, with the old word for its scope, which is a set of scopes and says nothing of where it belongs."""
    source, layer = document.get("source"), document.get("layer")
    if not layer:
        return source
    return f"{source}; layer: {layer}"[:MOST_SOURCE] if source else f"layer: {layer}"[:MOST_SOURCE]
