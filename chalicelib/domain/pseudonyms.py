"""A person's name taken out of what stays: out of an event, and out of a memory that others share."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from chalicelib.domain.administration import AuditEvent
from chalicelib.domain.claims.terms import claim_terms
from chalicelib.domain.claims.values import folded
from chalicelib.domain.memory import IndexState, Memory
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.domain.text.terms import index_terms

SYSTEM = "system"  # who acts where nobody called; no name of anybody
_WHO = frozenset(
    {
        "actor",
        "author",
        "userId",
        "target",
        "createdBy",
        "updatedBy",
        "editedBy",
        "promotedBy",
        "requestedBy",
        "trustedBy",
    }
)


def replaced(value: Any, name: str, pseudonym: str) -> Any:
    """`value` with the pseudonym in every field, at any depth, that says who somebody is and says `name`. A field that has
    the same text and another meaning stays: somebody may be called as a type, a scope or an action is."""
    if isinstance(value, list | tuple):
        return type(value)(replaced(inner, name, pseudonym) for inner in value)
    if not isinstance(value, dict):
        return value
    return {
        field: pseudonym if _names(field, inner, value, name) else replaced(inner, name, pseudonym)
        for field, inner in value.items()
    }


def _names(field: str, inner: Any, around: Mapping[str, Any], name: str) -> bool:
    if not isinstance(inner, str) or inner != name:
        return False
    if field == "scopeId":
        return bool(around.get("scope", Scope.USER.value) == Scope.USER.value)
    return field in _WHO and not (field == "actor" and name == SYSTEM)


def names_in(value: Any) -> Iterator[str]:
    """Whom a document names, in fields that say who somebody is; a scope counts where it is a user's."""
    if isinstance(value, list | tuple):
        for inner in value:
            yield from names_in(inner)
    if not isinstance(value, dict):
        return
    for field, inner in value.items():
        if isinstance(inner, str):
            if field in _WHO | {"owner"} or (field == "scopeId" and value.get("scope") == Scope.USER.value):
                yield inner
        elif field == "members":
            yield from inner
        else:
            yield from names_in(inner)


def named_in(memory: Memory, name: str) -> bool:
    """Whether the memory says that this user had a part in it: wrote, edited, promoted or said it, or is whom it claims
    something of. What its text says of anyone is its author's."""
    return without_person(memory, name, "") != memory


def without_person(memory: Memory, name: str, pseudonym: str) -> Memory:
    """The memory with the pseudonym wherever it says that this user had a part in it."""
    origin = memory.origin
    if origin and origin.speaker and origin.speaker.casefold() == name.casefold():
        origin = origin.model_copy(update={"speaker": pseudonym})
    claims = tuple(
        claim.model_copy(update={"subject": folded(pseudonym)}) if folded(claim.subject) == folded(name) else claim
        for claim in memory.claims
    )
    history = tuple(
        past.model_copy(update={"edited_by": pseudonym}) if past.edited_by == name else past for past in memory.history
    )
    return memory.model_copy(
        update={
            "user_id": pseudonym if memory.user_id == name else memory.user_id,
            "edited_by": pseudonym if memory.edited_by == name else memory.edited_by,
            "promoted_by": pseudonym if memory.promoted_by == name != SYSTEM else memory.promoted_by,
            "admission": replaced(memory.admission, name, pseudonym),
            "origin": origin,
            "claims": claims,
            "history": history,
            "untold": memory.untold and _without_actor(memory.untold, name, pseudonym),
        }
    )


def _without_actor(event: AuditEvent, name: str, pseudonym: str) -> AuditEvent:
    said = event.model_dump(by_alias=True)
    return AuditEvent.model_validate(replaced(said, name, pseudonym))


def disowned(row: StoredMemory, name: str, pseudonym: str, now: datetime) -> StoredMemory:
    """The next revision of a row without the person, changed `now`. Its vectors go where its text was made of the name: the
    worker gives it others."""
    before = row.memory
    after = without_person(before, name, pseudonym).model_copy(
        update={"revision": before.revision + 1, "updated_at": now}
    )
    if after.indexed_text != before.indexed_text:
        after = after.model_copy(update={"embedding": None, "index_state": IndexState.PENDING})
    terms = index_terms(after.indexed_text)
    return StoredMemory(after, terms.counts | claim_terms(after), terms.length)
