"""Cold recall: rows that are no longer active, or no longer say what they said, where the question asks for them."""

import time
from collections.abc import Sequence

from chalicelib.domain.budget import time_left
from chalicelib.domain.query import Candidate, Filter, MissingCode, StoredMemory, TierName
from chalicelib.domain.vector import Vector, best_cosine
from chalicelib.errors import EmbeddingFailed, StoreUnavailable
from chalicelib.ports import Clock, Embedder, MemoryStore
from chalicelib.recall.found import Found
from chalicelib.recall.fusion import complete
from chalicelib.recall.question import Question

ARCHIVED_ROWS = 100
CHANGED_ROWS = 300
EARLIER_TEXTS = 8  # of those that share words with the query, the nearest; only today's texts have stored vectors
LEAST_SECONDS = 0.1  # left of the request, or neither the store nor the embedder is asked


class ColdRecall:
    """Adds what it finds to what the tiers found."""

    def __init__(self, store: MemoryStore, embedder: Embedder, clock: Clock) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock

    def ask(self, asked: Question, vector: Vector | None, model: str, found: Found) -> None:
        """Add candidates to `found`, and a report of the tier, also where it was skipped."""
        began = time.perf_counter()
        if skipped := _why_not(asked):
            found.report(TierName.COLD, began, skipped=skipped)
            return
        if time_left() < LEAST_SECONDS:
            _miss(found, began, MissingCode.OUT_OF_TIME, "no time was left")
            return
        try:
            rows = self._rows(asked, found)
        except StoreUnavailable as error:
            _miss(found, began, MissingCode.STORE_UNAVAILABLE, error.message)
            return
        now = self._clock()
        seen = [row for one in rows if (row := asked.seen(one, now))]
        found.learn(seen, asked.terms)
        candidates = [Candidate(row.memory.id, row.memory.scope_ref.key, row=row) for row in seen]
        for candidate in candidates:
            complete(candidate, vector, model, found.weights)
        if vector is not None:
            self._compare_earlier(candidates, vector, found)
        found.replace(candidates, TierName.COLD)
        found.report(TierName.COLD, began, candidates=len(candidates))

    def _compare_earlier(self, candidates: Sequence[Candidate], vector: Vector, found: Found) -> None:
        """Embed texts that rows no longer have, and compare them with the query."""
        bare = [one for one in candidates if one.cosine is None and one.bm25 and one.row]
        nearest = sorted(bare, key=lambda one: (-(one.bm25 or 0), one.id))[:EARLIER_TEXTS]
        if not nearest or time_left() < LEAST_SECONDS:
            return
        try:
            embedded = self._embedder.embed_passages([one.row.memory.indexed_text for one in nearest if one.row])
        except EmbeddingFailed as error:
            found.miss(TierName.COLD, MissingCode.EMBEDDING_FAILED, error.message)
            return
        for candidate, vectors in zip(nearest, embedded, strict=True):
            candidate.cosine = best_cosine(vector, vectors)

    def _rows(self, asked: Question, found: Found) -> Sequence[StoredMemory]:
        rows: dict[str, StoredMemory] = {}
        if asked.query.as_of:
            changed = self._store.changed_after(asked.chain, asked.query.as_of, CHANGED_ROWS)
            rows |= {row.memory.id: row for row in changed}
        if reasons := asked.query.archived_reasons:
            conditions = asked.query.filter or Filter()
            archived = self._store.archived(
                asked.chain,
                asked.words,
                found.statistics,
                reasons=reasons,
                wanted=conditions,
                limit=ARCHIVED_ROWS,
            )
            rows |= {row.memory.id: row for row in archived}
        return list(rows.values())


def _why_not(asked: Question) -> str | None:
    if not asked.query.asks_for_the_past:
        return "nothing of it was asked for (include, asOf)"
    if asked.route.cold or asked.query.as_of:  # an answer as of then would be wrong without it
        return None
    return f"the {asked.route.name} route leaves it out"


def _miss(found: Found, began: float, code: MissingCode, said: str) -> None:
    found.report(TierName.COLD, began, skipped=said)
    found.miss(TierName.COLD, code, said)
