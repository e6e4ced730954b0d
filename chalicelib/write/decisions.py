"""Decisions about rows by review, sweep and purge: each is taken once and ends in the audit, whatever is cut off between.

A row carries the event of its last decision, put there by the write that decides, until the audit has it. One that is to be
removed first becomes one that nobody can restore, so that whoever decides second finds it decided; then the audit is told,
and then it leaves the truth and the index. `finish` does what a process that died left undone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.domain.administration import AuditEvent
from chalicelib.domain.memory import REMOVED_AT, ArchivedReason, IndexState, Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.receipt import IndexReceipt
from chalicelib.domain.scope import Chain
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, HotIndex, IndexRemoval, MemoryStore, RecallCache, RowId, Telemetry
from chalicelib.write.audit import Auditor
from chalicelib.write.deferral import Deferral
from chalicelib.write.indexing import Indexer

BATCH = 50


class Decisions:
    """Carries decisions out. Who may decide what is the caller's to know."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        hot: HotIndex | None,
        cache: RecallCache | None,
        indexer: Indexer,
        auditor: Auditor,
        deferral: Deferral,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        self._store = store
        self._hot = hot
        self._cache = cache
        self._indexer = indexer
        self._auditor = auditor
        self._deferral = deferral
        self._telemetry = telemetry
        self._clock = clock

    def change(
        self, row: StoredMemory, update: Mapping[str, Any], event: AuditEvent
    ) -> tuple[Memory, IndexReceipt] | None:
        """The memory with `update`, its event kept and the index told; None where another change of the row came first.
        An active row without current vectors is embedded, or stays pending where that fails."""
        after = self._next(row.memory, update, event)
        changed = StoredMemory(after, row.counts, row.length)
        if after.status is Status.ACTIVE and not self._indexer.has_current_vectors(after):
            (changed,) = self._indexer.analysed([after])
        if not self._decided(changed, row.memory):
            return None
        told = self._told(changed)
        (receipt,) = self._indexer.publish([told])
        return told.memory.model_copy(update={"index_state": receipt.state}), receipt

    def remove(self, row: StoredMemory, event: AuditEvent) -> IndexReceipt | None:
        """Remove a row from every store; None where another change of it came first. PENDING where the index was not
        reached: the scope is then marked, and its rebuild finishes it."""
        doomed = self._doomed(row, event)
        return self._erase([doomed]) if doomed else None

    def remove_all(self, decided: Sequence[tuple[StoredMemory, AuditEvent]]) -> int:
        """As `remove`, in one go; how many were removed, without those that another change came first to."""
        doomed = [memory for row, event in decided if (memory := self._doomed(row, event))]
        if doomed:
            self._erase(doomed)
        return len(doomed)

    def finish(self) -> int:
        """Do what was left undone by whoever decided and was cut off; how many rows."""
        after: RowId | None = None
        done = 0
        while rows := self._store.untold(BATCH, after=after):
            doomed = [row.memory for row in rows if row.memory.is_being_removed]
            if doomed:
                self._erase(doomed)
            for row in rows:
                if not row.memory.is_being_removed:
                    self._told(row)
            after, done = (rows[-1].memory.org_id, rows[-1].memory.id), done + len(rows)
        return done

    def _next(self, memory: Memory, update: Mapping[str, Any], event: AuditEvent) -> Memory:
        fields = {"revision": memory.revision + 1, "updated_at": self._clock(), "index_state": IndexState.PENDING}
        return memory.model_copy(update={**update, **fields, "untold": event})

    def _decided(self, changed: StoredMemory, before: Memory) -> bool:
        if before.untold:  # of a decision that was cut off; this one takes its place
            self._auditor.keep([before.untold])
        return self._store.replace(changed, before.revision)

    def _told(self, row: StoredMemory) -> StoredMemory:
        """The row once its event is kept. Where it was edited since, it carries the event on, and `finish` takes it off."""
        assert row.memory.untold
        self._auditor.keep([row.memory.untold])
        told = StoredMemory(row.memory.model_copy(update={"untold": None}), row.counts, row.length)
        self._store.replace(told, row.memory.revision)
        return told

    def _doomed(self, row: StoredMemory, event: AuditEvent) -> Memory | None:
        update = {
            "status": Status.ARCHIVED,
            "archived_reason": ArchivedReason.FORGOTTEN,
            "archived_at": REMOVED_AT,
        }
        memory = self._next(row.memory, update, event)
        return memory if self._decided(StoredMemory(memory, row.counts, row.length), row.memory) else None

    def _erase(self, doomed: Sequence[Memory]) -> IndexReceipt:
        self._auditor.keep([memory.untold for memory in doomed if memory.untold])
        scopes = {memory.scope_ref.key: Chain(memory.org_id, (memory.scope_ref,)) for memory in doomed}
        # Marked first and gone from the truth before the index: whatever is cut off here, a rebuild finishes it.
        token = self._store.mark_for_repair(scopes) if self._hot else ""
        for memory in doomed:
            self._store.purge(scopes[memory.scope_ref.key], memory.id)
        try:
            self._take_out(doomed, scopes, token)
        except StoreUnavailable as error:
            self._telemetry.event("index_unreachable", reason=error.message, rows=len(doomed))
            for scope_key in scopes:
                self._deferral.rebuild_later(scope_key)
            return IndexReceipt(state=IndexState.PENDING, reason=f"{error.message}; the scope is marked for repair")
        return IndexReceipt(state=IndexState.INDEXED)

    def _take_out(self, doomed: Sequence[Memory], scopes: Mapping[str, Chain], token: str) -> None:
        for scope_key, chain in scopes.items():
            self._indexer.drop_questions(chain, [m.id for m in doomed if m.scope_ref.key == scope_key])
        if self._hot:
            self._hot.apply([IndexRemoval(memory.scope_ref.key, memory.id, memory.revision) for memory in doomed])
            for scope_key in scopes:
                self._store.repaired(scope_key, token)
        for org_id in {memory.org_id for memory in doomed} if self._cache else ():
            assert self._cache
            self._cache.forget(org_id)
