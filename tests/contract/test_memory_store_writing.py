"""`ports.MemoryStore`: how rows come, change and go, also when two writers race."""

from datetime import timedelta

import pytest

from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import IndexState, MemoryType, Status
from chalicelib.errors import DuplicateContent
from chalicelib.ports import Browse, MemoryStore
from tests.building import NOW, chain, row
from tests.contract.racing import at_once
from tests.contract.store_steps import FORGOTTEN, changed, everything_read, fetched

THREADS = 8


def test_a_repeat_of_live_content_is_told_the_row_that_was_there(store: MemoryStore, org: str) -> None:
    first = row("Ana lives in Porto", org_id=org)
    again = row("Ana  lives in\u200b Porto ", org_id=org)
    fresh = row("Ana likes figs", org_id=org)
    assert store.insert([first]) == [None]
    assert store.insert([fresh, again]) == [None, first.memory.id]
    assert fetched(store, chain(org), again.memory.id, fresh.memory.id).keys() == {fresh.memory.id}


def test_repeats_within_one_insert_leave_one_row(store: MemoryStore, org: str) -> None:
    rows = [row("the same words", org_id=org) for _ in range(3)]
    receipts = store.insert([*rows, row("other words", org_id=org)])
    assert receipts.count(None) == 2
    assert {receipt for receipt in receipts if receipt} == {rows[receipts.index(None)].memory.id}
    assert len(store.browse(chain(org), Browse()).items) == 2


def test_inserting_nothing_gives_nothing(store: MemoryStore) -> None:
    assert store.insert([]) == []
    assert store.find_duplicates([]) == []


def test_quarantined_content_is_live_and_archived_content_is_not(store: MemoryStore, org: str) -> None:
    waiting = row("waiting", org_id=org, status=Status.QUARANTINED)
    archived = [row("archived", org_id=org, status=Status.ARCHIVED), row("archived", org_id=org, **FORGOTTEN)]
    assert store.insert([waiting, *archived]) == [None, None, None]
    again = [row("waiting", org_id=org), row("archived", org_id=org)]
    assert store.find_duplicates([stored.memory for stored in again]) == [waiting.memory.id, None]
    assert store.insert(again) == [waiting.memory.id, None]
    assert store.insert([row("archived", org_id=org, status=Status.ARCHIVED)]) == [None]


def test_find_duplicates_changes_nothing_and_looks_in_the_own_scope_only(store: MemoryStore, org: str) -> None:
    mine, bobs = row("mine", org_id=org), row("bob's", org_id=org, scope_id="bob")
    store.insert([mine, bobs])
    asked = [row(text, org_id=org, scope_id=user).memory for text in ("mine", "bob's") for user in ("ana", "bob")]
    for _ in range(2):
        assert store.find_duplicates(asked) == [mine.memory.id, None, None, bobs.memory.id]


@pytest.mark.parametrize("kind", [MemoryType.EVENT, MemoryType.OBSERVATION, MemoryType.CONVERSATION])
def test_timed_content_at_another_time_is_another_memory(store: MemoryStore, org: str, kind: MemoryType) -> None:
    run = row("ran 5 km", org_id=org, type=kind)
    next_day = row("ran 5 km", org_id=org, type=kind, event_time=NOW + timedelta(days=1))
    assert store.insert([run, next_day]) == [None, None]
    again = row("ran 5 km", org_id=org, type=kind)
    assert store.insert([again]) == [run.memory.id]


def test_untimed_content_at_another_time_is_the_same_memory(store: MemoryStore, org: str) -> None:
    fact = row("Ana lives in Porto", org_id=org)
    store.insert([fact])
    later = row("Ana lives in Porto", org_id=org, event_time=NOW + timedelta(days=1))
    assert store.insert([later]) == [fact.memory.id]


def test_of_racing_inserts_of_the_same_content_exactly_one_wins(store: MemoryStore, org: str) -> None:
    for attempt in range(3):
        rows = [row(f"said at once {attempt}", org_id=org) for _ in range(THREADS)]
        receipts = [r for (r,) in at_once(*(lambda one=one: store.insert([one]) for one in rows))]
        assert receipts.count(None) == 1
        winner = rows[receipts.index(None)].memory.id
        assert set(receipts) == {None, winner}
        assert fetched(store, chain(org), *(one.memory.id for one in rows)).keys() == {winner}


def test_a_row_reported_stored_is_stored_while_others_archive_the_same_content(store: MemoryStore, org: str) -> None:
    def insert_and_archive() -> list[str]:
        stored = []
        for _ in range(40):
            one = row("said again and again", vectors=False, org_id=org)
            if store.insert([one]) == [None]:
                stored.append(one.memory.id)
                store.replace(changed(one, status=Status.ARCHIVED), 1)
        return stored

    reported = [id_ for ids in at_once(*[insert_and_archive] * 4) for id_ in ids]
    assert fetched(store, chain(org), *reported).keys() == set(reported)


def test_replace_takes_only_the_revision_it_expects(store: MemoryStore, org: str) -> None:
    first = row("first", org_id=org)
    store.insert([first])
    second = changed(first, content="second", tags=("edited",))
    assert store.replace(second, 1)
    assert not store.replace(changed(first, content="slow consolidation"), 1)
    assert not store.replace(row("nobody", id="mem_unknown", org_id=org), 1)
    assert not store.replace(row("elsewhere", id=first.memory.id, org_id=new_id("org")), 2)
    assert store.fetch(chain(org), [first.memory.id], with_vectors=True) == [second]


def test_of_racing_replacements_exactly_one_wins(store: MemoryStore, org: str) -> None:
    first = row("first", org_id=org)
    store.insert([first])
    edits = [changed(first, content=f"edit {n}") for n in range(THREADS)]
    won = at_once(*(lambda edit=edit: store.replace(edit, 1) for edit in edits))
    assert won.count(True) == 1
    assert fetched(store, chain(org), first.memory.id)[first.memory.id].memory == (
        edits[won.index(True)].memory.model_copy(update={"embedding": None})
    )


def test_replace_refuses_content_that_is_live_in_another_row_of_the_scope(store: MemoryStore, org: str) -> None:
    taken, mine = row("taken", org_id=org), row("mine", org_id=org)
    retired = row("taken", org_id=org, **FORGOTTEN)
    store.insert([taken, mine, retired])
    for stored in (changed(mine, content="taken"), changed(retired, status=Status.ACTIVE, archived_reason=None)):
        with pytest.raises(DuplicateContent):
            store.replace(stored, 1)
    found = fetched(store, chain(org), mine.memory.id, retired.memory.id)
    assert (found[mine.memory.id].memory.content, found[retired.memory.id].memory.status) == ("mine", Status.ARCHIVED)


def test_replace_bears_its_own_content_archived_content_and_that_of_other_scopes(store: MemoryStore, org: str) -> None:
    mine, bobs = row("mine", org_id=org), row("bob's", org_id=org, scope_id="bob")
    retired = row("retired", org_id=org, status=Status.ARCHIVED)
    store.insert([mine, bobs, retired])
    assert store.replace(changed(mine, tags=("x",)), 1)
    assert store.replace(changed(mine, content="bob's", revision=3), 2)
    assert store.replace(changed(mine, content="retired", revision=4), 3)
    assert store.replace(changed(mine, content="bob's", status=Status.ARCHIVED, revision=5), 4)


def test_what_a_replacement_archives_may_be_stored_again(store: MemoryStore, org: str) -> None:
    first, again = row("a fact", org_id=org), row("a fact", org_id=org)
    store.insert([first])
    assert store.replace(changed(first, **FORGOTTEN), 1)
    assert store.insert([again]) == [None]


def test_purge_removes_a_row_for_good_and_once(store: MemoryStore, org: str) -> None:
    gone, kept = row("gone", org_id=org), row("kept", org_id=org)
    store.insert([gone, kept])
    assert store.purge(chain(org), gone.memory.id)
    assert not store.purge(chain(org), gone.memory.id)
    assert everything_read(store, chain(org), [gone.memory.id], "gone kept") == {kept.memory.id}
    assert store.insert([row("gone", org_id=org)]) == [None]


def test_purge_leaves_rows_outside_the_chain(store: MemoryStore, org: str) -> None:
    bobs = row("bob's", org_id=org, scope_id="bob", user_id="ana")
    store.insert([bobs])
    assert not store.purge(chain(org), bobs.memory.id)
    assert fetched(store, chain(org, "bob"), bobs.memory.id)


def test_settle_marks_rows_at_the_given_revision_only(store: MemoryStore, org: str) -> None:
    rows = [row(f"row {n}", org_id=org, updated_at=NOW - timedelta(days=1)) for n in range(4)]
    store.insert(rows)
    store.replace(changed(rows[1], content="edited meanwhile"), 1)
    elsewhere = row("elsewhere", id=rows[3].memory.id, org_id=new_id("org"))
    store.insert([elsewhere])
    store.settle([*((stored.memory, True) for stored in rows[:2]), (rows[2].memory, False), (elsewhere.memory, True)])
    found = fetched(store, chain(org), *(stored.memory.id for stored in rows))
    states = [found[stored.memory.id].memory.index_state for stored in rows]
    assert states == [IndexState.INDEXED, IndexState.PENDING, IndexState.PENDING, IndexState.PENDING]
    settled = found[rows[0].memory.id].memory
    assert (settled.revision, settled.updated_at) == (1, NOW - timedelta(days=1))


def test_settle_can_take_the_mark_back(store: MemoryStore, org: str) -> None:
    stored = row(org_id=org, index_state=IndexState.INDEXED)
    store.insert([stored])
    store.settle([])
    store.settle([(stored.memory, False)])
    (found,) = store.fetch(chain(org), [stored.memory.id], with_vectors=True)
    assert found.memory.index_state is IndexState.PENDING
    assert found.memory.embedding == stored.memory.embedding
