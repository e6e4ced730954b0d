"""Each store dead, hanging, slow or talking nonsense: the answer comes within its budget, names what it lacks, shows nobody
else's memories, and is whole again when the store is, without a restart."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from chalicelib.adapters.breaker import Breaker
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.searchindex import create_search_index
from chalicelib.adapters.mongo.storedvectors import MongoStoredVectors
from chalicelib.adapters.openai_embedder import OpenAIEmbedder
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container
from chalicelib.domain.calibration import Calibration
from chalicelib.domain.query import RecallQuery
from chalicelib.errors import StoreUnavailable
from chalicelib.settings import BreakerSettings, EmbeddingSettings, MongoSettings, RecallSettings, RedisSettings
from tests.atlas_double import AtlasDouble
from tests.building import caller
from tests.embedding_server import embedding_server
from tests.integration.arrangements import contents, rebuild_all, remember, services, skipped
from vitto_tools.local.servers import HOST
from vitto_tools.local.trouble import Trouble, TroubledServer

BUDGET_SECONDS = 4.0
LIMIT_SECONDS = 1.0  # of one call: enough for the embedded MongoDB on a busy machine
SLACK_SECONDS = 3.0  # tells the budget from what a driver does by itself, 20 s and more, since the trouble has no end
SIZE = 64
FAILURES = 2
QUERY = RecallQuery(query="where does Ana live?")
TROUBLES = (Trouble.DEAD, Trouble.HANGING, Trouble.GARBAGE)


class Seconds:
    """The breakers' clock."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Product:
    """The product over troubled stores, two readers with memories alike, and what each store was asked."""

    services: Container
    stores: dict[str, TroubledServer]
    atlas: AtlasDouble
    breakers: dict[str, Breaker]
    clock: Seconds
    org: str

    def trouble(self, store: str, trouble: Trouble) -> None:
        """Make one of the stores so."""
        if store != "atlas":
            self.stores[store].trouble = trouble
            return
        self.atlas.hang_seconds = 30.0 if trouble is Trouble.HANGING else 0.0
        self.atlas.garbage = [{"scopeKey": "elsewhere"}] if trouble is Trouble.GARBAGE else None
        self.atlas.refusal = 8000 if trouble is Trouble.DEAD else None

    def recall(self) -> dict[str, Any] | StoreUnavailable:
        """Ana asks; what comes back within the budget."""
        began = time.monotonic()
        try:
            answer: dict[str, Any] | StoreUnavailable = self.services.recall.recall(caller(self.org), QUERY)
        except StoreUnavailable as error:
            answer = error
        assert time.monotonic() - began < BUDGET_SECONDS + SLACK_SECONDS
        if isinstance(answer, dict):
            assert all("Ana" in content for content in contents(answer))
        return answer

    def asked(self, store: str) -> int:
        """How often a store was asked anything."""
        return len(self.atlas.asked) + self.atlas.looked if store == "atlas" else self.stores[store].asked

    def whole(self) -> dict[str, Any]:
        """An answer that lacks nothing, however long drivers take to find their server again."""
        until = time.monotonic() + 60
        while True:
            self.clock.now += 60
            answer = self.recall()
            if isinstance(answer, dict) and not answer["degraded"]:
                return answer
            assert time.monotonic() < until, answer
            time.sleep(0.1)


def _limited(breakers: dict[str, Breaker], clock: Seconds, *names: str) -> list[Breaker]:
    made = {name: Breaker(name, BreakerSettings(failures=FAILURES, seconds=5), clock=clock) for name in names}
    breakers |= made
    return list(made.values())


def _port(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


@pytest.fixture
def product(mongo_url: str, redis_url: str, mongo: MongoConnection, org: str) -> Iterator[Product]:
    """The product over the real stores, the strict double of Atlas, and an embedding server, all of which can fail."""
    with embedding_server() as server:
        ports = {"mongo": _port(mongo_url), "redis": _port(redis_url), "embedding": _port(server.url)}
        stores = {name: TroubledServer(port) for name, port in ports.items()}
        breakers, clock = dict[str, Breaker](), Seconds()
        connection = MongoConnection(
            MongoSettings(
                uri=f"mongodb://{HOST}:{stores['mongo'].port}/?directConnection=true",
                database=mongo.database.name,
                read_seconds=LIMIT_SECONDS,
                search_seconds=LIMIT_SECONDS,
                write_seconds=10,
            ),
            *_limited(breakers, clock, "mongo", "atlas"),
        )
        redis = RedisConnection(
            RedisSettings(url=f"redis://{HOST}:{stores['redis'].port}/0", seconds=LIMIT_SECONDS / 2),
            *_limited(breakers, clock, "redis"),
        )
        embedding = EmbeddingSettings(
            base_url=f"http://{HOST}:{stores['embedding'].port}/v1",
            passage_model="terms",
            dimensions=SIZE,
            query_seconds=LIMIT_SECONDS,
        )
        calibration = Calibration(middle=0.3, width=0.08, chunk_characters=800)
        embedder = OpenAIEmbedder(embedding, calibration, *_limited(breakers, clock, "embedding"))
        atlas = AtlasDouble(connection)
        create_search_index(atlas, SIZE)
        uncached = RedisRecallCache(redis, query_vector_seconds=0)
        made = services(connection, redis, embedder=embedder, vectors=MongoStoredVectors(atlas), cache=uncached)
        settings = made.settings.model_copy(update={"recall": RecallSettings(seconds=BUDGET_SECONDS, cache_seconds=0)})
        yield Product(Container(settings, made.ports), stores, atlas, breakers, clock, org)
        for store in stores.values():
            store.close()
        connection.client.close()


def told(product: Product) -> None:
    """Ana and bob remember, and Redis holds all of both scopes."""
    for user, name in (("ana", "Ana"), ("bob", "Bob")):
        who = caller(product.org, user)
        remember(product.services, who, f"{name} lives in Porto", f"{name} plays the cello and lives near the river")
        product.services.recall.recall(who, QUERY)
    rebuild_all(product.services)
    assert product.whole()["hits"]


def without_redis(product: Product) -> None:
    """Have MongoDB answer for every scope."""
    product.stores["redis"].trouble = Trouble.DEAD


@pytest.mark.parametrize("trouble", TROUBLES)
def test_redis(product: Product, trouble: Trouble) -> None:
    told(product)
    product.trouble("redis", trouble)
    for _ in range(FAILURES):
        answer = product.recall()
        assert isinstance(answer, dict)
        assert skipped(answer) >= {"cache", "redis_vectors", "redis_text"}
        assert {one["part"] for one in answer["degraded"]} == {"redis_vectors", "redis_text"}
        assert {one["code"] for one in answer["degraded"]} == {"store_unavailable"}
        assert contents(answer)[0] == "Ana lives in Porto"
    rests(product, "redis")
    product.trouble("redis", Trouble.NONE)
    assert not skipped(product.whole()) & {"cache", "redis_vectors", "redis_text"}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_atlas(product: Product, trouble: Trouble) -> None:
    told(product)
    without_redis(product)
    answer = product.recall()
    assert isinstance(answer, dict)
    assert "atlas_vectors" not in skipped(answer)
    product.trouble("atlas", trouble)
    for _ in range(FAILURES):
        answer = product.recall()
        assert isinstance(answer, dict)
        assert "atlas_vectors" in skipped(answer)
        assert "atlas_vectors" in {one["part"] for one in answer["degraded"]}
        assert contents(answer)[0] == "Ana lives in Porto"
    rests(product, "atlas")
    product.trouble("atlas", Trouble.NONE)
    product.clock.now += 60
    answer = product.recall()
    assert isinstance(answer, dict)
    assert "atlas_vectors" not in skipped(answer)


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_embedding_server(product: Product, trouble: Trouble) -> None:
    told(product)
    product.trouble("embedding", trouble)
    for _ in range(FAILURES):
        answer = product.recall()
        assert isinstance(answer, dict)
        assert [(one["part"], one["code"]) for one in answer["degraded"]] == [("query_vector", "embedding_failed")]
        assert "redis_vectors" in skipped(answer)
        assert contents(answer)[0] == "Ana lives in Porto"
    rests(product, "embedding")
    product.trouble("embedding", Trouble.NONE)
    assert "redis_vectors" not in skipped(product.whole())


@pytest.mark.parametrize("trouble", TROUBLES)
def test_mongodb(product: Product, trouble: Trouble) -> None:
    told(product)
    product.trouble("mongo", trouble)
    for _ in range(FAILURES):
        answer = product.recall()
        assert isinstance(answer, StoreUnavailable)
        assert answer.store == "mongo"
    assert product.breakers["mongo"].state == "open"
    assert isinstance(answer := product.recall(), StoreUnavailable)
    assert "rests" in answer.reason
    product.trouble("mongo", Trouble.NONE)
    assert contents(product.whole())[0] == "Ana lives in Porto"


@pytest.mark.parametrize("store", ["redis", "mongo", "embedding"])
def test_a_slow_store_costs_time_and_nothing_else(product: Product, store: str) -> None:
    told(product)
    product.trouble(store, Trouble.SLOW)
    answer = product.recall()
    assert isinstance(answer, dict)
    assert not answer["degraded"]
    assert contents(answer)[0] == "Ana lives in Porto"


def test_a_store_that_answers_too_late_again_and_again_leaves_the_rest_its_time(product: Product) -> None:
    told(product)
    for store in ("redis", "embedding"):
        product.trouble(store, Trouble.HANGING)
    answer = product.recall()
    assert isinstance(answer, dict)
    assert {one["part"] for one in answer["degraded"]} == {"query_vector", "redis_vectors", "redis_text"}
    assert contents(answer)[0] == "Ana lives in Porto"


def rests(product: Product, store: str) -> None:
    """Its breaker is open, and answers go on without asking it anything."""
    assert product.breakers[store].state == "open"
    before = product.asked(store)
    answer = product.recall()
    assert isinstance(answer, dict)
    assert any("rests" in one["message"] for one in answer["degraded"])
    assert product.asked(store) == before
