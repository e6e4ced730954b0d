"""`ports.MemoryStore`: rows whose time is over, in batches; what a job keeps; and the rows of a whole organization."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import ArchivedReason, MemoryType, Status, Yield
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.errors import InvalidInput
from chalicelib.ports import Browse, MemoryStore, RowId
from tests.building import AWKWARD_IDS, NOW, chain, event, row
from tests.contract.retention_steps import HELD, admitted, days_ago, held
from tests.contract.store_steps import FORGOTTEN, changed

TICK = timedelta(milliseconds=1)
Read = Callable[[RowId | None], list[StoredMemory]]


def paged(read: Read) -> list[StoredMemory]:
    """All rows, page by page."""
    found: list[StoredMemory] = []
    while page := read((found[-1].memory.org_id, found[-1].memory.id) if found else None):
        found += page
    return found


def names(rows: list[StoredMemory]) -> list[RowId]:
    """Whose rows they are, sorted."""
    return sorted((stored.memory.org_id, stored.memory.id) for stored in rows)


def test_quarantined_gives_rows_in_quarantine_since_then_with_vectors(empty_store: MemoryStore, org: str) -> None:
    due = [held(org, 30, id="mem_1"), row("old", id="mem_2", org_id=org, created_at=days_ago(30), **HELD)]
    others = [
        held(org, 29.99, "younger"),
        row("young", org_id=org, created_at=days_ago(29.99), **HELD),
        row("promoted", org_id=org, status=Status.ACTIVE, quarantined_at=days_ago(50)),
        row("archived", org_id=org, status=Status.ARCHIVED, quarantined_at=days_ago(50)),
    ]
    empty_store.insert([*others, *due])
    assert empty_store.quarantined(days_ago(30), 10) == due
    assert empty_store.quarantined(days_ago(30) - TICK, 10) == []


def test_admitted_gives_active_rows_of_one_scope_admitted_since_then(store: MemoryStore, org: str) -> None:
    rows = [admitted(org, 10 - n, f"row {n}", id=f"mem_{n}") for n in range(4)]
    others = [
        admitted(org, 11, "earlier"),
        row("never admitted", org_id=org),
        admitted(org, 1, "archived", status=Status.ARCHIVED),
        admitted(org, 1, "bob's", scope_id="bob"),
        admitted(new_id("org"), 1, "a namesake's"),
    ]
    store.insert([*reversed(rows), *others])
    scope = rows[0].memory.scope_ref.key
    assert store.admitted(scope, days_ago(10)) == rows
    assert store.admitted(scope, days_ago(10), limit=2) == rows[:2]
    assert store.admitted(scope, days_ago(10), after="mem_1", limit=2) == rows[2:]
    assert store.admitted(scope, days_ago(10), after="mem_3") == []
    assert store.admitted(scope, days_ago(10) + TICK) == rows[1:]


def test_forgotten_gives_rows_forgotten_before_then(empty_store: MemoryStore, org: str) -> None:
    due = row("gone", org_id=org, **FORGOTTEN | {"archived_at": days_ago(7) - TICK})
    others = [
        row("a moment later", org_id=org, **FORGOTTEN | {"archived_at": days_ago(7)}),
        row("active", org_id=org),
        row("merged", org_id=org, **FORGOTTEN | {"archived_at": days_ago(9), "archived_reason": ArchivedReason.MERGED}),
    ]
    empty_store.insert([due, *others])
    assert empty_store.forgotten(days_ago(7), 10) == [due]


def test_untold_gives_rows_that_carry_an_event_which_no_answer_shows(empty_store: MemoryStore, org: str) -> None:
    plain, told = row("plain", org_id=org), event(org, target="mem_1", details={"revision": 3})
    carrying = changed(plain, untold=told)
    empty_store.insert([plain, row("another", org_id=org)])
    assert empty_store.untold(10) == []
    assert empty_store.replace(carrying, 1)
    (found,) = empty_store.untold(10)
    assert found.memory.untold == told
    assert "untold" not in found.memory.model_dump(by_alias=True)
    assert empty_store.replace(changed(plain, revision=2), 2)
    assert empty_store.untold(10) == []


def test_yielding_gives_rows_that_carry_the_mark_of_a_successor_which_no_answer_shows(
    empty_store: MemoryStore, org: str
) -> None:
    plain = row("plain", org_id=org)
    marked = changed(plain, yields=(Yield(to="mem_new", at=NOW, revision=1),))
    empty_store.insert([plain, row("another", org_id=org)])
    assert empty_store.yielding(10) == []
    assert empty_store.replace(marked, 1)
    assert empty_store.yielding(10) == [marked]
    assert "yields" not in marked.memory.model_dump(by_alias=True)
    assert empty_store.replace(changed(plain, revision=2), 2)
    assert empty_store.yielding(10) == []


@pytest.mark.parametrize("which", ["quarantined", "forgotten", "untold", "yielding"])
def test_rows_of_all_organizations_are_paged_without_loss_or_repeat(
    empty_store: MemoryStore, org: str, which: str
) -> None:
    states: dict[str, dict[str, Any]] = {
        "quarantined": HELD | {"quarantined_at": days_ago(50)},
        "forgotten": FORGOTTEN | {"archived_at": days_ago(50)},
        "untold": {"untold": event(org)},
        "yielding": {"yields": (Yield(to="mem_new", at=NOW, revision=1),)},
    }
    reads: dict[str, Read] = {
        "quarantined": lambda after: empty_store.quarantined(NOW, 4, after=after),
        "forgotten": lambda after: empty_store.forgotten(NOW, 4, after=after),
        "untold": lambda after: empty_store.untold(4, after=after),
        "yielding": lambda after: empty_store.yielding(4, after=after),
    }
    rows = [
        row(f"row {id_}", id=id_, org_id=name, **states[which])
        for name in (org, f"{org}/x", new_id("org"))
        for id_ in ("mem_1", "mem_2", *AWKWARD_IDS[:3])
    ]
    empty_store.insert(rows)
    found = paged(reads[which])
    assert names(found) == names(rows)
    assert paged(reads[which]) == found


def test_a_checkpoint_is_what_was_kept_last_under_its_name(store: MemoryStore, org: str) -> None:
    assert store.checkpoint(org) is None
    store.keep_checkpoint(org, "one")
    store.keep_checkpoint(f"{org}/x", "another's")
    store.keep_checkpoint(org, "two")
    assert (store.checkpoint(org), store.checkpoint(f"{org}/x")) == ("two", "another's")
    store.keep_checkpoint(org, "")
    assert store.checkpoint(org) == ""


def browsed(store: MemoryStore, org: str, **wanted: Any) -> list[str]:
    """The contents that browsing an organization lists, over all pages of two."""
    found: list[str] = []
    cursor = None
    while True:
        page = store.browse_organization(org, Browse(cursor=cursor, limit=2, **{"status": None} | wanted))
        found += [memory.content for memory in page.items]
        if (cursor := page.cursor) is None:
            return found


def test_an_organization_is_browsed_over_all_its_scopes_and_no_other(store: MemoryStore, org: str) -> None:
    rows = [
        row("ana's", org_id=org, created_at=days_ago(1), tags=("x",)),
        row("bob's", org_id=org, created_at=days_ago(2), scope_id="bob", user_id="bob"),
        row("red's", org_id=org, created_at=days_ago(3), scope=Scope.SPACE, scope_id="red", type=MemoryType.DECISION),
        row("waits", org_id=org, created_at=days_ago(4), **HELD),
        row("superseded", org_id=org, created_at=days_ago(5), status=Status.ARCHIVED),
    ]
    store.insert(
        [
            *rows,
            row("forgotten", org_id=org, **FORGOTTEN),
            row("a namesake's", org_id=f"{org}/x"),
            row("another's", org_id=new_id("org")),
        ]
    )
    assert browsed(store, org) == ["ana's", "bob's", "red's", "waits", "superseded"]
    assert browsed(store, org, status=Status.ACTIVE) == ["ana's", "bob's", "red's"]
    assert browsed(store, org, status=Status.QUARANTINED) == ["waits"]
    assert browsed(store, org, status=Status.ARCHIVED) == ["superseded"]
    assert browsed(store, org, scope=Scope.SPACE) == ["red's"]
    assert browsed(store, org, scope=Scope.USER, scope_id="bob") == ["bob's"]
    assert browsed(store, org, scope_id="red", scope=Scope.USER) == []
    assert browsed(store, org, type=MemoryType.DECISION) == ["red's"]
    assert browsed(store, org, tag="x") == ["ana's"]
    assert browsed(store, org, words=(("wait", "waits"),)) == ["waits"]
    assert browsed(store, new_id("org")) == []
    with pytest.raises(InvalidInput):
        store.browse_organization(org, Browse(cursor="none of ours"))


def test_browsing_a_chain_by_any_status_shows_no_forgotten_row(store: MemoryStore, org: str) -> None:
    store.insert([row("here", org_id=org), row("waits", org_id=org, **HELD), row("gone", org_id=org, **FORGOTTEN)])
    assert {memory.content for memory in store.browse(chain(org), Browse(status=None)).items} == {"here", "waits"}
