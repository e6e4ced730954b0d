"""The search of a real server and of its strict double: how it is asked, and what it says on a bad day."""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import bson
import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import INDEXES, MEMORIES
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.mongo.searchindex import INDEX_NAME, create_search_index, definition
from chalicelib.adapters.mongo.storedvectors import (
    DOUBT_SECONDS,
    FAILED_INDEX,
    NO_INDEX,
    NO_VECTOR_SEARCH,
    OTHER_INDEX,
    UNUSABLE_SECONDS,
    USABLE_SECONDS,
    MongoStoredVectors,
)
from chalicelib.bootstrap import make_indexes
from chalicelib.domain.query import Candidate, Filter, StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.domain.vector import unit
from chalicelib.errors import EmbeddingMismatch, StoreUnavailable
from chalicelib.settings import EmbeddingSettings, MongoSettings, Settings
from tests.atlas_double import AtlasDouble
from tests.building import NOW, chain, index_query, row
from tests.contract.index_steps import with_vectors
from tests.contract.store_steps import FORGOTTEN, changed
from tests.contract.vector_steps import nearest

SIZE = 256


class Seconds:
    """A clock of seconds that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Seconds:
    return Seconds()


@pytest.fixture
def search(atlas: AtlasDouble, clock: Seconds) -> MongoStoredVectors:
    """The product's search over the double."""
    return MongoStoredVectors(atlas, clock)


@pytest.fixture
def stored(mongo: MongoConnection, org: str) -> StoredMemory:
    """A row of ana's in a new organization."""
    made = row("figs are ripe", org_id=org)
    MongoMemoryStore(mongo).insert([made])
    return made


def found(search: MongoStoredVectors, org: str, **fields: Any) -> dict[str, Candidate]:
    """What ana finds of figs."""
    return nearest(search, chain(org), "figs", **fields)


def unavailable(call: Callable[[], object]) -> str:
    """Why the search said that it is unavailable."""
    with pytest.raises(StoreUnavailable) as raised:
        call()
    assert raised.value.store == "atlas"
    return raised.value.reason


@pytest.mark.parametrize(("rows", "exact"), [(0, True), (20_000, True), (20_001, False), (5_000_000, False)])
def test_up_to_twenty_thousand_rows_the_search_is_exact(
    atlas: AtlasDouble, search: MongoStoredVectors, stored: StoredMemory, org: str, rows: int, exact: bool
) -> None:
    assert found(search, org, rows=rows).keys() == {stored.memory.id}
    (stage,) = atlas.asked
    assert stage.get("exact", False) is exact
    assert ("numCandidates" in stage) is not exact


CONSIDERED = [(1, 1, 1_000), (50, 50, 1_000), (100, 100, 2_000), (500, 200, 4_000)]


@pytest.mark.parametrize(("limit", "asked", "considered"), CONSIDERED)
def test_an_approximate_search_considers_twenty_rows_a_result(
    atlas: AtlasDouble, search: MongoStoredVectors, org: str, limit: int, asked: int, considered: int
) -> None:
    mine = chain(org).only({chain(org).keys[-1]})
    nearest(search, mine, "figs", limit=limit, rows=30_000)
    (stage,) = atlas.asked
    assert (stage["limit"], stage["numCandidates"]) == (asked, considered)


def test_the_state_of_the_index_is_asked_once_a_minute(
    atlas: AtlasDouble, search: MongoStoredVectors, stored: StoredMemory, clock: Seconds, org: str
) -> None:
    atlas.looked = 0
    for _ in range(3):
        assert found(search, org)
    assert atlas.looked == 1
    clock.now += USABLE_SECONDS
    assert found(search, org)
    assert atlas.looked == 2


@pytest.mark.parametrize("code", [31082, 115, 40324])
def test_a_server_without_search_is_unavailable_costs_nothing_and_is_asked_again_later(
    atlas: AtlasDouble, search: MongoStoredVectors, stored: StoredMemory, clock: Seconds, org: str, code: int
) -> None:
    atlas.refusal = code
    assert unavailable(lambda: found(search, org)) == NO_VECTOR_SEARCH
    atlas.refusal, atlas.looked = None, 0
    clock.now += UNUSABLE_SECONDS - 1
    assert unavailable(lambda: found(search, org)) == NO_VECTOR_SEARCH
    assert (atlas.looked, atlas.asked) == (0, [])
    clock.now += 1
    assert found(search, org).keys() == {stored.memory.id}


def test_a_server_that_loses_its_search_says_so(
    atlas: AtlasDouble, search: MongoStoredVectors, stored: StoredMemory, org: str
) -> None:
    assert found(search, org)
    atlas.has_search = False
    assert unavailable(lambda: found(search, org)) == NO_VECTOR_SEARCH
    assert unavailable(lambda: found(search, org)) == NO_VECTOR_SEARCH
    assert len(atlas.asked) == 1


def test_the_embedded_server_has_no_search_and_that_is_said(mongo: MongoConnection, org: str) -> None:
    search = MongoStoredVectors(mongo)
    for call in (lambda: found(search, org), lambda: found(search, org), search.probe):
        assert unavailable(call) == NO_VECTOR_SEARCH


def test_a_missing_index_is_said_at_once_and_found_when_it_was_made(
    mongo: MongoConnection, stored: StoredMemory, org: str, clock: Seconds
) -> None:
    bare = AtlasDouble(mongo)
    search = MongoStoredVectors(bare, clock)
    for _ in range(2):
        assert unavailable(lambda: found(search, org)) == NO_INDEX
    assert (bare.looked, bare.asked) == (1, [])
    assert unavailable(search.probe) == NO_INDEX
    create_search_index(bare, SIZE)
    clock.now += UNUSABLE_SECONDS
    assert found(search, org).keys() == {stored.memory.id}


def test_an_index_that_is_building_is_said_to_be(
    atlas: AtlasDouble, search: MongoStoredVectors, stored: StoredMemory, clock: Seconds, org: str
) -> None:
    atlas.building = True
    assert unavailable(lambda: found(search, org)) == NO_INDEX
    atlas.building = False
    assert search.probe() == {"index": INDEX_NAME, "dimensions": SIZE}
    assert found(search, org).keys() == {stored.memory.id}


def test_an_index_that_could_not_be_built_is_said_to_be_one(
    atlas: AtlasDouble, search: MongoStoredVectors, org: str
) -> None:
    atlas.failed = True
    assert unavailable(lambda: found(search, org)) == FAILED_INDEX
    assert create_search_index(atlas, SIZE).endswith(": FAILED")


def test_an_index_that_was_dropped_does_not_pass_for_an_empty_scope(
    atlas: AtlasDouble, search: MongoStoredVectors, stored: StoredMemory, clock: Seconds, org: str
) -> None:
    assert found(search, org)
    atlas.indexes[MEMORIES].clear()
    clock.now += DOUBT_SECONDS
    assert unavailable(lambda: found(search, org)) == NO_INDEX


@pytest.mark.parametrize("missing", range(1, len(definition(SIZE)["fields"])))
def test_an_index_without_a_field_of_the_search_is_not_searched(
    atlas: AtlasDouble, search: MongoStoredVectors, org: str, missing: int
) -> None:
    del atlas.indexes[MEMORIES][INDEX_NAME]["fields"][missing]
    assert unavailable(lambda: found(search, org)) == OTHER_INDEX
    assert atlas.asked == []


def test_an_index_of_another_similarity_is_not_searched(
    atlas: AtlasDouble, search: MongoStoredVectors, org: str
) -> None:
    atlas.indexes[MEMORIES][INDEX_NAME]["fields"][0]["similarity"] = "euclidean"
    assert unavailable(lambda: found(search, org)) == OTHER_INDEX


def test_an_index_of_another_size_is_a_mismatch_that_names_both(
    atlas: AtlasDouble, search: MongoStoredVectors, org: str
) -> None:
    with pytest.raises(EmbeddingMismatch) as raised:
        found(search, org, vector=unit([1.0] * 8))
    assert raised.value.details == {"got": 8, "wanted": SIZE}
    assert "run vitto indexes" in raised.value.message
    assert atlas.asked == []


def test_a_search_that_is_refused_is_unavailable_and_the_index_looked_at_again(
    atlas: AtlasDouble, search: MongoStoredVectors, stored: StoredMemory, org: str
) -> None:
    assert found(search, org)
    atlas.refusal = 8
    assert unavailable(lambda: found(search, org)) == "the server refused the search (code 8)"
    atlas.refusal, looked = None, atlas.looked
    assert found(search, org)
    assert atlas.looked == looked + 1


@pytest.fixture
def impatient(mongo_url: str, mongo: MongoConnection) -> Iterator[AtlasDouble]:
    """A double over a connection with a short limit."""
    connection = MongoConnection(MongoSettings(uri=mongo_url, database=mongo.database.name, search_seconds=0.1))
    yield AtlasDouble(connection)
    connection.client.close()


def test_a_search_that_hangs_is_unavailable_within_its_limit(impatient: AtlasDouble, org: str) -> None:
    impatient.hang_seconds = 60
    search = MongoStoredVectors(impatient)
    began = time.monotonic()
    for call in (lambda: found(search, org), search.probe):
        assert unavailable(call) == "ExecutionTimeout"
    assert time.monotonic() - began < impatient.hang_seconds / 2


GARBAGE: dict[str, Callable[[dict[str, Any]], list[Any]]] = {
    "a row of bob": lambda document: [document, document | {"scopeKey": document["scopeKey"].replace("ana", "bob")}],
    "a row of bob under her scope": lambda document: [document | {"scopeId": "bob"}],
    "a row of another organization under her scope": lambda document: [document | {"orgId": "other"}],
    "a row without a scope": lambda document: [{k: v for k, v in document.items() if k != "scopeKey"}],
    "a row that is no memory": lambda document: [{"scopeKey": document["scopeKey"], "vectorScore": 0.5}],
    "a scope that is a list": lambda document: [document | {"scopeKey": [document["scopeKey"]]}],
    "no score": lambda document: [{k: v for k, v in document.items() if k != "vectorScore"}],
    "a score that is no number": lambda document: [document | {"vectorScore": "high"}],
    "a score of NaN": lambda document: [document | {"vectorScore": math.nan}],
    "a score over 1": lambda document: [document | {"vectorScore": 7.0}],
    "chunks of another size": lambda document: [document | {"embeddingChunks": [b"\x27\x00abcd", b"\x27\x00efgh"]}],
    "chunks that are numbers": lambda document: [document | {"embeddingChunks": [1, 2]}],
    "an unknown type": lambda document: [document | {"type": "poem"}],
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_an_answer_of_garbage_is_unavailable_and_nothing_of_it_is_shown(
    atlas: AtlasDouble, mongo: MongoConnection, search: MongoStoredVectors, stored: StoredMemory, org: str, kind: str
) -> None:
    (document,) = mongo.database.get_collection(MEMORIES).find({"id": stored.memory.id}, {"embedding_256": 0})
    atlas.garbage = [document | {"vectorScore": 0.9}]
    assert found(search, org).keys() == {stored.memory.id}
    atlas.garbage = GARBAGE[kind](document | {"vectorScore": 0.9})
    assert unavailable(lambda: found(search, org)).startswith("it answered with a row")


def test_an_answer_that_the_driver_cannot_read_is_unavailable(
    atlas: AtlasDouble, search: MongoStoredVectors, org: str
) -> None:
    atlas.garbage = (bson.decode(garbled) for garbled in [b"no document"])
    assert unavailable(lambda: found(search, org)) == "it answered with what cannot be read"


def test_a_row_that_is_answered_twice_is_one(
    atlas: AtlasDouble, mongo: MongoConnection, search: MongoStoredVectors, stored: StoredMemory, org: str
) -> None:
    (document,) = mongo.database.get_collection(MEMORIES).find({"id": stored.memory.id}, {"embedding_256": 0})
    atlas.garbage = [document | {"vectorScore": 0.9}] * 2
    reader = chain(org)
    assert len(search.nearest(reader, index_query("figs"), rows=0, now=NOW)) == 1


def test_an_answer_longer_than_asked_is_cut(
    atlas: AtlasDouble, mongo: MongoConnection, search: MongoStoredVectors, org: str
) -> None:
    MongoMemoryStore(mongo).insert([row(f"figs {n}", org_id=org) for n in range(5)])
    documents = mongo.database.get_collection(MEMORIES).find({"orgId": org}, {"embedding_256": 0})
    atlas.garbage = [document | {"vectorScore": 0.9} for document in documents]
    mine: Chain = chain(org).only({chain(org).keys[-1]})
    assert len(nearest(search, mine, "figs", limit=3)) == 3


def test_a_search_that_lags_shows_what_it_knows_as_it_stands_now(
    atlas: AtlasDouble, mongo: MongoConnection, search: MongoStoredVectors, org: str
) -> None:
    store = MongoMemoryStore(mongo)
    rows = {
        name: row(f"figs {name}", id=name, org_id=org)
        for name in ("kept", "forgotten", "purged", "edited", "expired", "elsewhere")
    }
    store.insert(list(rows.values()))
    atlas.fall_behind(MEMORIES)
    store.insert([row("figs new", id="new", org_id=org)])
    store.replace(changed(rows["forgotten"], **FORGOTTEN), 1)
    store.replace(changed(rows["edited"], content="figs and pears"), 1)
    store.replace(changed(rows["expired"], expires_at=NOW), 1)
    store.replace(with_vectors(changed(rows["elsewhere"]), unit([1.0] * SIZE), model="other@256"), 1)
    store.purge(chain(org), "purged")
    late = found(search, org)
    assert late.keys() == {"kept", "edited"}
    assert late["edited"].row is not None
    assert late["edited"].row.memory.content == "figs and pears"
    assert found(search, org, filter=Filter(tags=("red",))) == {}
    store.replace(changed(rows["kept"], tags=("red",)), 1)
    assert found(search, org).keys() == {"kept", "edited"}
    atlas.catch_up()
    assert found(search, org, filter=Filter(tags=("red",))).keys() == {"kept"}
    assert found(search, org).keys() == {"kept", "edited", "new"}


def test_a_row_that_lost_its_tag_since_is_not_found_by_it(
    atlas: AtlasDouble, mongo: MongoConnection, search: MongoStoredVectors, org: str
) -> None:
    store, tagged = MongoMemoryStore(mongo), row("figs", org_id=org, tags=("red",))
    store.insert([tagged])
    atlas.fall_behind(MEMORIES)
    store.replace(changed(tagged, tags=()), 1)
    assert found(search, org, filter=Filter(tags=("red",))) == {}
    assert found(search, org).keys() == {tagged.memory.id}


def test_the_index_is_made_once_and_anew_where_it_is_of_another_definition(mongo: MongoConnection) -> None:
    double = AtlasDouble(mongo)
    assert create_search_index(double, SIZE) == f"memories.{INDEX_NAME}: READY"
    assert double.indexes[MEMORIES] == {INDEX_NAME: definition(SIZE)}
    assert create_search_index(double, SIZE) == f"memories.{INDEX_NAME}: READY"
    assert "building" in create_search_index(double, 8)
    assert double.indexes[MEMORIES] == {INDEX_NAME: definition(8)}
    del double.indexes[MEMORIES][INDEX_NAME]["fields"][3]
    assert "building" in create_search_index(double, 8)
    assert double.indexes[MEMORIES] == {INDEX_NAME: definition(8)}


def test_an_index_that_takes_its_time_is_said_to_be_building(mongo: MongoConnection) -> None:
    double = AtlasDouble(mongo)
    double.building = True
    for _ in range(2):
        assert create_search_index(double, SIZE) == f"memories.{INDEX_NAME}: building"


def test_an_index_that_another_process_made_meanwhile_is_taken_as_it_is(mongo: MongoConnection) -> None:
    double = AtlasDouble(mongo)
    double.before_create = lambda: double.indexes[MEMORIES].setdefault(INDEX_NAME, definition(SIZE))
    assert create_search_index(double, SIZE) == f"memories.{INDEX_NAME}: READY"


def test_a_server_without_search_is_told_of_in_one_line(mongo_url: str) -> None:
    settings = Settings(
        mongo=MongoSettings(uri=mongo_url, database="vitto_no_search"), embedding=EmbeddingSettings(dimensions=SIZE)
    )
    *names, last = make_indexes(settings)
    assert names == [f"{index.collection}.{index.name}" for index in INDEXES]
    assert last == f"memories.{INDEX_NAME}: not made, this server has no vector search"
