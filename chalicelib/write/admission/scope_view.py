"""What a scope holds near a candidate, for its novelty: from the hot index, else from MongoDB, and from the batch.

All of it is of one scope, the candidate's own, so that nobody's memories bear on another's verdict.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chalicelib.domain import bm25
from chalicelib.domain.query import Candidate, Filter, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.vector import Vector, best_cosine
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, Embedder, MemoryStore, Telemetry
from chalicelib.write.lookup import Around, Look, ScopeLookup

ROWS_READ = 100
INDEX, VECTORS, TEXT = "index", "vectors", "mongo_text"
"""What a verdict may have gone without: the hot index, vectors to compare, and MongoDB's text where the index was away."""


@dataclass
class Surroundings:
    """What is known of the scope around one candidate by `counts`, the terms of its content. `frequencies` say in how many
    of its `rows` a term stands; `similarity` is calibrated, None where no vectors could be compared."""

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
    """Looks around candidates."""

    def __init__(
        self, *, store: MemoryStore, lookup: ScopeLookup, embedder: Embedder, telemetry: Telemetry, clock: Clock
    ) -> None:
        self._store = store
        self._lookup = lookup
        self._embedder = embedder
        self._telemetry = telemetry
        self._clock = clock

    def around(self, rows: Sequence[StoredMemory], look: Look | None = None) -> list[Surroundings]:
        """The surroundings of each row in its own scope, as the stores have it. `look` is the request's; MongoDB is asked
        once a scope that the index does not hold."""
        look = look or self._lookup.begin()
        found, left = [], dict[ScopeRef, list[Pair]]()
        for row, around in zip(rows, look.around(rows), strict=True):
            seen = self._from_index(row, around)
            found.append(seen)
            if INDEX in seen.missing:
                left.setdefault(row.memory.scope_ref, []).append((row, seen))
        for scope, wanted in left.items():
            self._from_truth(scope, wanted, self._lookup.snapshot(scope))
        return found

    def _from_index(self, row: StoredMemory, around: Around) -> Surroundings:
        seen = Surroundings(around.counts, missing=(INDEX,))
        seen.frequencies = {t: n for t, n in around.snapshot.frequencies.items() if t in seen.counts}
        if (answer := around.near) is None:
            return seen
        seen.rows = answer.statistics.rows
        seen.frequencies |= answer.statistics.frequencies
        seen.similarity = 0.0 if answer.vectors_searched else None
        # of all terms, not of those asked alone: what shares two rare words of a long text does not repeat it
        whole = bm25.score(seen.counts, row.length, _weights(seen))
        for candidate in answer.candidates:
            if candidate.id != row.memory.id:
                seen.near(self._similarity(candidate), _share(candidate.bm25, whole))
        no_vector = () if answer.vectors_searched else (VECTORS,)
        seen.missing = (*((INDEX,) if answer.incomplete else ()), *no_vector)
        return seen

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


def _only(scope: ScopeRef) -> Chain:
    return Chain(scope.org_id, (scope,))


def _vectors(row: StoredMemory) -> tuple[Vector, ...]:
    return row.memory.embedding.vectors if row.memory.embedding else ()


def _model(row: StoredMemory) -> str | None:
    return row.memory.embedding.model if row.memory.embedding else None


def _weights(seen: Surroundings) -> dict[str, float]:
    return {term: bm25.weight(seen.rows, seen.frequencies.get(term, 0)) for term in seen.counts}


def _share(score: float | None, whole: float) -> float:
    return min(1.0, score / whole) if score and whole > 0 else 0.0
