"""Many memories for benches: LoCoMo's texts and vectors, repeated with noise until there are enough, loaded through the
indexer. Ids are made from the place, so a load that was killed goes on where it stopped."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from chalicelib.bootstrap import Container
from chalicelib.domain.keys import key
from chalicelib.domain.memory import Embedding, IndexState, Memory, MemoryType
from chalicelib.domain.query import IndexQuery, StoredMemory
from chalicelib.domain.scope import Chain, Scope, ScopeRef
from chalicelib.domain.text.terms import TermCounts, index_terms
from chalicelib.domain.vector import Vector
from vitto_tools.bench.report import Report

MODEL = "e5-passage@256"
BATCH = 500
NOISE = 0.002  # a component of a unit vector of 256 is about 0.06
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Load:
    """How many users with how many memories each."""

    name: str
    users: int
    each: int

    def user(self, number: int) -> str:
        """The id of one of its users."""
        return f"{self.name}-{number % self.users}"


def fill(
    services: Container,
    organization: str,
    load: Load,
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    report: Report,
) -> None:
    """Load what is not there yet, and mark the scopes complete. A user whose scope was counted in full is there."""
    assert services.ports.hot is not None
    with report.progress(f"loading {load.name}", load.users * load.each) as advance:
        for user in range(load.users):
            scope = ScopeRef(organization, Scope.USER, load.user(user))
            if services.ports.store.statistics(Chain(organization, (scope,))).rows < load.each:
                for start in range(0, load.each, BATCH):
                    places = [user * load.each + start + i for i in range(min(BATCH, load.each - start))]
                    if not _is_there(services, scope, places[-1]):
                        _put(services, scope, places, texts, vectors)
                    advance(len(places))
                services.ports.store.take_statistics(scope.key)
            elif _indexed(services, scope) < load.each:  # a run was killed while it built the index anew
                services.maintenance.rebuild(scope.key)
            services.ports.hot.complete(scope.key)
    services.ports.hot.complete(key(organization, Scope.ORGANIZATION.value, organization))


def _indexed(services: Container, scope: ScopeRef) -> int:
    """How many rows of the scope the index has."""
    assert services.ports.hot is not None
    chain = Chain(scope.org_id, (scope,))
    return services.ports.hot.search(chain, IndexQuery(None, MODEL, (), limit=1)).statistics.rows


def _is_there(services: Container, scope: ScopeRef, place: int) -> bool:
    """Whether a run before stored the batch that ends there."""
    return bool(services.ports.store.fetch(Chain(scope.org_id, (scope,)), [_id(scope.scope_id, place)]))


def made_rows(
    scope: ScopeRef, places: Sequence[int], texts: Sequence[str], vectors: NDArray[np.float32]
) -> list[StoredMemory]:
    """The rows at `places`: the texts over and over, each with its vector and a noise of its own."""
    noise = np.random.default_rng(places[0])
    near = _noisy(vectors[[place % len(texts) for place in places]], noise)
    return [
        _row(scope.org_id, scope.scope_id, place, texts[place % len(texts)], vector)
        for place, vector in zip(places, near, strict=True)
    ]


def _put(
    services: Container,
    scope: ScopeRef,
    places: Sequence[int],
    texts: Sequence[str],
    vectors: NDArray[np.float32],
) -> None:
    """Index and store one batch. The index comes first, so that a row that is there is indexed."""
    rows = made_rows(scope, places, texts, vectors)
    assert services.ports.hot is not None
    services.ports.hot.apply([services.indexer.change(row) for row in rows])
    services.ports.store.insert(rows)


@functools.cache
def _terms(text: str) -> TermCounts:
    return index_terms(text)


def _noisy(vectors: NDArray[np.float32], noise: np.random.Generator) -> list[Vector]:
    moved = vectors + noise.normal(scale=NOISE, size=vectors.shape).astype(np.float32)
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    return [row.astype("<f4").tobytes() for row in moved]


def _id(user: str, place: int) -> str:
    return f"mem_{user.replace('-', '')}{place:010d}"


def _row(organization: str, user: str, place: int, text: str, vector: Vector) -> StoredMemory:
    memory = Memory(
        id=_id(user, place),
        org_id=organization,
        scope=Scope.USER,
        scope_id=user,
        user_id=user,
        type=MemoryType.CONVERSATION,
        content=f"{text} #{place}",
        event_time=START + timedelta(minutes=place),
        created_at=START,
        updated_at=START + timedelta(minutes=place),
        index_state=IndexState.INDEXED,
        embedding=Embedding(model=MODEL, dimensions=len(vector) // 4, vectors=(vector,)),
    )
    terms = _terms(text)
    return StoredMemory(memory, terms.counts, terms.length)
