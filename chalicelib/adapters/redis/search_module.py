"""Vectors on a server with the search module (FT.*): one hash a chunk, and one exact index a number of dimensions over the
chunks of all scopes, because Valkey 8.2 allows ten indexes; the filter on the scope comes before the nearest neighbours.

A search takes two round trips: the text of each scope with the nearest chunks of each, then what the hits of either lack.
The index may lag behind the rows, or be asked for less than the whole filter: the second also asks the registry whether
each row still has such a vector, and of what type, time and tags it is.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from chalicelib.adapters.redis import chunk_queries, keys
from chalicelib.adapters.redis.chunk_indexes import ChunkIndexes
from chalicelib.adapters.redis.connection import Arg, Call, RedisConnection
from chalicelib.adapters.redis.drivers import StoredVectors, search_at_once
from chalicelib.adapters.redis.searching import Searching
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.query import Candidate, IndexAnswer, IndexQuery
from chalicelib.domain.vector import best_cosine, dimensions
from chalicelib.ports import IndexEntry

_WIDER = 4
_IDS_A_CALL = 500  # a script can unpack 8,000 at most, and should hold the server for a millisecond or two


class SearchModule:
    """`drivers.VectorDriver` over FT.*."""

    name = "search_module"

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection
        self._indexes = ChunkIndexes(connection)

    def prepare(self, sizes: Iterable[int]) -> None:
        for size in sizes:
            self._indexes.prepare(size)

    def stored(self, change: IndexEntry) -> StoredVectors:
        if not change.vectors:
            return StoredVectors()
        fields = json.dumps(chunk_queries.fields_of(change))
        return StoredVectors(change.vectors, fields, {"d": dimensions(change.vectors[0])})

    def search(self, scopes: Sequence[str], query: IndexQuery) -> IndexAnswer:
        if query.vector is None:
            return search_at_once(self._connection, scopes, query, self.name)
        return _Search(self._connection, self._indexes, Searching(scopes, query, self.name)).run()


@dataclass
class _Scope:
    """What is known of one scope: its text hits with their BM25, cosines of rows, its nearest rows, and whether the module
    may know of more."""

    key: str
    text: dict[str, float]
    cosines: dict[str, float] = field(default_factory=dict)
    near: list[Candidate] = field(default_factory=list)
    full: bool = True

    def candidates(self) -> list[Candidate]:
        """The hits of either kind, each once."""
        near = {candidate.id for candidate in self.near}
        others = [id_ for id_ in self.text if id_ not in near]
        return [Candidate(id_, self.key, self.cosines.get(id_), self.text[id_]) for id_ in others] + self.near


class _Search:
    """One search by text and by vector."""

    def __init__(self, connection: RedisConnection, indexes: ChunkIndexes, searching: Searching) -> None:
        self._connection = connection
        self._indexes = indexes
        self._searching = searching
        self._query = searching.query
        self._vector = searching.query.vector or b""
        self._wanted = searching.query.filter

    def run(self) -> IndexAnswer:
        """The answer; by text alone where the module does not search now."""
        texts, nearest = self._first()
        scopes = [
            _Scope(key, {id_.decode(): float(score) for id_, score, *_ in reply[1:]})
            for key, reply in zip(self._searching.scopes, texts[1:], strict=True)
        ]
        unfinished, count = scopes, self._query.limit
        while nearest is not None and unfinished:
            self._complete(unfinished, nearest, count)
            # The module counts chunks and the limit counts rows: ask for more where rows of many chunks fill the answer.
            unfinished = [scope for scope in unfinished if scope.full and len(scope.near) < self._query.limit]
            count *= _WIDER
            nearest = self._ask([scope.key for scope in unfinished], count)
        found = (candidate for scope in scopes for candidate in scope.candidates())
        return self._searching.answer(texts, found, vectors_searched=nearest is not None)

    def _first(self) -> tuple[list[Any], list[Any] | None]:
        """The replies to the text searches, and to the first searches by vector where these can be had."""
        size, scopes = dimensions(self._vector), self._searching.scopes
        calls = self._searching.calls(None, self._query.model)
        asked = [chunk_queries.nearest(scope, self._query, self._query.limit) for scope in scopes]
        replies = self._connection.run([*calls, ("EXISTS", keys.filling(size)), *asked])
        texts, (filling, *nearest) = replies[: len(calls)], replies[len(calls) :]
        if not filling and _answered(nearest):
            return texts, nearest
        return texts, self._ask(scopes, self._query.limit) if self._indexes.ready(size) else None

    def _ask(self, scopes: Sequence[str], count: int) -> list[Any] | None:
        calls = [chunk_queries.nearest(scope, self._query, count) for scope in scopes]
        replies = self._connection.run(calls) if calls else []
        return replies if _answered(replies) else None

    def _complete(self, scopes: Sequence[_Scope], nearest: Sequence[Any], count: int) -> None:
        """Take over what the module found and the registry confirms, with its BM25, and the cosines of the text hits."""
        jobs, calls = [], []
        for scope, reply in zip(scopes, nearest, strict=True):
            scope.near.clear()
            scope.full = len(reply) > 2 * count and count < chunk_queries.MOST_NEIGHBOURS
            cosines = chunk_queries.cosines(scope.key, self._query, reply)
            text = tuple(id_ for id_ in scope.text if id_ not in cosines and id_ not in scope.cosines)
            for near in [*batched(cosines, _IDS_A_CALL, strict=False)] or [()]:
                jobs.append((scope, cosines, near, text))
                calls.append(self._score(scope.key, near, text))
                text = ()
        for (scope, cosines, near, text), reply in zip(jobs, self._connection.run(calls) if calls else (), strict=True):
            self._confirm(scope, cosines, zip(near, reply, strict=False))
            chunks = zip(text, reply[len(near) :], strict=True)
            scope.cosines |= {id_: best_cosine(self._vector, stored) for id_, stored in chunks if stored}

    def _score(self, scope: str, near: Sequence[str], text: Sequence[str]) -> Call:
        size, model = dimensions(self._vector), self._query.model
        arguments: list[Arg] = [
            keys.postings(scope),
            keys.chunks(size, scope, model),
            model,
            size,
            len(near),
            *near,
            *text,
        ]
        return Call("score", [keys.rows(scope), self._searching.weights], arguments)

    def _confirm(self, scope: _Scope, cosines: dict[str, float], near: Iterable[tuple[str, Sequence[bytes]]]) -> None:
        for id_, row in near:
            if not row:
                continue
            score, kind, time, *tags = (value.decode() for value in row)
            if self._wanted is None or self._wanted.matches(MemoryType(kind), tags, int(time)):
                scope.cosines[id_] = cosines[id_]
                if len(scope.near) < self._query.limit:
                    scope.near.append(Candidate(id_, scope.key, cosines[id_], float(score)))


def _answered(replies: Sequence[Any]) -> bool:
    """Whether each is an answer: valkey-search says by a plain string that it ran out of time."""
    return all(isinstance(reply, list) for reply in replies)
