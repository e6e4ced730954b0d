"""What makes recall fast: the hot index, the vector search of the truth, cached answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from chalicelib.domain.indexing import IndexEntry, IndexRemoval
from chalicelib.domain.query import (
    Candidate,
    IndexAnswer,
    IndexQuery,
)
from chalicelib.domain.scope import Chain
from chalicelib.ports.services import Probe


class HotIndex(Probe, Protocol):
    """Vectors and postings of every scope: fast, and rebuilt from the truth whenever it is lost."""

    def search(self, chain: Chain, query: IndexQuery) -> IndexAnswer:
        """The candidates of every scope of `chain` and of no other, each scored by both signals; one round trip, two with a
        search module. `vectors_searched` is False where vectors cannot be searched now; text is searched all the same.

        BM25 has the statistics of the scopes asked. Up to `exact_rows` rows in a scope the vector search is
        exact.

        A prospective query also finds, in each scope, the rows with the nearest questions, at most `limit` of them, and a
        term that only a row's questions hold counts as if it stood once in its text, by `bm25.QUESTION_SHARE`; other queries
        know nothing of questions."""

    def search_many(self, asked: Sequence[tuple[Chain, IndexQuery]]) -> list[IndexAnswer]:
        """What `search` answers to each, in their order, all in the round trips that one of them takes."""

    def apply(self, changes: Sequence[IndexEntry | IndexRemoval]) -> None:
        """Make the index agree with these rows, and count up the generation of every scope that changes. Repeats and stale
        revisions change nothing; terms, statistics and vectors of an earlier revision go."""

    def begin_rebuild(self, scope_key: str) -> str:
        """Drop all of a scope; it counts as incomplete until `complete` is given the token that this gives."""

    def complete(self, scope_key: str, token: str = "") -> bool:
        """Say that the index holds all of the scope; whether it now counts so. With the token of a rebuild that another one
        overtook it does not: that other one will say it."""

    def wanted(self, limit: int = 100) -> list[str]:
        """Scopes that a search or a write found incomplete and nobody took to rebuild since; taking them clears them."""

    def changed(self, limit: int = 100) -> list[tuple[str, int]]:
        """Scopes changed since last asked, with their row counts; taking them clears them."""


class StoredVectors(Probe, Protocol):
    """Vector search inside the truth (MongoDB Atlas): asked where the hot index does not hold a scope.

    It lags: a row that was written a moment ago may be absent still, and one that was changed or removed since may be
    there as it was. `row` is as the search read it, so what must not be stale is read again from `MemoryStore`."""

    def nearest(self, chain: Chain, query: IndexQuery, *, rows: int, now: datetime) -> list[Candidate]:
        """The active rows of `chain`, and of no other, that are nearest to `query.vector`, the nearest first: not expired at
        `now`, admitted by `query.filter`, with vectors of `query.model`. At most `query.limit` a scope of the chain, and 200
        in all; a scope that another one crowded out is asked for once more. A text of several chunks is found by the mean of
        them. Each candidate has the cosine of its best chunk, no `bm25`, and its row with terms and without vectors. Empty
        without asking where `query.vector` is None or the chain has no scopes.

        `rows` is how many rows the scopes hold as far as known: up to 20,000 the search is exact, above it approximate.

        StoreUnavailable of `atlas` on a bad day, and where the server has no vector search or no usable index: that is known
        after the first answer and costs nothing until the server is asked again a while later. EmbeddingMismatch where the
        index is of another size than `query.vector`; the query is then not sent."""


@dataclass(frozen=True)
class CacheEntry:
    """An answer to keep. `generations` are those read before the work began."""

    key: str
    generations: tuple[str, ...]
    body: str
    audit: str
    seconds: int


@dataclass(frozen=True)
class CacheOpening:
    """What the first read of a recall gives: the cached body where its generations still hold, else what they are now;
    and the vectors that are kept of the query, one behind another. `names` are those of the words given that are in the
    name of a speaker."""

    body: str | None
    generations: tuple[str, ...]
    vectors: bytes | None
    names: tuple[str, ...] = ()


def vector_under(vector_key: str, names: Sequence[str]) -> str:
    """Under what the vectors of a query are kept that is embedded without `names`."""
    return f"{vector_key}:{','.join(names)}" if names else vector_key


class RecallCache(Protocol):
    """Cached answers, query vectors, and the queue that the recall audit rides in. One round trip a call."""

    def open(self, chain: Chain, key: str, vector_key: str, on_hit: str, words: Sequence[str] = ()) -> CacheOpening:
        """Look an answer up. Where it is served, `on_hit` is queued as its audit, with the audit of the answer. Served or
        not, say which of `words` are in the name of a speaker in `chain`, and give the vectors that are kept `vector_under`
        `vector_key` and those names."""

    def close(self, entry: CacheEntry | None, vectors: tuple[str, bytes] | None, audit: str) -> None:
        """Keep the answer and the vectors where there are some, and queue the audit."""

    def forget(self, org_id: str) -> None:
        """Drop every cached answer of an organization: something in them was removed for good."""

    def drain(self, limit: int) -> list[tuple[str, str | None]]:
        """The oldest queued audits: what was queued, and for a served answer the audit of the answer."""

    def drained(self, batch: Sequence[tuple[str, str | None]]) -> None:
        """Drop the audits of a batch that `drain` gave: they are stored. Nothing where another drainer was first."""
