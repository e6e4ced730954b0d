"""What the hot index knows around the rows of one request: admission and consolidation share one look, in one round trip.

Every question names one scope, the row's own, so that nobody's memories bear on what becomes of another's.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from chalicelib.domain.claims.stated import terms_around
from chalicelib.domain.claims.terms import words_alone
from chalicelib.domain.query import IndexAnswer, IndexQuery, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.termselection import MIN_WORDS
from chalicelib.domain.text.terms import index_terms
from chalicelib.domain.vector import mean
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, Embedder, HotIndex, MemoryStore, Telemetry

TERMS_ASKED = 32  # as many as a query may have words
NEAREST = 10
CLAIMING = 4  # rows that claim something of the same subject and attribute, and as many that share words around values
EXACT_ROWS = 1_000
"""Above it the nearest are those of an approximate search. Measured on 10,000 LoCoMo turns at 256 dimensions: of the nearest
two it finds 0.995, what it misses is farther by a cosine of 0.002, and an exact search costs ten times as much."""
SNAPSHOT_LIFE = timedelta(seconds=60)  # the schedule that takes snapshots runs once a minute
MOST_SNAPSHOTS = 1_000


@dataclass(frozen=True)
class Around:
    """What was seen around one row, asked by `counts`, the terms of its content: who said it and when is no part of what it
    says. `snapshot` are the frequent terms of its scope, `terms` the rare ones that were asked for.

    `near` is by vector and words, `claiming` by what the row claims, None where it claims nothing, `stating` by the words
    around the values that it states, None where it states none. Without the index, and where that does not hold the scope,
    `near` is None or incomplete: another store has to be asked."""

    counts: dict[str, int]
    snapshot: TermStatistics
    terms: tuple[str, ...] = ()
    near: IndexAnswer | None = None
    claiming: IndexAnswer | None = None
    stating: IndexAnswer | None = None

    @property
    def statistics(self) -> TermStatistics:
        """How frequent the words around its values are in the scope."""
        if self.stating is None:
            return self.snapshot
        known = self.stating.statistics
        return TermStatistics(known.rows, {**self.snapshot.frequencies, **known.frequencies})

    @property
    def is_whole(self) -> bool:
        """Whether the index holds all of the scope."""
        return self.near is not None and not self.near.incomplete


class ScopeLookup:
    """Makes looks. `hot` is None where no Redis is configured."""

    def __init__(
        self, *, store: MemoryStore, hot: HotIndex | None, embedder: Embedder, telemetry: Telemetry, clock: Clock
    ) -> None:
        self._store = store
        self._hot = hot
        self._embedder = embedder
        self._telemetry = telemetry
        self._clock = clock
        self._lock = threading.Lock()
        self._snapshots: dict[str, tuple[datetime, TermStatistics]] = {}

    def begin(self) -> "Look":
        """A look for one request."""
        return Look(self)

    def snapshot(self, scope: ScopeRef) -> TermStatistics:
        """Which terms are frequent in the scope, so that no store is asked for them; none where that cannot be had. What is
        known is kept for a minute."""
        now = self._clock()
        until, known = self._snapshots.get(scope.key, (now, TermStatistics(0, {})))
        if now < until:
            return known
        try:
            fresh = self._store.statistics(_only(scope))
        except StoreUnavailable as error:
            self._telemetry.event("scope_without_statistics", reason=error.message)
            return known
        if fresh.rows:
            self._keep(scope.key, now + SNAPSHOT_LIFE, fresh)
        return fresh

    def _keep(self, scope_key: str, until: datetime, snapshot: TermStatistics) -> None:
        with self._lock:
            if len(self._snapshots) >= MOST_SNAPSHOTS and scope_key not in self._snapshots:
                self._snapshots.clear()
            self._snapshots[scope_key] = until, snapshot

    def ask(self, rows: Sequence[StoredMemory]) -> list[Around]:
        """What is around each of `rows`, all asked at once."""
        scopes = {row.memory.scope_ref for row in rows}
        snapshots = {scope: self.snapshot(scope) for scope in scopes}
        seen = [_before(row, snapshots[row.memory.scope_ref]) for row in rows]
        if self._hot is None:
            return seen
        near = [(_only(row.memory.scope_ref), self._near(row, one)) for row, one in zip(rows, seen, strict=True)]
        claiming = self._worded(rows, [tuple(sorted(claims_of(row))) for row in rows])
        around = [terms_around(row.memory.content) for row in rows]
        stating = self._worded(rows, [_rare(one, at.snapshot) for one, at in zip(around, seen, strict=True)])
        try:
            answers = self._hot.search_many([*near, *claiming.values(), *stating.values()])
        except StoreUnavailable as error:
            self._telemetry.event("scope_without_index", reason=error.message, rows=len(rows))
            return seen
        others = iter(answers[len(rows) :])
        claimed, stated = (dict(zip(asked, others, strict=False)) for asked in (claiming, stating))
        return [
            replace(one, near=answers[i], claiming=claimed.get(i), stating=stated.get(i)) for i, one in enumerate(seen)
        ]

    def _near(self, row: StoredMemory, seen: Around) -> IndexQuery:
        model, embedding = self._embedder.passage_model, row.memory.embedding
        vector = mean(embedding.vectors) if embedding and embedding.model == model else None
        return IndexQuery(vector, model, seen.terms, limit=NEAREST, exact_rows=EXACT_ROWS)

    def _worded(
        self, rows: Sequence[StoredMemory], terms: Sequence[tuple[str, ...]]
    ) -> dict[int, tuple[Chain, IndexQuery]]:
        """A question by its terms alone for each row that has some, by the row's place."""
        model = self._embedder.passage_model
        return {
            i: (_only(row.memory.scope_ref), IndexQuery(None, model, asked, limit=CLAIMING))
            for i, (row, asked) in enumerate(zip(rows, terms, strict=True))
            if asked
        }


@dataclass
class Look:
    """What one request has seen; each row is asked about once, however many ask, unless its terms change."""

    lookup: ScopeLookup
    seen: dict[str, tuple[dict[str, int], Around]] = field(default_factory=dict)

    def around(self, rows: Sequence[StoredMemory]) -> list[Around]:
        """What is around each of `rows`."""
        fresh = [row for row in rows if not self._knows(row)]
        for row, around in zip(fresh, self.lookup.ask(fresh) if fresh else (), strict=True):
            self.seen[row.memory.id] = row.counts, around
        return [self.seen[row.memory.id][1] for row in rows]

    def _knows(self, row: StoredMemory) -> bool:
        known = self.seen.get(row.memory.id)
        return known is not None and known[0] is row.counts


def claims_of(row: StoredMemory) -> set[str]:
    """The terms of what a row claims."""
    return row.counts.keys() - words_alone(row.counts)


def _before(row: StoredMemory, snapshot: TermStatistics) -> Around:
    counts = dict(list(index_terms(row.memory.content).counts.items())[:TERMS_ASKED])
    return Around(counts, snapshot, _rare(counts, snapshot))


def _rare(counts: Iterable[str], snapshot: TermStatistics) -> tuple[str, ...]:
    """The terms that the snapshot does not list as frequent, and the least frequent where those are too few."""
    ordered = sorted(counts, key=lambda term: snapshot.frequencies.get(term, 0))
    rare = sum(term not in snapshot.frequencies for term in ordered)
    return tuple(ordered[: max(rare, MIN_WORDS)])


def _only(scope: ScopeRef) -> Chain:
    return Chain(scope.org_id, (scope,))
