"""`ports.MemoryStore`: what the worker and the jobs go through: pending rows, whole scopes, marks of repair."""

from datetime import timedelta

from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.ports import MemoryStore
from tests.building import AWKWARD_IDS, NOW, chain, row


def paged_pending(store: MemoryStore, limit: int) -> list[StoredMemory]:
    """All pending rows, page by page."""
    found: list[StoredMemory] = []
    while page := store.pending(NOW, limit, after=found[-1].memory if found else None):
        assert len(page) <= limit
        found += page
    return found


def test_pending_gives_rows_of_any_status_after_their_grace_with_vectors(empty_store: MemoryStore, org: str) -> None:
    old, ids = NOW - timedelta(minutes=1), ("mem_1", "mem_2", "mem_3")
    rows = [
        row(f"row {id_}", id=id_, org_id=org, status=status, updated_at=old)
        for id_, status in zip(ids, Status, strict=True)
    ]
    young = row("young", org_id=org, updated_at=NOW)
    done = row("done", org_id=org, updated_at=old)
    empty_store.insert([*rows, young, done])
    empty_store.settle([(done.memory, True)])
    assert empty_store.pending(NOW, 10) == rows
    assert len(empty_store.pending(NOW + timedelta(milliseconds=1), 10)) == 4


def test_pending_pages_through_organizations_without_loss_or_repeat(empty_store: MemoryStore, org: str) -> None:
    rows = [
        row(f"row {id_}", id=id_, org_id=name, updated_at=NOW - timedelta(minutes=1))
        for name in (org, f"{org}/x", new_id("org"))
        for id_ in ("mem_1", "mem_2", *AWKWARD_IDS[:3])
    ]
    empty_store.insert(rows)
    found = paged_pending(empty_store, 4)
    names = [(stored.memory.org_id, stored.memory.id) for stored in found]
    assert sorted(names) == sorted((stored.memory.org_id, stored.memory.id) for stored in rows)
    assert paged_pending(empty_store, 4) == found


def test_pending_goes_on_after_a_row_that_is_settled_meanwhile(empty_store: MemoryStore, org: str) -> None:
    rows = [row(f"row {n}", id=f"mem_{n}", org_id=org, updated_at=NOW - timedelta(minutes=1)) for n in range(4)]
    empty_store.insert(rows)
    page = empty_store.pending(NOW, 2)
    empty_store.settle([(stored.memory, True) for stored in page])
    assert [r.memory.id for r in empty_store.pending(NOW, 9, after=page[-1].memory)] == ["mem_2", "mem_3"]
    assert empty_store.count_pending() == 2


def test_count_pending_counts_up_to_its_limit(empty_store: MemoryStore, org: str) -> None:
    assert empty_store.count_pending() == 0
    empty_store.insert([row(f"row {n}", org_id=name) for n in range(3) for name in (org, new_id("org"))])
    assert (empty_store.count_pending(), empty_store.count_pending(4)) == (6, 4)


def test_rows_of_scope_pages_through_active_rows_by_id(store: MemoryStore, org: str) -> None:
    rows = [row(f"row {n}", id=f"mem_{n}", org_id=org) for n in range(5)]
    store.insert(
        [
            *reversed(rows),
            row("waiting", id="mem_2a", org_id=org, status=Status.QUARANTINED),
            row("archived", id="mem_2b", org_id=org, status=Status.ARCHIVED),
            row("bob's", id="mem_2c", org_id=org, scope_id="bob"),
            row("a namesake's", id="mem_3", org_id=new_id("org")),
        ]
    )
    scope = rows[0].memory.scope_ref.key
    assert store.rows_of_scope(scope) == rows
    assert store.rows_of_scope(scope, limit=2) == rows[:2]
    assert store.rows_of_scope(scope, after="mem_1", limit=2) == rows[2:4]
    assert store.rows_of_scope(scope, after="mem_4") == []


def test_rows_of_scope_reaches_every_row_of_awkward_names(store: MemoryStore, org: str) -> None:
    name = f"{org}/ü%2F"
    rows = [row(f"row {id_}", id=id_, org_id=name, scope_id="a/b:{c}") for id_ in (*AWKWARD_IDS, "mem_1", "Z", "é")]
    store.insert(rows)
    found: list[str] = []
    while page := store.rows_of_scope(rows[0].memory.scope_ref.key, after=found[-1] if found else "", limit=4):
        found += [stored.memory.id for stored in page]
    assert sorted(found) == sorted(stored.memory.id for stored in rows)


def test_scope_keys_names_every_scope_that_holds_a_row_once(empty_store: MemoryStore, org: str) -> None:
    rows = [
        row("one", org_id=org),
        row("two", org_id=org),
        row("archived", org_id=org, scope_id="bob", status=Status.ARCHIVED),
        row("a team's", org_id=org, scope=Scope.SPACE, scope_id="a/b"),
        row("another's", org_id=new_id("org")),
    ]
    empty_store.insert(rows)
    assert sorted(empty_store.scope_keys()) == sorted({stored.memory.scope_ref.key for stored in rows})
    assert empty_store.purge(chain(org, "bob"), rows[2].memory.id)
    assert rows[2].memory.scope_ref.key not in set(empty_store.scope_keys())


def test_a_mark_stands_until_it_is_repaired_by_its_token(empty_store: MemoryStore, org: str) -> None:
    scopes = [f"{org}/user/ana", f"{org}/user/a%2Fb"]
    empty_store.mark_for_repair([*scopes, *scopes])
    marked = dict(empty_store.marked_for_repair())
    assert sorted(marked) == sorted(scopes)
    assert dict(empty_store.marked_for_repair()) == marked
    empty_store.repaired(scopes[0], "the token of another mark")
    assert dict(empty_store.marked_for_repair()) == marked
    empty_store.repaired(scopes[0], marked[scopes[0]])
    assert dict(empty_store.marked_for_repair()) == {scopes[1]: marked[scopes[1]]}
    assert len(empty_store.marked_for_repair(limit=1)) == 1


def test_a_mark_that_was_set_again_outlives_the_repair_of_the_first(empty_store: MemoryStore, org: str) -> None:
    scope = f"{org}/user/ana"
    empty_store.mark_for_repair(iter([scope]))
    ((_, first),) = empty_store.marked_for_repair()
    empty_store.mark_for_repair([scope])
    empty_store.repaired(scope, first)
    ((again, second),) = empty_store.marked_for_repair()
    assert again == scope
    empty_store.repaired(scope, second)
    assert empty_store.marked_for_repair() == []


def test_marks_and_snapshots_of_a_scope_leave_each_other_alone(empty_store: MemoryStore, org: str) -> None:
    rows = [row(f"breakfast number {n}", org_id=org) for n in range(20)]
    scope = rows[0].memory.scope_ref.key
    empty_store.insert(rows)
    empty_store.mark_for_repair([scope])
    empty_store.take_statistics(scope)
    ((_, token),) = empty_store.marked_for_repair()
    empty_store.repaired(scope, token)
    assert empty_store.statistics(chain(org)).rows == 20
    empty_store.mark_for_repair([])
    assert empty_store.marked_for_repair() == []


def test_the_store_says_its_version(store: MemoryStore) -> None:
    assert store.probe()["version"]
