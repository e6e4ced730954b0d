"""Review of quarantined memories by people: promote, reject, undo of a promote. `docs/review.md` tells the rules."""

from datetime import datetime
from typing import Any

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import IndexState, Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.receipt import IndexReceipt
from chalicelib.domain.scope import Scope
from chalicelib.errors import Conflict, Forbidden, NotFound, StaleRevision
from chalicelib.ports import Clock, MemoryStore
from chalicelib.write.audit import Auditor
from chalicelib.write.decisions import Decisions
from chalicelib.write.deferral import Deferral

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

    def __init__(
        self, *, store: MemoryStore, decisions: Decisions, auditor: Auditor, deferral: Deferral, clock: Clock
    ) -> None:
        self._store = store
        self._decisions = decisions
        self._auditor = auditor
        self._deferral = deferral
        self._clock = clock

    def promote(self, caller: Caller, id_: str, if_match: int | None = None) -> tuple[Memory, IndexReceipt]:
        """Make a quarantined memory active and findable. Only an admin promotes its own."""
        row = self._row(caller, id_, if_match)
        if row.memory.status is not Status.QUARANTINED:
            raise Conflict(_NOT_HELD, status=row.memory.status)
        if row.memory.user_id == caller.user_id and not caller.is_admin:
            raise Forbidden("only an admin promotes a memory of its own")
        return self._change(caller, row, promotion(caller.user_id, self._clock()), "promote")

    def undo_promote(self, caller: Caller, id_: str, if_match: int | None = None) -> tuple[Memory, IndexReceipt]:
        """Put a memory that was promoted, by a person or by the sweep, back into quarantine, for the reason it had."""
        row = self._row(caller, id_, if_match)
        if not (row.memory.status is Status.ACTIVE and row.memory.promoted_by is not None):
            raise Conflict(_NOT_PROMOTED, status=row.memory.status)
        back = {
            "status": Status.QUARANTINED,
            "quarantined_at": self._clock(),
            "admitted_at": None,
            "promoted_by": None,
        }
        return self._change(caller, row, back, "undo_promote")

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

    def _change(
        self, caller: Caller, row: StoredMemory, update: dict[str, Any], action: str
    ) -> tuple[Memory, IndexReceipt]:
        event = self._auditor.event(caller, action, row.memory.id, **facts_of(row.memory))
        changed = self._decisions.change(row, update, event)
        if changed is None:
            raise self._overtaken(caller, row.memory)
        memory, receipt = changed
        if receipt.state is IndexState.PENDING:
            self._deferral.index_later([(memory.scope_ref.key, memory.id)])
        self._deferral.write_questions_later([memory])
        return changed

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


def promotion(by: str, now: datetime) -> dict[str, Any]:
    """What promoting changes. The reason of the quarantine stays, for an undo; its time goes, so that no later one is
    taken for as old."""
    return {
        "status": Status.ACTIVE,
        "admitted_at": now,
        "quarantined_at": None,
        "promoted_by": by,
    }
