"""What the fast store keeps under a person's name: the twin, Redis and Valkey."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from chalicelib.adapters.memory.cache import InMemoryRecallCache
from chalicelib.adapters.memory.index import GenerationCounter, InMemoryHotIndex
from chalicelib.adapters.memory.personal import InMemoryPersonalTraces
from chalicelib.adapters.memory.queue import InMemoryTaskQueue
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.adapters.redis.personal import RedisPersonalTraces
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.domain.erasure import Person
from chalicelib.domain.keys import key
from chalicelib.domain.tasks import RebuildScope
from chalicelib.ports import HotIndex, PersonalTraces, RecallCache, TaskQueue
from chalicelib.settings import QueueSettings
from tests.building import AWKWARD_IDS, EMBEDDER, TestClock, chain, entry, index_query, record, row
from tests.conftest import SEARCH_MODULE
from tests.contract.conftest import emptied, names


@dataclass(frozen=True)
class Fast:
    """The adapters over one store, and the names of what it holds."""

    hot: HotIndex
    cache: RecallCache
    queue: TaskQueue
    traces: PersonalTraces
    held: Callable[[], list[str]]


@pytest.fixture(params=["twin", "redis", "valkey", *SEARCH_MODULE])
def fast(request: pytest.FixtureRequest) -> Fast:
    """The fast store, empty."""
    if request.param == "twin":
        generations, clock = GenerationCounter(), TestClock()
        hot, cache = InMemoryHotIndex(generations), InMemoryRecallCache(generations, clock)
        queue = InMemoryTaskQueue(clock)
        return Fast(hot, cache, queue, InMemoryPersonalTraces(hot, queue, cache), lambda: [*hot._rows])
    connection = emptied(request, request.param)
    return Fast(
        RedisHotIndex(connection),
        RedisRecallCache(connection, 3600),
        RedisTaskQueue(connection, QueueSettings()),
        RedisPersonalTraces(connection),
        lambda: names(connection),
    )


def fill(fast: Fast, org: str, user: str) -> None:
    """Have the store hold something under a user's name."""
    one = row("Ana lives in Porto", org_id=org, user_id=user, scope_id=user)
    fast.hot.apply([entry(one)])
    fast.hot.search(chain(org, user), index_query("Porto"))
    fast.queue.send([RebuildScope(scope_key=one.memory.scope_ref.key)] * 2)
    fast.queue.receive(1)
    said = record(org, user_id=user).model_dump_json()
    fast.cache.close(None, (key(org, "q"), EMBEDDER.embed_query("Porto")), said)


def counted(fast: Fast, person: Person) -> dict[str, int]:
    """How much is held under a person's name, by kind."""
    found = {}
    for kind in fast.traces.counted:
        step = fast.traces.left(person, kind, None, 1)
        total = step.removed
        while step.after is not None:
            step = fast.traces.left(person, kind, step.after, 1)
            total += step.removed
        found[kind] = total
    return found


def erase(fast: Fast, person: Person) -> int:
    """Erase every kind; how much was removed."""
    total = 0
    for kind in fast.traces.erased:
        step = fast.traces.erase(person, kind, None, 1)
        total += step.removed
        while step.after is not None:
            step = fast.traces.erase(person, kind, step.after, 1)
            total += step.removed
    return total


def test_what_is_under_a_name_goes_and_nothing_under_a_name_like_it(fast: Fast) -> None:
    ids = (*AWKWARD_IDS, "ana", "anab", "an", "/user/ana")
    for user in ids:
        fill(fast, "acme", user)
    fill(fast, "other", "ana")
    before = {user: counted(fast, Person("acme", user)) for user in ids}
    assert all(found["index"] and (found["tasks"], found["recall_audit"]) == (2, 1) for found in before.values())
    assert erase(fast, Person("acme", "ana")) > 3
    gone = counted(fast, Person("acme", "ana"))
    assert gone == {"index": 0, "tasks": 0, "recall_audit": 1}  # which goes by another way, from the queue to the truth
    assert {user: counted(fast, Person("acme", user)) for user in ids if user != "ana"} == {
        user: found for user, found in before.items() if user != "ana"
    }
    assert counted(fast, Person("other", "ana"))["tasks"] == 2
    assert not any("acme/user/ana" in name.split(":") for name in fast.held())
    assert erase(fast, Person("acme", "ana")) == 0


def test_a_message_that_somebody_holds_goes_too_and_its_holder_does_no_harm(fast: Fast) -> None:
    fast.queue.send([RebuildScope(scope_key="acme/user/ana")])
    held = fast.queue.receive(1)
    assert [json.loads(one.text)["scopeKey"] for one in held] == ["acme/user/ana"]
    erase(fast, Person("acme", "ana"))
    fast.queue.done(held)
    fast.queue.retry(held, 0)
    waiting = fast.queue.probe()
    assert (waiting["waiting"], waiting["taken"], waiting["dead"]) == (0, 0, 0)
