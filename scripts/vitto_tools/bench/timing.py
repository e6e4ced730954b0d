"""Store adapters that add up the time of their calls, and an embedder that knows its queries."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.bootstrap import Container, build_ports
from chalicelib.domain.vector import Vector
from chalicelib.settings import Settings
from vitto_tools.bench.loading import MODEL


@dataclass
class StoreTime:
    """The time spent in store calls, in seconds."""

    seconds: float = 0.0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Add what is inside."""
        began = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - began


class TimedRedis(RedisConnection):
    """A Redis connection whose round trips are timed."""

    def __init__(self, settings: Settings, spent: StoreTime) -> None:
        super().__init__(settings.redis)
        self._spent = spent

    def run(self, calls: Any, *, bulk: bool = False) -> list[Any]:
        with self._spent.counted():
            return super().run(calls, bulk=bulk)


class TimedMongo(MongoConnection):
    """A MongoDB connection whose reads are timed."""

    def __init__(self, settings: Settings, spent: StoreTime) -> None:
        super().__init__(settings.mongo)
        self._spent = spent

    @contextmanager
    def reading(self, *, probing: bool = False) -> Iterator[None]:
        with self._spent.counted(), super().reading(probing=probing):
            yield


class KnownQueries(TermEmbedder):
    """An embedder that looks its vectors up: embedding is not what a latency bench measures."""

    def __init__(self, vectors: dict[str, Vector]) -> None:
        super().__init__()
        self._vectors = vectors

    @property
    def passage_model(self) -> str:
        return MODEL

    def embed_query(self, text: str) -> Vector:
        return self._vectors[text]


def timed_services(environment: dict[str, str], embedder: KnownQueries, spent: StoreTime) -> Container:
    """The services with timed stores, over the servers of `environment`."""
    settings = Settings.from_environment(environment)
    redis = TimedRedis(settings, spent)
    ports = replace(
        build_ports(settings, embedder=embedder),
        store=MongoMemoryStore(TimedMongo(settings, spent)),
        hot=RedisHotIndex(redis),
        cache=RedisRecallCache(redis, 0),
    )
    return Container(settings, ports)
