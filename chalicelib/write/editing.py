"""Reading, editing, forgetting and restoring single memories. Every row comes through `_row`, which knows the reader."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pydantic.alias_generators import to_camel

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.claims.of_memory import with_claims
from chalicelib.domain.incoming import cleaned
from chalicelib.domain.input import MemoryPatch
from chalicelib.domain.memory import (
    HISTORY_FIELDS,
    RESTORABLE_DAYS,
    ArchivedReason,
    IndexState,
    Memory,
    QuarantineReason,
    Revision,
    Status,
)
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.receipt import IndexReceipt
from chalicelib.domain.scope import Scope
from chalicelib.domain.text.cleaning import carries_recall
from chalicelib.domain.validation import validated
from chalicelib.errors import Conflict, Forbidden, InvalidInput, NotFound, RevisionRequired, StaleRevision
from chalicelib.ports import Clock, MemoryStore
from chalicelib.write import guarding
from chalicelib.write.audit import Auditor
from chalicelib.write.cleaning import checked_content, checked_size, checked_tags
from chalicelib.write.consolidation.undoing import brought_back, no_longer_replaced, replacers
from chalicelib.write.decisions import Decisions
from chalicelib.write.deferral import Deferral
from chalicelib.write.indexing import Indexer
from chalicelib.write.versions import present_state, with_present

_ABSENT = "no such memory for this reader"


class Editor:
    """What a caller may do to one memory."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        decisions: Decisions,
        indexer: Indexer,
        auditor: Auditor,
        deferral: Deferral,
        clock: Clock,
    ) -> None:
        self._store = store
        self._decisions = decisions
        self._indexer = indexer
        self._auditor = auditor
        self._deferral = deferral
        self._clock = clock

    def read(self, caller: Caller, id_: str) -> Memory:
        """The memory. NotFound where the caller's chain does not hold it, where it was forgotten, and for a quarantined one
        unless the caller reviews or wrote it."""
        row = self._row(caller, id_)
        if row.memory.is_forgotten:
            raise NotFound(_ABSENT)
        return row.memory

    def revision(self, caller: Caller, id_: str, number: int) -> Revision:
        """The state at a revision. History has an entry where content, summary or tags changed; a revision that changed none
        of them is read from the next entry."""
        memory = self.read(caller, id_)
        if not 1 <= number <= memory.revision:
            raise NotFound("no such revision of this memory", revision=number)
        earlier = next((state for state in memory.history if state.revision >= number), present_state(memory))
        return earlier.model_copy(update={"revision": number})

    def edit(
        self, caller: Caller, id_: str, changes: Mapping[str, Any], if_match: int | None
    ) -> tuple[Memory, IndexReceipt]:
        """The memory with `changes`. RevisionRequired without `if_match`, StaleRevision where another edit came first.

        Where a text now has a prompt injection the row is quarantined and leaves the index; the receipt's reason says so."""
        asked = validated(MemoryPatch, changes)
        checked_size(asked.content or "", "content")
        patch, _ = cleaned(asked)
        row = self._editable(caller, id_)
        if if_match is None:
            raise RevisionRequired(
                "an edit needs If-Match with the revision it was made against", revision=row.memory.revision
            )
        update = {name: getattr(patch, name) for name in patch.model_fields_set}
        if "content" in update:
            checked_content(update["content"], "content")
            if carries_recall(update["content"]):
                raise InvalidInput("content", "brings back a block that was recalled from here")
        for name in {"tags", "key_entities"} & update.keys():
            update[name] = checked_tags(update[name], to_camel(name))
        if "overridable" in update and update["overridable"] != row.memory.overridable and not caller.is_admin:
            raise Forbidden("setting overridable takes an admin", field="overridable")
        return self._change(caller, row, update, if_match, "edit")

    def forget(self, caller: Caller, id_: str) -> tuple[Memory, IndexReceipt]:
        """Archive the memory at once; `restore` undoes it for 7 days."""
        row = self._editable(caller, id_)
        update = {
            "status": Status.ARCHIVED,
            "archived_reason": ArchivedReason.FORGOTTEN,
            "archived_before": row.memory.archived_reason,
            "archived_at": self._clock(),
        }
        return self._change(caller, row, update, row.memory.revision, "forget")

    def purge(self, caller: Caller, id_: str) -> IndexReceipt:
        """Remove the memory from every store, forgotten or not. Admins only."""
        caller.require(Role.ADMIN)
        row = self._row(caller, id_, with_vectors=True)
        receipt = self._decisions.remove(row, self._auditor.event(caller, "purge", id_))
        if receipt is None:
            raise StaleRevision("the memory was changed at the same time")
        return receipt

    def restore(self, caller: Caller, id_: str) -> tuple[Memory, IndexReceipt]:
        """Undo a forget of the last 7 days, or bring a superseded memory back, whenever it was. DuplicateContent
        where the same content was stored again since.

        A text with a prompt injection comes back quarantined, unless a reviewer had let it in."""
        row = self._editable(caller, id_, restorable=True)
        memory = row.memory
        if memory.archived_reason is ArchivedReason.SUPERSEDED:
            by = replacers(self._store, caller, memory)
            done = self._change(caller, row, brought_back(memory, by), memory.revision, "restore")
            self._indexer.publish(no_longer_replaced(caller, self._store, self._clock, memory.id, by))
            return done
        if memory.archived_at is None or self._clock() - memory.archived_at > timedelta(days=RESTORABLE_DAYS):
            raise NotFound(_ABSENT)
        update: dict[str, Any] = {"status": _status_before(memory), "archived_reason": memory.archived_before}
        update["archived_before"] = None
        update["archived_at"] = memory.archived_at if memory.archived_before else None
        return self._change(caller, row, update, memory.revision, "restore")

    def restore_revision(
        self, caller: Caller, id_: str, number: int, if_match: int | None
    ) -> tuple[Memory, IndexReceipt]:
        """Make an earlier state the present one, as an edit of its own. The text is cleaned and guarded by today's rules."""
        row = self._editable(caller, id_)
        earlier, _ = cleaned(self.revision(caller, id_, number))
        update: dict[str, Any] = {name: getattr(earlier, name) for name in HISTORY_FIELDS}
        return self._change(
            caller, row, update, row.memory.revision if if_match is None else if_match, "restore_revision"
        )

    def _row(self, caller: Caller, id_: str, *, with_vectors: bool = False) -> StoredMemory:
        found = self._store.fetch(caller.chain, [id_], with_vectors=with_vectors)
        if not found:
            raise NotFound(_ABSENT)
        memory = found[0].memory
        if memory.status is Status.QUARANTINED and not caller.is_reviewer and memory.user_id != caller.user_id:
            raise NotFound(_ABSENT)
        return found[0]

    def _editable(self, caller: Caller, id_: str, *, restorable: bool = False) -> StoredMemory:
        row = self._row(caller, id_, with_vectors=True)
        is_superseded = row.memory.archived_reason is ArchivedReason.SUPERSEDED
        is_there = row.memory.status is not Status.ARCHIVED
        if row.memory.is_forgotten is not restorable and not (restorable and (is_superseded or is_there)):
            raise NotFound(_ABSENT)
        caller.require(Role.MEMBER)
        if not caller.is_admin and row.memory.user_id != caller.user_id:
            raise Forbidden("only the author or an admin may change this memory")
        if not caller.is_admin and row.memory.scope is Scope.ORGANIZATION:
            raise Forbidden("changing organization scope takes an admin")
        if restorable and is_there:
            raise Conflict("the memory is neither forgotten nor superseded", status=row.memory.status.value)
        return row

    def _change(
        self, caller: Caller, row: StoredMemory, update: dict[str, Any], expected: int, action: str
    ) -> tuple[Memory, IndexReceipt]:
        before = row.memory
        if before.revision != expected:
            raise StaleRevision("the memory was changed since", revision=before.revision)
        update |= {"revision": before.revision + 1, "updated_at": self._clock(), "index_state": IndexState.PENDING}
        if any(name in update and update[name] != getattr(before, name) for name in HISTORY_FIELDS):
            update |= {
                "history": with_present(before),
                "edited_at": self._clock(),
                "edited_by": caller.user_id,
            }
        after = before.model_copy(update=update)
        if after.content != before.content:
            after = with_claims(after)
        if kinds := guarding.newly_injected(before, after):
            after = guarding.quarantined(after)
        changed = StoredMemory(after, row.counts, row.length)
        if after.indexed_text != before.indexed_text:
            (changed,) = self._indexer.analysed([after])
        if not self._store.replace(changed, before.revision):
            raise StaleRevision("the memory was changed at the same time")
        (receipt,) = self._indexer.publish([changed])
        quarantine = {"quarantined": QuarantineReason.INJECTION, "kinds": list(kinds)} if kinds else {}
        self._auditor.record(caller, action, [after.id], revision=after.revision, **quarantine)
        if receipt.state is IndexState.PENDING:
            self._deferral.index_later([(after.scope_ref.key, after.id)])
        self._deferral.write_questions_later([after])
        if kinds:
            receipt = receipt.model_copy(update={"reason": guarding.told(kinds)})
        return after.model_copy(update={"index_state": receipt.state}), receipt


def _status_before(memory: Memory) -> Status:
    """What a forgotten memory was before: a restore revives neither what was superseded nor what waits for review."""
    if memory.archived_before:
        return Status.ARCHIVED
    return Status.QUARANTINED if memory.quarantine_reason and memory.admitted_at is None else Status.ACTIVE
