"""What the worker and the jobs do with no caller waiting: retry pending rows, rebuild and repair indexes, count terms."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from chalicelib.domain.keys import key
from chalicelib.domain.memory import IndexState, Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.session import is_session_key
from chalicelib.errors import EmbeddingFailed, StoreUnavailable
from chalicelib.ports import Clock, HotIndex, MemoryStore, Telemetry
from chalicelib.write.indexing import Indexer

BATCH = 50  # spec/product.md "Vectors": batches of 50
GRACE = timedelta(seconds=10)  # a younger pending row is still being written by its request
LOST_AT_MOST = timedelta(minutes=10)  # how far a replica that took over may have been behind
EXPIRED_AT_ONCE = 500
TICK = timedelta(milliseconds=1)
FAILURES_IN_A_ROW = 3
STATISTICS_FROM = 200  # below, MongoDB's text tier reads every row that matches anyway
STATISTICS_GROWTH = 0.2
Progress = Callable[[int], None]


class SessionUpkeep(Protocol):
    """What is done with sessions, told by their keys."""

    def keys(self) -> Iterator[str]:
        """The key of every session."""

    def rebuild(self, session_key: str) -> int:
        """Build its index anew; how many messages it has."""

    def embed_again(self, session_key: str) -> tuple[int, int]:
        """As `Maintenance.embed_again`."""


class Maintenance:
    """Every task may be killed and run again; none of them changes what a memory says."""

    NO_GRACE = -GRACE
    """For callers who know that no request is under way."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        hot: HotIndex | None,
        indexer: Indexer,
        telemetry: Telemetry,
        clock: Clock,
        sessions: SessionUpkeep,
    ) -> None:
        self._sessions = sessions
        self._store = store
        self._hot = hot
        self._indexer = indexer
        self._telemetry = telemetry
        self._clock = clock
        self._expired_until = datetime.fromtimestamp(0, UTC)
        self._run_id: str | None = None

    def retry_pending(self, grace: timedelta = GRACE) -> int:
        """Go once through all rows that are pending for longer than `grace`; how many are indexed now.

        EmbeddingFailed where the embedder is down, once the rows that need no vector are through."""
        before, after, done = self._clock() - grace, None, 0
        while rows := self._store.pending(before, BATCH, after=after):
            after = rows[-1].memory
            embedded = self._embedded(rows)
            receipts = self._indexer.publish(embedded, with_questions=True)
            done += sum(receipt.state == "indexed" for receipt in receipts)
            stale, still = (sum(not self._settled(row.memory) for row in some) for some in (rows, embedded))
            if still == stale > FAILURES_IN_A_ROW:
                raise EmbeddingFailed(f"none of {stale} pending rows could be embedded")
        return done

    def index_rows(self, chain: Chain, ids: Sequence[str]) -> None:
        """Embed and publish those rows of the chain that are pending or have no current vectors.

        EmbeddingFailed or StoreUnavailable where any of them still is so afterwards."""
        found = self._store.fetch(chain, ids, with_vectors=True)
        wanted = [row for row in found if row.memory.index_state is IndexState.PENDING or not self._settled(row.memory)]
        embedded = self._embedded(wanted)
        receipts = self._indexer.publish(embedded, with_questions=True)
        if stale := sum(not self._settled(row.memory) for row in embedded):
            raise EmbeddingFailed(f"{stale} of {len(ids)} rows could not be embedded")
        if pending := sum(receipt.state is IndexState.PENDING for receipt in receipts):
            raise StoreUnavailable("redis", f"{pending} of {len(ids)} rows could not be indexed")

    def retire_expired(self) -> int:
        """Take rows whose time ran out since last asked out of the index, where they would crowd out others; how many of the
        last batch."""
        until, limit = self._clock(), EXPIRED_AT_ONCE
        while len(rows := self._store.expired(self._expired_until, until, limit)) == limit:
            self._indexer.publish(rows)
            last = rows[-1].memory.expires_at or until
            # a millisecond back, for rows that end with the last one; where that is no step at all, more at once
            limit = limit * 2 if last - TICK <= self._expired_until else limit
            self._expired_until = max(self._expired_until, last - TICK)
        self._indexer.publish(rows)
        self._expired_until = until
        return len(rows)

    def republish_after_restart(self) -> int:
        """Where Redis is another process than before, tell it again of what changed lately: a crash or a failover may have
        lost the last writes that it had acknowledged. How many rows."""
        run_id = self._hot.probe().get("runId") if self._hot else None
        if run_id == self._run_id:
            return 0
        since, after, told = self._clock() - LOST_AT_MOST, None, 0
        while rows := self._store.changed_since(since, after=after):
            self._indexer.publish(rows, with_questions=True)
            after, told = rows[-1].memory, told + len(rows)
        self._run_id = run_id
        return told

    def _embedded(self, rows: list[StoredMemory]) -> list[StoredMemory]:
        """The rows with vectors where they can be had: all at once, else one by one, so that a text the embedder cannot take
        holds up no other; after a few failures in a row the embedder is taken to be down."""
        stale = [row for row in rows if not self._settled(row.memory)]
        fresh = {row.memory.id: row for row in self._embed(stale)}
        failures = 0
        for row in stale:
            if row.memory.id not in fresh and failures < FAILURES_IN_A_ROW and len(stale) > 1:
                alone = self._embed([row])
                failures = 0 if alone else failures + 1
                fresh |= {one.memory.id: one for one in alone}
        return [fresh.get(row.memory.id, row) for row in rows]

    def _settled(self, memory: Memory) -> bool:
        return memory.status is not Status.ACTIVE or self._indexer.has_current_vectors(memory)

    def _embed(self, rows: list[StoredMemory]) -> list[StoredMemory]:
        """Those of `rows` that got vectors of the current model, in the truth too. An edit that came first wins."""
        analysed = self._indexer.analysed([row.memory for row in rows]) if rows else []
        return [
            fresh
            for fresh in analysed
            if self._indexer.has_current_vectors(fresh.memory) and self._store.replace(fresh, fresh.memory.revision)
        ]

    def indexed(self, org_id: str | None = None) -> list[str]:
        """The keys of all scopes that have rows and of all sessions, in order; of one organization where it is given."""
        first = f"{key(org_id)}/" if org_id is not None else ""
        return sorted(one for one in (*self._store.scope_keys(), *self._sessions.keys()) if one.startswith(first))

    def rebuild(self, scope_key: str, progress: Progress = lambda _: None) -> int:
        """Build the scope's hot index anew from the truth while it serves: until it is complete, MongoDB answers for it.

        How many rows it has. `progress` is told of each batch. A session is told by its key, and rebuilt by those who keep
        sessions."""
        if is_session_key(scope_key):
            return self._sessions.rebuild(scope_key)
        if self._hot is None:
            return 0
        token = self._hot.begin_rebuild(scope_key)
        after, done = "", 0
        while rows := self._store.rows_of_scope(scope_key, after=after):
            self._hot.apply(self._indexer.changes(rows))
            after, done = rows[-1].memory.id, done + len(rows)
            progress(len(rows))
        self._hot.complete(scope_key, token)
        self._indexer.sweep_questions(scope_key)
        self._store.take_statistics(scope_key)
        return done

    def repair(self, scope_key: str) -> int:
        """Rebuild one scope, and take away its mark of having missed a purge; how many rows it has."""
        marked = dict(self._store.marked_for_repair())
        rows = self.rebuild(scope_key)
        if scope_key in marked:
            self._store.repaired(scope_key, marked[scope_key])
        return rows

    def embed_again(self, scope_key: str, progress: Progress = lambda _: None) -> tuple[int, int]:
        """Give every row of the scope, which may be a session, vectors of the current model; how many it gave, and how many
        the embedder refused."""
        if is_session_key(scope_key):
            return self._sessions.embed_again(scope_key)
        after, done, failed = "", 0, 0
        while rows := self._store.rows_of_scope(scope_key, after=after, limit=BATCH):
            stale = [row for row in rows if not self._indexer.has_current_vectors(row.memory)]
            receipts = self._indexer.publish(self._embedded(stale))
            good = sum(receipt.state == "indexed" for receipt in receipts)
            after, done, failed = rows[-1].memory.id, done + good, failed + len(stale) - good
            progress(len(rows))
        return done, failed

    def rebuild_wanted(self) -> int:
        """Rebuild the scopes that a search found incomplete, and those whose index missed a purge; how many. Without Redis
        there are only sessions of which something is left to be removed."""
        marked = self._store.marked_for_repair()
        if self._hot is None:
            marked = [(scope, token) for scope, token in marked if is_session_key(scope)]
        wanted = dict.fromkeys([*(self._hot.wanted() if self._hot else ()), *(scope for scope, _ in marked)])
        for scope in wanted:
            rows = self.rebuild(scope)
            self._telemetry.event("index_rebuilt", level="info", scope=scope, rows=rows)
        for scope, token in marked:
            self._store.repaired(scope, token)
        return len(wanted)

    def report_pending(self) -> int:
        """Tell how many rows wait for an index, up to 1,000, as the metric `pending_rows`; no work is done."""
        self._telemetry.gauge("pending_rows", self._store.count_pending())
        return 0

    def refresh_statistics(self) -> int:
        """Count the terms of scopes that grew or shrank by a fifth since they were last counted, and without Redis, which
        knows what changed, of all scopes; how many."""
        if self._hot:
            changed = [(scope, rows) for scope, rows in self._hot.changed() if not is_session_key(scope)]
            due = [scope for scope, rows in changed if self._is_due(scope, rows)]
        else:
            due = list(self._store.scope_keys())
        for scope in due:
            self._store.take_statistics(scope)
        return len(due)

    def _is_due(self, scope: str, rows: int) -> bool:
        ref = ScopeRef.from_key(scope)
        counted = self._store.statistics(Chain(ref.org_id, (ref,))).rows
        return rows >= STATISTICS_FROM and abs(rows - counted) > STATISTICS_GROWTH * max(counted, 1)
