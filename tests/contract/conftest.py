"""Every port under every adapter that carries it: the in-memory twin and the real ones."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from chalicelib.adapters.memory.cache import InMemoryRecallCache
from chalicelib.adapters.memory.index import GenerationCounter, InMemoryHotIndex
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.memory.vectors import InMemoryStoredVectors
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import MEMORIES, SCOPES
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.mongo.storedvectors import MongoStoredVectors
from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.ports import HotIndex, MemoryStore, RecallCache
from tests.building import TestClock
from tests.conftest import SEARCH_MODULE
from tests.contract.vector_steps import VectorsUnderTest, wait_for_the_index

collect_ignore = [] if SEARCH_MODULE else ["test_search_module.py"]


@pytest.fixture(params=["twin", "mongo"])
def store(request: pytest.FixtureRequest) -> MemoryStore:
    """The truth. MongoDB's is shared, so a test writes under its own organization."""
    if request.param == "twin":
        return InMemoryMemoryStore()
    return MongoMemoryStore(request.getfixturevalue("mongo"))


@pytest.fixture
def empty_store(request: pytest.FixtureRequest, store: MemoryStore) -> MemoryStore:
    """The truth with nothing in it, for what reaches over organizations."""
    if isinstance(store, MongoMemoryStore):
        connection: MongoConnection = request.getfixturevalue("mongo")
        for name in (MEMORIES, SCOPES):
            connection.database.get_collection(name).delete_many({})
    return store


@dataclass(frozen=True)
class IndexUnderTest:
    """An index, and a look at what it holds of a scope behind the port's back."""

    index: HotIndex
    leftovers: Callable[[str], list[str]]


def emptied(request: pytest.FixtureRequest, name: str) -> RedisConnection:
    """The connection of the fixture `name` with nothing in its server."""
    connection: RedisConnection = request.getfixturevalue(name)
    connection.command("FLUSHDB")
    return connection


def names(connection: RedisConnection) -> list[str]:
    """The names of all keys."""
    return [name.decode() for name in connection.command("KEYS", "*")]


def _index(request: pytest.FixtureRequest) -> IndexUnderTest:
    if request.param == "twin":
        twin = InMemoryHotIndex()
        return IndexUnderTest(twin, lambda scope: list(twin._rows.get(scope, {})))
    connection = emptied(request, request.param)
    kinds = tuple(f"{keys.PREFIX}:{kind}:" for kind in "dpvhmuwo")  # rows, postings, vectors, chunks, models, questions
    return IndexUnderTest(
        RedisHotIndex(connection),
        lambda scope: [name for name in names(connection) if name.startswith(kinds) and scope in name],
    )


@pytest.fixture(params=["twin", "redis", "valkey", *SEARCH_MODULE])
def text_index(request: pytest.FixtureRequest) -> IndexUnderTest:
    """Every index; a plain Valkey holds text alone, so tests over it expect nothing of vectors."""
    return _index(request)


@pytest.fixture(params=["twin", "redis", *SEARCH_MODULE])
def vector_index(request: pytest.FixtureRequest) -> IndexUnderTest:
    """Every index that holds vectors."""
    return _index(request)


@dataclass(frozen=True)
class CacheUnderTest:
    """A cache with the index whose writes it must notice."""

    cache: RecallCache
    index: HotIndex
    lapse: Callable[[float], None]
    lose_counters: Callable[[Sequence[str]], None]


@pytest.fixture(params=["twin", "redis", "valkey", *SEARCH_MODULE])
def cached(request: pytest.FixtureRequest) -> CacheUnderTest:
    """Every cache, empty."""
    if request.param == "twin":
        clock, generations = TestClock(), GenerationCounter()
        return CacheUnderTest(
            InMemoryRecallCache(generations, clock),
            InMemoryHotIndex(generations),
            lapse=lambda seconds: clock.forward(seconds=seconds),
            lose_counters=lambda scopes: [generations._counts.pop(scope, None) for scope in scopes].clear(),
        )
    connection = emptied(request, request.param)
    return CacheUnderTest(
        RedisRecallCache(connection, query_vector_seconds=3600),
        RedisHotIndex(connection),
        lapse=time.sleep,
        lose_counters=lambda scopes: [connection.command("DEL", keys.generation(s)) for s in scopes].clear(),
    )


CLUSTER = ["atlas_cluster"] if os.environ.get("VITTO_TEST_ATLAS_URI") else []


@pytest.fixture(params=["twin", "atlas", *CLUSTER])
def vectors(request: pytest.FixtureRequest) -> VectorsUnderTest:
    """Every vector search of the truth: the twin, the strict double, and a real cluster where one is given."""
    if request.param == "twin":
        store = InMemoryMemoryStore()
        return VectorsUnderTest(InMemoryStoredVectors(store), store)
    if request.param == "atlas":
        return VectorsUnderTest(
            MongoStoredVectors(request.getfixturevalue("atlas")), MongoMemoryStore(request.getfixturevalue("mongo"))
        )
    cluster: MongoConnection = request.getfixturevalue("atlas_cluster")
    return VectorsUnderTest(MongoStoredVectors(cluster), MongoMemoryStore(cluster), wait_for_the_index)
