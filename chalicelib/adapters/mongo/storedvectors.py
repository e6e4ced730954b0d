"""The vector search of MongoDB: Atlas, or any server with its search process. Where there is none it says so cheaply.

A missing index is no error to the server: it answers with nothing. So the state of the index is asked for before the first
search, again once a minute, and sooner after an answer with nothing in it.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from bson.errors import BSONError
from pymongo.errors import OperationFailure

from chalicelib.adapters.mongo.searchindex import (
    FAILED,
    INDEX_NAME,
    NO_SEARCH,
    Database,
    FilterField,
    IndexState,
    index_state,
    searched_rows,
)
from chalicelib.adapters.mongo.vectorsearch import NotAsked, candidates, pipeline
from chalicelib.domain.query import MAX_STORED_CANDIDATES, Candidate, IndexQuery
from chalicelib.domain.scope import Chain
from chalicelib.domain.termselection import first_share
from chalicelib.domain.vector import Vector, dimensions
from chalicelib.errors import EmbeddingMismatch, NotSupported, StoreUnavailable

USABLE_SECONDS = 60.0  # how long an index that could be searched is taken for one that can
DOUBT_SECONDS = 5.0  # the same after an answer with nothing in it, which is also what a dropped index gives
UNUSABLE_SECONDS = 30.0  # how long one that could not be searched is left alone

NO_VECTOR_SEARCH = "this server has no vector search"
NO_INDEX = f"the index {INDEX_NAME} is missing or still building: run vitto indexes"
FAILED_INDEX = f"the index {INDEX_NAME} could not be built: the cluster says why"
OTHER_INDEX = f"the index {INDEX_NAME} is not the one that this version searches: run vitto indexes"


class Connection(Protocol):
    """What it needs of a connection: `MongoConnection`, or one that stands for it."""

    @property
    def database(self) -> Database:
        """The database with the memories."""

    def searching(self, *, probing: bool = False) -> AbstractContextManager[None]:
        """Bound what is inside, with StoreUnavailable of `atlas` where it takes too long or the server is gone."""


@dataclass(frozen=True)
class _Known:
    """What was last seen of the index, and when: its size, or why it cannot be searched."""

    at: float
    dimensions: int | None = None
    problem: str | None = None


class MongoStoredVectors:
    """`ports.StoredVectors`."""

    def __init__(self, connection: Connection, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` tells seconds that only rise."""
        self._connection = connection
        self._rows = searched_rows(connection.database)
        self._clock = clock
        self._known: _Known | None = None

    def probe(self) -> dict[str, Any]:
        with self._connection.searching(probing=True):
            known = self._look()
        if known.problem:
            raise NotSupported("atlas", known.problem)
        return {"index": INDEX_NAME, "dimensions": known.dimensions}

    def nearest(self, chain: Chain, query: IndexQuery, *, rows: int, now: datetime) -> list[Candidate]:
        if query.vector is None or not chain.scopes:
            return []
        known = self._known
        if known and known.problem and self._clock() - known.at < UNUSABLE_SECONDS:
            raise NotSupported("atlas", known.problem)
        with self._connection.searching():
            self._require(query.vector, USABLE_SECONDS)
            found = self._search(query.vector, chain, query, rows, now)
            if not found:
                self._require(query.vector, DOUBT_SECONDS)
        return found

    def _require(self, vector: Vector, seconds: float) -> None:
        """Raise unless an index that fits was seen within `seconds`, or is seen now."""
        known = self._known
        if known is None or known.problem or self._clock() - known.at >= seconds:
            known = self._look()
        if known.problem:
            raise NotSupported("atlas", known.problem)
        if known.dimensions != (got := dimensions(vector)):
            raise EmbeddingMismatch(
                f"the index {INDEX_NAME} holds vectors of {known.dimensions} dimensions and the query's has {got}: "
                "run vitto indexes",
                got=got,
                wanted=known.dimensions,
            )

    def _look(self) -> _Known:
        try:
            state = index_state(self._rows)
        except OperationFailure as error:
            self._refused(error)
            raise
        known = _Known(self._clock(), state.dimensions if state else None, _problem(state))
        self._known = known
        return known

    def _search(self, vector: Vector, chain: Chain, query: IndexQuery, rows: int, now: datetime) -> list[Candidate]:
        """The chain's nearest, then those of scopes that a fuller one crowded out of them."""
        limit = min(query.limit * len(chain.scopes), MAX_STORED_CANDIDATES)

        def nearest(scopes: Sequence[str], most: int) -> list[Any]:
            return self._run(pipeline(vector, query, scopes, limit=most, rows=rows, now=now))[:most]

        first = limit if len(chain.scopes) == 1 else first_share(limit)
        documents = nearest(chain.keys, first)
        if len(documents) == first and first < limit:
            served = {str(document.get(FilterField.SCOPE)) for document in documents}
            if left := [scope for scope in chain.keys if scope not in served]:
                documents += nearest(left, limit - first)
        try:
            return candidates(documents, vector, query, chain, now)
        except NotAsked as error:
            raise StoreUnavailable("atlas", f"it answered with {error}") from error

    def _run(self, stages: Sequence[dict[str, Any]]) -> list[Any]:
        try:
            return list(self._rows.aggregate(stages))
        except BSONError as error:
            raise StoreUnavailable("atlas", "it answered with what cannot be read") from error
        except OperationFailure as error:
            self._refused(error)
            raise

    def _refused(self, error: OperationFailure) -> None:
        """Say what the server said; a time limit passes, the connection knows what it means."""
        self._known = None
        if error.code in NO_SEARCH:
            self._known = _Known(self._clock(), problem=NO_VECTOR_SEARCH)
            raise NotSupported("atlas", NO_VECTOR_SEARCH) from error
        if not error.timeout:
            raise StoreUnavailable("atlas", f"the server refused the search (code {error.code})") from error


def _problem(state: IndexState | None) -> str | None:
    if state is not None and state.status == FAILED:
        return FAILED_INDEX
    if state is None or not state.queryable:
        return NO_INDEX
    return None if state.fits else OTHER_INDEX
