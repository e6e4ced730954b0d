"""Embeddings that rows lack: given to them in batches, organization by organization, by whoever has time.

A run has a checkpoint in the truth. Any number of processes may work on it, be killed, and go on: vectors go in beside a row
as it was read and change nothing else of it, and of two that did the same batch one counts it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from chalicelib.domain.backfill import BackfillCheckpoint, BackfillProgress, BackfillState
from chalicelib.domain.matryoshka import cut_to
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.tasks import BackfillOrganization
from chalicelib.errors import EmbeddingFailed, VittoError
from chalicelib.ports import BackfillStore, Clock, TaskQueue, Telemetry
from chalicelib.write.deferral import Deferral
from chalicelib.write.indexing import Indexer

BATCH = 50  # spec/product.md "Vectors"
REQUEST_SECONDS = 5.0  # what a request works itself before it leaves the rest to the queue
TASK_SECONDS = 30.0  # what a message works before another takes over, well within its visibility
SHARED_BLAME = 3  # as many rows that all fail mean that the embedder is down, and not that the rows are bad
Progressed = Callable[[BackfillProgress], None]


@dataclass
class _Filled:
    """What became of a batch."""

    done: int = 0
    cut: int = 0
    failed: int = 0


class Backfill:
    """`queue` is None where none is configured: then the schedule goes on with what a request began."""

    def __init__(
        self,
        *,
        store: BackfillStore,
        indexer: Indexer,
        queue: TaskQueue | None,
        deferral: Deferral,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        self._store = store
        self._indexer = indexer
        self._queue = queue
        self._deferral = deferral
        self._telemetry = telemetry
        self._clock = clock

    def progress(self, org_id: str) -> BackfillProgress:
        """How far the organization's latest run is, and how many rows lack vectors now."""
        return self._with_left(self._checkpoint(org_id).progress)

    def start(self, org_id: str) -> BackfillProgress:
        """Begin a run, or go on with the one that is under way: a few seconds here, the rest on the queue."""
        try:
            progress = self.work(org_id, REQUEST_SECONDS)
        except EmbeddingFailed as error:  # the queue tries it again
            self._telemetry.event("backfill_paused", reason=error.message, org=org_id)
            progress = self._checkpoint(org_id).progress
        if progress.state is BackfillState.RUNNING:
            self._go_on_later(org_id)
        return self._with_left(progress)

    def go_on(self, org_id: str) -> None:
        """The part of a message: work for a while, and send another where more is left. EmbeddingFailed where the embedder
        is down, so that the message comes again later."""
        if self.work(org_id, TASK_SECONDS, begin=False).state is BackfillState.RUNNING:
            self._go_on_later(org_id)

    def work_on_all(self, has_time: Callable[[], bool]) -> int:
        """Begin or go on with every organization that has something to do, as long as there is time; rows that were given
        vectors. EmbeddingFailed where the embedder is down."""
        done = 0
        for org_id in self.organizations():
            while has_time():
                before = self._checkpoint(org_id).progress
                after = self.step(org_id)
                done += after.done - (before.done if before.state is BackfillState.RUNNING else 0)
                if after.state is not BackfillState.RUNNING:
                    break
        return done

    def organizations(self) -> list[str]:
        """Every organization with rows that lack vectors."""
        return self._store.organizations(self._indexer.model)

    def work(self, org_id: str, seconds: float, *, begin: bool = True) -> BackfillProgress:
        """Steps for as long as there is something to do and time; with `begin` also where no run is under way."""
        until = self._clock() + timedelta(seconds=seconds)
        progress = self._checkpoint(org_id).progress
        if begin and progress.state is not BackfillState.RUNNING:
            progress = self.step(org_id)
        while progress.state is BackfillState.RUNNING and self._clock() < until:
            progress = self.step(org_id)
        return progress

    def step(self, org_id: str) -> BackfillProgress:
        """One batch of the run under way, or of a new one; the progress then. EmbeddingFailed where the embedder is down:
        the batch stays to be done."""
        before = self._begun(self._checkpoint(org_id))
        rows = self._store.lacking(org_id, self._indexer.model, after=before.after, limit=BATCH)
        filled = self._filled(rows)
        old = before.progress
        progress = old.model_copy(
            update={
                "state": BackfillState.RUNNING if len(rows) == BATCH else BackfillState.FINISHED,
                "done": old.done + filled.done,
                "cut": old.cut + filled.cut,
                "failed": old.failed + filled.failed,
                "updated_at": self._clock(),
            }
        )
        after = rows[-1].memory.id if rows else before.after
        kept = self._store.keep(BackfillCheckpoint(progress=progress, after=after, version=before.version + 1))
        return (
            progress if kept else self._checkpoint(org_id).progress
        )  # another process did the batch too, and counted it

    def _checkpoint(self, org_id: str) -> BackfillCheckpoint:
        kept = self._store.checkpoint(org_id)
        return kept or BackfillCheckpoint(progress=BackfillProgress(org_id=org_id, model=self._indexer.model))

    def _begun(self, found: BackfillCheckpoint) -> BackfillCheckpoint:
        """The run under way for the model in use, or a new one."""
        progress = found.progress
        if progress.state is BackfillState.RUNNING and progress.model == self._indexer.model:
            return found
        now, total = self._clock(), self._store.count_lacking(progress.org_id, self._indexer.model)
        fresh = BackfillProgress(
            org_id=progress.org_id, model=self._indexer.model, state=BackfillState.RUNNING, total=total, started_at=now
        )
        return BackfillCheckpoint(progress=fresh, version=found.version)

    def _filled(self, rows: Sequence[StoredMemory]) -> _Filled:
        short = [self._cut(row) for row in rows]
        ready = [row for row in short if row is not None]
        embedded = self._embedded([row for row, done in zip(rows, short, strict=True) if done is None])
        fresh = [row for row in embedded if self._indexer.has_current_vectors(row.memory)]
        if not fresh and len(embedded) > SHARED_BLAME:
            self._put(ready)
            raise EmbeddingFailed(f"none of {len(embedded)} rows without vectors could be embedded")
        filled = _Filled(failed=len(embedded) - len(fresh), cut=self._put(ready))
        filled.done = filled.cut + self._put(fresh)
        return filled

    def _cut(self, row: StoredMemory) -> StoredMemory | None:
        old = row.memory.embedding
        short = cut_to(old, self._indexer.model) if old else None
        if short is None:
            return None
        return StoredMemory(row.memory.model_copy(update={"embedding": short}), row.counts, row.length)

    def _embedded(self, rows: Sequence[StoredMemory]) -> list[StoredMemory]:
        """The rows with vectors; where the batch failed, one by one, so that a row that cannot be embedded costs itself."""
        embedded = self._indexer.analysed([row.memory for row in rows]) if rows else []
        if not embedded or any(self._indexer.has_current_vectors(row.memory) for row in embedded):
            return embedded
        alone: list[StoredMemory] = []
        for row in rows:
            alone += self._indexer.analysed([row.memory])
            if len(alone) > SHARED_BLAME and not any(self._indexer.has_current_vectors(one.memory) for one in alone):
                return embedded
        return alone

    def _put(self, rows: Sequence[StoredMemory]) -> int:
        """Store vectors and publish them; how many. A row that was changed meanwhile has been embedded by who changed it.
        The questions of the others may have no vectors of this model either."""
        stored = [row for row, done in zip(rows, self._store.fill(rows), strict=True) if done]
        self._indexer.publish(stored)
        self._deferral.write_questions_later(row.memory for row in stored)
        return len(stored)

    def _go_on_later(self, org_id: str) -> None:
        if self._queue is None:
            return
        try:
            organization = ScopeRef(org_id, Scope.ORGANIZATION, org_id)
            self._queue.send([BackfillOrganization(scope_key=organization.key)], 1)
        except VittoError as error:
            self._telemetry.event("tasks_not_queued", reason=error.message, tasks=1)

    def _with_left(self, progress: BackfillProgress) -> BackfillProgress:
        return progress.model_copy(update={"left": self._store.count_lacking(progress.org_id, self._indexer.model)})
