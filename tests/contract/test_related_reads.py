"""`ports.RelatedReads`: rows that others lead to, and rows of the past; never a foreign or a forgotten one."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import ArchivedReason, Claim, Link, LinkKind, MemoryType, Status
from chalicelib.domain.query import Filter, StoredMemory, TermStatistics
from chalicelib.domain.relations import relations_of, to_links, to_names
from chalicelib.domain.scope import Scope
from chalicelib.domain.text.terms import query_words
from chalicelib.ports import MemoryStore
from tests.building import NOW, chain, row
from tests.contract.store_steps import FORGOTTEN

BEFORE, LATER = NOW - timedelta(days=1), NOW + timedelta(days=1)
UNKNOWN = TermStatistics(0, {})
SUPERSEDED: dict[str, Any] = {
    "status": Status.ARCHIVED,
    "archived_reason": ArchivedReason.SUPERSEDED,
    "archived_at": LATER,
    "updated_at": LATER,
    "revision": 2,
}


def ids(rows: list[StoredMemory]) -> set[str]:
    """The ids of rows."""
    return {found.memory.id for found in rows}


def links(*targets: str, kind: LinkKind = LinkKind.RELATES) -> tuple[Link, ...]:
    """Links to those."""
    return tuple(Link(kind=kind, target=target) for target in targets)


def foreign(org: str, **fields: Any) -> list[StoredMemory]:
    """Rows that ana, alone in `org`, may not see."""
    return [
        row("a fig of bob", org_id=org, scope_id="bob", user_id="bob", **fields),
        row("a fig of the red space", org_id=org, scope=Scope.SPACE, scope_id="red", **fields),
        row("a fig of a space named ana", org_id=org, scope=Scope.SPACE, scope_id="ana", **fields),
        row("a fig of her namesake", org_id=new_id("org"), **fields),
    ]


def test_rows_are_found_by_what_they_link_to_and_by_their_names(store: MemoryStore, org: str) -> None:
    claim = Claim(subject="Ana", attribute="residence", value="Porto")
    linking = row("one", org_id=org, links=links("mem_x", kind=LinkKind.CONTRADICTS))
    named = row("two", org_id=org, key_entities=("Élan",))
    claiming = row("three", org_id=org, claims=(claim,))
    store.insert([linking, named, claiming, row("four", org_id=org)])

    def found(*relations: str) -> set[str]:
        return ids(store.related(chain(org), relations, Filter(), 10, now=NOW))

    assert found(*to_links(["mem_x"])) == {linking.memory.id}
    assert found(*to_names(["elan"])) == {named.memory.id}
    assert found(*to_names(["ana"]), *to_links(["mem_x"])) == {claiming.memory.id, linking.memory.id}
    assert found(*to_names(["mem_x"]), *to_links(["ana", "elan"])) == set()
    assert found() == set()
    assert relations_of(named.memory) == ("name:elan",)


def test_related_rows_come_with_terms_and_vectors(store: MemoryStore, org: str) -> None:
    named = row("figs in the garden", org_id=org, key_entities=("garden",))
    store.insert([named])
    assert store.related(chain(org), to_names(["garden"]), Filter(), 10, now=NOW) == [named]


def test_what_is_related_and_foreign_retired_or_filtered_is_not_found(store: MemoryStore, org: str) -> None:
    fields: dict[str, Any] = {"key_entities": ("garden",), "links": links("mem_x")}
    store.insert(foreign(org, **fields))
    store.insert(
        [
            row("forgotten", org_id=org, **fields, **FORGOTTEN),
            row("superseded", org_id=org, **fields, **SUPERSEDED),
            row("quarantined", org_id=org, **fields, status=Status.QUARANTINED),
            row("expired", org_id=org, **fields, expires_at=NOW),
        ]
    )
    goal = row("a goal", org_id=org, type=MemoryType.GOAL, **fields)
    store.insert([goal])
    sought = (*to_names(["garden"]), *to_links(["mem_x"]))
    assert ids(store.related(chain(org), sought, Filter(), 10, now=NOW)) == {goal.memory.id}
    assert store.related(chain(org), sought, Filter(types=(MemoryType.FACT,)), 10, now=NOW) == []


def test_links_follow_a_change_of_the_row_and_limits_hold(store: MemoryStore, org: str) -> None:
    rows = [row(f"row {i}", org_id=org, key_entities=("garden",)) for i in range(5)]
    store.insert(rows)
    assert len(store.related(chain(org), to_names(["garden"]), Filter(), 3, now=NOW)) == 3
    moved = rows[0].memory.model_copy(update={"key_entities": (), "links": links("mem_y"), "revision": 2})
    assert store.replace(StoredMemory(moved, rows[0].counts, rows[0].length), 1)
    assert ids(store.related(chain(org), to_links(["mem_y"]), Filter(), 9, now=NOW)) == {moved.id}
    assert moved.id not in ids(store.related(chain(org), to_names(["garden"]), Filter(), 9, now=NOW))


def test_archived_rows_are_found_by_words_and_reason(store: MemoryStore, org: str) -> None:
    old = row("the fig tree", org_id=org, **SUPERSEDED)
    shipped = row("figs were shipped", org_id=org, **SUPERSEDED | {"archived_reason": ArchivedReason.SHIPPED})
    store.insert([old, shipped, row("an active fig", org_id=org), row("a plum", org_id=org, **SUPERSEDED)])
    store.insert([row("a forgotten fig", org_id=org, **FORGOTTEN), *foreign(org, **SUPERSEDED)])

    def found(*reasons: ArchivedReason, wanted: Filter | None = None, limit: int = 10) -> list[StoredMemory]:
        words = query_words("figs")
        return store.archived(chain(org), words, UNKNOWN, reasons=reasons, wanted=wanted or Filter(), limit=limit)

    assert found(ArchivedReason.SUPERSEDED) == [old]
    assert ids(found(ArchivedReason.SUPERSEDED, ArchivedReason.SHIPPED)) == {old.memory.id, shipped.memory.id}
    assert found(ArchivedReason.MERGED) == []
    assert found(ArchivedReason.FORGOTTEN) == []
    assert found() == []
    assert found(ArchivedReason.SUPERSEDED, wanted=Filter(types=(MemoryType.GOAL,))) == []
    assert len(found(ArchivedReason.SUPERSEDED, ArchivedReason.SHIPPED, limit=1)) == 1
    assert store.archived(chain(org), (), UNKNOWN, reasons=[ArchivedReason.SUPERSEDED], wanted=Filter(), limit=10) == []


@pytest.mark.parametrize("fields", [{}, SUPERSEDED, {"expires_at": NOW}], ids=["edited", "superseded", "expired"])
def test_rows_that_changed_after_a_time_are_given_as_they_are(
    store: MemoryStore, org: str, fields: dict[str, Any]
) -> None:
    values: dict[str, Any] = {"created_at": BEFORE, "updated_at": LATER, "revision": 2} | fields
    edited = row("a fig", org_id=org, **values)
    store.insert([edited])
    assert store.changed_after(chain(org), NOW, 10) == [edited]
    assert store.changed_after(chain(org), BEFORE - timedelta(seconds=1), 10) == []
    assert store.changed_after(chain(org), LATER, 10) == []


def test_of_rows_that_changed_none_is_foreign_forgotten_or_waits_for_review(store: MemoryStore, org: str) -> None:
    times: dict[str, Any] = {"created_at": BEFORE, "updated_at": LATER, "revision": 2}
    store.insert(foreign(org, **times))
    store.insert(
        [
            row("forgotten", org_id=org, **times | FORGOTTEN),
            row("quarantined", org_id=org, **times, status=Status.QUARANTINED),
            row("as it was stored", org_id=org, **times | {"revision": 1}),
        ]
    )
    assert store.changed_after(chain(org), NOW, 10) == []


def test_rows_that_changed_come_the_earliest_first_within_the_limit(store: MemoryStore, org: str) -> None:
    rows = [
        row(f"fig {i}", org_id=org, created_at=BEFORE, updated_at=LATER + timedelta(minutes=i), revision=2)
        for i in range(4)
    ]
    store.insert(rows[::-1])
    found = [one.memory.id for one in store.changed_after(chain(org), NOW, 3)]
    assert found == [one.memory.id for one in rows[:3]]
