"""A store that fails: answers go on where they can and say what is missing, nothing is lost, and it comes back by itself."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import create_indexes
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import RecallQuery
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Browse
from chalicelib.settings import MongoSettings, RedisSettings
from tests.building import caller
from tests.integration.arrangements import contents, rebuild_all, remember, services, skipped, uncached
from vitto_tools.local import servers

QUERY = RecallQuery(query="where does Ana live?")
SLACK_SECONDS = (
    3.0  # for a slow machine: it tells our limits from those that drivers come with (5, 30 and 59 s), no more
)


class Owned:
    """A server of one test, which may stop it and start it again."""

    def __init__(self, server: servers.Server, folder: Path) -> None:
        self._server, self._log = server, folder / f"{server.name}.log"
        self.process = servers.start(server, self._log)

    def start(self) -> None:
        """Start it again."""
        self.process = servers.start(self._server, self._log)


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[tuple[Owned, RedisConnection]]:
    """A Redis that keeps its data, with a connection of production's timeouts."""
    port = servers.free_port()
    owned = Owned(servers.redis(port, tmp_path / "redis"), tmp_path)
    yield owned, RedisConnection(RedisSettings(url=f"redis://{servers.HOST}:{port}/0"))
    owned.process.stop()


@pytest.fixture
def own_mongo(tmp_path: Path) -> Iterator[tuple[Owned, MongoConnection]]:
    """A MongoDB that keeps its data, with a connection of production's timeouts."""
    port = servers.free_port()
    owned = Owned(servers.mongo(port, tmp_path / "mongo"), tmp_path)
    connection = MongoConnection(MongoSettings(uri=servers.mongo_uri(port)))
    create_indexes(connection.database)
    yield owned, connection
    connection.client.close()
    owned.process.stop()


def indexed(made: Container, org: str) -> None:
    """Two memories, in a scope that Redis holds completely."""
    ana = caller(org)
    remember(made, ana, "Ana lives in Porto", "Ana plays the cello")
    made.recall.recall(ana, QUERY)
    rebuild_all(made)


def whole(made: Container, who: Caller) -> None:
    """Ask until an answer lacks nothing: what failed rests for a moment after it is back."""
    until = time.monotonic() + 60
    while (answer := made.recall.recall(who, QUERY))["degraded"]:
        assert time.monotonic() < until, answer
        time.sleep(0.1)


def test_recall_goes_on_without_redis_says_so_and_redis_returns_by_itself(
    mongo: MongoConnection, own_redis: tuple[Owned, RedisConnection], org: str
) -> None:
    owned, redis = own_redis
    made, ana = services(mongo, redis), caller(org)
    indexed(made, org)
    owned.process.stop()
    answer = made.recall.recall(ana, QUERY)
    assert contents(answer)[0] == "Ana lives in Porto"
    assert skipped(answer) - {"cold"} == {"cache", "redis_vectors", "redis_text"}
    assert any("redis is unavailable" in missing["message"] for missing in answer["degraded"])
    (receipt,) = remember(made, ana, "Bob lives with Ana near the river")
    assert receipt["outcome"] == "stored"
    assert receipt["index"]["state"] == "pending"
    assert "redis" in receipt["index"]["reason"]
    owned.start()
    whole(made, ana)
    made.maintenance.retry_pending(grace=made.maintenance.NO_GRACE)
    answer = made.recall.recall(ana, QUERY)
    assert skipped(answer) <= {"cold"}
    assert not answer["degraded"]
    assert set(contents(answer)) >= {"Ana lives in Porto", "Bob lives with Ana near the river"}


def test_a_redis_that_lost_its_data_is_rebuilt_and_answers_the_same(
    mongo: MongoConnection, redis_url: str, redis: RedisConnection, org: str
) -> None:
    made, ana = uncached(services(mongo, redis)), caller(org)
    indexed(made, org)
    before = made.recall.recall(ana, QUERY)
    redis.command("FLUSHALL")
    during = made.recall.recall(ana, QUERY)
    assert contents(during)[0] == "Ana lives in Porto"
    assert "mongo_text" not in skipped(during)
    rebuild_all(made)
    after = made.recall.recall(ana, QUERY)
    assert [(h["memory"], h["score"], h["tier"]) for h in after["hits"]] == [
        (h["memory"], h["score"], h["tier"]) for h in before["hits"]
    ]


def test_a_restart_of_redis_changes_no_answer(
    mongo: MongoConnection, own_redis: tuple[Owned, RedisConnection], org: str
) -> None:
    owned, redis = own_redis
    made, ana = uncached(services(mongo, redis)), caller(org)
    indexed(made, org)
    before = made.recall.recall(ana, QUERY)["hits"]
    owned.process.stop()
    owned.start()
    assert made.recall.recall(ana, QUERY)["hits"] == before


def test_without_mongodb_every_call_fails_fast_and_it_returns_by_itself(
    own_mongo: tuple[Owned, MongoConnection], redis: RedisConnection, org: str
) -> None:
    owned, mongo = own_mongo
    made, ana = uncached(services(mongo, redis)), caller(org)
    indexed(made, org)
    owned.process.kill()
    for call in (lambda: made.recall.recall(ana, QUERY), lambda: remember(made, ana, "something new")):
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="mongo"):
            call()
        assert time.monotonic() - began < SLACK_SECONDS
    owned.start()
    assert contents(made.recall.recall(ana, QUERY))[0] == "Ana lives in Porto"


def test_a_hung_redis_costs_its_timeouts_and_no_more(
    own_mongo: tuple[Owned, MongoConnection], own_redis: tuple[Owned, RedisConnection], org: str
) -> None:
    owned, redis = own_redis
    made, ana = services(own_mongo[1], redis), caller(org)
    indexed(made, org)
    os.kill(owned.process.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        answer = made.recall.recall(ana, QUERY)
        assert time.monotonic() - began < 3 * RedisSettings().seconds + SLACK_SECONDS
        assert contents(answer)[0] == "Ana lives in Porto"
        assert skipped(answer) - {"cold"} == {"cache", "redis_vectors", "redis_text"}
        began = time.monotonic()
        (receipt,) = remember(made, ana, "Ana sings in a choir")
        assert time.monotonic() - began < 3 * RedisSettings().seconds + SLACK_SECONDS
        assert receipt["index"]["state"] == "pending"
    finally:
        os.kill(owned.process.pid, signal.SIGCONT)
    whole(made, ana)


def test_a_hung_mongodb_costs_a_recall_its_timeout_and_is_said(
    own_mongo: tuple[Owned, MongoConnection], redis: RedisConnection, org: str
) -> None:
    owned, mongo = own_mongo
    made, ana = uncached(services(mongo, redis)), caller(org)
    indexed(made, org)
    os.kill(owned.process.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="mongo"):
            made.recall.recall(ana, QUERY)
        assert time.monotonic() - began < MongoSettings().read_seconds + SLACK_SECONDS
    finally:
        os.kill(owned.process.pid, signal.SIGCONT)
    until = time.monotonic() + 30
    while True:
        try:
            assert contents(made.recall.recall(ana, QUERY))[0] == "Ana lives in Porto"
            break
        except StoreUnavailable:
            assert time.monotonic() < until
            time.sleep(0.2)


def test_kill_9_under_write_load_loses_no_acknowledged_memory(
    own_mongo: tuple[Owned, MongoConnection], org: str
) -> None:
    owned, mongo = own_mongo
    made, acknowledged, stop = services(mongo, None), [], threading.Event()

    def write(writer: int) -> None:
        user = caller(org, f"writer {writer}")
        for number in range(10_000):
            if stop.is_set():
                return
            try:
                (receipt,) = remember(made, user, f"memory {number} of writer {writer}")
            except StoreUnavailable:
                continue
            acknowledged.append((user, receipt["id"]))

    threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    owned.process.kill()
    time.sleep(0.3)
    stop.set()
    for thread in threads:
        thread.join()
    owned.start()
    assert len(acknowledged) > 20
    for user, id_ in acknowledged:
        assert made.ports.store.fetch(user.chain, [id_]), id_


def test_a_failed_embedding_loses_nothing_and_is_made_up_for(
    mongo: MongoConnection, redis: RedisConnection, org: str
) -> None:
    made, ana = uncached(services(mongo, redis)), caller(org)
    embedder = made.ports.embedder
    embedder.fail = True  # type: ignore[attr-defined]
    (receipt,) = remember(made, ana, "Ana lives in Porto")
    assert receipt["index"]["state"] == "pending"
    answer = made.recall.recall(ana, QUERY)
    assert contents(answer) == ["Ana lives in Porto"]
    assert answer["degraded"]
    assert made.ports.store.count_pending() >= 1
    embedder.fail = False  # type: ignore[attr-defined]
    assert made.maintenance.retry_pending(grace=made.maintenance.NO_GRACE) >= 1
    (hit,) = made.recall.recall(ana, QUERY)["hits"]
    assert hit["scores"]["cosine"] is not None
    assert hit["memory"]["indexState"] == "indexed"


def test_a_purge_that_redis_missed_is_made_up_for(
    mongo: MongoConnection, own_redis: tuple[Owned, RedisConnection], org: str
) -> None:
    owned, redis = own_redis
    made, admin = uncached(services(mongo, redis)), caller(org, "ana", Role.ADMIN)
    indexed(made, org)
    (memory,) = [m for m in made.ports.store.browse(admin.chain, Browse()).items if "Porto" in m.content]
    owned.process.stop()
    assert made.editor.purge(admin, memory.id).reason
    owned.start()
    assert memory.id in _everything(redis)
    rebuild_all(made)
    assert memory.id not in _everything(redis)


def _everything(redis: RedisConnection) -> str:
    """The content of every hash and sorted set, as text."""
    parts = []
    for name in redis.command("KEYS", "vm:*"):
        kind = redis.command("TYPE", name)
        if kind in {b"hash", "hash"}:
            parts.append(str(redis.command("HGETALL", name)))
        if kind in {b"zset", "zset"}:
            parts.append(str(redis.command("ZRANGE", name, 0, -1)))
    return " ".join(parts)


def test_vectors_of_another_model_are_said_and_text_still_answers(
    mongo: MongoConnection, redis: RedisConnection, org: str
) -> None:
    from chalicelib.adapters.memory.embedder import TermEmbedder

    indexed(services(mongo, redis), org)
    made, ana = uncached(services(mongo, redis, embedder=TermEmbedder(model="other"))), caller(org)
    answer = made.recall.recall(ana, QUERY)
    assert contents(answer)[0] == "Ana lives in Porto"
    (mismatch,) = answer["degraded"]
    assert mismatch["code"] == "embedding_mismatch"
    assert "reindex --embed" in mismatch["message"]
    assert made.maintenance.embed_again(ana.chain.keys[-1]) == (2, 0)
    answer = made.recall.recall(ana, QUERY)
    assert not answer["degraded"]
    assert answer["hits"][0]["scores"]["cosine"] is not None


def test_a_plain_valkey_serves_text_and_cache_and_says_what_it_lacks(
    mongo: MongoConnection, valkey: RedisConnection, org: str
) -> None:
    made, ana = services(mongo, valkey), caller(org)
    indexed(made, org)
    answer = made.recall.recall(ana, QUERY)
    assert contents(answer)[0] == "Ana lives in Porto"
    assert skipped(answer) >= {"redis_vectors"}
    assert any(missing["code"] == "not_supported" for missing in answer["degraded"])
