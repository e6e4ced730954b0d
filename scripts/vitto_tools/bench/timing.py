"""Store adapters that add up the time of their calls, and an embedder that knows the vectors of its texts."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.bootstrap import Container, build_ports
from chalicelib.domain.calibration import calibration_of
from chalicelib.domain.vector import Vector
from chalicelib.plugins.aftermath import AFTER_RESPONSE
from chalicelib.settings import Settings
from vitto_tools.bench.baselines import embed
from vitto_tools.bench.loading import MODEL


@dataclass
class StoreTime:
    """The time spent in calls of each store, in seconds."""

    mongo: float = 0.0
    redis: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, *, mongo: float = 0.0, redis: float = 0.0) -> None:
        """Count a call. Safe under threads."""
        with self._lock:
            self.mongo += mongo
            self.redis += redis

    @property
    def seconds(self) -> float:
        """Of both together."""
        return self.mongo + self.redis

    def reset(self) -> None:
        """Begin again."""
        self.mongo = self.redis = 0.0


class TimedRedis(RedisConnection):
    """A Redis connection whose round trips are timed."""

    def __init__(self, settings: Settings, spent: StoreTime) -> None:
        super().__init__(settings.redis)
        self._spent = spent

    def run(self, calls: Any, *, bulk: bool = False) -> list[Any]:
        began = time.perf_counter()
        try:
            return super().run(calls, bulk=bulk)
        finally:
            self._spent.add(redis=_waited(began))


class TimedMongo(MongoConnection):
    """A MongoDB connection whose reads and writes are timed."""

    def __init__(self, settings: Settings, spent: StoreTime) -> None:
        super().__init__(settings.mongo)
        self._spent = spent

    @contextmanager
    def reading(self, *, probing: bool = False) -> Iterator[None]:
        with self._counted(), super().reading(probing=probing):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._counted(), super().writing():
            yield

    @contextmanager
    def _counted(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self._spent.add(mongo=_waited(began))


def _waited(began: float) -> float:
    """The seconds since then, where somebody waits for an answer meanwhile."""
    return 0.0 if threading.current_thread().name == AFTER_RESPONSE else time.perf_counter() - began


class KnownTexts(TermEmbedder):
    """An embedder that looks its vectors up, calibrated as the model is: embedding is not what a latency bench measures.
    What it does not know, such as a part of a question, is embedded once by the server at `url`, where there is one."""

    def __init__(self, vectors: Mapping[str, Vector], url: str = "") -> None:
        super().__init__()
        self._vectors = dict(vectors)
        self._url = url
        self._calibration = calibration_of(MODEL.partition("@")[0], {})

    @property
    def passage_model(self) -> str:
        return MODEL

    def embed_query(self, text: str) -> Vector:
        if text not in self._vectors and self._url:
            self._vectors[text] = embed(self._url, "e5-query", [text])[0].astype("<f4").tobytes()
        return self._vectors[text]

    def similarity(self, cosine: float) -> float:
        return self._calibration.similarity(cosine)


def timed_services(environment: dict[str, str], embedder: KnownTexts, spent: StoreTime) -> Container:
    """The services with timed stores, over the servers of `environment`."""
    settings = Settings.from_environment(environment)
    redis = TimedRedis(settings, spent)
    ports = replace(
        build_ports(settings, embedder=embedder),
        store=MongoMemoryStore(TimedMongo(settings, spent)),
        hot=RedisHotIndex(redis),
        cache=RedisRecallCache(redis, 0),
    )
    return Container(settings, ports, marks_later=True)  # as in a server
