"""`ports.MemoryStore`: listing, the candidates of the text tier, and the statistics of terms."""

import base64
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import ArchivedReason, Memory, MemoryType, Status
from chalicelib.domain.query import Filter, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain, Scope
from chalicelib.domain.text.terms import query_words
from chalicelib.errors import InvalidInput
from chalicelib.ports import Browse, MemoryStore
from tests.building import AWKWARD_IDS, NOW, chain, row

UNKNOWN = TermStatistics(0, {})


def dated(org: str, count: int, **fields: Any) -> list[StoredMemory]:
    """Rows made a second apart, newest first."""
    return [
        row(f"note {n}", id=f"mem_{n:03}", org_id=org, created_at=NOW - timedelta(seconds=n), **fields)
        for n in range(count)
    ]


def ids_of(memories: tuple[Memory, ...] | list[Memory]) -> list[str]:
    """Their ids."""
    return [memory.id for memory in memories]


def listed(store: MemoryStore, reader: Chain, **wanted: Any) -> list[str]:
    """Ids of the first page."""
    return ids_of(store.browse(reader, Browse(**wanted)).items)


def pages(store: MemoryStore, reader: Chain, limit: int, **wanted: Any) -> Iterator[list[str]]:
    """Ids page by page to the end."""
    cursor = None
    while True:
        page = store.browse(reader, Browse(limit=limit, cursor=cursor, **wanted))
        yield ids_of(page.items)
        cursor = page.cursor
        if cursor is None:
            return


def test_browse_lists_newest_first(store: MemoryStore, org: str) -> None:
    rows = dated(org, 5)
    store.insert([rows[i] for i in (3, 0, 4, 1, 2)])
    assert listed(store, chain(org)) == ids_of([stored.memory for stored in rows])


def test_browse_follows_cursors_to_the_end(store: MemoryStore, org: str) -> None:
    rows = dated(org, 7)
    store.insert(rows)
    found = list(pages(store, chain(org), 3))
    assert [len(page) for page in found] == [3, 3, 1]
    assert [id_ for page in found for id_ in page] == ids_of([stored.memory for stored in rows])


def test_browse_gives_no_cursor_where_the_last_page_is_full(store: MemoryStore, org: str) -> None:
    store.insert(dated(org, 4))
    assert [len(page) for page in pages(store, chain(org), 2)] == [2, 2]


def test_browse_pages_lose_and_repeat_nothing_among_rows_of_one_time(store: MemoryStore, org: str) -> None:
    rows = [row(f"note {n}", id=id_, org_id=org) for n, id_ in enumerate((*AWKWARD_IDS, "mem_1", "mem_2", "Z", "é"))]
    store.insert(rows)
    found = [id_ for page in pages(store, chain(org), 3) for id_ in page]
    assert sorted(found) == sorted(stored.memory.id for stored in rows)


def test_browse_pages_stand_while_newer_rows_come(store: MemoryStore, org: str) -> None:
    rows = dated(org, 4)
    store.insert(rows)
    first = store.browse(chain(org), Browse(limit=2))
    store.insert([row("newer", org_id=org, created_at=NOW + timedelta(seconds=1))])
    assert listed(store, chain(org), cursor=first.cursor) == ["mem_002", "mem_003"]


def test_a_cursor_of_one_reader_opens_nothing_to_another(store: MemoryStore, org: str) -> None:
    store.insert([*dated(org, 4), row("bob's", id="mem_bob", org_id=org, scope_id="bob", created_at=NOW)])
    cursor = store.browse(chain(org), Browse(limit=2)).cursor
    assert listed(store, chain(org, "bob"), cursor=cursor) == []
    assert listed(store, chain(new_id("org")), cursor=cursor) == []


def cursor_of(value: object) -> str:
    """A cursor in form, of a content that is none."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "not a cursor",
        "é",
        "\ud800",
        "e30=",
        base64.urlsafe_b64encode(b"[" * 5000).decode(),
        *(
            cursor_of(value)
            for value in (
                *(5, None, "ab", [], [1, "mem_1"], [None, None], {"a": 1, "b": 2}),
                *(["yesterday", "mem_1"], [NOW.isoformat()], [NOW.isoformat(), "mem_1", 1]),
                *([NOW.replace(tzinfo=None).isoformat(), "mem_1"], ["0001-01-01T00:00:00+14:00", "mem_1"]),
                *([NOW.isoformat(), ["mem_1"]], [NOW.isoformat(), None], [NOW.isoformat(), "\ud800"]),
            )
        ),
    ],
)
def test_browse_refuses_what_is_no_cursor(store: MemoryStore, org: str, cursor: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        store.browse(chain(org), Browse(cursor=cursor))
    assert raised.value.field == "cursor"


def test_browse_filters_by_status_and_lists_active_rows_unasked(store: MemoryStore, org: str) -> None:
    rows = {
        status: row(f"row {status}", org_id=org, status=status, archived_reason=reason)
        for status, reason in (
            (Status.ACTIVE, None),
            (Status.QUARANTINED, None),
            (Status.ARCHIVED, ArchivedReason.SUPERSEDED),
        )
    }
    store.insert(list(rows.values()))
    assert listed(store, chain(org)) == [rows[Status.ACTIVE].memory.id]
    for status, stored in rows.items():
        assert listed(store, chain(org), status=status) == [stored.memory.id]


def test_browse_never_lists_forgotten_rows(store: MemoryStore, org: str) -> None:
    rows = [
        row(f"archived, {reason}", org_id=org, status=Status.ARCHIVED, archived_reason=reason, tags=("x",))
        for reason in (*ArchivedReason, None)
    ]
    store.insert(rows)
    kept = {r.memory.id for r in rows if r.memory.archived_reason is not ArchivedReason.FORGOTTEN}
    archived = {"status": Status.ARCHIVED}
    assert set(listed(store, chain(org), **archived)) == kept
    assert set(listed(store, chain(org), **archived, tag="x", words=(("archiv",),))) == kept
    assert {id_ for page in pages(store, chain(org), 1, **archived) for id_ in page} == kept
    assert not any(listed(store, chain(org), status=status) for status in (Status.ACTIVE, Status.QUARANTINED))


def test_browse_filters_by_type(store: MemoryStore, org: str) -> None:
    rows = {kind: row(f"a {kind}", org_id=org, type=kind) for kind in MemoryType}
    store.insert(list(rows.values()))
    for kind, stored in rows.items():
        assert listed(store, chain(org), type=kind) == [stored.memory.id]


def test_browse_filters_by_a_tag_of_any_characters(store: MemoryStore, org: str) -> None:
    rows = {tag: row(f"note {n}", org_id=org, tags=("common", tag)) for n, tag in enumerate(AWKWARD_IDS)}
    store.insert(list(rows.values()))
    for tag, stored in rows.items():
        assert listed(store, chain(org), tag=tag) == [stored.memory.id], tag
    assert len(listed(store, chain(org), tag="common")) == len(rows)
    assert listed(store, chain(org), tag="absent") == []


def test_an_empty_tag_is_no_missing_filter(store: MemoryStore, org: str) -> None:
    store.insert(dated(org, 2, tags=("x",)))
    assert listed(store, chain(org), tag="") == []


def test_browse_wants_every_word_under_any_of_its_terms(store: MemoryStore, org: str) -> None:
    rows = [row(text, org_id=org) for text in ("running shoes in Porto", "running in Porto", "shoes", "名前は田中です")]
    store.insert(rows)
    ids = [stored.memory.id for stored in rows]
    assert set(listed(store, chain(org), words=query_words("run Porto"))) == {ids[0], ids[1]}
    assert listed(store, chain(org), words=query_words("shoes run")) == [ids[0]]
    assert listed(store, chain(org), words=query_words("田中")) == [ids[3]]
    assert listed(store, chain(org), words=query_words("Lisbon shoes")) == []
    assert listed(store, chain(org), words=((),)) == []


def test_browse_filters_hold_together_and_on_every_page(store: MemoryStore, org: str) -> None:
    wanted = dated(org, 5, tags=("blue",), type=MemoryType.TASK)
    others = [
        row("note of another type", org_id=org, tags=("blue",), type=MemoryType.FACT),
        row("note of another tag", org_id=org, tags=("red",), type=MemoryType.TASK),
        row("of other words", org_id=org, tags=("blue",), type=MemoryType.TASK),
        row("note of bob", org_id=org, scope_id="bob", tags=("blue",), type=MemoryType.TASK),
        row("note that waits", org_id=org, tags=("blue",), type=MemoryType.TASK, status=Status.QUARANTINED),
    ]
    store.insert(others + wanted)
    found = list(pages(store, chain(org), 2, type=MemoryType.TASK, tag="blue", words=(("note",),)))
    assert found == [["mem_000", "mem_001"], ["mem_002", "mem_003"], ["mem_004"]]


def test_text_candidates_are_active_rows_with_terms_and_vectors(store: MemoryStore, org: str) -> None:
    live = row("figs are ripe", org_id=org)
    rest = [row(f"figs, {status}", org_id=org, status=status) for status in (Status.QUARANTINED, Status.ARCHIVED)]
    store.insert([live, *rest, row("pears", org_id=org)])
    assert store.text_candidates(chain(org), query_words("figs"), UNKNOWN, Filter(), 100, now=NOW) == [live]


def test_text_candidates_are_rows_whose_time_has_not_run_out_at_the_time_given(store: MemoryStore, org: str) -> None:
    ends = NOW + timedelta(hours=1)
    store.insert(
        [row("figs are ripe", id="mem_ends", org_id=org, expires_at=ends), row("figs", id="mem_1", org_id=org)]
    )

    def found(now: datetime) -> set[str]:
        rows = store.text_candidates(chain(org), query_words("figs"), UNKNOWN, Filter(), 100, now=now)
        return {stored.memory.id for stored in rows}

    assert found(ends - timedelta(milliseconds=1)) == {"mem_ends", "mem_1"}
    assert found(ends) == {"mem_1"}


def test_text_candidates_need_one_of_the_words_under_one_of_its_terms(store: MemoryStore, org: str) -> None:
    rows = [row(text, org_id=org) for text in ("running", "shoes", "a pear", "寿司が好き")]
    store.insert(rows)
    ids = [stored.memory.id for stored in rows]

    def found(text: str) -> set[str]:
        return {
            r.memory.id for r in store.text_candidates(chain(org), query_words(text), UNKNOWN, Filter(), 100, now=NOW)
        }

    assert found("runs shoe") == {ids[0], ids[1]}
    assert found("寿司") == {ids[3]}
    assert found("bicycle") == set()
    assert store.text_candidates(chain(org), (), UNKNOWN, Filter(), 100, now=NOW) == []


def test_text_candidates_keep_to_the_limit(store: MemoryStore, org: str) -> None:
    store.insert([row(f"fig number {n}", org_id=org) for n in range(12)])
    assert len(store.text_candidates(chain(org), (("fig",),), UNKNOWN, Filter(), 5, now=NOW)) in {3, 4, 5}


def test_a_word_that_many_rows_hold_does_not_crowd_out_the_rare_ones(store: MemoryStore, org: str) -> None:
    rare = [row(f"{fruit} for breakfast", org_id=org) for fruit in ("fig", "plum", "pear")]
    store.insert([*(row(f"breakfast number {n}", org_id=org) for n in range(60)), *rare])
    store.take_statistics(rare[0].memory.scope_ref.key)
    words = (("breakfast",), ("fig",), ("plum",), ("pear",))
    found = store.text_candidates(chain(org), words, store.statistics(chain(org)), Filter(), 40, now=NOW)
    assert {stored.memory.id for stored in found} == {stored.memory.id for stored in rare}


def test_statistics_are_zero_and_empty_before_a_snapshot(store: MemoryStore, org: str) -> None:
    stored = row(org_id=org)
    store.insert([stored])
    assert store.statistics(chain(org)) == UNKNOWN
    store.mark_for_repair([stored.memory.scope_ref.key])
    assert store.statistics(chain(org)) == UNKNOWN


def test_statistics_are_those_of_the_last_snapshot(store: MemoryStore, org: str) -> None:
    rows = [row(f"breakfast number {n}", org_id=org) for n in range(25)]
    scope = rows[0].memory.scope_ref.key
    store.insert([*rows[:24], row("breakfast, archived", org_id=org, status=Status.ARCHIVED)])
    store.take_statistics(scope)
    first = store.statistics(chain(org))
    assert first == TermStatistics(24, {"breakfast": 24, "number": 24})
    store.insert(rows[24:])
    assert store.statistics(chain(org)) == first
    store.take_statistics(scope)
    assert store.statistics(chain(org)) == TermStatistics(25, {"breakfast": 25, "number": 25})
    for stored in rows:
        store.purge(chain(org), stored.memory.id)
    store.take_statistics(scope)
    assert store.statistics(chain(org)) == UNKNOWN


def test_statistics_add_up_the_scopes_of_the_chain_and_no_other(store: MemoryStore, org: str) -> None:
    mine = [row(f"breakfast number {n}", org_id=org) for n in range(20)]
    team = [row(f"breakfast at {n}", org_id=org, scope=Scope.SPACE, scope_id="red") for n in range(21)]
    bobs = [row(f"breakfast number {n}", org_id=org, scope_id="bob") for n in range(22)]
    store.insert([*mine, *team, *bobs])
    for rows in (mine, team, bobs):
        store.take_statistics(rows[0].memory.scope_ref.key)
    assert store.statistics(chain(org, spaces=("red",))) == TermStatistics(41, {"breakfast": 41, "number": 20})
    assert store.statistics(chain(org)) == TermStatistics(20, {"breakfast": 20, "number": 20})


def test_a_scope_full_of_matches_does_not_crowd_out_another(store: MemoryStore, org: str) -> None:
    policies = [row(f"fig policy {n}", org_id=org, scope=Scope.ORGANIZATION, scope_id=org) for n in range(60)]
    mine = row("my own fig", org_id=org)
    store.insert([*policies, mine])
    found = store.text_candidates(chain(org), query_words("fig"), UNKNOWN, Filter(), 30, now=NOW)
    assert mine.memory.id in {one.memory.id for one in found}
    assert len(found) <= 30


def test_recent_gives_what_was_changed_lately_of_the_chain_alone_the_latest_first(store: MemoryStore, org: str) -> None:
    def changed(seconds: int, **fields: Any) -> StoredMemory:
        at = NOW + timedelta(seconds=seconds)
        return row(f"figs {seconds} {fields}", org_id=org, updated_at=at, **fields)

    mine = [changed(seconds) for seconds in (0, 10, 20, 30)]
    others = [
        changed(25, scope_id="bob"),
        changed(25, status=Status.QUARANTINED),
        changed(25, expires_at=NOW + timedelta(seconds=40)),
        changed(25, type=MemoryType.TASK),
    ]
    store.insert([*mine, *others])
    since, now = NOW + timedelta(seconds=10), NOW + timedelta(seconds=50)
    wanted = Filter(types=(MemoryType.FACT,))
    found = store.recent(chain(org), since, wanted, 10, now=now)
    assert [one.memory.id for one in found] == [one.memory.id for one in reversed(mine[1:])]
    assert found[0].memory.embedding == mine[3].memory.embedding
    assert found[0].counts == mine[3].counts
    assert [one.memory.id for one in store.recent(chain(org), since, wanted, 1, now=now)] == [mine[3].memory.id]
