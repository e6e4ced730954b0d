"""Consolidation over the real stores: many writers at once, edits in between, scopes apart, with Redis and without."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import ArchivedReason, Link, LinkKind, Status
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.receipt import Outcome
from chalicelib.errors import StaleRevision
from chalicelib.write.consolidation.applying import Applied
from tests.building import caller
from tests.consolidating import active, drafted, now, stored, tell
from tests.integration.arrangements import services

WRITERS = 60
AT_ONCE = 16
EDITS = 10
FIRST = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(params=["redis", "without redis"])
def made(request: pytest.FixtureRequest, mongo: MongoConnection, redis: RedisConnection) -> Container:
    """The product over MongoDB, with Redis and without."""
    return services(mongo, redis if request.param == "redis" else None)


def complete(made: Container, who: Caller) -> None:
    """Have the hot index answer for the caller's scopes, as it does once the worker was there."""
    if made.ports.hot:
        for scope in who.chain.keys:
            made.ports.hot.complete(scope)


def at(day: int) -> str:
    """An event time, `day` days after the first."""
    return (FIRST + timedelta(days=day)).isoformat()


def test_a_fact_in_other_words_a_correction_and_a_restore(made: Container, org: str) -> None:
    ana = caller(org, "ana")
    complete(made, ana)
    (first,) = tell(made, ana, "Ana lives in Porto", eventTime=at(0))
    (again,) = tell(made, ana, "Ana's home is in Porto", eventTime=at(1))
    assert (again.outcome, again.id) == (Outcome.DUPLICATE, first.id)
    (moved,) = tell(made, ana, "Ana moved to Lisbon", eventTime=at(2))
    assert moved.outcome is Outcome.SUPERSEDED
    hits = made.recall.recall(ana, RecallQuery(query="Ana lives in Porto or Lisbon"))["hits"]
    assert [hit["memory"]["content"] for hit in hits] == ["Ana moved to Lisbon"]
    memory, _ = made.editor.restore(ana, first.id)
    assert memory.status is Status.ACTIVE
    assert now(made, ana, moved.id).links == (Link(kind=LinkKind.CONTRADICTS, target=first.id),)
    assert active(made, ana) == {"Ana lives in Porto", "Ana moved to Lisbon"}


def test_a_correction_is_found_among_many_that_are_worded_like_it(made: Container, org: str) -> None:
    ana = caller(org, "ana")
    complete(made, ana)
    tell(made, ana, *(f"Person{number} lives in Porto" for number in range(60)), eventTime=at(0))
    (first,) = tell(made, ana, "Ana lives in Porto", eventTime=at(0))
    (moved,) = tell(made, ana, "I moved to Lisbon", eventTime=at(1))
    assert moved.outcome is Outcome.SUPERSEDED
    assert now(made, ana, first.id).archived_reason is ArchivedReason.SUPERSEDED
    assert len(active(made, ana)) == 61


def test_a_user_who_edits_meanwhile_keeps_the_edit(made: Container, org: str) -> None:
    ana = caller(org, "ana")
    complete(made, ana)
    (first,) = tell(made, ana, "Ana lives in Porto", eventTime=at(0))
    rows = drafted(made, ana, {"content": "Ana lives in Lisbon", "eventTime": at(1)})

    def edit() -> None:
        made.editor.edit(ana, first.id, {"content": "Ana was born in Porto"}, 1)

    (new,) = stored(made, ana, rows, between=edit)
    assert new.outcome is Outcome.STORED
    assert active(made, ana) == {"Ana was born in Porto", "Ana lives in Lisbon"}


def test_no_scope_and_no_organization_reaches_into_another(made: Container, org: str) -> None:
    ana, bob = (caller(org, name, spaces=("red",)) for name in ("ana", "bob"))
    foreign = caller(f"{org}-2", "ana", spaces=("red",))
    for who in (ana, bob, foreign):
        complete(made, who)
    (broad,) = tell(made, ana, "Carla lives in Porto", scope="space", scopeId="red", eventTime=at(0))
    (own,) = tell(made, bob, "Carla lives in Porto", eventTime=at(0))
    before = [now(made, ana, broad.id), now(made, bob, own.id)]
    (narrow,) = tell(made, ana, "Carla lives in Lisbon", eventTime=at(1))
    (other,) = tell(made, foreign, "Carla lives in Faro", scope="space", scopeId="red", eventTime=at(1))
    assert [narrow.outcome, other.outcome] == [Outcome.STORED, Outcome.STORED]
    assert now(made, ana, narrow.id).links == now(made, foreign, other.id).links == ()
    assert [now(made, ana, broad.id), now(made, bob, own.id)] == before


def test_many_writers_of_one_scope_lose_no_edit_make_no_duplicate_and_get_true_receipts(
    made: Container, org: str
) -> None:
    ana = caller(org, "ana")
    complete(made, ana)
    (edited,) = tell(made, ana, "The nightly build runs on the old server", eventTime=at(0))

    def write(number: int) -> Applied:
        texts = (
            f"Ana lives in Town{number % 20}",
            f"Person{number % 10} works at Acme",
            f"Note {number} is about topic{number}",
            "The nightly build runs on the old server in the basement",
        )
        (one,) = tell(made, ana, texts[number % 4], eventTime=at(1 + number))
        return one

    def edit(number: int) -> str:
        while True:
            memory = now(made, ana, edited.id)
            try:
                made.editor.edit(ana, edited.id, {"tags": [*memory.tags, f"edit{number}"]}, memory.revision)
            except StaleRevision:
                continue
            return f"edit{number}"

    with ThreadPoolExecutor(AT_ONCE) as pool:
        edits = [pool.submit(edit, number) for number in range(EDITS)]
        done = list(pool.map(write, range(WRITERS)))
        tags = {one.result() for one in edits}
    assert tags <= set(now(made, ana, edited.id).tags)
    rows = made.ports.store.rows_of_scope(ana.chain.keys[-1], limit=1000)
    contents = [row.memory.content for row in rows]
    assert len(contents) == len(set(contents))
    assert {f"Note {number} is about topic{number}" for number in range(2, WRITERS, 4)} <= set(contents)
    for one in done:
        memory = now(made, ana, one.id)
        if one.outcome is Outcome.SUPERSEDED:
            olds = [link.target for link in memory.links if link.kind is LinkKind.SUPERSEDES]
            assert olds
            assert all(now(made, ana, id_).archived_reason is ArchivedReason.SUPERSEDED for id_ in olds)
        elif one.outcome is Outcome.UPDATED:
            assert [earlier.content for earlier in memory.history]
        else:
            assert one.outcome in {Outcome.STORED, Outcome.DUPLICATE}
