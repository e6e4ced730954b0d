"""The tiers inside MongoDB, for scopes that the hot index does not hold: Atlas' vector search, and text."""

import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from chalicelib.domain.query import (
    Candidate,
    Filter,
    IndexQuery,
    MissingCode,
    StoredMemory,
    TermStatistics,
    TierName,
)
from chalicelib.domain.scope import Chain
from chalicelib.errors import EmbeddingMismatch, NotSupported, StoreUnavailable
from chalicelib.ports import Clock, MemoryStore, StoredVectors
from chalicelib.recall.found import Found
from chalicelib.recall.fusion import complete
from chalicelib.recall.question import Question

SEARCH_LAG = timedelta(seconds=60)  # what a vector search inside the truth may not know of yet is read from the truth
MOST_RECENT = 100
STORED_ROWS = 360  # memories that MongoDB's text tier may read for one recall; with the statistics it stays under 400


class StoredTiers:
    """Asks both for the scopes that are left. `vectors` is None where there is no vector search beside the store."""

    def __init__(self, store: MemoryStore, vectors: StoredVectors | None, clock: Clock) -> None:
        self._store = store
        self._vectors = vectors
        self._clock = clock

    def ask(self, asked: Question, wanted: IndexQuery, scopes: frozenset[str], found: Found) -> None:
        """Add to `found` what they hold of `scopes`. StoreUnavailable where MongoDB does not answer and nothing else did."""
        chain, began = asked.chain.only(scopes), time.perf_counter()
        near: list[Candidate] = []
        worded: list[Candidate] = []
        try:
            snapshot = self._store.statistics(chain)
            found.statistics = _merged(found.statistics, snapshot, (), asked.terms)
            near = found.add(self._nearest(chain, wanted, snapshot, found), TierName.STORED_VECTORS)
            worded = self._ask_text(chain, asked, wanted, snapshot, found) if asked.terms else []
        except StoreUnavailable as error:
            if not found.candidates:
                raise
            found.report(TierName.STORED_TEXT, began, skipped=error.message)
            found.miss(TierName.STORED_TEXT, MissingCode.STORE_UNAVAILABLE, error.message)
        weights = found.weights
        for candidate in near + worded:
            complete(candidate, wanted.vector, wanted.model, weights)
        for candidate in near:
            candidate.row = None  # the search may lag behind the truth, which is read again

    def _nearest(self, chain: Chain, wanted: IndexQuery, snapshot: TermStatistics, found: Found) -> list[Candidate]:
        began = time.perf_counter()
        if self._vectors is None:
            return []
        if wanted.vector is None:
            found.report(TierName.STORED_VECTORS, began, skipped="the query could not be embedded")
            return []
        try:
            nearest = self._vectors.nearest(chain, wanted, rows=snapshot.rows, now=self._clock())
        except (StoreUnavailable, EmbeddingMismatch) as error:
            found.report(TierName.STORED_VECTORS, began, skipped=error.message)
            if not (
                found.unindexed and isinstance(error, NotSupported)
            ):  # then Redis is what will have the vectors soon
                found.miss(TierName.STORED_VECTORS, _code(error), error.message)
            return []
        lately = self._changed_lately(chain, wanted)
        changed = {candidate.id for candidate in lately}
        own = [c for c in nearest if chain.holds(c.scope_key) and c.id not in changed]
        found.report(TierName.STORED_VECTORS, began, candidates=len(own))
        return own + lately

    def _changed_lately(self, chain: Chain, wanted: IndexQuery) -> list[Candidate]:
        """Rows that the search may have missed, or knows as they were before an edit: a reader finds its own writes."""
        now = self._clock()
        rows = self._store.recent(chain, now - SEARCH_LAG, wanted.filter or Filter(), MOST_RECENT, now=now)
        with_vectors = [row for row in rows if row.memory.embedding and row.memory.embedding.model == wanted.model]
        return [Candidate(row.memory.id, row.memory.scope_ref.key, row=row) for row in with_vectors]

    def _ask_text(
        self, chain: Chain, asked: Question, wanted: IndexQuery, snapshot: TermStatistics, found: Found
    ) -> list[Candidate]:
        began = time.perf_counter()
        conditions = asked.query.filter or Filter()
        rows = self._store.text_candidates(chain, asked.words, snapshot, conditions, STORED_ROWS, now=self._clock())
        found.statistics = _merged(found.statistics, TermStatistics(0, {}), rows, asked.terms)
        fresh = found.add(
            [Candidate(row.memory.id, row.memory.scope_ref.key, row=row) for row in rows], TierName.STORED_TEXT
        )
        found.report(TierName.STORED_TEXT, began, candidates=len(fresh))
        _say_what_text_stood_in_for(fresh, wanted, len(chain.keys), found)
        return fresh


def _code(error: StoreUnavailable | EmbeddingMismatch) -> MissingCode:
    if isinstance(error, EmbeddingMismatch):
        return MissingCode.EMBEDDING_MISMATCH
    return MissingCode.NOT_SUPPORTED if isinstance(error, NotSupported) else MissingCode.STORE_UNAVAILABLE


def _say_what_text_stood_in_for(fresh: Sequence[Candidate], wanted: IndexQuery, scopes: int, found: Found) -> None:
    if fresh and found.unindexed:
        said = f"the index of {scopes} scope(s) is being built; their text was searched"
        found.miss(TierName.HOT_VECTORS, MissingCode.INDEX_INCOMPLETE, said)
    embeddings = [candidate.row.memory.embedding for candidate in fresh if candidate.row]
    if wanted.vector and any(embedding and embedding.model != wanted.model for embedding in embeddings):
        found.miss_vectors(TierName.STORED_TEXT, "memories")


def _merged(
    before: TermStatistics, snapshot: TermStatistics, rows: Sequence[StoredMemory], terms: Sequence[str]
) -> TermStatistics:
    """Statistics over the tiers; a term that no snapshot lists is counted among the rows just read."""
    seen = Counter(term for row in rows for term in set(terms) & row.counts.keys())
    frequencies = {
        term: max(before.frequencies.get(term, 0) + snapshot.frequencies.get(term, 0), seen[term]) for term in terms
    }
    return TermStatistics(max(before.rows + snapshot.rows, len(rows)), frequencies)
