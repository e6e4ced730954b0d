"""Another reader sees nothing: the same query through every tier alone, and through all of them."""

from collections.abc import Callable

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.scope import Scope
from tests.building import caller
from tests.integration.arrangements import (
    OneSignal,
    answering_anything,
    contents,
    rebuild_all,
    remember,
    services,
    uncached,
)

SECRET = "The launch code of project Heron is crimson sunrise"
QUERY = RecallQuery(query="What is the launch code of project Heron?", limit=100)
ARRANGEMENTS = ("all", "vectors", "text", "valkey", "mongo_text", "cache")


@pytest.fixture(params=ARRANGEMENTS)
def made(
    request: pytest.FixtureRequest, mongo: MongoConnection, redis: RedisConnection, valkey: RedisConnection
) -> Container:
    """The product with one tier alone, or all; `cache` asks twice, so that the second answer is a cached one."""
    makers: dict[str, Callable[[], Container]] = {
        "all": lambda: uncached(services(mongo, redis)),
        "vectors": lambda: uncached(services(mongo, redis, hot=OneSignal(redis, "vectors"))),
        "text": lambda: uncached(services(mongo, redis, hot=OneSignal(redis, "text"))),
        "valkey": lambda: uncached(services(mongo, valkey)),
        "mongo_text": lambda: services(mongo, None),
        "cache": lambda: services(mongo, redis),
    }
    return answering_anything(makers[request.param]())


def complete_all(made: Container) -> None:
    """Let the worker build what searches found missing, so that MongoDB's text does not answer for Redis."""
    rebuild_all(made)


def test_the_same_query_as_another_reader_returns_nothing_foreign(made: Container, org: str) -> None:
    owner = caller(org, "bob", Role.ADMIN, spaces=("red",), universes=("u1",))
    remember(made, owner, SECRET)
    remember(made, owner, SECRET + " (space)", scope="space", scopeId="red")
    remember(made, owner, SECRET + " (universe)", scope="universe", scopeId="u1")
    remember(made, owner, SECRET + " (organization)", scope="organization")
    readers = {
        "a colleague in no space": (caller(org, "ana"), [" (organization)"]),
        "a member of the space": (caller(org, "ana", spaces=("red",)), [" (organization)", " (space)"]),
        "a member of the universe": (caller(org, "ana", universes=("u1",)), [" (organization)", " (universe)"]),
        "a namesake elsewhere": (caller(org + "x", "bob", Role.ADMIN, spaces=("red",), universes=("u1",)), []),
        "an organization whose name reaches over": (caller(f"{org}/user", "bob"), []),
        "the owner": (owner, ["", " (organization)", " (space)", " (universe)"]),
    }
    for reader, _ in readers.values():
        made.recall.recall(reader, QUERY)
    complete_all(made)
    for _ in range(2):  # the second time from the cache where there is one
        for name, (reader, wanted) in readers.items():
            found = contents(made.recall.recall(reader, QUERY))
            assert sorted(found) == sorted(SECRET + suffix for suffix in wanted), name


def test_a_scoped_reader_gets_its_own_nearest_however_many_others_are_nearer(made: Container, org: str) -> None:
    ana, bob = caller(org, "ana", spaces=("red",)), caller(org, "bob", spaces=("red", "blue"))
    mine = [f"Project Heron has a launch plan, part {i}" for i in range(3)]
    remember(made, ana, *mine)
    remember(made, bob, *(f"{SECRET}, copy {j}" for j in range(50)))
    remember(made, bob, *(f"{SECRET}, blue copy {j}" for j in range(50)), scope="space", scopeId="blue")
    made.recall.recall(ana, QUERY)
    complete_all(made)
    assert sorted(contents(made.recall.recall(ana, QUERY))) == mine


def test_narrowing_gives_a_part_of_the_chain_and_nothing_else(made: Container, org: str) -> None:
    ana = caller(org, "ana", Role.ADMIN, spaces=("red",))
    remember(made, ana, SECRET)
    remember(made, ana, SECRET + " (space)", scope="space", scopeId="red")
    made.recall.recall(ana, QUERY)
    complete_all(made)
    space_only = QUERY.model_copy(update={"scopes": (Scope.SPACE,)})
    assert contents(made.recall.recall(ana, space_only)) == [SECRET + " (space)"]
    assert len(contents(made.recall.recall(ana, QUERY))) == 2
