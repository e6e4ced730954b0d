"""The vector search of the truth in this process: exact, over the rows of the in-memory store."""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from chalicelib.domain.memory import Embedding
from chalicelib.domain.query import MAX_STORED_CANDIDATES, Candidate, IndexQuery, StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.domain.termselection import first_share
from chalicelib.domain.vector import Vector, best_cosine, cosine, dimensions, mean
from chalicelib.ports import MemoryStore


class InMemoryStoredVectors:
    """`ports.StoredVectors` over any `MemoryStore` that is small enough to read whole scopes of."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def probe(self) -> dict[str, Any]:
        return {"version": "in-memory"}

    def nearest(self, chain: Chain, query: IndexQuery, *, rows: int, now: datetime) -> list[Candidate]:
        del rows  # it is always exact
        if query.vector is None or not chain.scopes:
            return []
        limit = min(query.limit * len(chain.scopes), MAX_STORED_CANDIDATES)
        first = limit if len(chain.scopes) == 1 else first_share(limit)
        ranked = _ranked(query.vector, [row for scope in chain.keys for row in self._rows(scope, query, now)])
        found = ranked[:first]
        served = {row.memory.scope_ref.key for row in found}
        found += [row for row in ranked if row.memory.scope_ref.key not in served][: limit - first]
        return sorted((_candidate(query.vector, row) for row in found), key=lambda c: (-(c.cosine or 0), c.id))

    def _rows(self, scope: str, query: IndexQuery, now: datetime) -> list[StoredMemory]:
        rows = self._store.rows_of_scope(scope, limit=sys.maxsize)
        return [row for row in rows if _admitted(row, query, now)]


def _admitted(row: StoredMemory, query: IndexQuery, now: datetime) -> bool:
    embedding = row.memory.embedding
    return (
        embedding is not None
        and embedding.model == query.model
        and query.vector is not None
        and embedding.dimensions == dimensions(query.vector)
        and not row.memory.is_expired(now)
        and (query.filter is None or query.filter.admits(row.memory))
    )


def _ranked(vector: Vector, rows: Sequence[StoredMemory]) -> list[StoredMemory]:
    """By the direction of the mean of a row's chunks, which is what an index of one vector a row knows."""
    return sorted(rows, key=lambda row: (-cosine(vector, mean(_embedding(row).vectors)), row.memory.id))


def _candidate(vector: Vector, row: StoredMemory) -> Candidate:
    memory = row.memory.model_copy(update={"embedding": None})
    best = best_cosine(vector, _embedding(row).vectors)
    return Candidate(memory.id, memory.scope_ref.key, best, row=StoredMemory(memory, row.counts, row.length))


def _embedding(row: StoredMemory) -> Embedding:
    assert row.memory.embedding is not None
    return row.memory.embedding
