"""The tiers below the cache, in order: the hot index in Redis, then MongoDB's own for the scopes that it does not hold."""

import time
from collections.abc import Callable

from chalicelib.domain.query import IndexAnswer, IndexQuery, MissingCode, TierName
from chalicelib.domain.vector import Vector
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, HotIndex, MemoryStore, StoredVectors
from chalicelib.recall.found import Found
from chalicelib.recall.question import Question
from chalicelib.recall.stored import StoredTiers

HOT_TIERS = (TierName.HOT_VECTORS, TierName.HOT_TEXT)


class Tiers:
    """Asks every tier that is there, and says which were not. `prospective` says whether an organization has its memories
    found by their questions, too."""

    def __init__(
        self,
        store: MemoryStore,
        hot: HotIndex | None,
        vectors: StoredVectors | None,
        candidates: int,
        clock: Clock,
        *,
        prospective: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._prospective = prospective
        self._hot = hot
        self._stored = StoredTiers(store, vectors, clock)
        self._candidates = candidates

    def find(self, asked: Question, vector: Vector | None, model: str) -> Found:
        """Candidates for `asked`, each with both scores where both can be had. `vector` is None where it could not be made.

        StoreUnavailable only where MongoDB alone could answer and does not."""
        found = Found()
        matched = asked.route.prospective and self._prospective(asked.chain.org_id)
        wanted = IndexQuery(vector, model, asked.terms, asked.query.filter, self._candidates, prospective=matched)
        if left := self._ask_hot(asked, wanted, found):
            self._stored.ask(asked, wanted, left, found)
        return found

    def _ask_hot(self, asked: Question, wanted: IndexQuery, found: Found) -> frozenset[str]:
        """The scopes that the hot index does not hold completely."""
        everything = frozenset(asked.chain.keys)
        began = time.perf_counter()
        if self._hot is None:
            for tier in HOT_TIERS:
                found.report(tier, began, skipped="not configured")
            return everything
        try:
            answer = self._hot.search(asked.chain, wanted)
        except StoreUnavailable as error:
            for tier in HOT_TIERS:
                found.report(tier, began, skipped=error.message)
                found.miss(tier, MissingCode.STORE_UNAVAILABLE, error.message)
            return everything
        found.candidates += answer.candidates
        found.statistics = answer.statistics
        found.unindexed = bool(answer.incomplete)
        _report_hot(answer, wanted, began, found)
        return answer.incomplete


def _report_hot(answer: IndexAnswer, wanted: IndexQuery, began: float, found: Found) -> None:
    by_vector = sum(candidate.cosine is not None for candidate in answer.candidates)
    by_text = sum(bool(candidate.bm25) for candidate in answer.candidates)
    skipped = None
    if wanted.vector is None:
        skipped = "the query could not be embedded"
    elif not answer.vectors_searched:
        skipped = "this Redis answers no vector search"
        found.miss(TierName.HOT_VECTORS, MissingCode.NOT_SUPPORTED, skipped)
    elif answer.mismatched:
        found.miss_vectors(TierName.HOT_VECTORS, f"memories of {len(answer.mismatched)} scope(s)")
    found.report(TierName.HOT_VECTORS, began, candidates=by_vector, skipped=skipped)
    no_words = None if wanted.terms else "the query has no words"
    found.report(TierName.HOT_TEXT, began, candidates=by_text, skipped=no_words)
