"""What a process that died between storing a memory and retiring the one that it supersedes left undone."""

from datetime import datetime, timedelta

from chalicelib.domain.memory import Memory
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.domain.succession import has_replaced
from chalicelib.ports import Clock, MemoryStore, RowId
from chalicelib.write.audit import Auditor
from chalicelib.write.consolidation.decisions import changed, superseded
from chalicelib.write.indexing import Indexer

GRACE = timedelta(seconds=10)  # a younger mark is of a request that is still at it
BATCH = 50


class Successions:
    """`finish` is all of it. It may be killed, run again, and run twice at once."""

    def __init__(self, *, store: MemoryStore, indexer: Indexer, auditor: Auditor, clock: Clock) -> None:
        self._store = store
        self._indexer = indexer
        self._auditor = auditor
        self._clock = clock

    def finish(self, grace: timedelta = GRACE) -> int:
        """Retire the rows whose successor is there, with an event of `system`, and take the mark off the others; how many
        were retired."""
        after: RowId | None = None
        done = 0
        while rows := self._store.yielding(BATCH, after=after):
            done += sum(self._finished(row) for row in rows if _is_over(row.memory, self._clock() - grace))
            after = rows[-1].memory.org_id, rows[-1].memory.id
        return done

    def _finished(self, row: StoredMemory) -> bool:
        memory = row.memory
        chain = Chain(memory.org_id, (memory.scope_ref,))
        found = self._store.fetch(chain, [mark.to for mark in memory.yields])
        by = next((one.memory for one in found if has_replaced(one.memory, memory)), None)
        if by is None:
            self._store.replace(changed(row, yields=()), memory.revision)
            return False
        retired = superseded(row, by, self._clock())
        if not self._store.replace(retired, memory.revision):
            return False
        event = self._auditor.system_event(
            memory.org_id, "supersede", memory.id, by=by.id, revision=retired.memory.revision
        )
        self._auditor.keep([event])
        self._indexer.publish([retired])
        return True


def _is_over(memory: Memory, before: datetime) -> bool:
    return all(mark.at <= before for mark in memory.yields)
