"""`ports.OldRows`: rows of before, given out as they stand and replaced by rows of today."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.memory.upkeep import InMemoryOldRows
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import MEMORIES
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.mongo.upkeep import MongoOldRows
from chalicelib.errors import DuplicateContent
from chalicelib.ports import MemoryStore, OldRows
from tests.building import caller, row


@dataclass(frozen=True)
class Held:
    """Rows of before, beside the truth that they go into."""

    rows: OldRows
    store: MemoryStore


@pytest.fixture(params=["twin", "mongo"])
def held(request: pytest.FixtureRequest) -> Callable[[Iterable[Mapping[str, Any]]], Held]:
    """Makes a store that holds these rows of before and no other."""

    def over_twin(documents: Iterable[Mapping[str, Any]]) -> Held:
        store = InMemoryMemoryStore()
        return Held(InMemoryOldRows(store, documents), store)

    def over_mongo(documents: Iterable[Mapping[str, Any]]) -> Held:
        connection: MongoConnection = request.getfixturevalue("mongo")
        collection = connection.database.get_collection(MEMORIES)
        collection.delete_many({})
        collection.insert_many([dict(document) for document in documents])
        return Held(MongoOldRows(connection), MongoMemoryStore(connection))

    return over_twin if request.param == "twin" else over_mongo


Hold = Callable[[Iterable[Mapping[str, Any]]], Held]


def old(identity: str, org: str) -> dict[str, Any]:
    """A row as it was written before scopes."""
    return {"_id": identity, "orgId": org, "userId": "ana", "content": f"of {identity}"}


def test_all_that_wait_are_told_in_an_order_that_stays(held: Hold, org: str) -> None:
    made = held([old("c", org), old("a", org), old("b", org)])
    assert made.rows.waiting() == ["a", "b", "c"]
    assert [document["content"] for document in made.rows.documents(["b", "gone", "a"])] == ["of b", "of a"]


def test_a_row_of_today_takes_the_place_of_the_old_one_for_its_readers_alone(held: Hold, org: str) -> None:
    made = held([old("a", org), old("b", org)])
    new = row("of a", org_id=org)
    made.rows.put(old("a", org), new)
    assert made.rows.waiting() == ["b"]
    (found,) = made.store.fetch(caller(org).chain, [new.memory.id])
    assert found.memory.content == "of a"
    for other in (caller(f"{org}-other"), caller(org, "bob")):
        assert made.store.fetch(other.chain, [new.memory.id]) == []


def test_a_put_that_died_halfway_is_repeated(held: Hold, org: str) -> None:
    made, new = held([old("a", org)]), row("of a", org_id=org)
    made.store.insert([new])
    made.rows.put(old("a", org), new)
    assert made.rows.waiting() == []
    assert len(made.store.rows_of_scope(new.memory.scope_ref.key)) == 1


def test_content_that_is_live_already_changes_nothing_and_is_named(held: Hold, org: str) -> None:
    made, live = held([old("a", org)]), row("of a", org_id=org)
    made.store.insert([live])
    with pytest.raises(DuplicateContent) as raised:
        made.rows.put(old("a", org), row("of a", org_id=org))
    assert raised.value.details["id"] == live.memory.id
    assert made.rows.waiting() == ["a"]
