"""`ports.StoredVectors`: what a vector search of the truth finds, and what it never shows. Isolation first."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import MemoryType, Status
from chalicelib.domain.query import MAX_STORED_CANDIDATES, Filter, StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.domain.vector import best_cosine, unit
from chalicelib.domain.wire import epoch_ms
from tests.building import AWKWARD_IDS, EMBEDDER, NOW, chain, row
from tests.contract.index_steps import with_vectors
from tests.contract.store_steps import FORGOTTEN, changed
from tests.contract.vector_steps import VectorsUnderTest, nearest

HOUR = timedelta(hours=1)
MANY = 1_000_000
SIZE = len(EMBEDDER.embed_query("size")) // 4


def direction(*values: float) -> bytes:
    """A unit vector of the model's size that begins with `values`."""
    return unit([*values, *[0.0] * (SIZE - len(values))])


def ids(rows: Sequence[StoredMemory]) -> set[str]:
    """Their ids."""
    return {stored.memory.id for stored in rows}


def test_a_hundred_nearer_rows_of_bob_never_hide_the_three_of_alice(vectors: VectorsUnderTest, org: str) -> None:
    bobs = [row(f"lunch on tuesday {n}", org_id=org, scope_id="bob", user_id="bob") for n in range(100)]
    hers = [
        row(f"{day} is a day of lunch and much else", org_id=org, scope_id="alice") for day in ("one", "two", "three")
    ]
    vectors.put(*bobs, *hers)
    for rows in (103, MANY):
        assert nearest(vectors.vectors, chain(org, "alice"), "lunch on tuesday", rows=rows, limit=10).keys() == ids(
            hers
        )


def test_a_reader_is_given_nothing_outside_its_chain(vectors: VectorsUnderTest, org: str) -> None:
    foreign = [
        row("a secret of bob", org_id=org, scope_id="bob", user_id="bob"),
        row("a secret of the red space", org_id=org, scope=Scope.SPACE, scope_id="red"),
        row("a secret of the red universe", org_id=org, scope=Scope.UNIVERSE, scope_id="red"),
        row("a secret of a space named ana", org_id=org, scope=Scope.SPACE, scope_id="ana"),
        row("a secret of another organization", org_id=new_id("org"), scope=Scope.ORGANIZATION, scope_id=org),
        row("a secret of her namesake", org_id=new_id("org")),
    ]
    vectors.put(*foreign)
    assert nearest(vectors.vectors, chain(org), "a secret") == {}


def test_a_reader_is_given_every_scope_of_its_chain(vectors: VectorsUnderTest, org: str) -> None:
    rows = [
        row("a plan of all", org_id=org, scope=Scope.ORGANIZATION, scope_id=org),
        row("a plan of the red space", org_id=org, scope=Scope.SPACE, scope_id="red"),
        row("a plan of the blue universe", org_id=org, scope=Scope.UNIVERSE, scope_id="blue"),
        row("a plan of ana", org_id=org),
    ]
    stored = vectors.put(*rows)
    reader = chain(org, spaces=("red",), universes=("blue",))
    found = nearest(vectors.vectors, reader, "a plan")
    assert found.keys() == set(stored)
    assert {c.id: c.scope_key for c in found.values()} == {r.memory.id: r.memory.scope_ref.key for r in rows}
    assert nearest(vectors.vectors, reader.narrow([Scope.SPACE], None), "a plan").keys() == {stored[1]}


def test_a_chain_of_no_scopes_and_a_query_without_a_vector_find_nothing(vectors: VectorsUnderTest, org: str) -> None:
    vectors.put(row("a plan", org_id=org))
    assert nearest(vectors.vectors, chain(org).only(()), "a plan") == {}
    assert nearest(vectors.vectors, chain(org), "a plan", vector=None) == {}


def test_the_same_id_and_scope_in_two_organizations_are_two_rows(vectors: VectorsUnderTest, org: str) -> None:
    other = new_id("org")
    vectors.put(row("lunch of theirs", id="mem_1", org_id=other))
    vectors.put(row("lunch of mine", id="mem_1", org_id=org))
    for organization, words in ((org, "lunch of mine"), (other, "lunch of theirs")):
        (found,) = nearest(vectors.vectors, chain(organization), "lunch").values()
        assert found.row is not None
        assert found.row.memory.content == words


def test_scope_ids_of_any_characters_stay_apart(vectors: VectorsUnderTest, org: str) -> None:
    mine = {user: row("the same words", org_id=org, scope_id=user) for user in [*AWKWARD_IDS, "a", "b"]}
    vectors.put(*mine.values())
    for user, stored in mine.items():
        assert nearest(vectors.vectors, chain(org, user), "words").keys() == {stored.memory.id}, user


def test_only_active_rows_are_found(vectors: VectorsUnderTest, org: str) -> None:
    live = row("figs are ripe", org_id=org)
    rest = [row(f"figs {status}", org_id=org, status=status) for status in (Status.QUARANTINED, Status.ARCHIVED)]
    vectors.put(live, *rest, row("figs forgotten", org_id=org, **FORGOTTEN))
    assert nearest(vectors.vectors, chain(org), "figs").keys() == {live.memory.id}


def test_a_row_that_was_forgotten_or_removed_since_is_not_found(vectors: VectorsUnderTest, org: str) -> None:
    rows = [row(f"figs number {n}", org_id=org) for n in range(3)]
    vectors.put(*rows)
    assert vectors.store.replace(changed(rows[0], **FORGOTTEN), 1)
    assert vectors.store.purge(chain(org), rows[1].memory.id)
    assert nearest(vectors.vectors, chain(org), "figs").keys() == {rows[2].memory.id}


FILTERS: dict[str, tuple[Filter, set[str]]] = {
    "a type": (Filter(types=(MemoryType.TASK,)), {"task"}),
    "one of two types": (Filter(types=(MemoryType.DECISION, MemoryType.TASK)), {"task", "decision"}),
    "a tag": (Filter(tags=("red",)), {"red", "red and blue"}),
    "all of two tags": (Filter(tags=("blue", "red")), {"red and blue"}),
    "a tag that looks like an operator": (Filter(tags=("$ne",)), {"awkward"}),
    "a tag with dots and quotes": (Filter(tags=("a.b'\"\\",)), {"awkward"}),
    "a tag that nobody has": (Filter(tags=("green",)), set()),
    "since, inclusive": (Filter(since=epoch_ms(NOW + HOUR)), {"later"}),
    "before, exclusive": (Filter(before=epoch_ms(NOW)), {"earlier"}),
    "between": (
        Filter(since=epoch_ms(NOW - HOUR), before=epoch_ms(NOW + timedelta(milliseconds=1))),
        {"earlier", "rest"},
    ),
    "all at once": (Filter((MemoryType.FACT,), ("late",), epoch_ms(NOW), epoch_ms(NOW + 2 * HOUR)), {"later"}),
}
FILTERED: dict[str, dict[str, Any]] = {
    "task": {"type": MemoryType.TASK},
    "decision": {"type": MemoryType.DECISION},
    "red": {"tags": ("red",)},
    "red and blue": {"tags": ("red", "green leaf", "blue")},
    "awkward": {"tags": ("$ne", "a.b'\"\\")},
    "later": {"event_time": NOW + HOUR, "tags": ("late",)},
    "earlier": {"event_time": NOW - HOUR},
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_leaves_what_it_admits(vectors: VectorsUnderTest, org: str, name: str) -> None:
    rows = {id_: row(f"a note, {id_}", id=id_, org_id=org, **fields) for id_, fields in FILTERED.items()}
    vectors.put(*rows.values())
    wanted, expected = FILTERS[name]
    everything_else = set(rows) - {"later", "earlier"} if "rest" in expected else set()
    assert nearest(vectors.vectors, chain(org), "a note", filter=wanted).keys() == expected - {"rest"} | everything_else


def test_nearer_rows_that_a_filter_leaves_out_crowd_out_none_that_it_admits(
    vectors: VectorsUnderTest, org: str
) -> None:
    near = [row(f"lunch number {n}", org_id=org) for n in range(40)]
    far = row("dinner and much else, also lunch", org_id=org, tags=("red",))
    vectors.put(*near, far)
    assert nearest(vectors.vectors, chain(org), "lunch", filter=Filter(tags=("red",)), limit=10).keys() == {
        far.memory.id
    }


def test_a_row_is_found_until_its_time_runs_out(vectors: VectorsUnderTest, org: str) -> None:
    ends = row("figs", org_id=org, expires_at=NOW + HOUR)
    vectors.put(ends)
    just_before = NOW + HOUR - timedelta(milliseconds=1)
    assert nearest(vectors.vectors, chain(org), "figs", now=just_before).keys() == {ends.memory.id}
    assert nearest(vectors.vectors, chain(org), "figs", now=NOW + HOUR) == {}


def test_expired_rows_crowd_out_no_live_one(vectors: VectorsUnderTest, org: str) -> None:
    over = [row(f"figs number {n}", org_id=org, expires_at=NOW - HOUR) for n in range(40)]
    live = [row("figs, among much else", org_id=org), row("much else and figs", org_id=org, expires_at=NOW + HOUR)]
    vectors.put(*over, *live)
    assert nearest(vectors.vectors, chain(org), "figs", limit=10).keys() == ids(live)


def test_only_vectors_of_the_queries_model_are_compared(vectors: VectorsUnderTest, org: str) -> None:
    mine = row("figs", org_id=org)
    other = with_vectors(row("figs of another model", org_id=org), EMBEDDER.embed_query("figs"), model="other@256")
    vectors.put(mine, other, row("figs without a vector", org_id=org, vectors=False))
    assert nearest(vectors.vectors, chain(org), "figs").keys() == {mine.memory.id}
    assert nearest(vectors.vectors, chain(org), "figs", model="other@256").keys() == {other.memory.id}


def test_candidates_carry_their_cosine_and_their_row_the_nearest_first(vectors: VectorsUnderTest, org: str) -> None:
    rows = [row(text, org_id=org, tags=("red",)) for text in ("a pear", "figs and pears", "figs")]
    vectors.put(*rows)
    found = list(nearest(vectors.vectors, chain(org), "figs").values())
    query = EMBEDDER.embed_query("figs")
    cosines = {r.memory.id: best_cosine(query, r.memory.embedding.vectors) for r in rows if r.memory.embedding}
    assert {c.id: c.cosine for c in found} == pytest.approx(cosines, abs=1e-5)
    assert [c.cosine for c in found] == sorted((c.cosine for c in found if c.cosine is not None), reverse=True)
    assert [c.bm25 for c in found] == [None] * 3
    bare = {
        r.memory.id: StoredMemory(r.memory.model_copy(update={"embedding": None}), r.counts, r.length) for r in rows
    }
    assert {c.id: c.row for c in found} == bare


def test_opposite_vectors_have_a_negative_cosine(vectors: VectorsUnderTest, org: str) -> None:
    away = with_vectors(row("figs", org_id=org), direction(-1, 0.5))
    vectors.put(away)
    (found,) = nearest(vectors.vectors, chain(org), "figs", vector=direction(1)).values()
    assert found.cosine == pytest.approx(-0.894427, abs=1e-5)


def test_a_text_of_several_chunks_counts_by_its_best_one(vectors: VectorsUnderTest, org: str) -> None:
    long = with_vectors(row("a long text", org_id=org), direction(1), direction(0, 1), direction(0, 0, 1))
    short = with_vectors(row("a short text", org_id=org), direction(0.9, 0.1))
    vectors.put(long, short)
    found = nearest(vectors.vectors, chain(org), "any", vector=direction(1))
    assert list(found) == [long.memory.id, short.memory.id]
    assert found[long.memory.id].cosine == pytest.approx(1, abs=1e-6)


def test_a_chunk_among_many_stays_findable_beside_rows_of_one(vectors: VectorsUnderTest, org: str) -> None:
    found = with_vectors(row("a long text", org_id=org), direction(1), direction(0, 1))
    far = [with_vectors(row(f"far {n}", org_id=org), direction(0.1, 0, 1, n / 10)) for n in range(20)]
    vectors.put(found, *far)
    assert next(iter(nearest(vectors.vectors, chain(org), "any", vector=direction(1), limit=10))) == found.memory.id


def test_the_limit_holds_for_one_scope_and_grows_with_the_chain(vectors: VectorsUnderTest, org: str) -> None:
    spaces = [row(f"lunch number {n}", org_id=org, scope=Scope.SPACE, scope_id="red") for n in range(12)]
    mine = [row(f"lunch number {n}", org_id=org) for n in range(12)]
    vectors.put(*spaces, *mine)
    assert len(nearest(vectors.vectors, chain(org).narrow([Scope.USER], None), "lunch", limit=10)) == 10
    both = chain(org, spaces=("red",)).narrow([Scope.USER, Scope.SPACE], None)
    found = nearest(vectors.vectors, both, "lunch", limit=10)
    assert 10 < len(found) <= 20
    assert {c.scope_key for c in found.values()} == {r.memory.scope_ref.key for r in (spaces[0], mine[0])}


def test_a_scope_full_of_nearer_rows_does_not_crowd_out_another_of_the_chain(
    vectors: VectorsUnderTest, org: str
) -> None:
    policies = [row(f"lunch {n}", org_id=org, scope=Scope.ORGANIZATION, scope_id=org) for n in range(40)]
    mine = row("my own lunch and much else that I had", org_id=org)
    vectors.put(*policies, mine)
    found = nearest(vectors.vectors, chain(org), "lunch", limit=10)
    assert mine.memory.id in found
    assert len(found) <= 20


def test_an_answer_holds_two_hundred_rows_at_most(vectors: VectorsUnderTest, org: str) -> None:
    vectors.put(*(row(f"lunch number {n}", org_id=org) for n in range(MAX_STORED_CANDIDATES + 5)))
    mine = chain(org).narrow([Scope.USER], None)
    assert len(nearest(vectors.vectors, mine, "lunch", limit=MAX_STORED_CANDIDATES + 100)) == MAX_STORED_CANDIDATES


def test_a_time_before_1970_and_one_far_ahead_are_times_like_others(vectors: VectorsUnderTest, org: str) -> None:
    old = row("the moon landing", org_id=org, event_time=datetime(1969, 7, 20, tzinfo=UTC))
    new = row("the mars landing", org_id=org, event_time=datetime(2150, 1, 1, tzinfo=UTC))
    vectors.put(old, new)
    assert nearest(vectors.vectors, chain(org), "landing", filter=Filter(before=0)).keys() == {old.memory.id}
    assert nearest(vectors.vectors, chain(org), "landing", filter=Filter(since=0)).keys() == {new.memory.id}


def test_a_search_answers_a_probe(vectors: VectorsUnderTest) -> None:
    assert vectors.vectors.probe()
