"""Every port of a store: one that is down, or does not answer in time, is StoreUnavailable and nothing else."""

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.adapters.mongo.administration import MongoAuditLog, MongoKeyStore, MongoRecallStore
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.identity import MongoSoulStore, MongoUserGenomeStore
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.mongo.receipts import MongoReceiptStore
from chalicelib.adapters.mongo.storedvectors import MongoStoredVectors
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.adapters.redis.search_module import SearchModule
from chalicelib.adapters.redis.searching import in_step
from chalicelib.adapters.sqs_queue import SqsTaskQueue
from chalicelib.bootstrap import system_clock
from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.domain.memory import ArchivedReason
from chalicelib.domain.query import Filter, TermStatistics
from chalicelib.domain.soul import Soul, StoredSoul
from chalicelib.domain.tasks import RebuildScope
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Browse, CacheEntry, Delivery, TaskQueue
from chalicelib.settings import MongoSettings, QueueSettings, RedisSettings
from tests.building import NOW, api_key, chain, entry, event, index_query, record, row
from tests.sqs_server import CREDENTIALS
from vitto_tools.local.servers import HOST, free_port

LIMIT_SECONDS = 0.15
PATIENCE_SECONDS = 4.0
ORG = "acme"
READER = chain(ORG)
ROW = row(org_id=ORG)
SCOPE = ROW.memory.scope_ref.key
Call = Callable[[], object]


@pytest.fixture(params=["closed", "silent"])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    """A port where nobody listens, or where a server takes connections and never answers."""
    if request.param == "closed":
        yield free_port()
        return
    with socket.create_server((HOST, 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def dead_mongo(port: int) -> Iterator[MongoConnection]:
    """A connection to it as MongoDB."""
    uri, limit = f"mongodb://{HOST}:{port}/?directConnection=true", LIMIT_SECONDS
    settings = MongoSettings(
        uri=uri, read_seconds=limit, search_seconds=limit, write_seconds=limit, select_seconds=limit
    )
    connection = MongoConnection(settings)
    yield connection
    connection.client.close()


@pytest.fixture
def dead_redis(port: int) -> RedisConnection:
    """A connection to it as Redis."""
    return RedisConnection(
        RedisSettings(url=f"redis://{HOST}:{port}/0", seconds=LIMIT_SECONDS, bulk_seconds=LIMIT_SECONDS)
    )


def raises_unavailable(store: str, calls: dict[str, Call]) -> None:
    """Every call says that `store` is unavailable, and says so in time."""

    def outcome(call: Call) -> str:
        began = time.monotonic()
        with pytest.raises(StoreUnavailable) as raised:
            call()
        return raised.value.store if time.monotonic() - began < PATIENCE_SECONDS else "too late"

    with ThreadPoolExecutor(len(calls)) as pool:
        outcomes = dict(zip(calls, pool.map(outcome, calls.values()), strict=True))
    assert outcomes == dict.fromkeys(calls, store)


def test_a_dead_memory_store_is_unavailable(dead_mongo: MongoConnection) -> None:
    store = MongoMemoryStore(dead_mongo)
    raises_unavailable(
        "mongo",
        {
            "probe": store.probe,
            "insert": lambda: store.insert([ROW]),
            "find_duplicates": lambda: store.find_duplicates([ROW.memory]),
            "fetch": lambda: store.fetch(READER, ["mem_1"]),
            "replace": lambda: store.replace(ROW, 1),
            "purge": lambda: store.purge(READER, "mem_1"),
            "settle": lambda: store.settle([(ROW.memory, True)]),
            "browse": lambda: store.browse(READER, Browse()),
            "text_candidates": lambda: store.text_candidates(
                READER, (("fig",),), TermStatistics(0, {}), Filter(), 10, now=NOW
            ),
            "statistics": lambda: store.statistics(READER),
            "take_statistics": lambda: store.take_statistics(SCOPE),
            "pending": lambda: store.pending(NOW, 10),
            "recent": lambda: store.recent(READER, NOW, Filter(), 10, now=NOW),
            "related": lambda: store.related(READER, ("name:ana",), Filter(), 10, now=NOW),
            "archived": lambda: store.archived(
                READER,
                (("fig",),),
                TermStatistics(0, {}),
                reasons=[ArchivedReason.SUPERSEDED],
                wanted=Filter(),
                limit=10,
            ),
            "changed_after": lambda: store.changed_after(READER, NOW, 10),
            "count_pending": store.count_pending,
            "browse_organization": lambda: store.browse_organization(READER.org_id, Browse()),
            "quarantined": lambda: store.quarantined(NOW, 10),
            "admitted": lambda: store.admitted(SCOPE, NOW),
            "forgotten": lambda: store.forgotten(NOW, 10),
            "untold": lambda: store.untold(10),
            "yielding": lambda: store.yielding(10),
            "checkpoint": lambda: store.checkpoint("sweep"),
            "keep_checkpoint": lambda: store.keep_checkpoint("sweep", ""),
            "rows_of_scope": lambda: store.rows_of_scope(SCOPE),
            "scope_keys": lambda: list(store.scope_keys()),
            "mark_for_repair": lambda: store.mark_for_repair([SCOPE]),
            "marked_for_repair": store.marked_for_repair,
            "repaired": lambda: store.repaired(SCOPE, "token"),
        },
    )


def test_a_dead_vector_search_is_unavailable(dead_mongo: MongoConnection) -> None:
    vectors = MongoStoredVectors(dead_mongo)
    raises_unavailable(
        "atlas",
        {
            "probe": vectors.probe,
            "nearest": lambda: vectors.nearest(READER, index_query("figs"), rows=0, now=NOW),
        },
    )


def test_dead_administration_is_unavailable(dead_mongo: MongoConnection) -> None:
    keys, receipts = MongoKeyStore(dead_mongo), MongoReceiptStore(dead_mongo)
    audit, recalls = MongoAuditLog(dead_mongo), MongoRecallStore(dead_mongo)
    souls, genomes = MongoSoulStore(dead_mongo), MongoUserGenomeStore(dead_mongo)
    raises_unavailable(
        "mongo",
        {
            "keys.add": lambda: keys.add(api_key(ORG)),
            "keys.get": lambda: keys.get("key_1"),
            "keys.list": lambda: keys.list(ORG, None, 10),
            "keys.revoke": lambda: keys.revoke(ORG, "key_1", NOW),
            "receipts.reserve": lambda: receipts.reserve(ORG, "ana", "k", "hash", NOW),
            "receipts.complete": lambda: receipts.complete(ORG, "ana", "k", []),
            "receipts.release": lambda: receipts.release(ORG, "ana", "k"),
            "audit.add": lambda: audit.add([event(ORG)]),
            "audit.list": lambda: audit.list(ORG, None, 10),
            "recalls.add": lambda: recalls.add([record(ORG)]),
            "recalls.get": lambda: recalls.get(ORG, "rcl_1"),
            "genomes.load": lambda: genomes.load(ORG, "ana"),
            "genomes.put first": lambda: genomes.put(ORG, UserGenome(user_id="ana", version=1), 0),
            "genomes.put": lambda: genomes.put(ORG, UserGenome(user_id="ana", version=2), 1),
            "genomes.delete": lambda: genomes.delete(ORG, "ana"),
            "souls.get": lambda: souls.get(ORG),
            "souls.put": lambda: souls.put(ORG, StoredSoul(soul=Soul(), updated_at=NOW, updated_by="root")),
        },
    )


def test_a_dead_index_is_unavailable(dead_redis: RedisConnection) -> None:
    index = RedisHotIndex(dead_redis)
    raises_unavailable(
        "redis",
        {
            "probe": index.probe,
            "search": lambda: index.search(READER, index_query("figs")),
            "apply": lambda: index.apply([entry(ROW)]),
            "begin_rebuild": lambda: index.begin_rebuild(SCOPE),
            "complete": lambda: index.complete(SCOPE),
            "wanted": index.wanted,
            "changed": index.changed,
        },
    )


def test_a_search_module_that_died_is_unavailable(dead_redis: RedisConnection) -> None:
    driver = SearchModule(dead_redis)
    raises_unavailable(
        "redis",
        {
            "prepare": lambda: driver.prepare([8]),
            "search": lambda: in_step(dead_redis, [driver.steps(READER.keys, index_query("figs"))]),
            "search by text": lambda: in_step(
                dead_redis, [driver.steps(READER.keys, index_query("figs", vector=None))]
            ),
        },
    )


def test_a_dead_cache_is_unavailable(dead_redis: RedisConnection) -> None:
    cache = RedisRecallCache(dead_redis, query_vector_seconds=60)
    raises_unavailable(
        "redis",
        {
            "open": lambda: cache.open(READER, "q", "v", "hit"),
            "close": lambda: cache.close(CacheEntry("q", ("1",), "body", "audit", 60), ("v", b"1234"), "miss"),
            "drain": lambda: cache.drain(10),
            "drained": lambda: cache.drained([("a", None)]),
        },
    )


def queue_calls(queue: TaskQueue) -> dict[str, Call]:
    """Every call of a queue."""
    held = [Delivery("1", "{}", 1, False, "9999999999 handle")]
    return {
        "probe": queue.probe,
        "send": lambda: queue.send([RebuildScope(scope_key=SCOPE)]),
        "receive": lambda: queue.receive(1),
        "done": lambda: queue.done(held),
        "retry": lambda: queue.retry(held, 1),
        "dead_letters": lambda: queue.dead_letters(1),
        "redrive": queue.redrive,
    }


def test_a_dead_redis_queue_is_unavailable(dead_redis: RedisConnection) -> None:
    raises_unavailable("redis", queue_calls(RedisTaskQueue(dead_redis, QueueSettings())))


def test_a_dead_sqs_is_unavailable(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    settings = QueueSettings(
        sqs_url=f"http://{HOST}:{port}/123456789012/tasks", sqs_seconds=LIMIT_SECONDS, sqs_wait_seconds=0
    )
    queue = SqsTaskQueue(settings, system_clock)
    assert queue._client(0).meta.region_name  # boto3's import is not part of what a call takes
    raises_unavailable("sqs", queue_calls(queue))
