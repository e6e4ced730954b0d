"""Review of quarantined memories by people: promote, reject, undo of a promote. `docs/review.md` tells the rules."""

from typing import Any

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import ArchivedReason, Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.receipt import IndexReceipt
from chalicelib.domain.scope import Scope
from chalicelib.errors import Conflict, Forbidden, NotFound, StaleRevision
from chalicelib.ports import MemoryStore
from chalicelib.write.audit import Auditor
from chalicelib.write.decisions import Decisions
from chalicelib.write.promoting import Promoter

_ABSENT = "no such memory for this reader"
_NOT_HELD = "the memory is not in quarantine"
_NOT_PROMOTED = "the memory was not promoted from quarantine"


def facts_of(memory: Memory) -> dict[str, Any]:
    """What an audit event says of a row that was decided upon: all but what it holds."""
    held = {
        "scope": memory.scope.value,
        "scopeId": memory.scope_id,
        "type": memory.type.value,
        "author": memory.user_id,
        "revision": memory.revision,
        "createdAt": memory.created_at.isoformat(),
        "quarantineReason": memory.quarantine_reason,
        "score": (memory.admission or {}).get("score"),
    }
    if memory.status is Status.QUARANTINED:
        held["quarantinedAt"] = memory.held_since.isoformat()
    return {name: value for name, value in held.items() if value is not None}


class Reviewer:
    """What a reviewer or an admin may decide about one memory of its chain.

    Every decision is of the revision that was read: NotFound where the row is not the caller's to see or is gone meanwhile,
    Conflict where it is not in the state that the decision is about, StaleRevision where it was changed since `if_match`, or
    at the same time. Forbidden in organization scope, and for a policy (`overridable: false`), unless an admin decides."""

    def __init__(self, *, store: MemoryStore, decisions: Decisions, promoter: Promoter, auditor: Auditor) -> None:
        self._store = store
        self._decisions = decisions
        self._promoter = promoter
        self._auditor = auditor

    def promote(self, caller: Caller, id_: str, if_match: int | None = None) -> tuple[Memory, IndexReceipt]:
        """Make a quarantined memory active and findable, unless an active one says the same (`Promoter.promote`). Only an
        admin promotes its own. DuplicateContent where its content was let in by other means."""
        row = self._row(caller, id_, if_match)
        if row.memory.status is not Status.QUARANTINED:
            raise Conflict(_NOT_HELD, status=row.memory.status)
        if row.memory.user_id == caller.user_id and not caller.is_admin:
            raise Forbidden("only an admin promotes a memory of its own")
        event = self._auditor.event(caller, "promote", id_, **facts_of(row.memory))
        return self._done(caller, row, self._promoter.promote(caller, row, caller.user_id, event))

    def undo_promote(self, caller: Caller, id_: str, if_match: int | None = None) -> tuple[Memory, IndexReceipt]:
        """Put a memory that was promoted, by a person or by the sweep, back into quarantine, for the reason it had, and what
        it had superseded back in its place. DuplicateContent where its content was stored again since."""
        row = self._row(caller, id_, if_match)
        if not _is_promoted(row.memory):
            raise Conflict(_NOT_PROMOTED, status=row.memory.status)
        event = self._auditor.event(caller, "undo_promote", id_, **facts_of(row.memory))
        return self._done(caller, row, self._promoter.undo(caller, row, event))

    def reject(self, caller: Caller, id_: str, if_match: int | None = None) -> IndexReceipt:
        """Remove a quarantined memory from every store, for good."""
        row = self._row(caller, id_, if_match)
        if row.memory.status is not Status.QUARANTINED:
            raise Conflict(_NOT_HELD, status=row.memory.status)
        event = self._auditor.event(caller, "reject", id_, **facts_of(row.memory))
        receipt = self._decisions.remove(row, event)
        if receipt is None:
            raise self._overtaken(caller, row.memory)
        return receipt

    def _done(
        self, caller: Caller, row: StoredMemory, done: tuple[Memory, IndexReceipt] | None
    ) -> tuple[Memory, IndexReceipt]:
        if done is None:
            raise self._overtaken(caller, row.memory)
        return done

    def _row(self, caller: Caller, id_: str, if_match: int | None) -> StoredMemory:
        caller.require(Role.REVIEWER)
        found = self._store.fetch(caller.chain, [id_], with_vectors=True)
        if not found or found[0].memory.is_forgotten:
            raise NotFound(_ABSENT)
        memory = found[0].memory
        if memory.scope is Scope.ORGANIZATION and not caller.is_admin:
            raise Forbidden("deciding about organization scope takes an admin")
        if not memory.overridable and not caller.is_admin:
            raise Forbidden("deciding about a policy takes an admin")
        if if_match is not None and if_match != memory.revision:
            raise StaleRevision("the memory was changed since", revision=memory.revision)
        return found[0]

    def _overtaken(self, caller: Caller, before: Memory) -> Conflict | NotFound | StaleRevision:
        """What to answer where another change came first: what the row is now."""
        found = self._store.fetch(caller.chain, [before.id])
        if not found or found[0].memory.is_forgotten:
            return NotFound(_ABSENT)
        present = found[0].memory
        if present.status is not before.status:
            return Conflict("another decision about the memory came first", status=present.status)
        return StaleRevision("the memory was changed at the same time", revision=present.revision)


def _is_promoted(memory: Memory) -> bool:
    """Whether it was let in, or was to be and merged into one that says the same."""
    is_there = memory.status is Status.ACTIVE or memory.archived_reason is ArchivedReason.MERGED
    return is_there and memory.promoted_by is not None
