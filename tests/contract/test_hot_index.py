"""`ports.HotIndex`: who finds a row, and what writes make of the index. Isolation first."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.drivers import TextAlone, VectorDriver
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.domain.keys import new_id
from chalicelib.domain.query import StoredMemory, TermStatistics
from chalicelib.domain.scope import Scope
from tests.building import AWKWARD_IDS, chain, index_query, row
from tests.contract.conftest import IndexUnderTest
from tests.contract.index_steps import OTHER_MODEL, axis, by_text, by_vector, found, gone, put, scope_of, with_vectors


def foreign_rows(org: str) -> list[StoredMemory]:
    """Rows that ana, alone in `org`, may not see."""
    return [
        row("the secret of bob", org_id=org, scope_id="bob"),
        row("the secret of a space", org_id=org, scope=Scope.SPACE, scope_id="ana"),
        row("the secret of a universe", org_id=org, scope=Scope.UNIVERSE, scope_id="ana"),
        row("the secret of a namesake", org_id=new_id("org")),
        row("the secret of an organization", org_id=new_id("org"), scope=Scope.ORGANIZATION, scope_id=org),
    ]


def test_text_finds_nothing_outside_the_chain(text_index: IndexUnderTest, org: str) -> None:
    put(text_index.index, *foreign_rows(org))
    answer = text_index.index.search(chain(org), index_query("secret"))
    assert answer.candidates == ()
    assert answer.statistics == TermStatistics(0, dict.fromkeys(index_query("secret").terms, 0))


def test_vectors_find_nothing_outside_the_chain(vector_index: IndexUnderTest, org: str) -> None:
    put(vector_index.index, *foreign_rows(org))
    assert by_vector(vector_index.index, chain(org), "the secret of bob") == {}


def test_every_scope_of_the_chain_is_searched_and_named(text_index: IndexUnderTest, org: str) -> None:
    rows = [
        row("a plan of all", org_id=org, scope=Scope.ORGANIZATION, scope_id=org),
        row("a plan of a space", org_id=org, scope=Scope.SPACE, scope_id="red"),
        row("a plan of a universe", org_id=org, scope=Scope.UNIVERSE, scope_id="blue"),
        row("a plan of ana", org_id=org),
    ]
    put(text_index.index, *rows)
    reader = chain(org, spaces=("red",), universes=("blue",))
    scopes = {id_: candidate.scope_key for id_, candidate in found(text_index.index, reader, "plan").items()}
    assert scopes == {stored.memory.id: scope_of(stored) for stored in rows}
    assert by_text(text_index.index, reader.narrow([Scope.SPACE], None), "plan").keys() == {rows[1].memory.id}


def test_a_chain_of_no_scopes_finds_nothing(text_index: IndexUnderTest, org: str) -> None:
    put(text_index.index, row("a plan", org_id=org))
    answer = text_index.index.search(chain(org).only(()), index_query("plan"))
    assert (answer.candidates, answer.incomplete, answer.statistics.rows) == ((), frozenset(), 0)


def nearer_rows(org: str) -> tuple[list[StoredMemory], list[StoredMemory]]:
    """A hundred rows of bob that match "lunch tuesday" better than the three of alice do, and those."""
    bobs = [row(f"lunch tuesday {n}", org_id=org, scope_id="bob") for n in range(100)]
    return bobs, [row(f"lunch {day} with friends", org_id=org, scope_id="alice") for day in ("may", "june", "july")]


def test_a_hundred_nearer_rows_of_bob_never_hide_the_three_of_alice_in_text(
    text_index: IndexUnderTest, org: str
) -> None:
    bobs, hers = nearer_rows(org)
    put(text_index.index, *bobs[:50], *hers, *bobs[50:])
    hits = by_text(text_index.index, chain(org, "alice"), "lunch tuesday", limit=10)
    assert hits.keys() == {stored.memory.id for stored in hers}


def test_a_hundred_nearer_rows_of_bob_never_hide_the_three_of_alice_by_vector(
    vector_index: IndexUnderTest, org: str
) -> None:
    bobs, hers = nearer_rows(org)
    put(vector_index.index, *bobs[:50], *hers, *bobs[50:])
    hits = by_vector(vector_index.index, chain(org, "alice"), "lunch tuesday", limit=10)
    assert hits.keys() == {stored.memory.id for stored in hers}


def test_each_scope_of_a_chain_has_the_limit_to_itself(text_index: IndexUnderTest, org: str) -> None:
    team = [row(f"lunch tuesday {n}", org_id=org, scope=Scope.SPACE, scope_id="red") for n in range(30)]
    mine = [row(f"lunch {n} with friends", org_id=org) for n in range(3)]
    put(text_index.index, *team, *mine)
    hits = by_text(text_index.index, chain(org, spaces=("red",)), "lunch tuesday", limit=10)
    assert {stored.memory.id for stored in mine} <= hits.keys()
    assert len(hits) == 13


def test_names_of_any_characters_stay_apart(text_index: IndexUnderTest, org: str) -> None:
    rows = [row("lunch", id=f"of {user}", org_id=org, scope_id=user) for user in (*AWKWARD_IDS, "a", "b")]
    rows += [row("lunch", id=f"in {name}", org_id=org + name) for name in (*AWKWARD_IDS, "", "/user/ana")]
    put(text_index.index, *rows)
    for stored in rows:
        reader = chain(stored.memory.org_id, stored.memory.scope_id)
        answer = text_index.index.search(reader, index_query("lunch"))
        assert [c.id for c in answer.candidates] == [stored.memory.id]
        assert answer.statistics.rows == 1


def test_no_scope_id_reaches_into_another_organization(vector_index: IndexUnderTest, org: str) -> None:
    rows = [row("lunch", org_id=f"{org}/user/ana"), row("lunch", org_id=org, scope_id="ana/user/ana")]
    put(vector_index.index, *rows)
    for stored in rows:
        reader = chain(stored.memory.org_id, stored.memory.scope_id)
        for search in (by_text, by_vector):
            assert search(vector_index.index, reader, "lunch").keys() == {stored.memory.id}


def test_memory_ids_of_any_characters_come_back_whole_and_go(vector_index: IndexUnderTest, org: str) -> None:
    ids = (*AWKWARD_IDS, "a#0#1", "a#1", "a", "#", "a\nb#0")
    rows = [row(f"lunch number {n}", id=id_, org_id=org) for n, id_ in enumerate(ids)]
    put(vector_index.index, *rows)
    for search in (by_text, by_vector):
        assert search(vector_index.index, chain(org), "lunch").keys() == set(ids)
    vector_index.index.apply([gone(stored, 1) for stored in rows])
    assert vector_index.leftovers(scope_of(rows[0])) == []


def test_an_edit_takes_the_old_terms_away(text_index: IndexUnderTest, org: str) -> None:
    first = row("figs and pears", id="mem_1", org_id=org)
    put(text_index.index, first, row("figs and pears", id="mem_1", revision=2, org_id=org))
    put(text_index.index, row("figs and plums", id="mem_1", revision=3, org_id=org))
    assert by_text(text_index.index, chain(org), "pears") == {}
    assert by_text(text_index.index, chain(org), "figs plums").keys() == {"mem_1"}
    statistics = text_index.index.search(chain(org), index_query("", terms=("pear", "fig", "plum"))).statistics
    assert statistics == TermStatistics(1, {"pear": 0, "fig": 1, "plum": 1})


def test_an_edit_takes_the_old_vectors_away(vector_index: IndexUnderTest, org: str) -> None:
    index, reader = vector_index.index, chain(org)
    first = with_vectors(row("first", id="mem_1", org_id=org), axis(0), axis(1), axis(2))
    second = with_vectors(row("second", id="mem_1", revision=2, org_id=org), axis(3))
    put(index, first, with_vectors(row("another", id="mem_2", org_id=org), axis(4)))
    put(index, second)
    for number in range(4):
        cosine = by_vector(index, reader, "", vector=axis(number))["mem_1"].cosine
        assert cosine == pytest.approx(float(number == 3), abs=0.02)
    put(index, with_vectors(row("third, not embedded", id="mem_1", revision=3, org_id=org)))
    assert by_vector(index, reader, "", vector=axis(3)).keys() == {"mem_2"}
    assert found(index, reader, "third", vector=axis(3))["mem_1"].cosine is None


def test_a_row_that_is_embedded_later_gets_its_vector_at_the_same_revision(
    vector_index: IndexUnderTest, org: str
) -> None:
    stored = row("figs", org_id=org)
    put(vector_index.index, with_vectors(stored))
    assert by_vector(vector_index.index, chain(org), "figs") == {}
    assert by_text(vector_index.index, chain(org), "figs").keys() == {stored.memory.id}
    put(vector_index.index, stored)
    assert by_vector(vector_index.index, chain(org), "figs").keys() == {stored.memory.id}


def test_removal_leaves_nothing_behind(text_index: IndexUnderTest, org: str) -> None:
    rows = [row(f"figs, number {n}", org_id=org) for n in range(3)]
    rows.append(with_vectors(row("pears", org_id=org), axis(0), axis(1), model=OTHER_MODEL))
    put(text_index.index, *rows)
    put(text_index.index, row("figs and plums", id=rows[0].memory.id, revision=2, org_id=org))
    assert text_index.leftovers(scope_of(rows[0])) != []
    text_index.index.apply([gone(stored, 2) for stored in rows])
    answer = text_index.index.search(chain(org), index_query("figs"))
    assert (answer.candidates, answer.mismatched) == ((), frozenset())
    assert answer.statistics == TermStatistics(0, dict.fromkeys(index_query("figs").terms, 0))
    assert text_index.leftovers(scope_of(rows[0])) == []


def test_removal_leaves_other_rows_and_other_scopes(text_index: IndexUnderTest, org: str) -> None:
    mine, kept = row("figs", id="mem_1", org_id=org), row("figs too", id="mem_2", org_id=org)
    bobs = row("figs", id="mem_1", org_id=org, scope_id="bob")
    put(text_index.index, mine, kept, bobs)
    text_index.index.apply([gone(mine, 1)])
    assert by_text(text_index.index, chain(org), "figs").keys() == {"mem_2"}
    assert by_text(text_index.index, chain(org, "bob"), "figs").keys() == {"mem_1"}


def test_a_stale_revision_changes_nothing(text_index: IndexUnderTest, org: str) -> None:
    newer = row("plums", id="mem_1", revision=5, org_id=org)
    put(text_index.index, newer)
    put(text_index.index, row("figs", id="mem_1", revision=4, org_id=org))
    text_index.index.apply([gone(newer, 4)])
    assert by_text(text_index.index, chain(org), "figs") == {}
    assert by_text(text_index.index, chain(org), "plums").keys() == {"mem_1"}
    assert text_index.index.search(chain(org), index_query("plums")).statistics.rows == 1


def test_an_entry_that_comes_late_after_a_removal_is_ignored(text_index: IndexUnderTest, org: str) -> None:
    index = text_index.index
    rows = [row("figs", id="mem_1", revision=revision, org_id=org) for revision in (1, 2, 3, 4)]
    put(index, rows[0])
    index.apply([gone(rows[0], 3), gone(rows[0], 2)])
    put(index, rows[1], rows[2])
    assert by_text(index, chain(org), "figs") == {}
    assert text_index.leftovers(scope_of(rows[0])) == []
    put(index, rows[3])
    assert by_text(index, chain(org), "figs").keys() == {"mem_1"}


def test_an_entry_that_comes_after_the_removal_of_an_unknown_row_is_ignored(
    text_index: IndexUnderTest, org: str
) -> None:
    stored = row("figs", id="mem_1", revision=2, org_id=org)
    text_index.index.apply([gone(stored, 3)])
    put(text_index.index, stored)
    assert by_text(text_index.index, chain(org), "figs") == {}


def test_a_repeat_changes_nothing(vector_index: IndexUnderTest, org: str) -> None:
    rows = [with_vectors(row(f"figs {n}", org_id=org), axis(n), axis(n + 1)) for n in range(4)]
    rows.append(with_vectors(row("figs, of another model", org_id=org), axis(0), model=OTHER_MODEL))
    query = index_query("figs", vector=axis(1))
    put(vector_index.index, *rows)
    once = vector_index.index.search(chain(org), query)
    held = sorted(vector_index.leftovers(scope_of(rows[0])))
    put(vector_index.index, *rows, *rows)
    assert vector_index.index.search(chain(org), query) == once
    assert sorted(vector_index.leftovers(scope_of(rows[0]))) == held
    vector_index.index.apply([gone(stored, 1) for stored in rows] * 2)
    assert vector_index.leftovers(scope_of(rows[0])) == []


def test_changes_that_arrive_at_once_and_out_of_order_end_at_the_newest(text_index: IndexUnderTest, org: str) -> None:
    revisions = [row(f"figs number{n}", id="mem_1", revision=n, org_id=org) for n in range(1, 25)]
    random.Random(3).shuffle(revisions)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: put(text_index.index, one), revisions))
    terms = tuple(f"number{n}" for n in range(1, 25))
    statistics = text_index.index.search(chain(org), index_query("figs", terms=("fig", *terms))).statistics
    assert statistics == TermStatistics(1, {"fig": 1} | {term: int(term == "number24") for term in terms})


def test_more_changes_than_one_call_carries_are_all_applied(text_index: IndexUnderTest, org: str) -> None:
    rows = [row(f"figs number {n}", vectors=False, org_id=org) for n in range(250)]
    put(text_index.index, *rows)
    assert by_text(text_index.index, chain(org), "figs", limit=300).keys() == {r.memory.id for r in rows}
    text_index.index.apply([gone(stored, 1) for stored in rows])
    text_index.index.apply([])
    assert text_index.leftovers(scope_of(rows[0])) == []


def test_a_scope_is_incomplete_and_wanted_until_it_is_said_to_be_complete(text_index: IndexUnderTest, org: str) -> None:
    index, reader = text_index.index, chain(org)
    put(index, row("figs", org_id=org))
    assert index.search(reader, index_query("figs")).incomplete == set(reader.keys)
    assert sorted(index.wanted()) == sorted(reader.keys)
    assert index.wanted() == []
    index.complete(reader.keys[0])
    assert index.search(reader, index_query("figs")).incomplete == {reader.keys[1]}
    index.complete(reader.keys[1])
    assert index.wanted() == []
    assert index.search(reader, index_query("figs")).incomplete == frozenset()
    assert index.wanted() == []


def test_wanted_takes_at_most_its_limit(text_index: IndexUnderTest, org: str) -> None:
    readers = [chain(org, user) for user in ("ana", "bob", "eve")]
    for reader in readers:
        text_index.index.search(reader, index_query("figs"))
    taken = [text_index.index.wanted(limit=3), text_index.index.wanted(limit=3)]
    assert [len(part) for part in taken] == [3, 1]
    assert {*taken[0], *taken[1]} == {scope for reader in readers for scope in reader.keys}


def test_begin_rebuild_drops_all_of_a_scope_and_of_no_other(text_index: IndexUnderTest, org: str) -> None:
    index = text_index.index
    rows = [row(f"figs number {n}", org_id=org, scope_id="a:b") for n in range(150)]
    rows.append(with_vectors(row("pears", org_id=org, scope_id="a:b"), axis(0), model=OTHER_MODEL))
    bobs = row("figs", org_id=org, scope_id="a")
    scope = scope_of(rows[0])
    put(index, *rows, bobs)
    index.complete(scope)
    index.complete(scope_of(bobs))
    assert text_index.leftovers(scope) != []
    index.begin_rebuild(scope)
    assert text_index.leftovers(scope) == []
    answer = index.search(chain(org, "a:b"), index_query("figs"))
    assert (answer.candidates, answer.statistics.rows, answer.mismatched) == ((), 0, frozenset())
    assert scope in answer.incomplete
    theirs = index.search(chain(org, "a"), index_query("figs"))
    assert [c.id for c in theirs.candidates] == [bobs.memory.id]
    assert scope_of(bobs) not in theirs.incomplete


def test_a_rebuild_puts_the_same_revisions_back(text_index: IndexUnderTest, org: str) -> None:
    index = text_index.index
    rows = [row(f"figs number {n}", revision=n, org_id=org) for n in range(1, 4)]
    put(index, *rows)
    before = found(index, chain(org), "figs")
    scope = scope_of(rows[0])
    token = index.begin_rebuild(scope)
    put(index, *rows)
    assert index.complete(scope, token)
    assert found(index, chain(org), "figs") == before
    index.begin_rebuild(f"{org}/user/nobody")


def test_a_rebuild_that_another_overtook_does_not_call_the_scope_complete(text_index: IndexUnderTest, org: str) -> None:
    index, one = text_index.index, row("figs", org_id=org)
    scope = scope_of(one)
    first, second = index.begin_rebuild(scope), index.begin_rebuild(scope)
    assert not index.complete(scope, first)
    assert scope in index.search(chain(org), index_query("figs")).incomplete
    assert index.complete(scope, second)
    assert scope not in index.search(chain(org), index_query("figs")).incomplete


def test_changed_names_scopes_with_their_rows_once(text_index: IndexUnderTest, org: str) -> None:
    index = text_index.index
    mine = [row(f"figs {n}", org_id=org) for n in range(3)]
    bobs = row("figs", org_id=org, scope_id="b/c")
    put(index, *mine, bobs)
    assert sorted(index.changed()) == sorted([(scope_of(mine[0]), 3), (scope_of(bobs), 1)])
    assert index.changed() == []
    index.search(chain(org), index_query("figs"))
    assert index.changed() == []
    index.apply([gone(mine[0], 1), gone(bobs, 1)])
    taken = [index.changed(limit=1), index.changed(limit=1), index.changed(limit=1)]
    assert sorted(taken[0] + taken[1]) == sorted([(scope_of(mine[0]), 2), (scope_of(bobs), 0)])
    assert taken[2] == []


def test_changed_does_not_name_a_scope_in_which_nothing_changed(text_index: IndexUnderTest, org: str) -> None:
    newer = row("figs", id="mem_1", revision=5, org_id=org)
    put(text_index.index, newer)
    text_index.index.changed()
    put(text_index.index, row("plums", id="mem_1", revision=4, org_id=org))
    text_index.index.apply([gone(newer, 4), gone(row("unknown", org_id=org), 1)])
    assert text_index.index.changed() == []


def test_an_index_says_its_version(text_index: IndexUnderTest) -> None:
    assert text_index.index.probe()["version"]


def test_an_index_says_that_it_has_vectors(vector_index: IndexUnderTest) -> None:
    assert vector_index.index.probe()["vectorDriver"] in {"exact", "vector_sets", "search_module"}


def test_a_server_that_gained_vectors_does_not_hold_the_scopes_that_it_held_without(
    redis: RedisConnection, org: str
) -> None:
    class WithoutVectors(RedisHotIndex):
        """The index as it stood while the server had none."""

        def _ask_driver(self) -> VectorDriver:
            return TextAlone()

    stored = row("figs", org_id=org)
    before, scope = WithoutVectors(redis), scope_of(stored)
    put(before, stored)
    assert before.complete(scope, before.begin_rebuild(scope))
    assert scope not in before.search(chain(org), index_query("figs")).incomplete
    index = RedisHotIndex(redis)
    assert scope in index.search(chain(org), index_query("figs")).incomplete
    assert scope in index.wanted(1000)
    token = index.begin_rebuild(scope)
    put(index, stored)
    assert index.complete(scope, token)
    answer = index.search(chain(org), index_query("figs"))
    assert scope not in answer.incomplete
    assert [candidate.cosine is not None for candidate in answer.candidates] == [True]
