"""The tiers below the cache: the hot index in Redis, then MongoDB's text for the scopes that it does not hold."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chalicelib.domain import bm25
from chalicelib.domain.query import (
    Candidate,
    Filter,
    IndexAnswer,
    IndexQuery,
    StoredMemory,
    TermStatistics,
    TierName,
    TierReport,
)
from chalicelib.domain.vector import Vector
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import HotIndex, MemoryStore
from chalicelib.recall.fusion import complete
from chalicelib.recall.question import Question

STORED_ROWS = 360  # memories that MongoDB's text tier may read for one recall; with the statistics it stays under 400
HOT_TIERS = (TierName.HOT_VECTORS, TierName.HOT_TEXT)


@dataclass
class Found:
    """What the tiers found, and what of them was missing."""

    candidates: list[Candidate] = field(default_factory=list)
    statistics: TermStatistics = field(default_factory=lambda: TermStatistics(0, {}))
    reports: list[TierReport] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    unindexed: bool = False
    store_down: bool = False

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each term that stands anywhere."""
        known = self.statistics.frequencies.items()
        return {term: bm25.weight(self.statistics.rows, frequency) for term, frequency in known if frequency}


class Tiers:
    """Asks every tier that is there, and says which were not."""

    def __init__(self, store: MemoryStore, hot: HotIndex | None, candidates: int) -> None:
        self._store = store
        self._hot = hot
        self._candidates = candidates

    def find(self, asked: Question, vector: Vector | None, model: str) -> Found:
        """Candidates for `asked`, each with both scores where both can be had. `vector` is None where it could not be made.

        StoreUnavailable only where MongoDB alone could answer and does not."""
        found = Found()
        left = self._ask_hot(asked, vector, model, found)
        if left and asked.terms:
            self._ask_stored_if_up(asked, left, vector, model, found)
        return found

    def _ask_stored_if_up(
        self, asked: Question, scopes: frozenset[str], vector: Vector | None, model: str, found: Found
    ) -> None:
        """Go on without the tier where it is too slow and another one found something."""
        began = time.perf_counter()
        try:
            self._ask_stored(asked, scopes, vector, model, found)
        except StoreUnavailable as error:
            if not found.candidates:
                raise
            found.reports.append(TierReport(tier=TierName.STORED_TEXT, ms=_since(began), skipped=error.message))
            found.degraded.append(f"{TierName.STORED_TEXT}: {error.message}")

    def _ask_hot(self, asked: Question, vector: Vector | None, model: str, found: Found) -> frozenset[str]:
        everything = frozenset(asked.chain.keys)
        if self._hot is None:
            found.reports += [TierReport(tier=tier, ms=0, skipped="not configured") for tier in HOT_TIERS]
            return everything
        began = time.perf_counter()
        wanted = IndexQuery(vector, model, asked.terms, asked.query.filter, self._candidates)
        try:
            answer = self._hot.search(asked.chain, wanted)
        except StoreUnavailable as error:
            ms = _since(began)
            found.reports += [TierReport(tier=tier, ms=ms, skipped=error.message) for tier in HOT_TIERS]
            found.degraded.append(f"{TierName.HOT_VECTORS}, {TierName.HOT_TEXT}: {error.message}")
            found.store_down = True
            return everything
        found.candidates += answer.candidates
        found.statistics = answer.statistics
        found.unindexed = bool(answer.incomplete)
        _report_hot(answer, vector, asked, _since(began), found)
        return answer.incomplete

    def _ask_stored(
        self, asked: Question, scopes: frozenset[str], vector: Vector | None, model: str, found: Found
    ) -> None:
        began = time.perf_counter()
        chain = asked.chain.only(scopes)
        snapshot = self._store.statistics(chain)
        wanted = asked.query.filter or Filter()
        rows = self._store.text_candidates(chain, asked.words, snapshot, wanted, STORED_ROWS)
        found.statistics = _merged(found.statistics, snapshot, rows, asked.terms)
        known = {candidate.id for candidate in found.candidates}
        fresh = [row for row in rows if row.memory.id not in known]
        candidates = [Candidate(row.memory.id, row.memory.scope_ref.key, row=row) for row in fresh]
        _complete_all(candidates, vector, model, found.weights)
        found.candidates += candidates
        found.reports.append(TierReport(tier=TierName.STORED_TEXT, ms=_since(began), candidates=len(candidates)))
        if candidates and found.unindexed:
            found.degraded.append(
                f"{TierName.HOT_VECTORS}: the index of {len(scopes)} scope(s) is being built; their text was searched"
            )


def _report_hot(answer: IndexAnswer, vector: Vector | None, asked: Question, ms: float, found: Found) -> None:
    by_vector = sum(candidate.cosine is not None for candidate in answer.candidates)
    by_text = sum(bool(candidate.bm25) for candidate in answer.candidates)
    skipped = None
    if vector is None:
        skipped = "the query could not be embedded"
    elif not answer.vectors_searched:
        skipped = "this Redis answers no vector search"
        found.degraded.append(f"{TierName.HOT_VECTORS}: {skipped}")
    elif answer.mismatched:
        found.degraded.append(
            f"{TierName.HOT_VECTORS}: memories of {len(answer.mismatched)} scope(s) have vectors of another model or size; "
            "text still finds them; run: vitto reindex --embed"
        )
    found.reports.append(TierReport(tier=TierName.HOT_VECTORS, ms=ms, candidates=by_vector, skipped=skipped))
    no_words = None if asked.terms else "the query has no words"
    found.reports.append(TierReport(tier=TierName.HOT_TEXT, ms=ms, candidates=by_text, skipped=no_words))


def _complete_all(
    candidates: Sequence[Candidate], vector: Vector | None, model: str, weights: Mapping[str, float]
) -> None:
    for candidate in candidates:
        complete(candidate, vector, model, weights)


def _merged(
    hot: TermStatistics, snapshot: TermStatistics, rows: Sequence[StoredMemory], terms: Sequence[str]
) -> TermStatistics:
    """Statistics over both tiers; a term that no snapshot lists is counted among the rows just read."""
    seen = Counter(term for row in rows for term in set(terms) & row.counts.keys())
    frequencies = {
        term: max(hot.frequencies.get(term, 0) + snapshot.frequencies.get(term, 0), seen[term]) for term in terms
    }
    return TermStatistics(max(hot.rows + snapshot.rows, len(rows)), frequencies)


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 3)
