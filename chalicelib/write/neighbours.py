"""What a scope holds that is like the rows about to be stored in it, for consolidation.

The request's look at the hot index says which rows those are (`write.lookup`): the nearest, those that claim of the
same, and those that state values in like words. Where the index is away, or does not hold the scope, MongoDB's text
tier says it, and the rows changed last. Rows are read from the truth, so that what is decided on them is decided on
what is there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import batched

from chalicelib.domain.budget import aside
from chalicelib.domain.claims.terms import words_alone
from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.query import Filter, IndexAnswer, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.vector import best_cosine, mean
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, Embedder, MemoryStore, Telemetry
from chalicelib.write.lookup import CLAIMING, Around, Look, ScopeLookup, claims_of

NEAREST = 2  # rows by vector, and where a row has none, by words; each is a document to read
ROWS_A_READ = 100  # documents come with their vectors, and a read has a time limit
SECONDS = 2.0  # what a write waits for it at most; without an answer it stores the row as new
ROWS_A_QUERY = 10  # rows of a batch that one query of MongoDB's text tier serves
TEXT_ROWS = 40
RECENT_ROWS = 20
MOST_COMPARED = 40  # rows whose cosine is worked out for one row: those that share most words with it
LATELY = timedelta(minutes=5)


@dataclass(frozen=True)
class Neighbour:
    """A row of the same scope, with what both signals say of the two: the cosine as measured and on the calibrated scale,
    None where either has no vector of the model in use, and the share of their terms that they have in common."""

    row: StoredMemory
    cosine: float | None
    similarity: float | None
    overlap: float

    @property
    def nearness(self) -> tuple[float, float]:
        """What neighbours are ordered by, the highest first."""
        return (self.overlap if self.cosine is None else self.cosine), self.overlap


@dataclass(frozen=True)
class Neighbours:
    """The active rows nearest to one, the nearest first. `missing` says why nobody could look.

    `stating` are those that share most with the words around the values that it states, as far as the index knows, and
    `statistics` says how frequent these words are in the scope."""

    of: StoredMemory
    found: tuple[Neighbour, ...] = ()
    missing: str | None = None
    stating: tuple[StoredMemory, ...] = ()
    statistics: TermStatistics = field(default_factory=lambda: TermStatistics(0, {}))


class NeighbourSearch:
    """Finds neighbours."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        lookup: ScopeLookup,
        embedder: Embedder,
        telemetry: Telemetry,
        clock: Clock,
        seconds: float = SECONDS,
    ) -> None:
        self._store = store
        self._lookup = lookup
        self._embedder = embedder
        self._telemetry = telemetry
        self._clock = clock
        self._seconds = seconds

    def find(self, rows: Sequence[StoredMemory], look: Look | None = None) -> list[Neighbours]:
        """The neighbours of each of `rows` in its own scope, itself left out; `look` is the request's. Never raises for a
        store that is away: that is an event, and stands in the answer."""
        found: dict[str, Neighbours] = {}
        with aside(self._seconds):
            around = zip(rows, (look or self._lookup.begin()).around(rows), strict=True)
            scopes: dict[str, list[tuple[StoredMemory, Around]]] = {}
            for row, seen in around:
                scopes.setdefault(row.memory.scope_ref.key, []).append((row, seen))
            for scope_key, some in scopes.items():
                found |= {one.of.memory.id: one for one in self._in_scope(scope_key, some)}
        return [found[row.memory.id] for row in rows]

    def _in_scope(self, scope_key: str, wanted: Sequence[tuple[StoredMemory, Around]]) -> list[Neighbours]:
        ref = ScopeRef.from_key(scope_key)
        chain, rows = Chain(ref.org_id, (ref,)), [row for row, _ in wanted]
        try:
            if not all(seen.is_whole for _, seen in wanted):
                snapshot = wanted[0][1].snapshot
                known = list(self._stored(chain, rows, snapshot).values())
                return [Neighbours(row, self.nearest(row, known), statistics=snapshot) for row in rows]
            read = self._fetched(chain, [[*_best(seen), *_stating(seen)] for _, seen in wanted])
        except StoreUnavailable as error:
            self._telemetry.event("neighbours_not_found", reason=error.message, rows=len(rows))
            return [Neighbours(row, missing=error.message) for row in rows]
        return [self._around(row, seen, read) for row, seen in wanted]

    def _around(self, row: StoredMemory, seen: Around, read: Mapping[str, StoredMemory]) -> Neighbours:
        near = self.nearest(row, [read[id_] for id_ in _best(seen) if id_ in read])
        stating = self._own(row, [read[id_] for id_ in _stating(seen) if id_ in read])
        return Neighbours(row, near, stating=tuple(stating), statistics=seen.statistics)

    def _own(self, row: StoredMemory, others: Iterable[StoredMemory]) -> list[StoredMemory]:
        """Those of `others` that are active, not expired, of the row's scope, and not the row itself."""
        now = self._clock()
        own = (other for other in others if _may_be_neighbours(row.memory, other.memory))
        return [other for other in own if not other.memory.is_expired(now)]

    def _fetched(self, chain: Chain, ids: Sequence[Sequence[str]]) -> dict[str, StoredMemory]:
        wanted = list(dict.fromkeys(id_ for some in ids for id_ in some))
        reads = (
            self._store.fetch(chain, some, with_vectors=True) for some in batched(wanted, ROWS_A_READ, strict=False)
        )
        return {row.memory.id: row for found in reads for row in found}

    def _stored(
        self, chain: Chain, rows: Sequence[StoredMemory], statistics: TermStatistics
    ) -> dict[str, StoredMemory]:
        now = self._clock()
        found = self._store.recent(chain, now - LATELY, Filter(), RECENT_ROWS, now=now)
        for some in batched(rows, ROWS_A_QUERY, strict=False):
            words = [(term,) for term in dict.fromkeys(term for row in some for term in row.counts)]
            if words:
                found += self._store.text_candidates(chain, words, statistics, Filter(), TEXT_ROWS, now=now)
        return {row.memory.id: row for row in found}

    def nearest(self, row: StoredMemory, others: Iterable[StoredMemory]) -> tuple[Neighbour, ...]:
        """Those of `others` that are nearest to `row`: active, not expired, of its scope, and not the row itself."""
        own = sorted(self._own(row, others), key=lambda other: (-_shared(row, other), other.memory.id))
        near = [self.compare(row, other) for other in own[:MOST_COMPARED]]
        by_vector = sorted(near, key=lambda one: (*one.nearness, one.row.memory.id), reverse=True)[:NEAREST]
        by_words = sorted(near, key=lambda one: (one.overlap, one.row.memory.id), reverse=True)[:NEAREST]
        claiming = [one for one in near if claims_of(row) & claims_of(one.row)]
        latest = sorted(claiming, key=lambda one: (one.row.memory.event_time, one.row.memory.id), reverse=True)[
            :NEAREST
        ]
        kept = {one.row.memory.id: one for one in (*by_vector, *by_words, *latest)}
        return tuple(sorted(kept.values(), key=lambda one: (*one.nearness, one.row.memory.id), reverse=True))

    def compare(self, row: StoredMemory, other: StoredMemory) -> Neighbour:
        """How near the two are."""
        mine, others = row.memory.embedding, other.memory.embedding
        cosine = None
        if mine and others and mine.model == others.model == self._embedder.passage_model:
            cosine = best_cosine(mean(mine.vectors), others.vectors)
        similarity = None if cosine is None else self._embedder.similarity(cosine)
        return Neighbour(other, cosine, similarity, _overlap(row, other))


def _best(seen: Around) -> list[str]:
    """The ids of the nearest by vector, or where none was searched by words, and of those that claim of the same."""
    assert seen.near
    found = _by_vector(seen.near)[:NEAREST] if seen.near.vectors_searched else _by_words(seen.near)[:CLAIMING]
    claiming = _by_words(seen.claiming)[:CLAIMING] if seen.claiming else []
    return list(dict.fromkeys((*found, *claiming)))


def _stating(seen: Around) -> list[str]:
    """The ids of the rows that share most with the words around the row's values."""
    return _by_words(seen.stating)[:CLAIMING] if seen.stating else []


def _by_vector(answer: IndexAnswer) -> list[str]:
    near = [c for c in answer.candidates if c.cosine is not None]
    return [c.id for c in sorted(near, key=lambda c: (-(c.cosine or 0), c.id))]


def _by_words(answer: IndexAnswer) -> list[str]:
    return [c.id for c in sorted(answer.candidates, key=lambda c: (-(c.bm25 or 0), c.id)) if c.bm25]


def _shared(one: StoredMemory, other: StoredMemory) -> float:
    """What is compared first: rows that claim something of the same subject, then those with the same words."""
    return len(claims_of(one) & claims_of(other)) + _overlap(one, other)


def _may_be_neighbours(one: Memory, other: Memory) -> bool:
    return one.id != other.id and one.scope_ref == other.scope_ref and other.status is Status.ACTIVE


def _overlap(one: StoredMemory, other: StoredMemory) -> float:
    mine, others = words_alone(one.counts), words_alone(other.counts)
    return len(mine & others) / len(mine | others) if mine or others else 0.0
