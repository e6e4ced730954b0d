"""Fixtures: the whole application over real servers, callers with keys, and a look into everything that is stored."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from app import wsgi
from chalicelib import bootstrap
from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.mongo.administration import MongoAuditLog, MongoKeyStore, MongoRecallStore
from chalicelib.adapters.mongo.backfill import MongoBackfillStore
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.identity import MongoSoulStore, MongoUserGenomeStore
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.mongo.oldvectors import OldVectors
from chalicelib.adapters.mongo.plugins import MongoPluginSwitches
from chalicelib.adapters.mongo.questions import MongoQuestionStore
from chalicelib.adapters.mongo.receipts import MongoReceiptStore
from chalicelib.adapters.mongo.session_genomes import MongoSessionGenomeStore
from chalicelib.adapters.mongo.sessions import MongoSessionStore
from chalicelib.adapters.mongo.upkeep import MongoIndexes, MongoOldRows
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.bootstrap import Container, Ports, system_clock
from chalicelib.plugins.hooks import Plugin
from chalicelib.settings import RecallSettings, Settings
from tests.conftest import SIZE
from tests.e2e.client import Api
from tests.e2e.stores import Stores

Serve = Callable[..., Api]


@pytest.fixture
def embedder() -> TermEmbedder:
    """The embedder of `api`: it can be told to fail, and counts its calls."""
    return TermEmbedder()


@pytest.fixture
def telemetry() -> RecordedTelemetry:
    """What the service says of itself."""
    return RecordedTelemetry()


@pytest.fixture
def serve(
    mongo: MongoConnection, redis: RedisConnection, embedder: TermEmbedder, telemetry: RecordedTelemetry, org: str
) -> Iterator[Serve]:
    """Starts the application with the settings and the plugins given. Only the latest one serves."""
    before = bootstrap._container

    def start(settings: Settings | None = None, plugins: Sequence[Plugin] = ()) -> Api:
        settings = settings or Settings(recall=RecallSettings(seconds=28))
        ports = Ports(
            store=MongoMemoryStore(mongo),
            keys=MongoKeyStore(mongo),
            receipts=MongoReceiptStore(mongo),
            audit=MongoAuditLog(mongo),
            recalls=MongoRecallStore(mongo),
            questions=MongoQuestionStore(mongo),
            switches=MongoPluginSwitches(mongo),
            sessions=MongoSessionStore(mongo),
            genomes=MongoSessionGenomeStore(mongo),
            souls=MongoSoulStore(mongo),
            user_genomes=MongoUserGenomeStore(mongo),
            hot=RedisHotIndex(redis),
            vectors=None,
            cache=RedisRecallCache(redis, settings.recall.query_cache_seconds),
            embedder=embedder,
            backfills=MongoBackfillStore(mongo, OldVectors(embedder.passage_model)),
            old_rows=MongoOldRows(mongo),
            indexes=MongoIndexes(mongo, SIZE),
            telemetry=telemetry,
            clock=system_clock,
            queue=RedisTaskQueue(redis, settings.queue),
        )
        services = Container(settings, ports, plugins=plugins)
        bootstrap.use(services)
        return Api(services, wsgi(), org)

    yield start
    bootstrap.use(before)


@pytest.fixture
def api(serve: Serve) -> Api:
    """The application with the settings as they ship."""
    return serve()


@pytest.fixture
def stores(mongo: MongoConnection, redis_url: str) -> Iterator[Stores]:
    """Everything that the servers hold."""
    found = Stores(mongo, redis_url)
    yield found
    found.close()
