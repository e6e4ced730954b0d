"""The hot index in this process: exact, and scored by the same rules as the real one."""

import secrets
import threading
from collections.abc import Sequence
from typing import Any

from chalicelib.domain import bm25
from chalicelib.domain.keys import new_id
from chalicelib.domain.query import Candidate, Filter, IndexAnswer, IndexQuery, TermStatistics
from chalicelib.domain.scope import Chain
from chalicelib.domain.vector import best_cosine
from chalicelib.ports import IndexEntry, IndexRemoval

_RANDOM_START = 1 << 48


class InMemoryHotIndex:
    """`ports.HotIndex`."""

    def __init__(self, on_change: "GenerationCounter | None" = None) -> None:
        self._lock = threading.RLock()
        self._rows: dict[str, dict[str, IndexEntry]] = {}
        self._gone: dict[tuple[str, str], int] = {}
        self._complete: set[str] = set()
        self._rebuilds: dict[str, str] = {}
        self._wanted: set[str] = set()
        self._changed: set[str] = set()
        self._generations = on_change or GenerationCounter()

    def probe(self) -> dict[str, Any]:
        return {"version": "in-memory", "vectorDriver": "exact"}

    def search(self, chain: Chain, query: IndexQuery) -> IndexAnswer:
        with self._lock:
            scopes = {scope: list(self._rows.get(scope, {}).values()) for scope in chain.keys}
            incomplete = frozenset(chain.keys) - self._complete
            self._wanted |= incomplete
        everything = [entry for entries in scopes.values() for entry in entries]
        statistics = _statistics(everything, query.terms)
        weights = {term: bm25.weight(statistics.rows, n) for term, n in statistics.frequencies.items() if n}
        found = [c for scope, entries in scopes.items() for c in _candidates(scope, entries, query, weights)]
        foreign = {e.scope_key for e in everything if query.vector and e.vectors and e.model != query.model}
        return IndexAnswer(
            tuple(found), statistics, incomplete, frozenset(foreign), vectors_searched=query.vector is not None
        )

    def apply(self, changes: Sequence[IndexEntry | IndexRemoval]) -> None:
        with self._lock:
            for change in changes:
                if self._rows.get(change.scope_key, {}).get(change.id) == change:
                    continue
                self._generations.bump(change.scope_key)
                if self._apply(change):
                    self._changed.add(change.scope_key)

    def _apply(self, change: IndexEntry | IndexRemoval) -> bool:
        """Whether it changed anything."""
        rows = self._rows.setdefault(change.scope_key, {})
        name = change.scope_key, change.id
        stored = rows.get(change.id)
        if isinstance(change, IndexRemoval):
            self._gone[name] = max(self._gone.get(name, 0), change.revision)
            if stored and stored.revision <= change.revision:
                del rows[change.id]
                return True
        elif self._gone.get(name, 0) < change.revision and (stored is None or stored.revision <= change.revision):
            rows[change.id] = change
            if change.scope_key not in self._complete:
                self._wanted.add(change.scope_key)
            return True
        return False

    def begin_rebuild(self, scope_key: str) -> str:
        token = new_id("rebuild")
        with self._lock:
            self._rebuilds[scope_key] = token
            self._complete.discard(scope_key)
            self._generations.bump(scope_key)
            self._rows.pop(scope_key, None)
        return token

    def complete(self, scope_key: str, token: str = "") -> bool:
        with self._lock:
            if token and self._rebuilds.get(scope_key) != token:
                return False
            self._rebuilds.pop(scope_key, None)
            self._complete.add(scope_key)
            self._wanted.discard(scope_key)
            return True

    def wanted(self, limit: int = 100) -> list[str]:
        return self._take(self._wanted, limit)

    def changed(self, limit: int = 100) -> list[tuple[str, int]]:
        return [(scope, len(self._rows.get(scope, {}))) for scope in self._take(self._changed, limit)]

    def _take(self, names: set[str], limit: int) -> list[str]:
        with self._lock:
            taken = sorted(names)[:limit]
            names.difference_update(taken)
        return taken


class GenerationCounter:
    """The generations of scopes, shared by the index that moves them and the cache that compares them.

    Each begins at random, as on the real store: no two scopes share one, and a lost one never comes back."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def bump(self, scope_key: str) -> None:
        """Count one write of the scope."""
        self._counts[scope_key] = self._count(scope_key) + 1

    def of(self, scope_keys: Sequence[str]) -> tuple[str, ...]:
        """The generation of each scope."""
        return tuple(str(self._count(scope)) for scope in scope_keys)

    def _count(self, scope_key: str) -> int:
        return self._counts.setdefault(scope_key, secrets.randbelow(_RANDOM_START))


def _statistics(entries: Sequence[IndexEntry], terms: Sequence[str]) -> TermStatistics:
    return TermStatistics(len(entries), {term: sum(term in entry.counts for entry in entries) for term in terms})


def _candidates(
    scope: str, entries: Sequence[IndexEntry], query: IndexQuery, weights: dict[str, float]
) -> list[Candidate]:
    scored = [
        Candidate(entry.id, scope, _cosine(entry, query), bm25.score(entry.counts, entry.length, weights))
        for entry in entries
        if query.filter is None or _admits(query.filter, entry)
    ]
    by_text = sorted((c for c in scored if c.bm25), key=lambda c: (c.bm25 or 0, c.id), reverse=True)[: query.limit]
    near = sorted((c for c in scored if c.cosine is not None), key=lambda c: (-(c.cosine or 0), c.id))[: query.limit]
    return list({c.id: c for c in by_text + near}.values())


def _cosine(entry: IndexEntry, query: IndexQuery) -> float | None:
    if query.vector is None or not entry.vectors or entry.model != query.model:
        return None
    return best_cosine(query.vector, entry.vectors)


def _admits(wanted: Filter, entry: IndexEntry) -> bool:
    return wanted.matches(entry.type, entry.tags, entry.event_ms)
