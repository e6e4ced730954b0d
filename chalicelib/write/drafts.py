"""From what a caller sent to a memory that could be stored: validated, authorised, cleaned."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.caller import Caller
from chalicelib.domain.claims.of_memory import with_claims
from chalicelib.domain.incoming import cleaned
from chalicelib.domain.input import MemoryInput, SaidMessage
from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import Memory
from chalicelib.domain.receipt import Outcome, Receipt, Refusal
from chalicelib.domain.text.cleaning import carries_recall
from chalicelib.domain.validation import validated
from chalicelib.errors import Forbidden, VittoError
from chalicelib.write.cleaning import checked_content, checked_size, checked_tags

_NOT_AS_GIVEN = frozenset({"scope_id", "event_time", "messages"})


@dataclass(frozen=True)
class Draft:
    """A memory on its way in, the kinds of secrets that were taken out of it, and the messages given with it."""

    memory: Memory
    redacted: tuple[str, ...]
    messages: tuple[SaidMessage, ...] = ()


def draft(caller: Caller, item: Mapping[str, Any], now: datetime) -> Draft | Receipt:
    """The draft of one item, or the receipt that says why it is skipped.

    InvalidInput, NotFound or Forbidden where it may not be stored at all."""
    given = validated(MemoryInput, item)
    checked_size(given.content, "content")
    given, redacted = cleaned(given)
    ref = caller.writable(given.scope, given.scope_id, "scopeId")
    if not given.overridable and not caller.is_admin:
        raise Forbidden("overridable: false makes a policy, which takes an admin", field="overridable")
    checked_content(given.content, "content")
    if carries_recall(given.content):
        return Receipt(outcome=Outcome.SKIPPED, reason="the text brings back a block that was recalled from here")
    fields = {name: getattr(given, name) for name in MemoryInput.model_fields if name not in _NOT_AS_GIVEN}
    memory = Memory(
        **fields
        | {
            "id": new_id("mem"),
            "org_id": caller.org_id,
            "scope_id": ref.scope_id,
            "user_id": caller.user_id,
            "tags": checked_tags(given.tags, "tags"),
            "key_entities": checked_tags(given.key_entities, "keyEntities"),
            "event_time": given.event_time or now,
            "created_at": now,
            "updated_at": now,
        }
    )
    return Draft(with_claims(memory), redacted, given.messages)


def drafts(caller: Caller, items: list[Mapping[str, Any]], now: datetime) -> list[Draft | Receipt]:
    """`draft` for each item of a batch; one that may not be stored becomes its own receipt and hinders no other."""
    return [_receipted(caller, item, now) for item in items]


def _receipted(caller: Caller, item: Mapping[str, Any], now: datetime) -> Draft | Receipt:
    try:
        return draft(caller, item, now)
    except VittoError as error:
        said = Refusal(code=error.code, message=error.message, details=error.details)
        return Receipt(outcome=Outcome.INVALID, reason=error.message, error=said)
