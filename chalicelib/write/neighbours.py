"""What a scope holds that is like the rows about to be stored in it: admission and consolidation ask this one look-up.

The hot index is asked for each row by vector and by what it claims, in its own scope and no other; where it is away, or
does not hold the scope, MongoDB's text tier and the rows changed last. Rows are read from the truth, so that what is decided
on them is decided on what is there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import batched

from chalicelib.domain.budget import aside
from chalicelib.domain.claims.terms import words_alone
from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.query import Candidate, Filter, IndexQuery, StoredMemory
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.vector import best_cosine, mean
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, Embedder, HotIndex, MemoryStore, Telemetry

NEAREST = 2  # rows by vector, and where a row has none, by words; each is a document to read
CLAIMING = 4  # rows that claim something of the same subject and attribute, the latest
ROWS_A_READ = 50  # documents come with their vectors, and a read has a time limit
MOST_TERMS = 10  # of a row, the longest: a search costs what the postings of its terms are long
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
    """The active rows nearest to one, the nearest first. `missing` says why nobody could look."""

    of: StoredMemory
    found: tuple[Neighbour, ...] = ()
    missing: str | None = None


class NeighbourSearch:
    """Finds neighbours. `hot` is None where no Redis is configured."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        hot: HotIndex | None,
        embedder: Embedder,
        telemetry: Telemetry,
        clock: Clock,
        seconds: float = SECONDS,
    ) -> None:
        self._store = store
        self._hot = hot
        self._embedder = embedder
        self._telemetry = telemetry
        self._clock = clock
        self._seconds = seconds

    def find(self, rows: Sequence[StoredMemory]) -> list[Neighbours]:
        """The neighbours of each of `rows` in its own scope, itself left out. Never raises for a store that is away: that is
        an event, and stands in the answer."""
        found: dict[str, Neighbours] = {}
        with aside(self._seconds):
            for scope_key in dict.fromkeys(row.memory.scope_ref.key for row in rows):
                some = [row for row in rows if row.memory.scope_ref.key == scope_key]
                found |= {one.of.memory.id: one for one in self._in_scope(scope_key, some)}
        return [found[row.memory.id] for row in rows]

    def _in_scope(self, scope_key: str, rows: Sequence[StoredMemory]) -> list[Neighbours]:
        ref = ScopeRef.from_key(scope_key)
        chain = Chain(ref.org_id, (ref,))
        try:
            ids = self._hot_ids(chain, rows)
            known = self._stored(chain, rows) if ids is None else self._fetched(chain, ids)
        except StoreUnavailable as error:
            self._telemetry.event("neighbours_not_found", reason=error.message, rows=len(rows))
            return [Neighbours(row, missing=error.message) for row in rows]
        if ids is None:
            return [Neighbours(row, self.nearest(row, known.values())) for row in rows]
        own = [[known[id_] for id_ in some if id_ in known] for some in ids]
        return [Neighbours(row, self.nearest(row, some)) for row, some in zip(rows, own, strict=True)]

    def _hot_ids(self, chain: Chain, rows: Sequence[StoredMemory]) -> list[list[str]] | None:
        """Per row the ids that the hot index finds near it; None where another tier has to be asked."""
        if self._hot is None:
            return None
        found: list[list[str]] = []
        for row in rows:
            try:
                answer = self._hot.search(chain, self._query(row))
            except StoreUnavailable as error:
                self._telemetry.event("neighbours_without_index", reason=error.message)
                return None
            if answer.incomplete:
                return None
            found.append(_best(answer.candidates))
        return found

    def _query(self, row: StoredMemory) -> IndexQuery:
        embedding = row.memory.embedding
        model = self._embedder.passage_model
        vector = mean(embedding.vectors) if embedding and embedding.model == model else None
        words = [] if vector else sorted(words_alone(row.counts), key=lambda term: (-len(term), term))[:MOST_TERMS]
        return IndexQuery(vector, model, (*sorted(_claims(row)), *words), limit=CLAIMING)

    def _fetched(self, chain: Chain, ids: Sequence[Sequence[str]]) -> dict[str, StoredMemory]:
        wanted = list(dict.fromkeys(id_ for some in ids for id_ in some))
        reads = (
            self._store.fetch(chain, some, with_vectors=True) for some in batched(wanted, ROWS_A_READ, strict=False)
        )
        return {row.memory.id: row for found in reads for row in found}

    def _stored(self, chain: Chain, rows: Sequence[StoredMemory]) -> dict[str, StoredMemory]:
        now = self._clock()
        found = self._store.recent(chain, now - LATELY, Filter(), RECENT_ROWS, now=now)
        statistics = self._store.statistics(chain)
        for some in batched(rows, ROWS_A_QUERY, strict=False):
            words = [(term,) for term in dict.fromkeys(term for row in some for term in row.counts)]
            if words:
                found += self._store.text_candidates(chain, words, statistics, Filter(), TEXT_ROWS, now=now)
        return {row.memory.id: row for row in found}

    def nearest(self, row: StoredMemory, others: Iterable[StoredMemory]) -> tuple[Neighbour, ...]:
        """Those of `others` that are nearest to `row`: active, not expired, of its scope, and not the row itself."""
        now = self._clock()
        own = [other for other in others if _may_be_neighbours(row.memory, other.memory)]
        own = sorted(own, key=lambda other: (-_shared(row, other), other.memory.id))[:MOST_COMPARED]
        near = [self.compare(row, other) for other in own if not other.memory.is_expired(now)]
        by_vector = sorted(near, key=lambda one: (*one.nearness, one.row.memory.id), reverse=True)[:NEAREST]
        by_words = sorted(near, key=lambda one: (one.overlap, one.row.memory.id), reverse=True)[:NEAREST]
        claiming = [one for one in near if _claims(row) & _claims(one.row)]
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


def _best(candidates: Sequence[Candidate]) -> list[str]:
    """The best of each signal."""
    near = sorted((c for c in candidates if c.cosine is not None), key=lambda c: (-(c.cosine or 0), c.id))
    worded = sorted((c for c in candidates if c.bm25), key=lambda c: (-(c.bm25 or 0), c.id))
    return [candidate.id for candidate in (*near[:NEAREST], *worded[:CLAIMING])]


def _claims(row: StoredMemory) -> set[str]:
    return row.counts.keys() - words_alone(row.counts)


def _shared(one: StoredMemory, other: StoredMemory) -> float:
    """What is compared first: rows that claim something of the same subject, then those with the same words."""
    return len(_claims(one) & _claims(other)) + _overlap(one, other)


def _may_be_neighbours(one: Memory, other: Memory) -> bool:
    return one.id != other.id and one.scope_ref == other.scope_ref and other.status is Status.ACTIVE


def _overlap(one: StoredMemory, other: StoredMemory) -> float:
    mine, others = words_alone(one.counts), words_alone(other.counts)
    return len(mine & others) / len(mine | others) if mine or others else 0.0
