"""The read path, from a query to an explained answer.

    question → router and plugins → cache → search → cache and audit → plugins

The search (`recall.search`) is everything between the cache and the answer. Answers are cached and audited as they are
before plugins see them, and plugins see each one that goes out. With all tiers up a recall that is not cached takes three
round trips to Redis and one to MongoDB, a second where rows that were found turned out not to be readable; the deep route,
and what is asked of the past, take more.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.budget import budget
from chalicelib.domain.caller import Caller
from chalicelib.domain.keys import new_id
from chalicelib.domain.query import (
    EmptyReason,
    Missing,
    MissingCode,
    RecallAnswer,
    RecallQuery,
    RecallRecord,
    TierName,
    TierReport,
)
from chalicelib.domain.text.names import without_names
from chalicelib.domain.vector import Vector
from chalicelib.errors import EmbeddingFailed, EmbeddingMismatch, InvalidInput, StoreUnavailable
from chalicelib.plugins.manager import Reports
from chalicelib.ports import (
    CacheEntry,
    CacheOpening,
    Clock,
    Embedder,
    HotIndex,
    MemoryStore,
    RecallCache,
    RecallStore,
    StoredVectors,
    Telemetry,
    vector_under,
)
from chalicelib.recall.audit import audited
from chalicelib.recall.cold import ColdRecall
from chalicelib.recall.explain import empty
from chalicelib.recall.found import Found, ms_since
from chalicelib.recall.hooks import RecallHooks
from chalicelib.recall.links import LinkedMemories
from chalicelib.recall.question import Question, question
from chalicelib.recall.ranking import Ranking
from chalicelib.recall.search import Search
from chalicelib.recall.tiers import Tiers
from chalicelib.settings import RecallSettings

_OPEN_FAILED = CacheOpening(None, (), None)
Embedded = Callable[[str, Vector | None], None]
"""Is told the text to embed, the query without the names of speakers, and its vector; None where a cached answer outlived
it."""


def _nobody(_text: str, _vector: Vector | None) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class _Run:
    """One recall under way."""

    id: str
    asked: Question
    began: float
    opening: CacheOpening
    cache_ms: float
    plugins: Reports
    embedded: Embedded


class RecallPipeline:
    """`recall` is all of it. `cache` and `hot` are None where no Redis is configured."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        hot: HotIndex | None,
        vectors: StoredVectors | None,
        cache: RecallCache | None,
        records: RecallStore,
        embedder: Embedder,
        telemetry: Telemetry,
        clock: Clock,
        settings: RecallSettings,
        hooks: RecallHooks,
    ) -> None:
        tiers = Tiers(store, hot, vectors, settings.candidates, clock, prospective=self._matches_questions)
        ranking = Ranking(store, embedder, clock, settings)
        linked = LinkedMemories(store, ranking, clock)
        self._search = Search(tiers, ColdRecall(store, embedder, clock), ranking, linked, embedder)
        self._cache = cache
        self._records = records
        self._embedder = embedder
        self._telemetry = telemetry
        self._clock = clock
        self._settings = settings
        self._hooks = hooks

    def recall(self, caller: Caller, query: RecallQuery, embedded: Embedded = _nobody) -> dict[str, Any]:
        """The answer's wire form, within `VITTO_RECALL_SECONDS`. InvalidInput and NotFound for a wrong question,
        StoreUnavailable without MongoDB. Callers that search for more by the query's vector are told it by `embedded` as
        soon as it is there, unless it could not be had."""
        began = time.perf_counter()
        if query.as_of and query.as_of > self._clock():
            raise InvalidInput("asOf", "must not lie in the future")
        with budget(self._settings.seconds):
            asked, reports = self._hooks.narrowed(question(caller, query))
            return self._recall(asked, began, reports, embedded)

    def _recall(self, asked: Question, began: float, plugins: Reports, embedded: Embedded) -> dict[str, Any]:
        run_id = new_id("rcl")
        opened = time.perf_counter()
        opening = self._open(run_id, asked)
        run = _Run(run_id, asked, began, opening, ms_since(opened), plugins, embedded)
        if opening.body is None:
            return self._answer(run)
        if embedded is not _nobody:
            self._tell_vector(run)
        body = _served(run)
        if plugins or self._hooks.responds(asked.caller.org_id):
            return self._told(run, RecallAnswer.model_validate(body))
        self._hooks.answered(asked, lambda: RecallAnswer.model_validate(body).hits)
        return body

    def _tell_vector(self, run: _Run) -> None:
        """Tell of a cached answer what one that is not cached tells on its way."""
        text, count = without_names(run.asked.text, run.opening.names), len(_texts(run.asked))
        run.embedded(text, next(iter(_divided(run.opening.vectors, count)), None))

    def _open(self, run_id: str, asked: Question) -> CacheOpening:
        if self._cache is None:
            return _OPEN_FAILED
        record = self._record(run_id, asked).model_copy(update={"cached": True})
        model, words = self._embedder.passage_model, asked.names if self._settings.use_names_out else ()
        try:
            return self._cache.open(
                asked.chain, asked.answer_key(model), asked.vector_key(model), record.model_dump_json(), words
            )
        except StoreUnavailable:
            return _OPEN_FAILED

    def _matches_questions(self, org_id: str) -> bool:
        return self._settings.prospective and self._hooks.matches_questions(org_id)

    def _answer(self, run: _Run) -> dict[str, Any]:
        vectors, problem = self._vectors(run)
        searched = self._search.run(run.asked, vectors, problem)
        found = searched.found
        answer = RecallAnswer(
            recall_id=run.id,
            hits=searched.hits,
            empty=empty(searched.empty) if searched.empty else None,
            route=run.asked.route,
            tiers=(self._cache_report(run), *found.reports),
            degraded=tuple(found.degraded),
            took_ms=ms_since(run.began),
        )
        for part in found.degraded:
            self._telemetry.event(
                "recall_degraded", recall_id=run.id, part=part.part, code=part.code, reason=part.message
            )
        self._close(run, answer, b"".join(vectors.values()), found)
        return self._told(run, answer)

    def _told(self, run: _Run, answer: RecallAnswer) -> dict[str, Any]:
        """The answer on the wire as plugins leave it."""
        hits, reports = self._hooks.answering(run.asked, answer.hits)
        reports = run.plugins + reports
        if reports:
            answer = answer.model_copy(update={"hits": hits, "plugins": reports, "took_ms": ms_since(run.began)})
        self._hooks.answered(run.asked, lambda: hits)
        return answer.body()

    def _vectors(self, run: _Run) -> tuple[dict[str, Vector], Missing | None]:
        """The vectors of the query's text and of its parts, by these; empty where they could not be had, and why."""
        texts = _texts(run.asked)
        plain = [without_names(text, run.opening.names) for text in texts]
        try:
            vectors = _divided(run.opening.vectors, len(texts)) or self._embedder.embed_queries(plain)
        except EmbeddingFailed as error:
            mismatch = isinstance(error, EmbeddingMismatch)
            code = MissingCode.EMBEDDING_MISMATCH if mismatch else MissingCode.EMBEDDING_FAILED
            return {}, Missing(part="query_vector", code=code, message=error.message)
        run.embedded(plain[0], vectors[0])
        return dict(zip(texts, vectors, strict=True)), None

    def _close(self, run: _Run, answer: RecallAnswer, vectors: bytes, found: Found) -> None:
        record = self._record(run.id, run.asked).model_copy(
            update={
                "hits": audited(answer.hits),
                "candidates": found.ranked,
                "left_out": found.explained(answer.hits),
                "empty": answer.empty.reason if answer.empty else None,
                "tiers": answer.tiers,
                "degraded": answer.degraded,
            }
        )
        model = self._embedder.passage_model
        key = vector_under(run.asked.vector_key(model), run.opening.names)
        fresh = None if not vectors or run.opening.vectors else (key, vectors)
        audit = record.model_dump_json(exclude_none=True)
        if self._cache is not None and run.opening is not _OPEN_FAILED:
            try:
                self._cache.close(self._entry(run, answer, audit), fresh, audit)
            except StoreUnavailable as error:
                self._telemetry.event("recall_not_cached", recall_id=run.id, reason=error.message)
            else:
                return
        try:
            self._records.add([record])
        except StoreUnavailable as error:  # the answer stands; that its audit does not is said
            self._telemetry.event("recall_audit_lost", level="error", recall_id=run.id, reason=error.message)

    def _entry(self, run: _Run, answer: RecallAnswer, audit: str) -> CacheEntry | None:
        """The answer as a cache entry, unless it is degraded: what was missing may be back at the next recall."""
        seconds = self._settings.cache_seconds
        now = self._clock()
        for hit in answer.hits:
            if hit.memory.expires_at:
                seconds = min(seconds, int((hit.memory.expires_at - now).total_seconds()))
        not_indexed = answer.empty and answer.empty.reason is EmptyReason.NOT_INDEXED_YET
        if seconds < 1 or answer.degraded or not_indexed:
            return None
        key = run.asked.answer_key(self._embedder.passage_model)
        return CacheEntry(key, run.opening.generations, answer.text(), audit, seconds)

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
            route=asked.route,
            conditions=asked.query.conditions,
        )

    def _cache_report(self, run: _Run) -> TierReport:
        skipped = None
        if self._cache is None:
            skipped = "not configured"
        elif run.opening is _OPEN_FAILED:
            skipped = "redis is unavailable"
        return TierReport(tier=TierName.CACHE, ms=run.cache_ms, skipped=skipped)


def _texts(asked: Question) -> list[str]:
    """The query and its parts, each once."""
    return list(dict.fromkeys((asked.text, *asked.parts)))


def _divided(vectors: bytes | None, count: int) -> list[Vector]:
    """The vectors that stand one behind another; none where there are none."""
    size = len(vectors or b"") // count
    return [vectors[start : start + size] for start in range(0, len(vectors), size)] if vectors else []


def _served(run: _Run) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(run.opening.body or "{}")
    report = TierReport(tier=TierName.CACHE, ms=run.cache_ms, candidates=len(body["hits"]))
    tiers = [report.model_dump(mode="json", by_alias=True, exclude_none=True)]
    return body | {"recallId": run.id, "cached": True, "tiers": tiers, "tookMs": ms_since(run.began)}
