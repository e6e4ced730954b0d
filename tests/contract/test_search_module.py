"""The search module as the place of vectors: what its index says is never taken on trust, and what it cannot do is said."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.adapters.redis import chunk_queries, keys
from chalicelib.adapters.redis.connection import Attempt, RedisConnection
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.domain.query import Filter, IndexAnswer, StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.domain.vector import unit
from chalicelib.settings import RedisSettings
from tests.building import EMBEDDER, chain, entry, index_query, row
from tests.contract.conftest import emptied, names
from tests.contract.index_steps import OTHER_MODEL, axis, by_vector, gone, put, scope_of, with_vectors
from tests.integration.arrangements import CountedRedis

MODEL = EMBEDDER.passage_model
SIZE = 8


@pytest.fixture
def server(request: pytest.FixtureRequest) -> RedisConnection:
    """The server, empty."""
    return emptied(request, "search_module")


@pytest.fixture
def index(server: RedisConnection) -> RedisHotIndex:
    """An index of this test's own process, as it were."""
    return RedisHotIndex(server)


def figs(org: str, id_: str = "mem_1", **fields: Any) -> StoredMemory:
    """A row about figs along the first axis."""
    return with_vectors(row("figs", id=id_, org_id=org, **fields), axis(0))


def search(index: RedisHotIndex, org: str, **fields: Any) -> IndexAnswer:
    """Ana's search for figs by both signals."""
    return index.search(chain(org), index_query("figs", vector=axis(0), **fields))


def plant(server: RedisConnection, described_as: StoredMemory, name: str) -> None:
    """Put a chunk under a key of another row or scope, described as if it were one of this row."""
    fields = [part for pair in chunk_queries.fields_of(entry(described_as)).items() for part in pair]
    server.command("HSET", name, "v", axis(0), *fields)


def test_the_server_is_known_by_its_commands(index: RedisHotIndex) -> None:
    assert index.probe()["vectorDriver"] == "search_module"


def test_a_chunk_that_calls_itself_of_my_scope_and_lies_in_another_is_not_mine(
    server: RedisConnection, index: RedisHotIndex, org: str
) -> None:
    mine, bobs = with_vectors(row("figs", id="mem_1", org_id=org), axis(1)), figs(org, "mem_2", scope_id="bob")
    put(index, mine, bobs)
    for id_ in ("mem_1", "mem_2"):
        plant(server, mine, keys.chunks(SIZE, scope_of(bobs), MODEL) + f"{id_}#0")
    plant(server, mine, keys.chunks(SIZE, scope_of(mine), "m" * len(MODEL)) + "mem_1#1")
    hits = by_vector(index, chain(org), "", vector=axis(0))
    assert {id_: hit.cosine for id_, hit in hits.items()} == {"mem_1": pytest.approx(0, abs=1e-6)}


def test_a_chunk_of_no_row_or_of_another_model_of_its_row_is_not_found(
    server: RedisConnection, index: RedisHotIndex, org: str
) -> None:
    mine, old = figs(org), with_vectors(row("figs", id="old", org_id=org), axis(0), model=OTHER_MODEL)
    put(index, mine, old)
    for id_ in ("ghost", "old"):
        plant(server, mine, keys.chunks(SIZE, scope_of(mine), MODEL) + f"{id_}#0")
    answer = search(index, org)
    assert {c.id: c.cosine is None for c in answer.candidates} == {"mem_1": False, "old": True}


def test_a_stale_chunk_does_not_satisfy_a_filter_that_its_row_fails(
    server: RedisConnection, index: RedisHotIndex, org: str
) -> None:
    mine = figs(org, tags=("new",))
    put(index, mine)
    plant(server, figs(org, tags=("old",)), keys.chunks(SIZE, scope_of(mine), MODEL) + "mem_1#0")
    assert by_vector(index, chain(org), "", vector=axis(0), filter=Filter(tags=("old",))) == {}


def test_rows_that_do_not_count_hide_none_that_does(server: RedisConnection, index: RedisHotIndex, org: str) -> None:
    far = with_vectors(row("plums", id="far", org_id=org), unit([0.5, *[1.0] * (SIZE - 1)]))
    put(index, far)
    for number in range(50):
        plant(server, far, keys.chunks(SIZE, scope_of(far), MODEL) + f"ghost {number}#0")
    assert by_vector(index, chain(org), "", vector=axis(0), limit=3).keys() == {"far"}


def test_the_first_write_of_a_size_makes_its_index_so_that_no_search_waits_for_it(
    server: RedisConnection, index: RedisHotIndex, org: str
) -> None:
    for size in (SIZE, 4):
        put(index, with_vectors(row("figs", org_id=org), axis(0, size)))
        assert keys.chunk_index(size).encode() in server.command("FT._LIST")


def test_an_index_dropped_behind_our_back_is_made_again_with_all_that_was_there(
    server: RedisConnection, index: RedisHotIndex, org: str
) -> None:
    put(index, figs(org), figs(org, "mem_2"))
    before = search(index, org)
    server.command("FT.DROPINDEX", keys.chunk_index(SIZE))
    put(index, figs(org, "mem_3", scope=Scope.SPACE, scope_id="red"))
    after = search(index, org)
    assert (after.candidates, after.vectors_searched) == (before.candidates, True)
    assert not [name for name in names(server) if name == keys.filling(SIZE)]


class Refusing(RedisConnection):
    """A server that answers some commands of the module in its own way."""

    def __init__(self, settings: RedisSettings, replies: dict[str, Callable[[], Any]]) -> None:
        super().__init__(settings)
        self.replies = replies

    def run(self, calls: Any, *, bulk: bool = False) -> list[Any]:
        found = super().run(calls, bulk=bulk)
        for number, call in enumerate(calls):
            if isinstance(call, Attempt) and call.arguments[0] in self.replies:
                found[number] = self.replies[str(call.arguments[0])]()
        return found


def test_an_index_that_is_still_being_filled_is_not_asked_and_that_is_said(
    server: RedisConnection, search_module_url: str, org: str
) -> None:
    settings = RedisSettings(url=search_module_url, seconds=5, bulk_seconds=20)
    filling = RedisHotIndex(Refusing(settings, {"FT.INFO": lambda: [b"indexing", 1]}))
    index = RedisHotIndex(server)
    put(index, figs(org), with_vectors(row("a ripe fruit", id="meant", org_id=org), axis(0)))
    server.command("SET", keys.filling(SIZE), 1)
    answer = search(filling, org)
    assert ([(c.id, c.cosine) for c in answer.candidates], answer.vectors_searched) == ([("mem_1", None)], False)
    answer = search(index, org)
    assert ({c.id for c in answer.candidates}, answer.vectors_searched) == ({"mem_1", "meant"}, True)
    assert keys.filling(SIZE) not in names(server)


def test_a_search_that_ran_out_of_time_on_the_server_is_said(
    server: RedisConnection, search_module_url: str, org: str
) -> None:
    settings = RedisSettings(url=search_module_url, seconds=5, bulk_seconds=20)
    put(RedisHotIndex(server), figs(org))
    answer = search(RedisHotIndex(Refusing(settings, {"FT.SEARCH": lambda: b"Request timed out"})), org)
    assert ([c.id for c in answer.candidates], answer.vectors_searched) == (["mem_1"], False)


def test_a_server_that_allows_no_index_holds_text_and_says_that_it_searched_no_vectors(
    server: RedisConnection, search_module_url: str, org: str
) -> None:
    server.command("ACL", "SETUSER", "reader", "on", ">secret", "~*", "&*", "+@all", "-FT.CREATE")
    url = search_module_url.replace("redis://", "redis://reader:secret@")
    limited = RedisHotIndex(RedisConnection(RedisSettings(url=url, seconds=5, bulk_seconds=20)))
    put(limited, figs(org))
    answer = search(limited, org)
    assert ([c.id for c in answer.candidates], answer.vectors_searched) == (["mem_1"], False)
    whole = search(RedisHotIndex(server), org)
    assert [c.cosine for c in whole.candidates] == [pytest.approx(1)]
    assert whole.vectors_searched


def test_processes_that_begin_at_once_make_one_index_and_lose_no_row(server: RedisConnection, org: str) -> None:
    rows = [figs(org, f"mem_{n}") for n in range(16)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda stored: put(RedisHotIndex(server), stored), rows))
    answer = search(RedisHotIndex(server), org)
    assert {c.id for c in answer.candidates if c.cosine is not None} == {stored.memory.id for stored in rows}


def test_vectors_of_another_size_take_the_place_of_the_old_ones(
    server: RedisConnection, index: RedisHotIndex, org: str
) -> None:
    put(index, figs(org))
    smaller = with_vectors(row("figs", id="mem_1", revision=2, org_id=org), axis(0, 4), axis(1, 4))
    put(index, smaller)
    assert by_vector(index, chain(org), "", vector=axis(0)) == {}
    assert by_vector(index, chain(org), "", vector=axis(1, 4)).keys() == {"mem_1"}
    chunks = sorted(name for name in names(server) if name.startswith(keys.CHUNKS))
    assert chunks == [keys.chunks(4, scope_of(smaller), MODEL) + f"mem_1#{n}" for n in range(2)]
    index.apply([gone(smaller, 2)])
    assert not [name for name in names(server) if name.startswith(keys.CHUNKS)]


@pytest.mark.parametrize("spaces", [0, 12])
def test_a_search_takes_two_round_trips_whatever_the_scopes(
    server: RedisConnection, search_module_url: str, org: str, spaces: int
) -> None:
    counted = CountedRedis(RedisSettings(url=search_module_url, seconds=5, bulk_seconds=20))
    index, red = RedisHotIndex(counted), tuple(f"space {n}" for n in range(spaces))
    places = [{"scope": Scope.SPACE, "scope_id": name} for name in red]
    put(index, *(figs(org, f"mem_{n}") for n in range(30)), *(figs(org, **place) for place in places))
    reader, query = chain(org, spaces=red), index_query("figs", vector=axis(0))
    index.search(reader, query)
    before = counted.trips
    assert len(index.search(reader, query).candidates) == 30 + spaces
    assert counted.trips - before == 2
