"""What a scope holds near a candidate, for its novelty: from the hot index, else from MongoDB, and from the batch.

Every question names one scope, the candidate's own, so that nobody's memories bear on another's verdict.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chalicelib.domain import bm25
from chalicelib.domain.query import Candidate, Filter, IndexQuery, StoredMemory
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.text.terms import index_terms
from chalicelib.domain.vector import Vector, best_cosine
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, Embedder, HotIndex, MemoryStore, Telemetry

TERMS_ASKED = 32  # as many as a query may have words
NEAREST = 10
ROWS_READ = 100
INDEX, VECTORS, TEXT = "index", "vectors", "mongo_text"
"""What a verdict may have gone without: the hot index, vectors to compare, and MongoDB's text where the index was away."""


@dataclass
class Surroundings:
    """What is known of the scope around one candidate, asked by `counts`, the terms of its content: who said it and when is
    no part of what it says. `frequencies` say in how many of its `rows` a term stands;
    `similarity` is calibrated, None where no vectors could be compared."""

    counts: dict[str, int]
    rows: int = 0
    frequencies: dict[str, int] = field(default_factory=dict)
    similarity: float | None = None
    overlap: float = 0.0
    missing: tuple[str, ...] = ()

    def near(self, similarity: float | None, overlap: float) -> None:
        """Take note of one neighbour."""
        if similarity is not None:
            self.similarity = max(self.similarity or 0.0, similarity)
        self.overlap = max(self.overlap, overlap)


class ScopeView:
    """Looks around candidates. `hot` is None where no Redis is configured."""

    def __init__(
        self, *, store: MemoryStore, hot: HotIndex | None, embedder: Embedder, telemetry: Telemetry, clock: Clock
    ) -> None:
        self._store = store
        self._hot = hot
        self._embedder = embedder
        self._telemetry = telemetry
        self._clock = clock

    def around(self, rows: Sequence[StoredMemory]) -> list[Surroundings]:
        """The surroundings of each row in its own scope, as the stores have it; MongoDB is asked once a scope."""
        found = [self._from_index(row) for row in rows]
        left: dict[ScopeRef, list[int]] = {}
        for i, row in enumerate(rows):
            if INDEX in found[i].missing:
                left.setdefault(row.memory.scope_ref, []).append(i)
        for scope, places in left.items():
            self._from_truth(scope, [(rows[i], found[i]) for i in places])
        return found

    def _from_index(self, row: StoredMemory) -> Surroundings:
        seen = Surroundings(_asked(row), missing=(INDEX,))
        chain, vectors = _only(row.memory.scope_ref), _vectors(row)
        if self._hot is None:
            return seen
        query = IndexQuery(
            vectors[0] if vectors else None, self._embedder.passage_model, tuple(seen.counts), None, NEAREST
        )
        try:
            answer = self._hot.search(chain, query)
        except StoreUnavailable as error:
            self._telemetry.event("novelty_without_index", reason=error.message)
            return seen
        seen.rows, seen.frequencies = answer.statistics.rows, dict(answer.statistics.frequencies)
        if vectors and answer.vectors_searched:
            seen.similarity = 0.0
        whole = bm25.score(seen.counts, row.length, _weights(seen))
        for candidate in answer.candidates:
            if candidate.id != row.memory.id:
                seen.near(self._similarity(candidate), _share(candidate.bm25, whole))
        missing = (*((INDEX,) if answer.incomplete else ()), *((VECTORS,) if seen.similarity is None else ()))
        seen.missing = missing
        return seen

    def _similarity(self, candidate: Candidate) -> float | None:
        return None if candidate.cosine is None else self._embedder.similarity(candidate.cosine)

    def _from_truth(self, scope: ScopeRef, wanted: Sequence[tuple[StoredMemory, Surroundings]]) -> None:
        """Add what MongoDB's text tier finds: the rows with the rare terms of all candidates of one scope."""
        chain = _only(scope)
        terms = dict.fromkeys(term for _, seen in wanted for term in seen.counts)
        try:
            statistics = self._store.statistics(chain)
            words = [(term,) for term in terms]
            found = self._store.text_candidates(chain, words, statistics, Filter(), ROWS_READ, now=self._clock())
        except StoreUnavailable as error:
            self._telemetry.event("novelty_without_text", reason=error.message)
            for _, seen in wanted:
                seen.missing = (*seen.missing, TEXT)
            return
        counted = Counter(term for row in found for term in row.counts)
        for row, seen in wanted:
            seen.rows = max(seen.rows, statistics.rows, len(found))
            for term in seen.counts:
                known = max(statistics.frequencies.get(term, 0), counted[term])
                seen.frequencies[term] = max(seen.frequencies.get(term, 0), known)
            self.compare(row, seen, found)
            if seen.similarity is None and VECTORS not in seen.missing:
                seen.missing = (*seen.missing, VECTORS)

    def compare(self, row: StoredMemory, seen: Surroundings, others: Iterable[StoredMemory]) -> None:
        """Take note of `others`, rows of the same scope, as neighbours of `row`."""
        weights = _weights(seen)
        whole = bm25.score(seen.counts, row.length, weights)
        vectors = _vectors(row)
        for other in others:
            theirs = _vectors(other)
            comparable = vectors and theirs and len(vectors[0]) == len(theirs[0])
            cosine = best_cosine(vectors[0], theirs) if comparable else None
            similarity = None if cosine is None else self._embedder.similarity(cosine)
            seen.near(similarity, _share(bm25.score(other.counts, other.length, weights), whole))


def _asked(row: StoredMemory) -> dict[str, int]:
    counts = index_terms(row.memory.content).counts
    return dict(list(counts.items())[:TERMS_ASKED])


def _only(scope: ScopeRef) -> Chain:
    return Chain(scope.org_id, (scope,))


def _vectors(row: StoredMemory) -> tuple[Vector, ...]:
    return row.memory.embedding.vectors if row.memory.embedding else ()


def _weights(seen: Surroundings) -> dict[str, float]:
    return {term: bm25.weight(seen.rows, seen.frequencies.get(term, 0)) for term in seen.counts}


def _share(score: float | None, whole: float) -> float:
    return min(1.0, score / whole) if score and whole > 0 else 0.0
