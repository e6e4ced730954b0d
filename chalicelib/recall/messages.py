"""Search over the messages of one session: by words and meaning, fused and scored as memories are.

The hot index answers where it holds all of the session. Where it is away, incomplete, or lacks what was appended a moment
ago, the store's terms answer as well, by a bounded number of messages for each word.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chalicelib.domain import bm25
from chalicelib.domain.query import Candidate, IndexAnswer, IndexQuery, Missing, MissingCode, TermStatistics
from chalicelib.domain.session import KeptMessage, Session
from chalicelib.domain.text.terms import query_words
from chalicelib.domain.vector import Vector, best_cosine
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Embedder, HotIndex, SessionStore
from chalicelib.recall.explain import Coverage, calibrated, scores
from chalicelib.recall.fusion import fuse

CANDIDATES = 150  # of each signal
STORED_WORDS, STORED_ROWS = 6, 40  # of the query that the store is asked for, and of messages for each
_INDEX = "session_index"


@dataclass(frozen=True)
class FoundMessages:
    """What a search found: the fused scores by position, what it went without, and how a message that was read is scored."""

    fused: dict[int, float]
    degraded: tuple[Missing, ...]
    _candidates: dict[int, Candidate]
    _coverage: Coverage
    _embedder: Embedder

    def score(self, kept: KeptMessage) -> float:
        """How near a message is to the query, on the calibrated scale of recall, 0 to 1: by its words alone where its
        vector is not known."""
        candidate = self._candidates.get(kept.message.position)
        cosine = candidate.cosine if candidate else None
        similarity = None if cosine is None else self._embedder.similarity(cosine)
        found = candidate or Candidate(str(kept.message.position), "")
        parts = scores(found, similarity, self._coverage.of(kept.counts), 0.0)
        foreign = self._coverage.is_foreign(kept.message.text)
        return calibrated(parts, similarity, self._coverage.rows, foreign=foreign)


class MessageSearch:
    """Searches sessions. `hot` is None where no Redis is configured."""

    def __init__(self, store: SessionStore, hot: HotIndex | None, embedder: Embedder) -> None:
        self._store = store
        self._hot = hot
        self._embedder = embedder

    def find(self, session: Session, query: str, vector: Vector | None, count: int) -> FoundMessages:
        """The messages of the session, which has `count`, that are near the query. `vector` is None where it could not be
        embedded. What is read is bounded, however long the session is. StoreUnavailable without MongoDB."""
        words = query_words(query)
        terms = tuple(dict.fromkeys(term for word in words for term in word))
        wanted = IndexQuery(vector, self._embedder.passage_model, terms, limit=CANDIDATES)
        answer, degraded = self._asked(session, wanted)
        candidates = {int(one.id): one for one in answer.candidates} if answer else {}
        statistics = answer.statistics if answer else TermStatistics(0, {})
        if answer is None or answer.incomplete or statistics.rows < count:
            stored = self._store.with_words(session, _telling(words), STORED_ROWS)
            statistics = _with_rows(statistics, stored, terms, count)
            weights = {term: bm25.weight(statistics.rows, n) for term, n in statistics.frequencies.items() if n}
            for kept in stored:
                candidates.setdefault(kept.message.position, _candidate(session, kept, wanted, weights))
        fused = {int(one.candidate.id): one.score for one in fuse(list(candidates.values()))}
        return FoundMessages(fused, degraded, candidates, Coverage(query, words, statistics), self._embedder)

    def _asked(self, session: Session, wanted: IndexQuery) -> tuple[IndexAnswer | None, tuple[Missing, ...]]:
        if self._hot is None:
            return None, ()
        try:
            answer = self._hot.search(session.chain, wanted)
        except StoreUnavailable as error:
            return None, (Missing(part=_INDEX, code=MissingCode.STORE_UNAVAILABLE, message=error.message),)
        if answer.mismatched:
            said = "messages have vectors of another model or size; their words find them until `vitto reindex --embed`"
            return answer, (Missing(part=_INDEX, code=MissingCode.EMBEDDING_MISMATCH, message=said),)
        return answer, ()


def _telling(words: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The longest words: without statistics, length is what tells a rare word from a common one."""
    return sorted(words, key=lambda word: -max(map(len, word), default=0))[:STORED_WORDS]


def _candidate(session: Session, kept: KeptMessage, wanted: IndexQuery, weights: dict[str, float]) -> Candidate:
    embedding = kept.embedding
    comparable = wanted.vector is not None and embedding is not None and embedding.model == wanted.model
    cosine = best_cosine(wanted.vector, embedding.vectors) if comparable and wanted.vector and embedding else None
    score = bm25.score(kept.counts, kept.length, weights)
    return Candidate(str(kept.message.position), session.key, cosine, score)


def _with_rows(
    known: TermStatistics, stored: Iterable[KeptMessage], terms: Sequence[str], count: int
) -> TermStatistics:
    """Statistics in which every term counts at least as often as it stands in what was read."""
    rows = list(stored)
    seen = {term: sum(term in row.counts for row in rows) for term in terms}
    frequencies = {term: max(known.frequencies.get(term, 0), n) for term, n in seen.items()}
    return TermStatistics(max(known.rows, count), frequencies)
