"""The memory store in this process: a dictionary under a lock, with the promises of the real one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from chalicelib.adapters.memory.related import RelatedReads
from chalicelib.adapters.memory.retention import paged
from chalicelib.adapters.paging import decode, page
from chalicelib.domain.administration import Page
from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import IndexState, Memory, Status, content_key
from chalicelib.domain.query import Filter, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain
from chalicelib.domain.termselection import first_share, frequent_terms, rare_terms
from chalicelib.errors import DuplicateContent
from chalicelib.ports import Browse


class InMemoryMemoryStore(RelatedReads):
    """`ports.MemoryStore`."""

    def __init__(self) -> None:
        super().__init__()
        self._snapshots: dict[str, TermStatistics] = {}
        self._repairs: dict[str, str] = {}

    def probe(self) -> dict[str, Any]:
        return {"version": "in-memory"}

    def insert(self, rows: Sequence[StoredMemory]) -> list[str | None]:
        with self._lock:
            return [self._insert(row) for row in rows]

    def _insert(self, row: StoredMemory) -> str | None:
        if row.memory.is_live and (existing := self._live_twin(row.memory)):
            return existing
        self._rows[row.memory.org_id, row.memory.id] = row
        return None

    def _live_twin(self, memory: Memory) -> str | None:
        wanted = content_key(memory)
        rows = (row.memory for row in self._rows.values() if row.memory.is_live)
        return next((other.id for other in rows if content_key(other) == wanted), None)

    def find_duplicates(self, rows: Sequence[Memory]) -> list[str | None]:
        with self._lock:
            return [self._live_twin(memory) for memory in rows]

    def fetch(self, chain: Chain, ids: Sequence[str], *, with_vectors: bool = False) -> list[StoredMemory]:
        with self._lock:
            found = [self._rows[chain.org_id, id_] for id_ in dict.fromkeys(ids) if (chain.org_id, id_) in self._rows]
        return [row if with_vectors else _bare(row) for row in found if chain.holds(row.memory.scope_ref.key)]

    def replace(self, row: StoredMemory, expected_revision: int) -> bool:
        name = row.memory.org_id, row.memory.id
        with self._lock:
            if name not in self._rows or self._rows[name].memory.revision != expected_revision:
                return False
            twin = self._live_twin(row.memory) if row.memory.is_live else None
            if twin not in {None, row.memory.id}:
                raise DuplicateContent("the same content is live in this scope already")
            self._rows[name] = row
            return True

    def purge(self, chain: Chain, id_: str) -> bool:
        with self._lock:
            row = self._rows.get((chain.org_id, id_))
            if row is None or not chain.holds(row.memory.scope_ref.key):
                return False
            del self._rows[chain.org_id, id_]
            return True

    def settle(self, indexed: Sequence[tuple[Memory, bool]]) -> None:
        with self._lock:
            for memory, done in indexed:
                row = self._rows.get((memory.org_id, memory.id))
                if row and row.memory.revision == memory.revision:
                    state = IndexState.INDEXED if done else IndexState.PENDING
                    changed = row.memory.model_copy(update={"index_state": state})
                    self._rows[memory.org_id, memory.id] = StoredMemory(changed, row.counts, row.length)

    def browse(self, chain: Chain, wanted: Browse) -> Page[Memory]:
        return self._browse(lambda memory: chain.holds(memory.scope_ref.key), wanted)

    def browse_organization(self, org_id: str, wanted: Browse) -> Page[Memory]:
        return self._browse(lambda memory: memory.org_id == org_id, wanted)

    def _browse(self, is_seen: Callable[[Memory], bool], wanted: Browse) -> Page[Memory]:
        before = decode(wanted.cursor) if wanted.cursor else None
        with self._lock:
            rows = [row for row in self._rows.values() if is_seen(row.memory) and _listed(row, wanted)]
        memories = sorted((row.memory for row in rows), key=lambda m: (m.created_at, m.id), reverse=True)
        memories = [m for m in memories if before is None or (m.created_at, m.id) < before][: wanted.limit + 1]
        return page([_without_vectors(m) for m in memories], wanted.limit, [(m.created_at, m.id) for m in memories])

    def text_candidates(
        self,
        chain: Chain,
        words: Sequence[tuple[str, ...]],
        statistics: TermStatistics,
        wanted: Filter,
        limit: int,
        *,
        now: datetime,
    ) -> list[StoredMemory]:
        terms = set(rare_terms(words, statistics, limit))
        with self._lock:
            rows = [row for row in self._rows.values() if chain.holds(row.memory.scope_ref.key)]
        found = [row for row in rows if row.memory.status is Status.ACTIVE and terms & set(row.counts)]
        found = [row for row in found if wanted.admits(row.memory) and not row.memory.is_expired(now)]
        found.sort(key=lambda row: row.memory.scope_ref.key)
        first = found[: first_share(limit)]
        served = {row.memory.scope_ref.key for row in first}
        others = [row for row in found if row.memory.scope_ref.key not in served]
        return first + others[: limit - len(first)]

    def recent(self, chain: Chain, since: datetime, wanted: Filter, limit: int, *, now: datetime) -> list[StoredMemory]:
        with self._lock:
            rows = [row for row in self._rows.values() if chain.holds(row.memory.scope_ref.key)]
        found = [row for row in rows if row.memory.status is Status.ACTIVE and row.memory.updated_at >= since]
        found = [row for row in found if wanted.admits(row.memory) and not row.memory.is_expired(now)]
        return sorted(found, key=lambda row: row.memory.updated_at, reverse=True)[:limit]

    def statistics(self, chain: Chain) -> TermStatistics:
        known = [self._snapshots[scope] for scope in chain.keys if scope in self._snapshots]
        frequencies: Counter[str] = Counter()
        for snapshot in known:
            frequencies.update(snapshot.frequencies)
        return TermStatistics(sum(snapshot.rows for snapshot in known), dict(frequencies))

    def take_statistics(self, scope_key: str) -> None:
        rows = self._active(scope_key)
        counted = Counter(term for row in rows for term in row.counts)
        self._snapshots[scope_key] = TermStatistics(len(rows), frequent_terms(dict(counted), len(rows)))

    def _active(self, scope_key: str) -> list[StoredMemory]:
        with self._lock:
            rows = [row for row in self._rows.values() if row.memory.scope_ref.key == scope_key]
        return [row for row in rows if row.memory.status is Status.ACTIVE]

    def pending(self, before: datetime, limit: int, *, after: Memory | None = None) -> list[StoredMemory]:
        with self._lock:
            rows = [row for row in self._rows.values() if row.memory.index_state is IndexState.PENDING]
        rows = [row for row in rows if row.memory.updated_at < before]
        return paged(rows, (after.org_id, after.id) if after else None, limit)

    def changed_since(self, since: datetime, *, after: Memory | None = None, limit: int = 200) -> list[StoredMemory]:
        with self._lock:
            rows = [row for row in self._rows.values() if row.memory.updated_at >= since]
        return paged(rows, (after.org_id, after.id) if after else None, limit)

    def expired(self, after: datetime, until: datetime, limit: int) -> list[StoredMemory]:
        with self._lock:
            rows = [row for row in self._rows.values() if row.memory.status is Status.ACTIVE]
        ended = [(row.memory.expires_at, row.memory.id, row) for row in rows if row.memory.expires_at]
        return [row for at, _, row in sorted(ended, key=lambda one: one[:2]) if after < at <= until][:limit]

    def holds_any(self, chain: Chain) -> bool:
        return any(self._active_in(chain))

    def awaits_index(self, chain: Chain) -> bool:
        return any(memory.index_state is IndexState.PENDING for memory in self._active_in(chain))

    def _active_in(self, chain: Chain) -> list[Memory]:
        with self._lock:
            rows = [row.memory for row in self._rows.values() if chain.holds(row.memory.scope_ref.key)]
        return [memory for memory in rows if memory.status is Status.ACTIVE]

    def count_pending(self, limit: int = 1000) -> int:
        with self._lock:
            pending = sum(row.memory.index_state is IndexState.PENDING for row in self._rows.values())
        return min(limit, pending)

    def rows_of_scope(self, scope_key: str, *, after: str = "", limit: int = 200) -> list[StoredMemory]:
        rows = sorted(self._active(scope_key), key=lambda row: row.memory.id)
        return [row for row in rows if row.memory.id > after][:limit]

    def scope_keys(self) -> Iterator[str]:
        with self._lock:
            yield from sorted({row.memory.scope_ref.key for row in self._rows.values()})

    def mark_for_repair(self, scope_keys: Iterable[str]) -> str:
        token = new_id("repair")
        with self._lock:
            self._repairs.update(dict.fromkeys(scope_keys, token))
        return token

    def marked_for_repair(self, limit: int = 100) -> list[tuple[str, str]]:
        with self._lock:
            return list(self._repairs.items())[:limit]

    def repaired(self, scope_key: str, token: str) -> None:
        with self._lock:
            if self._repairs.get(scope_key) == token:
                del self._repairs[scope_key]


def _listed(row: StoredMemory, wanted: Browse) -> bool:
    memory = row.memory
    return (
        wanted.status in {None, memory.status}
        and wanted.scope in {None, memory.scope}
        and wanted.scope_id in {None, memory.scope_id}
        and not memory.is_forgotten
        and wanted.type in {None, memory.type}
        and (wanted.tag is None or wanted.tag in memory.tags)
        and all(any(term in row.counts for term in word) for word in wanted.words)
    )


def _without_vectors(memory: Memory) -> Memory:
    return memory.model_copy(update={"embedding": None})


def _bare(row: StoredMemory) -> StoredMemory:
    return StoredMemory(_without_vectors(row.memory), row.counts, row.length)
