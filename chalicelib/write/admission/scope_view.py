"""What a scope holds near a candidate, for its novelty: from the hot index, else from MongoDB, and from the batch.

Every question names one scope, the candidate's own, so that nobody's memories bear on another's verdict.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chalicelib.domain import bm25
from chalicelib.domain.query import Candidate, Filter, IndexQuery, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.termselection import MIN_WORDS
from chalicelib.domain.text.terms import index_terms
from chalicelib.domain.vector import Vector, best_cosine
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, Embedder, HotIndex, MemoryStore, Telemetry

TERMS_ASKED = 32  # as many as a query may have words
NEAREST = 10
ROWS_READ = 100
FEW = 10  # items of a request, up to which each is searched by vector, about a millisecond at 10,000 rows
WORTH_A_VECTOR = 0.4  # overlap, of more items than that: below it, vectors move a score by at most 0.06
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


Pair = tuple[StoredMemory, Surroundings]


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
        found = [Surroundings(_asked(row), missing=(INDEX,)) for row in rows]
        places: dict[ScopeRef, list[int]] = {}
        for i, row in enumerate(rows):
            places.setdefault(row.memory.scope_ref, []).append(i)
        for scope, there in places.items():
            wanted = [(rows[i], found[i]) for i in there]
            snapshot = self._snapshot(scope)
            if self._hot:
                self._from_index(self._hot, scope, wanted, snapshot)
            if left := [each for each in wanted if INDEX in each[1].missing]:
                self._from_truth(scope, left, snapshot)
        return found

    def _snapshot(self, scope: ScopeRef) -> TermStatistics:
        """Which terms are frequent in the scope, so that no store is asked for them; none where that cannot be had."""
        try:
            return self._store.statistics(_only(scope))
        except StoreUnavailable as error:
            self._telemetry.event("novelty_without_statistics", reason=error.message)
            return TermStatistics(0, {})

    def _from_index(self, hot: HotIndex, scope: ScopeRef, wanted: Sequence[Pair], snapshot: TermStatistics) -> None:
        try:
            for row, seen in wanted:
                seen.frequencies = {t: n for t, n in snapshot.frequencies.items() if t in seen.counts}
                terms = _rare(seen.counts, snapshot)
                worth_it = len(wanted) <= FEW
                self._search(hot, scope, row, seen, terms, with_vector=worth_it)
                if not worth_it and seen.overlap >= WORTH_A_VECTOR:
                    self._search(hot, scope, row, seen, (), with_vector=True)
        except StoreUnavailable as error:
            self._telemetry.event("novelty_without_index", reason=error.message)

    def _search(
        self,
        hot: HotIndex,
        scope: ScopeRef,
        row: StoredMemory,
        seen: Surroundings,
        terms: tuple[str, ...],
        *,
        with_vector: bool,
    ) -> None:
        vectors = _vectors(row)
        vector = vectors[0] if vectors and with_vector else None
        answer = hot.search(_only(scope), IndexQuery(vector, self._embedder.passage_model, terms, None, NEAREST))
        seen.rows = max(seen.rows, answer.statistics.rows)
        seen.frequencies |= answer.statistics.frequencies
        if vector and answer.vectors_searched:
            seen.similarity = seen.similarity or 0.0
        # of all terms, not of those asked alone: what shares two rare words of a long text does not repeat it
        whole = bm25.score(seen.counts, row.length, _weights(seen))
        for candidate in answer.candidates:
            if candidate.id != row.memory.id:
                seen.near(self._similarity(candidate), _share(candidate.bm25, whole))
        no_vector = not vectors or (with_vector and not answer.vectors_searched)
        seen.missing = (*((INDEX,) if answer.incomplete else ()), *((VECTORS,) if no_vector else ()))

    def _similarity(self, candidate: Candidate) -> float | None:
        return None if candidate.cosine is None else self._embedder.similarity(candidate.cosine)

    def _from_truth(self, scope: ScopeRef, wanted: Sequence[Pair], snapshot: TermStatistics) -> None:
        """Add what MongoDB's text tier finds: the rows with the rare terms of all candidates of one scope."""
        words = [(term,) for term in dict.fromkeys(term for _, seen in wanted for term in seen.counts)]
        try:
            found = self._store.text_candidates(_only(scope), words, snapshot, Filter(), ROWS_READ, now=self._clock())
        except StoreUnavailable as error:
            self._telemetry.event("novelty_without_text", reason=error.message)
            for _, seen in wanted:
                seen.missing = (*seen.missing, TEXT)
            return
        counted = Counter(term for row in found for term in row.counts)
        for row, seen in wanted:
            seen.rows = max(seen.rows, snapshot.rows, len(found))
            for term in seen.counts:
                known = max(snapshot.frequencies.get(term, 0), counted[term])
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
            comparable = vectors and theirs and _model(row) == _model(other)
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


def _rare(counts: Iterable[str], snapshot: TermStatistics) -> tuple[str, ...]:
    """The terms that the snapshot does not list as frequent, and the least frequent where those are too few."""
    ordered = sorted(counts, key=lambda term: snapshot.frequencies.get(term, 0))
    rare = sum(term not in snapshot.frequencies for term in ordered)
    return tuple(ordered[: max(rare, MIN_WORDS)])


def _model(row: StoredMemory) -> str | None:
    return row.memory.embedding.model if row.memory.embedding else None


def _weights(seen: Surroundings) -> dict[str, float]:
    return {term: bm25.weight(seen.rows, seen.frequencies.get(term, 0)) for term in seen.counts}


def _share(score: float | None, whole: float) -> float:
    return min(1.0, score / whole) if score and whole > 0 else 0.0
