"""The read path, from a query to an explained answer.

    question → cache → [route] → tiers → fusion → rows from the truth → [conflict] → answer → cache and audit

Routing and conflict resolution have their places where the brackets stand. With all tiers up a recall that is not cached
takes three round trips to Redis and one to MongoDB, a second where rows that were found turned out not to be readable.
"""

import json
import time
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.caller import Caller
from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import Status
from chalicelib.domain.query import (
    Candidate,
    EmptyReason,
    Hit,
    RecallAnswer,
    RecallQuery,
    RecallRecord,
    StoredMemory,
    TierName,
    TierReport,
)
from chalicelib.domain.vector import Vector
from chalicelib.errors import EmbeddingFailed, StoreUnavailable
from chalicelib.ports import (
    Browse,
    CacheEntry,
    CacheOpening,
    Clock,
    Embedder,
    HotIndex,
    MemoryStore,
    RecallCache,
    RecallStore,
    Telemetry,
)
from chalicelib.recall.audit import audited
from chalicelib.recall.explain import best_bm25, calibrated, empty, scores, why
from chalicelib.recall.fusion import Fused, fuse
from chalicelib.recall.question import Question, question
from chalicelib.recall.tiers import Found, Tiers
from chalicelib.settings import RecallSettings

SPARE_ROWS = 10  # rows read beyond the limit, for those that turn out archived or expired
_OPEN_FAILED = CacheOpening(None, (), None)


@dataclass(frozen=True)
class _Run:
    """One recall under way."""

    id: str
    asked: Question
    began: float
    opening: CacheOpening
    cache_ms: float


class RecallPipeline:
    """`recall` is all of it. `cache` and `hot` are None where no Redis is configured."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        hot: HotIndex | None,
        cache: RecallCache | None,
        records: RecallStore,
        embedder: Embedder,
        telemetry: Telemetry,
        clock: Clock,
        settings: RecallSettings,
    ) -> None:
        self._store = store
        self._tiers = Tiers(store, hot, settings.candidates)
        self._cache = cache
        self._records = records
        self._embedder = embedder
        self._telemetry = telemetry
        self._clock = clock
        self._settings = settings

    def recall(self, caller: Caller, query: RecallQuery) -> dict[str, Any]:
        """The answer's wire form. InvalidInput and NotFound for a wrong question, StoreUnavailable without MongoDB."""
        began = time.perf_counter()
        asked = question(caller, query)
        run_id = new_id("rcl")
        opening = self._open(run_id, asked)
        run = _Run(run_id, asked, began, opening, _ms_since(began))
        if opening.body is not None:
            return _served(run)
        return self._answer(run).body()

    def _open(self, run_id: str, asked: Question) -> CacheOpening:
        if self._cache is None:
            return _OPEN_FAILED
        record = self._record(run_id, asked).model_copy(update={"cached": True})
        model = self._embedder.passage_model
        try:
            return self._cache.open(
                asked.chain, asked.answer_key(model), asked.vector_key(model), record.model_dump_json()
            )
        except StoreUnavailable:
            return _OPEN_FAILED

    def _answer(self, run: _Run) -> RecallAnswer:
        vector, problem = self._vector(run)
        found = self._tiers.find(run.asked, vector, self._embedder.passage_model)
        if problem:
            found.degraded.insert(0, problem)
        hits = self._hits(run.asked, found)
        answer = RecallAnswer(
            recall_id=run.id,
            hits=tuple(hits),
            empty=None if hits else empty(self._why_empty(run.asked, found)),
            tiers=(self._cache_report(run), *found.reports),
            degraded=tuple(found.degraded),
            took_ms=_ms_since(run.began),
        )
        for name in found.degraded:
            self._telemetry.event("recall_degraded", recall_id=run.id, missing=name)
        self._close(run, answer, vector)
        return answer

    def _vector(self, run: _Run) -> tuple[Vector | None, str | None]:
        if run.opening.vector is not None:
            return run.opening.vector, None
        try:
            return self._embedder.embed_query(run.asked.text), None
        except EmbeddingFailed as error:
            return None, f"vectors: {error.message}"

    def _hits(self, asked: Question, found: Found) -> list[Hit]:
        order = fuse(found.candidates)
        best = best_bm25(asked.words, found.weights, found.statistics.rows)
        hits: list[Hit] = []
        wanted = asked.query.limit
        for start, count in ((0, wanted + SPARE_ROWS), (wanted + SPARE_ROWS, wanted + SPARE_ROWS)):
            part = order[start : start + count]
            if not part or len(hits) >= wanted:
                break
            rows = self._rows(asked, part)
            hits += [self._hit(one, rows[one.candidate.id], asked, best) for one in part if one.candidate.id in rows]
        if not hits or max(hit.score for hit in hits) < self._settings.abstain_below:
            return []
        return [hit for hit in hits if hit.score >= asked.query.min_score][:wanted]

    def _rows(self, asked: Question, part: list[Fused]) -> dict[str, StoredMemory]:
        """The rows of these candidates as the truth has them now, without those that may not be recalled."""
        rows = {one.candidate.id: one.candidate.row for one in part if one.candidate.row}
        if missing := [one.candidate.id for one in part if one.candidate.id not in rows]:
            rows |= {row.memory.id: row for row in self._store.fetch(asked.chain, missing)}
        now, wanted = self._clock(), asked.query.filter
        return {
            id_: row
            for id_, row in rows.items()
            if row.memory.status is Status.ACTIVE
            and (row.memory.expires_at is None or row.memory.expires_at > now)
            and (wanted is None or wanted.admits(row.memory))
        }

    def _hit(self, one: Fused, row: StoredMemory, asked: Question, best: float) -> Hit:
        candidate = one.candidate
        similarity = None if candidate.cosine is None else self._embedder.similarity(candidate.cosine)
        parts = scores(candidate, similarity, best, one.score)
        memory = row.memory.model_copy(update={"embedding": None, "history": (), "admission": None})
        return Hit(
            memory=memory,
            score=calibrated(parts),
            scores=parts,
            tier=_tier(candidate),
            why=why(parts, asked.words, row.counts),
        )

    def _why_empty(self, asked: Question, found: Found) -> EmptyReason:
        if found.store_down:
            return EmptyReason.STORE_DOWN
        if not found.candidates and asked.query.filter and found.statistics.rows:
            return EmptyReason.ALL_FILTERED
        if not found.candidates and not self._store.browse(asked.chain, Browse(limit=1)).items:
            return EmptyReason.NOTHING_STORED
        if found.unindexed:
            return EmptyReason.NOT_INDEXED_YET
        if found.candidates and asked.query.min_score > self._settings.abstain_below:
            return EmptyReason.ALL_FILTERED
        return EmptyReason.NOTHING_SIMILAR

    def _close(self, run: _Run, answer: RecallAnswer, vector: Vector | None) -> None:
        record = self._record(run.id, run.asked).model_copy(
            update={
                "hits": audited(answer.hits),
                "empty": answer.empty.reason if answer.empty else None,
                "tiers": answer.tiers,
                "degraded": answer.degraded,
            }
        )
        model = self._embedder.passage_model
        fresh = None if vector is None or run.opening.vector else (run.asked.vector_key(model), vector)
        if self._cache is not None and run.opening is not _OPEN_FAILED:
            try:
                self._cache.close(self._entry(run, answer, record, model), fresh, record.model_dump_json())
            except StoreUnavailable as error:
                self._telemetry.event("recall_not_cached", recall_id=run.id, reason=error.message)
            else:
                return
        self._records.add([record])

    def _entry(self, run: _Run, answer: RecallAnswer, record: RecallRecord, model: str) -> CacheEntry | None:
        """The answer as a cache entry, unless it is degraded: what was missing may be back at the next recall."""
        seconds = self._settings.cache_seconds
        now = self._clock()
        for hit in answer.hits:
            if hit.memory.expires_at:
                seconds = min(seconds, int((hit.memory.expires_at - now).total_seconds()))
        not_indexed = answer.empty and answer.empty.reason is EmptyReason.NOT_INDEXED_YET
        if seconds < 1 or answer.degraded or not_indexed:
            return None
        body = json.dumps(answer.body(), ensure_ascii=False)
        return CacheEntry(run.asked.answer_key(model), run.opening.generations, body, record.model_dump_json(), seconds)

    def _record(self, run_id: str, asked: Question) -> RecallRecord:
        caller = asked.caller
        return RecallRecord(
            recall_id=run_id,
            org_id=caller.org_id,
            user_id=caller.user_id,
            credential=caller.credential,
            at=self._clock(),
            query=asked.text,
            scopes=asked.chain.keys,
        )

    def _cache_report(self, run: _Run) -> TierReport:
        skipped = None
        if self._cache is None:
            skipped = "not configured"
        elif run.opening is _OPEN_FAILED:
            skipped = "redis is unavailable"
        return TierReport(tier=TierName.CACHE, ms=run.cache_ms, skipped=skipped)


def _served(run: _Run) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(run.opening.body or "{}")
    report = TierReport(tier=TierName.CACHE, ms=run.cache_ms, candidates=len(body["hits"]))
    tiers = [report.model_dump(mode="json", by_alias=True, exclude_none=True)]
    return body | {"recallId": run.id, "cached": True, "tiers": tiers, "tookMs": _ms_since(run.began)}


def _tier(candidate: Candidate) -> TierName:
    if candidate.row is not None:
        return TierName.STORED_TEXT
    return TierName.HOT_TEXT if candidate.cosine is None else TierName.HOT_VECTORS


def _ms_since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 3)
