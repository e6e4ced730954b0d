"""From a request that could not finish to the worker that does: over real stores, with consumers that die and messages
that lie."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.tasks import IndexRows, RebuildScope, to_text
from chalicelib.entrypoints.worker import work_once
from chalicelib.settings import QueueSettings, RedisSettings
from chalicelib.write.prospective.plugin import ProspectiveIndex
from tests.building import caller
from tests.integration.arrangements import contents, remember, services, uncached
from vitto_tools.local import servers

QUERY = RecallQuery(query="where does Ana live?")


@pytest.fixture
def made(mongo: MongoConnection, redis: RedisConnection, org: str) -> Container:
    """The product over real stores with its queue, which is empty. `org` wants no questions, so that all messages are of
    what is pending."""
    for part in ("waiting", "taken", "dead", "texts", "attempts", "receipts"):
        redis.command("DEL", keys.queue(part))
    product = uncached(services(mongo, redis, queue=RedisTaskQueue(redis, QueueSettings())))
    product.ports.switches.put(org, {ProspectiveIndex.name: False})
    return product


def while_the_embedder_is_down(made: Container, org: str, *texts: str) -> list[str]:
    """The ids of ana's memories that were remembered meanwhile."""
    embedder = made.ports.embedder
    assert isinstance(embedder, TermEmbedder)
    embedder.fail = True
    receipts = remember(made, caller(org), *texts)
    embedder.fail = False
    assert {receipt["index"]["state"] for receipt in receipts} == {"pending"}
    return [receipt["id"] for receipt in receipts]


def let_pass(redis: RedisConnection, seconds: float) -> None:
    """Make every message as old as if so much time had passed."""
    for part in ("waiting", "taken"):
        for id_ in redis.command("ZRANGE", keys.queue(part), 0, -1):
            redis.command("ZINCRBY", keys.queue(part), -seconds * 1000, id_)


def states(made: Container, org: str, ids: list[str]) -> list[str]:
    """The index states of ana's memories."""
    return [row.memory.index_state.value for row in made.ports.store.fetch(caller(org).chain, ids)]


def test_what_was_remembered_while_the_embedder_was_down_is_indexed_by_its_message(
    made: Container, redis: RedisConnection, org: str
) -> None:
    ids = while_the_embedder_is_down(made, org, "Ana lives in Porto", "Ana plays the cello")
    assert made.consumer.drain().done == 0
    let_pass(redis, 6)
    assert made.consumer.drain().done == 1
    assert states(made, org, ids) == ["indexed", "indexed"]
    hit = made.recall.recall(caller(org), QUERY)["hits"][0]
    assert (hit["memory"]["content"], hit["tier"]) == ("Ana lives in Porto", "redis_vectors")


KILLED_CONSUMER = """
import os, signal, sys
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.settings import QueueSettings, RedisSettings
queue = RedisTaskQueue(RedisConnection(RedisSettings(url=sys.argv[1], seconds=5)), QueueSettings())
if queue.receive(1):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_consumer_that_dies_with_a_message_loses_nothing(
    made: Container, redis: RedisConnection, redis_url: str, org: str
) -> None:
    ids = while_the_embedder_is_down(made, org, "Ana lives in Porto")
    let_pass(redis, 6)
    command = [sys.executable, "-c", KILLED_CONSUMER, redis_url]
    ended = subprocess.run(command, env={"PYTHONPATH": str(servers.ROOT)}, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert made.consumer.drain().done == 0
    let_pass(redis, QueueSettings().visibility_seconds + 1)
    assert made.consumer.drain().done == 1
    assert states(made, org, ids) == ["indexed"]


def test_a_purge_before_the_message_is_harmless(made: Container, redis: RedisConnection, org: str) -> None:
    gone, kept = while_the_embedder_is_down(made, org, "Ana lives in Porto", "Ana plays the cello")
    admin = caller(org, "ana", Role.ADMIN)
    made.editor.purge(admin, gone)
    let_pass(redis, 6)
    drained = made.consumer.drain()
    assert (drained.done, drained.failed) == (1, 0)
    assert made.ports.store.fetch(admin.chain, [gone]) == []
    assert redis.command("HEXISTS", keys.rows(admin.chain.keys[-1]), gone) == 0
    assert states(made, org, [kept]) == ["indexed"]
    assert "Ana lives in Porto" not in contents(made.recall.recall(admin, QUERY))


def test_a_forged_message_touches_no_row_of_another_organization(
    made: Container, redis: RedisConnection, org: str
) -> None:
    ids = while_the_embedder_is_down(made, org, "Ana lives in Porto")
    before = made.ports.store.fetch(caller(org).chain, ids, with_vectors=True)
    for scope_key in ("evil/user/ana", f"{org}/user/eve", f"evil/organization/{org}"):
        made.tasks.run(to_text(IndexRows(scope_key=scope_key, ids=tuple(ids))))
        assert redis.command("EXISTS", keys.rows(scope_key)) == 0
    assert made.ports.store.fetch(caller(org).chain, ids, with_vectors=True) == before


def environment(mongo_url: str, redis_url: str, org: str) -> dict[str, str]:
    """Settings of a worker with a database of its own, whose embedding server is not there."""
    return {
        "PYTHONPATH": str(servers.ROOT),
        "VITTO_MONGO_URI": mongo_url,
        "VITTO_MONGO_DATABASE": org,
        "VITTO_MONGO_READ_SECONDS": "20",
        "VITTO_MONGO_WRITE_SECONDS": "20",
        "VITTO_REDIS_URL": redis_url,
        "VITTO_REDIS_SECONDS": "5",
        "VITTO_EMBEDDING_BASE_URL": f"http://{servers.HOST}:{servers.free_port()}/v1",
    }


def run_of_the_worker(settings: dict[str, str]) -> tuple[int, dict[str, Any]]:
    """Exit code and summary of `worker --once` as a process; the summary is its last line."""
    command = [sys.executable, "-m", "chalicelib.entrypoints.worker", "--once"]
    ended = subprocess.run(
        command, env=settings, cwd=servers.ROOT, capture_output=True, text=True, timeout=90, check=False
    )
    return ended.returncode, json.loads(ended.stdout.splitlines()[-1])


def test_one_run_of_the_worker_as_a_process_empties_the_queue_and_says_what_it_did(
    made: Container, mongo_url: str, redis_url: str, org: str
) -> None:
    assert made.ports.queue
    made.ports.queue.send([RebuildScope(scope_key=f"{org}/user/{number}") for number in range(12)])
    code, summary = run_of_the_worker(environment(mongo_url, redis_url, org))
    assert (code, summary["failed"]) == (0, [])
    assert summary["tasks"] == {"done": 12, "failed": 0, "died": 0}
    assert made.ports.queue.probe() == {"driver": "redis", "waiting": 0, "taken": 0, "dead": 0}


def test_one_run_of_the_worker_without_its_redis_ends_with_1_and_names_what_failed(mongo_url: str, org: str) -> None:
    gone = f"redis://{servers.HOST}:{servers.free_port()}/0"
    code, summary = run_of_the_worker(environment(mongo_url, gone, org))
    assert code == 1
    assert "drain_queue" in summary["failed"]


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[servers.Process]:
    """A Redis of one test, which may hang."""
    port = servers.free_port()
    process = servers.start(servers.redis(port, None), tmp_path / "log")
    yield process
    os.kill(process.pid, signal.SIGCONT)
    process.stop()


def test_a_queue_that_hangs_fails_no_request_and_the_run_after_it_finds_the_rows(
    made: Container, mongo: MongoConnection, redis: RedisConnection, own_redis: servers.Process, org: str
) -> None:
    port = own_redis.server.command[own_redis.server.command.index("--port") + 1]
    connection = RedisConnection(RedisSettings(url=f"redis://{servers.HOST}:{port}/0", seconds=0.2))
    hanging = services(mongo, redis, queue=RedisTaskQueue(connection, QueueSettings()))
    os.kill(own_redis.pid, signal.SIGSTOP)
    ids = while_the_embedder_is_down(hanging, org, "Ana lives in Porto")
    events = [name for name, _ in hanging.ports.telemetry.events]  # type: ignore[attr-defined]
    assert "tasks_not_queued" in events
    assert work_once(hanging)["failed"] == ["drain_queue", "report_dead_letters"]
    made.maintenance.retry_pending(grace=made.maintenance.NO_GRACE)
    assert states(made, org, ids) == ["indexed"]
