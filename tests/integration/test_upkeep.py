"""What the worker does so that answers stay right: expired rows leave the index, a Redis that restarted is told again."""

from datetime import timedelta
from pathlib import Path

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.domain.query import RecallQuery
from chalicelib.entrypoints.jobs import Rota
from chalicelib.ports import Browse, IndexRemoval
from chalicelib.settings import RedisSettings
from tests.building import TestClock, caller
from tests.integration.arrangements import contents, remember, services, uncached
from vitto_tools.local import servers

QUERY = RecallQuery(query="where does Ana live?", limit=5)


def test_expired_memories_crowd_out_no_live_one(mongo: MongoConnection, redis: RedisConnection, org: str) -> None:
    clock = TestClock()
    made, ana = uncached(services(mongo, redis, clock=clock)), caller(org)
    soon = (clock.now + timedelta(minutes=5)).isoformat()
    remember(made, ana, *(f"where does Ana live? visit {n}" for n in range(60)), expiresAt=soon)
    remember(made, ana, "Ana lives in Porto")
    made.maintenance.retire_expired()
    assert len(contents(made.recall.recall(ana, QUERY))) == 5
    clock.forward(minutes=10)
    made.maintenance.retire_expired()
    assert contents(made.recall.recall(ana, QUERY)) == ["Ana lives in Porto"]
    made.maintenance.rebuild(ana.chain.keys[-1])
    assert contents(made.recall.recall(ana, QUERY)) == ["Ana lives in Porto"]


def test_a_redis_that_lost_its_last_writes_in_a_restart_is_told_them_again(
    mongo: MongoConnection, tmp_path: Path, org: str
) -> None:
    port = servers.free_port()
    server = servers.redis(port, tmp_path / "redis")
    process = servers.start(server, tmp_path / "log")
    redis = RedisConnection(RedisSettings(url=f"redis://{servers.HOST}:{port}/0", seconds=2))
    made, ana = uncached(services(mongo, redis)), caller(org)
    remember(made, ana, "Ana lives in Porto")
    made.recall.recall(ana, QUERY)
    made.maintenance.rebuild_wanted()
    made.maintenance.republish_after_restart()
    (memory,) = made.ports.store.browse(ana.chain, Browse()).items
    assert made.ports.hot is not None
    made.ports.hot.apply([IndexRemoval(memory.scope_ref.key, memory.id, 0)])  # as if the write had been lost
    redis.command("HDEL", f"vm:d:{memory.scope_ref.key}", memory.id)
    redis.command("DEL", f"vm:x:{memory.scope_ref.key}:{memory.id}")
    assert made.maintenance.republish_after_restart() == 0
    process.stop()
    process = servers.start(server, tmp_path / "log")
    try:
        assert made.maintenance.republish_after_restart() >= 1
        assert contents(made.recall.recall(ana, QUERY)) == ["Ana lives in Porto"]
        assert f"{memory.id}" in str(redis.command("HKEYS", f"vm:d:{memory.scope_ref.key}"))
    finally:
        process.stop()


def test_a_turn_of_the_rota_runs_every_job_on_real_stores(
    mongo: MongoConnection, redis: RedisConnection, org: str
) -> None:
    made = services(mongo, redis)
    remember(made, caller(org), "Ana lives in Porto")
    made.recall.recall(caller(org), QUERY)
    assert Rota(made).turn() >= 1
    failing = [name for name, _ in made.ports.telemetry.events if name == "job_failing"]  # type: ignore[attr-defined]
    assert failing == []
