"""Vectors on a server with the search module (FT.*): one hash a chunk, and one exact index a number of dimensions over the
chunks of all scopes, because Valkey 8.2 allows ten indexes; the filter on the scope comes before the nearest neighbours.

A search takes two round trips: the text of each scope with the nearest chunks of each, then what the hits of either lack;
where prospective questions match, a third for what those rows lack.
The index may lag behind the rows, or be asked for less than the whole filter: the second also asks the registry whether
each row still has such a vector, and of what type, time and tags it is.
"""

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from chalicelib.adapters.redis import chunk_queries, keys, placing
from chalicelib.adapters.redis.chunk_indexes import ChunkIndexes
from chalicelib.adapters.redis.connection import Arg, Attempt, Call, RedisConnection, Sent
from chalicelib.adapters.redis.drivers import StoredVectors, at_once
from chalicelib.adapters.redis.searching import Searching, Steps
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.place import Situation
from chalicelib.domain.query import Candidate, IndexQuery
from chalicelib.domain.questions import MOST_QUESTIONS
from chalicelib.domain.vector import best_cosine, dimensions
from chalicelib.ports import IndexEntry

_WIDER = 4
type Part[T] = Generator[Sequence[Sent], list[Any], T]
_IDS_A_CALL = 500  # a script can unpack 8,000 at most, and should hold the server for a millisecond or two


class SearchModule:
    """`drivers.VectorDriver` over FT.*."""

    name = "search_module"

    def __init__(self, connection: RedisConnection) -> None:
        self._indexes = ChunkIndexes(connection)

    def prepare(self, sizes: Iterable[int]) -> None:
        for size in sizes:
            self._indexes.prepare(size)

    def stored(self, change: IndexEntry) -> StoredVectors:
        if not change.vectors:
            return StoredVectors()
        fields, asked = (json.dumps(chunk_queries.fields_of(change, questions=kind)) for kind in (False, True))
        entry = {"d": dimensions(change.vectors[0])}
        return StoredVectors(change.vectors, fields, change.questions or (), asked, entry)

    def steps(self, scopes: Sequence[str], query: IndexQuery) -> Steps:
        if query.vector is None:
            return at_once(scopes, query, self.name)
        return _Search(self._indexes, Searching(scopes, query, self.name)).run()


@dataclass
class _Scope:
    """What is known of one scope: its text hits with their BM25, cosines of rows, its nearest rows, whether the module may
    know of more, and the rows with the nearest questions."""

    key: str
    text: dict[str, float]
    situations: dict[str, Situation | None] = field(default_factory=dict)
    cosines: dict[str, float] = field(default_factory=dict)
    near: list[Candidate] = field(default_factory=list)
    full: bool = True
    asked: list[Candidate] = field(default_factory=list)

    def candidates(self) -> list[Candidate]:
        """The hits of every kind, each once."""
        questions = {candidate.id: candidate.question for candidate in self.asked}
        found = {id_: Candidate(id_, self.key, bm25=score) for id_, score in self.text.items()}
        found |= {candidate.id: candidate for candidate in (*self.asked, *self.near)}
        for id_, candidate in found.items():
            candidate.cosine = self.cosines.get(id_)
            candidate.question = questions.get(id_)
            candidate.situation = self.situations.get(id_)
        return list(found.values())


class _Search:
    """One search by text and by vector."""

    def __init__(self, indexes: ChunkIndexes, searching: Searching) -> None:
        self._indexes = indexes
        self._searching = searching
        self._query = searching.query
        self._vector = searching.query.vector or b""
        self._wanted = searching.query.filter

    def run(self) -> Steps:
        """Its steps; the answer is by text alone where the module does not search now."""
        texts, nearest, asked = yield from self._first()
        scopes = [_scope(key, reply[1:]) for key, reply in zip(self._searching.scopes, texts[1:], strict=True)]
        unfinished, count = scopes, self._query.limit
        while nearest is not None and unfinished:
            yield from self._complete(unfinished, nearest, count)
            # The module counts chunks and the limit counts rows: ask for more where rows of many chunks fill the answer.
            unfinished = [scope for scope in unfinished if scope.full and len(scope.near) < self._query.limit]
            count *= _WIDER
            nearest = yield from self._ask([scope.key for scope in unfinished], count)
        if asked is not None:
            yield from self._add_questions(scopes, asked)
        found = (candidate for scope in scopes for candidate in scope.candidates())
        return self._searching.answer(texts, found, vectors_searched=nearest is not None)

    def _first(self) -> Part[tuple[list[Any], list[Any] | None, list[Any] | None]]:
        """The replies to the text searches, and to the first searches by vector, of memories and of questions, where these
        can be had."""
        size, scopes = dimensions(self._vector), self._searching.scopes
        calls = self._searching.calls(None, self._query.model)
        asked = [*self._nearest(scopes, self._query.limit), *self._nearest_questions()]
        replies = yield [*calls, ("EXISTS", keys.filling(size)), *asked]
        texts, (filling, *nearest) = replies[: len(calls)], replies[len(calls) :]
        if filling or not _answered(nearest):
            if not self._indexes.ready(size):
                return texts, None, None
            nearest = yield asked
        if not _answered(nearest):
            return texts, None, None
        return texts, nearest[: len(scopes)], nearest[len(scopes) :] or None

    def _nearest(self, scopes: Sequence[str], count: int) -> list[Attempt]:
        return [chunk_queries.nearest(scope, self._query, count) for scope in scopes]

    def _nearest_questions(self) -> list[Attempt]:
        """As many as `limit` rows can have at most, so that those of one row crowd out no other."""
        if not self._query.prospective:
            return []
        count = self._query.limit * MOST_QUESTIONS
        return [chunk_queries.nearest(scope, self._query, count, questions=True) for scope in self._searching.scopes]

    def _ask(self, scopes: Sequence[str], count: int) -> Part[list[Any] | None]:
        calls = self._nearest(scopes, count)
        replies = (yield calls) if calls else []
        return replies if _answered(replies) else None

    def _add_questions(self, scopes: Sequence[_Scope], replies: Sequence[Any]) -> Part[None]:
        """Take over the rows whose questions the module found and which the registry confirms, with what they lack."""
        jobs, calls = [], []
        for scope, reply in zip(scopes, replies, strict=True):
            questions = chunk_queries.cosines(scope.key, self._query, reply)
            for ids in batched(questions, _IDS_A_CALL, strict=False):
                lacking = [id_ for id_ in ids if id_ not in scope.cosines]
                jobs.append((scope, questions, ids, lacking))
                calls.append(self._score(scope.key, ids, lacking))
        scored = (yield calls) if calls else []
        for (scope, questions, ids, lacking), reply in zip(jobs, scored, strict=True):
            self._keep_chunks(scope, lacking, reply[len(ids) :])
            for candidate in self._confirmed(scope, zip(ids, reply, strict=False)):
                if len(scope.asked) < self._query.limit:
                    candidate.question = questions[candidate.id]
                    scope.asked.append(candidate)

    def _complete(self, scopes: Sequence[_Scope], nearest: Sequence[Any], count: int) -> Part[None]:
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
        scored = (yield calls) if calls else []
        for (scope, cosines, near, text), reply in zip(jobs, scored, strict=True):
            for candidate in self._confirmed(scope, zip(near, reply, strict=False)):
                candidate.cosine = scope.cosines[candidate.id] = cosines[candidate.id]
                if len(scope.near) < self._query.limit:
                    scope.near.append(candidate)
            self._keep_chunks(scope, text, reply[len(near) :])

    def _keep_chunks(self, scope: _Scope, ids: Sequence[str], replies: Sequence[Any]) -> None:
        chunks = zip(ids, replies, strict=True)
        scope.cosines |= {id_: best_cosine(self._vector, stored) for id_, stored in chunks if stored}

    def _score(self, scope: str, near: Sequence[str], text: Sequence[str]) -> Call:
        size, model = dimensions(self._vector), self._query.model
        arguments: list[Arg] = [
            keys.postings(scope),
            keys.chunks(size, scope, model),
            model,
            size,
            keys.question_postings(scope) if self._query.prospective else "",
            len(near),
            *near,
            *text,
        ]
        return Call("score", [keys.rows(scope), self._searching.weights, keys.places(scope)], arguments)

    def _confirmed(self, scope: _Scope, near: Iterable[tuple[str, Sequence[bytes]]]) -> Iterator[Candidate]:
        """The rows that have such a vector and that the filter admits, with their BM25."""
        for id_, row in near:
            if not row:
                continue
            score, place, position, kind, time, *tags = row
            scope.situations[id_] = placing.situation(place, position)
            if self._wanted is None or self._wanted.matches(
                MemoryType(kind.decode()), [tag.decode() for tag in tags], int(time)
            ):
                yield Candidate(id_, scope.key, bm25=float(score))


def _scope(key: str, rows: Iterable[Sequence[Any]]) -> _Scope:
    """A scope with what its text search found."""
    scope = _Scope(key, {})
    for id_, score, *_, place, position in rows:
        scope.text[id_.decode()] = float(score)
        scope.situations[id_.decode()] = placing.situation(place, position)
    return scope


def _answered(replies: Sequence[Any]) -> bool:
    """Whether each is an answer: valkey-search says by a plain string that it ran out of time."""
    return all(isinstance(reply, list) for reply in replies)
