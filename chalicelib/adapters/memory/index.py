"""The hot index in this process: exact, and scored by the same rules as the real one."""

import secrets
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chalicelib.domain import bm25
from chalicelib.domain.keys import new_id
from chalicelib.domain.place import Situation
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
        statistics = _statistics(everything, query)
        weights = {term: bm25.weight(statistics.rows, n) for term, n in statistics.frequencies.items() if n}
        found = [c for scope, entries in scopes.items() for c in _candidates(scope, entries, query, weights)]
        foreign = {e.scope_key for e in everything if query.vector and e.vectors and e.model != query.model}
        return IndexAnswer(
            tuple(found), statistics, incomplete, frozenset(foreign), vectors_searched=query.vector is not None
        )

    def search_many(self, asked: Sequence[tuple[Chain, IndexQuery]]) -> list[IndexAnswer]:
        return [self.search(chain, query) for chain, query in asked]

    def apply(self, changes: Sequence[IndexEntry | IndexRemoval]) -> None:
        with self._lock:
            for told in changes:
                stored = self._rows.get(told.scope_key, {}).get(told.id)
                change = _with_questions(told, stored)
                if stored == change:
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
                self._drop(stored)
                return True
        elif self._gone.get(name, 0) < change.revision and (stored is None or stored.revision <= change.revision):
            if stored:
                self._drop(stored)
            rows[change.id] = change
            self._generations.said(change.scope_key, change.place.names, 1)
            if change.scope_key not in self._complete:
                self._wanted.add(change.scope_key)
            return True
        return False

    def _drop(self, entry: IndexEntry) -> None:
        del self._rows[entry.scope_key][entry.id]
        self._generations.said(entry.scope_key, entry.place.names, -1)

    def begin_rebuild(self, scope_key: str) -> str:
        token = new_id("rebuild")
        with self._lock:
            self._rebuilds[scope_key] = token
            self._complete.discard(scope_key)
            self._generations.bump(scope_key)
            for entry in list(self._rows.get(scope_key, {}).values()):
                self._drop(entry)
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
    """The generations of scopes and who speaks in them, shared by the index that moves them and the cache that asks.

    Each generation begins at random, as on the real store: no two scopes share one, and a lost one never comes back."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._names: dict[str, Counter[str]] = {}

    def bump(self, scope_key: str) -> None:
        """Count one write of the scope."""
        self._counts[scope_key] = self._count(scope_key) + 1

    def of(self, scope_keys: Sequence[str]) -> tuple[str, ...]:
        """The generation of each scope."""
        return tuple(str(self._count(scope)) for scope in scope_keys)

    def said(self, scope_key: str, names: Sequence[str], rows: int) -> None:
        """So many rows more, or fewer, are by a speaker of those names."""
        counts = self._names.setdefault(scope_key, Counter())
        counts.update(dict.fromkeys(names, rows))

    def names_among(self, scope_keys: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
        """Which of `words` are in the name of a speaker there."""
        known = [self._names.get(scope, Counter[str]()) for scope in scope_keys]
        return tuple(word for word in words if any(counts[word] > 0 for counts in known))

    def _count(self, scope_key: str) -> int:
        return self._counts.setdefault(scope_key, secrets.randbelow(_RANDOM_START))


def _with_questions(change: IndexEntry | IndexRemoval, stored: IndexEntry | None) -> IndexEntry | IndexRemoval:
    """`change` with the questions that stay; a term of theirs that the text has is the text's."""
    if isinstance(change, IndexRemoval):
        return change
    if change.questions is not None:
        own = tuple(term for term in change.question_terms if term not in change.counts)
        return replace(change, question_terms=own)
    if stored and (stored.revision, stored.model) == (change.revision, change.model):
        return replace(change, questions=stored.questions, question_terms=stored.question_terms)
    return change


def _statistics(entries: Sequence[IndexEntry], query: IndexQuery) -> TermStatistics:
    frequencies = {term: sum(_holds(entry, term, query) for entry in entries) for term in query.terms}
    return TermStatistics(len(entries), frequencies)


def _holds(entry: IndexEntry, term: str, query: IndexQuery) -> bool:
    return term in entry.counts or (query.prospective and term in entry.question_terms)


def _candidates(
    scope: str, entries: Sequence[IndexEntry], query: IndexQuery, weights: dict[str, float]
) -> list[Candidate]:
    scored = [
        Candidate(entry.id, scope, _cosine(entry, query), _bm25(entry, query, weights))
        for entry in entries
        if query.filter is None or _admits(query.filter, entry)
    ]
    by_text = sorted((c for c in scored if c.bm25), key=lambda c: (c.bm25 or 0, c.id), reverse=True)[: query.limit]
    near = sorted((c for c in scored if c.cosine is not None), key=lambda c: (-(c.cosine or 0), c.id))[: query.limit]
    found = {c.id: c for c in by_text + near}
    asked = {e.id: cosine for e in entries if (cosine := _question_cosine(e, query)) is not None}
    asking = sorted((c for c in scored if c.id in asked), key=lambda c: (-asked[c.id], c.id))[: query.limit]
    found |= {c.id: replace(found.get(c.id, c), question=asked[c.id]) for c in asking}
    positions = _positions(entries)
    by_id = {entry.id: entry for entry in entries}
    return [replace(c, situation=_situation(by_id[c.id], positions)) for c in found.values()]


def _positions(entries: Sequence[IndexEntry]) -> dict[str, int]:
    """How many rows of its session come before each row that has one."""
    sessions: dict[str, list[tuple[int, str]]] = {}
    for entry in entries:
        if entry.place.session:
            sessions.setdefault(entry.place.session, []).append((entry.event_ms, entry.id))
    return {id_: position for said in sessions.values() for position, (_, id_) in enumerate(sorted(said))}


def _situation(entry: IndexEntry, positions: dict[str, int]) -> Situation:
    return Situation(entry.place, positions.get(entry.id), entry.length, entry.event_ms)


def _bm25(entry: IndexEntry, query: IndexQuery, weights: dict[str, float]) -> float:
    score = bm25.score(entry.counts, entry.length, weights)
    if query.prospective:
        impact = bm25.question_impact(entry.length)
        score += sum(weights[term] * impact for term in entry.question_terms if term in weights)
    return score


def _question_cosine(entry: IndexEntry, query: IndexQuery) -> float | None:
    if not query.prospective or query.vector is None or not entry.questions or entry.model != query.model:
        return None
    return best_cosine(query.vector, entry.questions)


def _cosine(entry: IndexEntry, query: IndexQuery) -> float | None:
    if query.vector is None or not entry.vectors or entry.model != query.model:
        return None
    return best_cosine(query.vector, entry.vectors)


def _admits(wanted: Filter, entry: IndexEntry) -> bool:
    return wanted.matches(entry.type, entry.tags, entry.event_ms)
