"""The task queue under test: each adapter, empty, with a way to let time pass and to queue what is no task."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.adapters.memory.queue import InMemoryTaskQueue
from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.adapters.sqs_queue import SqsTaskQueue
from chalicelib.ports import TaskQueue
from chalicelib.settings import QueueSettings
from tests.building import TestClock
from tests.sqs_server import CREDENTIALS, let_time_pass, make_queue

VISIBILITY, ATTEMPTS = 600, 3
SETTINGS = QueueSettings(visibility_seconds=VISIBILITY, attempts=ATTEMPTS)
KINDS = ("twin", "redis", "valkey", "sqs")


@dataclass(frozen=True)
class QueueUnderTest:
    """A queue, how to let time pass for it, and how to queue texts as they are."""

    queue: TaskQueue
    lapse: Callable[[float], None]
    put: Callable[[list[str]], None]


def queue_under_test(request: pytest.FixtureRequest) -> QueueUnderTest:
    """The one that the fixture's parameter names."""
    if request.param == "twin":
        clock = TestClock()
        twin = InMemoryTaskQueue(clock, SETTINGS)
        return QueueUnderTest(twin, lambda seconds: clock.forward(seconds=seconds), twin.put)
    if request.param == "sqs":
        return _sqs(request)
    connection: RedisConnection = request.getfixturevalue(request.param)
    connection.command("FLUSHDB")
    queue = RedisTaskQueue(connection, SETTINGS)
    return QueueUnderTest(queue, lambda seconds: age(connection, seconds), queue.put)


def _sqs(request: pytest.FixtureRequest) -> QueueUnderTest:
    environment: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    for name, value in CREDENTIALS.items():
        environment.setenv(name, value)
    url = make_queue(request.getfixturevalue("sqs_endpoint"), f"tasks-{secrets.token_hex(6)}", ATTEMPTS)
    passed = [0.0]

    def clock() -> datetime:
        return datetime.fromtimestamp(time.time(), UTC) + timedelta(seconds=passed[0])

    def lapse(seconds: float) -> None:
        passed[0] += seconds
        let_time_pass(seconds)

    settings = SETTINGS.model_copy(update={"sqs_url": url, "sqs_seconds": 10, "sqs_wait_seconds": 0})
    queue = SqsTaskQueue(settings, clock)
    return QueueUnderTest(queue, lapse, queue.put)


def age(connection: RedisConnection, seconds: float) -> None:
    """Make every message in that Redis as old as if so much time had passed."""
    for part in ("waiting", "taken", "dead"):
        for id_ in connection.command("ZRANGE", keys.queue(part), 0, -1):
            connection.command("ZINCRBY", keys.queue(part), -seconds * 1000, id_)
