"""An erasure against real stores, while others write for the same user and the worker runs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.bootstrap import Container, system_clock
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.erasure import ErasureState, Person
from chalicelib.domain.keys import new_id
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.session_input import AppendRequest
from chalicelib.domain.tasks import RebuildScope, Task, WriteScopeQuestions, to_text
from chalicelib.entrypoints.jobs import JOBS, Rota
from chalicelib.errors import VittoError
from chalicelib.settings import QueueSettings
from tests.building import caller
from tests.e2e.stores import Stores
from tests.integration.arrangements import services

GRACE = timedelta(minutes=3)


class Ahead:
    """The real time, and what it is ahead of that."""

    def __init__(self) -> None:
        self.by = timedelta(0)

    def __call__(self) -> datetime:
        return system_clock() + self.by


@pytest.fixture
def clock() -> Ahead:
    """A clock that can be set forward."""
    return Ahead()


@pytest.fixture
def stores(mongo: MongoConnection, redis_url: str) -> Iterator[Stores]:
    """Everything that the servers hold."""
    found = Stores(mongo, redis_url)
    yield found
    found.close()


def process(mongo: MongoConnection, redis: RedisConnection, clock: Ahead) -> Container:
    """The product as one process has it: what it knows of erasures it knows for itself."""
    return services(mongo, redis, queue=RedisTaskQueue(redis, QueueSettings()), clock=clock)


def write(made: Container, user: Caller, word: str, number: int) -> None:
    """What a request of the user does that began before anybody knew of the erasure."""
    item = {"content": f"{word} number {number} stands in Porto", "type": "observation"}
    made.remember.remember(user, [item], key=new_id("idem"), single=True)
    shared = {"content": f"the team of {word} met {number} times", "scope": "space", "scopeId": "red"}
    made.remember.remember(user, [shared], key=None, single=True)
    made.recall.recall(user, RecallQuery(query=f"where is {word} {number}?"))
    said = {"messages": [{"id": f"{word}{number}", "role": "user", "text": f"I saw {word} {number}"}]}
    made.conversation.sessions.append(user, f"s{number % 2}", AppendRequest.model_validate(said))


def until(stop: threading.Event, work: Callable[[int], object]) -> threading.Thread:
    """Work in a thread until told to stop; what is refused for a moment is tried again."""

    def run() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            with suppress(VittoError):
                work(number)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_under_load_while_the_worker_runs_nothing_of_the_user_is_left(
    mongo: MongoConnection, redis: RedisConnection, stores: Stores, clock: Ahead, org: str
) -> None:
    redis.run([("DEL", keys.queue(part)) for part in ("waiting", "taken", "dead", "texts", "attempts", "receipts")])
    name, word = f"zelda{new_id('u')[-10:]}", f"quux{new_id('w')[-10:]}"  # of what other tests left the worker is free
    user, root = caller(org, name, spaces=("red",)), caller(org, "root", Role.ADMIN)
    here, elsewhere, worker = (process(mongo, redis, clock) for _ in range(3))
    foreign = caller(new_id("org"), name)
    here.remember.remember(foreign, [{"content": "of another organization"}], key=None, single=True)
    write(elsewhere, user, word, 0)
    stop = threading.Event()
    rota = Rota(worker, tuple(job for job in JOBS if job.name != "republish_after_restart"))
    threads = [until(stop, lambda n: write(elsewhere, user, word, n)), until(stop, lambda _: rota.turn())]
    receipt = here.personal.erasing.start(root, name, "delete")
    stop.set()
    for thread in threads:
        thread.join()
    write(elsewhere, user, word, 10_000)  # the latest that could come of a process that knew of nothing

    clock.by = GRACE
    for _ in range(3):
        rota.once()
    person = Person(org, name)
    record = here.personal.check.record(person)
    assert record.is_finished, record
    assert record.receipt.id == receipt.id
    assert record.receipt.counts["memories"].removed > receipt.counts["memories"].removed > 0
    places = stores.documents(org)
    assert [p[:200] for p in places if (name in p or word in p) and not p.startswith("redis:vm:t:")] == []
    assert [p for p in stores.places_of(word) if not p.startswith("redis:vm:t:")] == []
    assert here.personal.check.left(person, None, lambda: False).total == 0
    assert here.personal.check.left(Person(foreign.org_id, name), None, lambda: False).total > 0

    again = here.personal.erasing.start(root, name)
    assert (again.total, again.state) == (0, ErasureState.SETTLING)


def test_a_retry_of_before_that_comes_after_all_is_over_finds_nothing_to_do(
    mongo: MongoConnection, redis: RedisConnection, stores: Stores, clock: Ahead, org: str
) -> None:
    name = f"zelda{new_id('u')[-10:]}"
    user, made = caller(org, name), process(mongo, redis, clock)
    made.remember.remember(user, [{"content": "Zelda lives in Porto"}], key=None, single=True)
    before: list[Task] = [
        RebuildScope(scope_key=Person(org, name).scope_key),
        WriteScopeQuestions(scope_key=Person(org, name).scope_key),
    ]
    made.personal.erasing.start(caller(org, "root", Role.ADMIN), name)
    clock.by = GRACE
    made.personal.erasing.work_on_all(lambda: False)
    for task in before:
        Container(made.settings, made.ports).tasks.run(to_text(task))
    assert [d[:200] for d in stores.documents(org) if name in d] == []
