"""Whoever is first keeps what is theirs: edits, forgets and other corrections that come between a decision and its
application; and what consolidation did can be undone."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.memory import ArchivedReason, Link, LinkKind, Status
from chalicelib.domain.query import IndexAnswer, IndexQuery, RecallQuery, StoredMemory
from chalicelib.domain.receipt import Outcome
from chalicelib.domain.scope import Chain
from chalicelib.errors import Conflict, DuplicateContent, Forbidden, NotFound, StoreUnavailable
from tests.building import TestClock, caller, container
from tests.consolidating import active, consolidator, drafted, inserted, now, stored, tell

ANA = caller("acme", "ana", spaces=("red",))
BOB = caller("acme", "bob", spaces=("red",))
ADMIN = caller("acme", "root", Role.ADMIN, spaces=("red",))
RED = {"scope": "space", "scopeId": "red"}
BUILD = "The nightly build runs on the old server"
MORE = f"{BUILD} in the basement"


def a_day_later(services: Container) -> Container:
    """The services, a day having passed."""
    clock = services.ports.clock
    assert isinstance(clock, TestClock)
    clock.forward(days=1)
    return services


def editing(services: Container, id_: str, **changes: Any) -> Callable[[], None]:
    """Ana edits the memory, whatever its revision."""
    return lambda: services.editor.edit(ANA, id_, changes, now(services, ANA, id_).revision) and None


def test_an_edit_that_comes_between_is_not_overwritten_by_a_merge() -> None:
    services = container()
    (first,) = tell(services, ANA, BUILD)
    edit = editing(services, first.id, content="The nightly build was moved into the cloud")
    (made,) = stored(services, ANA, drafted(services, ANA, {"content": MORE}), between=edit)
    assert made.outcome is Outcome.STORED
    assert active(services, ANA) == {"The nightly build was moved into the cloud", MORE}


def test_an_edit_that_leaves_it_the_same_fact_is_merged_on_the_fresh_row() -> None:
    services = container()
    (first,) = tell(services, ANA, BUILD)
    edit = editing(services, first.id, tags=["ci"])
    (made,) = stored(services, ANA, drafted(services, ANA, {"content": MORE}), between=edit)
    assert (made.outcome, made.id, made.revision) == (Outcome.UPDATED, first.id, 3)
    memory = now(services, ANA, first.id)
    assert (memory.content, memory.tags) == (MORE, ("ci",))
    assert [one.revision for one in memory.history] == [1, 2]


def test_an_edit_that_comes_between_is_not_retired() -> None:
    services = container()
    (first,) = tell(services, ANA, "Ana lives in Porto")
    edit = editing(services, first.id, content="Ana grew up in Porto")
    rows = drafted(a_day_later(services), ANA, {"content": "Ana lives in Lisbon"})
    (made,) = stored(services, ANA, rows, between=edit)
    assert made.outcome is Outcome.STORED
    assert now(services, ANA, made.id).links == ()
    assert active(services, ANA) == {"Ana grew up in Porto", "Ana lives in Lisbon"}


def test_an_edit_that_still_contradicts_but_says_much_more_is_linked() -> None:
    services = container()
    (first,) = tell(services, ANA, "Ana lives in Porto")
    content = "Ana lives in Porto, and the whole street meets at the little bakery every weekend"
    rows = drafted(a_day_later(services), ANA, {"content": "Ana lives in Lisbon"})
    (made,) = stored(services, ANA, rows, between=editing(services, first.id, content=content))
    assert made.outcome is Outcome.STORED
    assert now(services, ANA, made.id).links == (Link(kind=LinkKind.CONTRADICTS, target=first.id),)
    assert now(services, ANA, first.id).status is Status.ACTIVE


def test_a_fact_whose_twin_is_forgotten_meanwhile_is_stored() -> None:
    services = container()
    (first,) = tell(services, ANA, "Bob works at Acme")
    rows = drafted(services, ANA, {"content": "Bob is employed at Acme"})
    (made,) = stored(services, ANA, rows, between=lambda: services.editor.forget(ANA, first.id) and None)
    assert made.outcome is Outcome.STORED
    assert active(services, ANA) == {"Bob is employed at Acme"}


class EditedAgainAndAgain(InMemoryMemoryStore):
    """A store in which somebody else changes a row just before every replacement of it."""

    busy = False

    def replace(self, row: StoredMemory, expected_revision: int) -> bool:
        if self.busy:
            (other,) = [one for one in self._rows.values() if one.memory.id == row.memory.id]
            memory = other.memory.model_copy(update={"revision": other.memory.revision + 1})
            self._rows[memory.org_id, memory.id] = StoredMemory(memory, other.counts, other.length)
        return super().replace(row, expected_revision)


@pytest.mark.parametrize(("old", "new"), [(BUILD, MORE), ("Ana lives in Porto", "Ana lives in Lisbon")])
def test_a_row_that_changes_again_and_again_is_given_up_and_nothing_is_lost(old: str, new: str) -> None:
    store = EditedAgainAndAgain()
    services = container(store=store)
    tell(services, ANA, old)
    rows = drafted(a_day_later(services), ANA, {"content": new})
    (made,) = stored(services, ANA, rows, between=lambda: setattr(store, "busy", True))
    assert made.outcome is Outcome.STORED
    assert active(services, ANA) == {old, new}


def test_of_two_corrections_at_once_the_later_one_stands() -> None:
    services = container()
    tell(services, ANA, "Ana lives in Porto")
    rows = [drafted(a_day_later(services), ANA, {"content": f"Ana lives in {town}"}) for town in ("Lisbon", "Braga")]
    work = consolidator(services)
    decisions = [work.settle(ANA, some) for some in rows]
    for some in decisions:
        inserted(services, some)
    done = [work.apply(ANA, some)[0].outcome for some in decisions]
    assert done == [Outcome.SUPERSEDED, Outcome.SUPERSEDED]
    assert active(services, ANA) == {"Ana lives in Braga"}
    lisbon, braga = (one.row.memory.id for some in decisions for one in some)
    assert Link(kind=LinkKind.SUPERSEDES, target=lisbon) in now(services, ANA, braga).links
    services.editor.restore(ANA, lisbon)
    assert Link(kind=LinkKind.CONTRADICTS, target=lisbon) in now(services, ANA, braga).links


def test_of_two_corrections_at_once_the_earlier_one_that_comes_second_is_linked() -> None:
    services = container()
    tell(services, ANA, "Ana lives in Porto")
    rows = [drafted(a_day_later(services), ANA, {"content": f"Ana lives in {town}"}) for town in ("Lisbon", "Braga")]
    work = consolidator(services)
    early, late = [work.settle(ANA, some) for some in rows]
    for some in (early, late):
        inserted(services, some)
    (second,) = work.apply(ANA, late)
    (first,) = work.apply(ANA, early)
    assert Link(kind=LinkKind.CONTRADICTS, target=second.id) in now(services, ANA, first.id).links
    assert active(services, ANA) == {"Ana lives in Lisbon", "Ana lives in Braga"}


def test_applying_twice_changes_nothing() -> None:
    services = container()
    (first,) = tell(services, ANA, "Ana lives in Porto")
    rows = drafted(a_day_later(services), ANA, {"content": "Ana lives in Lisbon"})
    work = consolidator(services)
    decisions = work.settle(ANA, rows)
    inserted(services, decisions)
    once = work.apply(ANA, decisions)
    before = [now(services, ANA, id_) for id_ in (first.id, once[0].id)]
    assert [one.outcome for one in work.apply(ANA, decisions)] == [one.outcome for one in once]
    assert [now(services, ANA, id_) for id_ in (first.id, once[0].id)] == before


def test_a_crash_before_the_application_leaves_both_and_a_link_that_says_which_is_which() -> None:
    services = container()
    (first,) = tell(services, ANA, "Ana lives in Porto")
    decisions = consolidator(services).settle(
        ANA, drafted(a_day_later(services), ANA, {"content": "Ana lives in Lisbon"})
    )
    inserted(services, decisions)
    assert active(services, ANA) == {"Ana lives in Porto", "Ana lives in Lisbon"}
    assert now(services, ANA, decisions[0].row.memory.id).links == (Link(kind=LinkKind.SUPERSEDES, target=first.id),)


def test_a_row_that_another_request_stored_first_is_a_duplicate_of_it() -> None:
    services = container()
    tell(services, ANA, "Ana lives in Porto")
    rows = drafted(a_day_later(services), ANA, {"content": "Ana lives in Lisbon"})
    raced: list[str] = []

    def another() -> None:
        raced.extend(one.id for one in tell(services, ANA, "Ana lives in Lisbon"))

    (made,) = stored(services, ANA, rows, between=another)
    assert (made.outcome, made.id) == (Outcome.DUPLICATE, raced[0])


class DeadIndex(InMemoryHotIndex):
    """An index that is away."""

    def search(self, chain: Chain, query: IndexQuery) -> IndexAnswer:  # noqa: ARG002
        raise StoreUnavailable("redis", "it is away")


@pytest.mark.parametrize("hot", [None, DeadIndex()], ids=["none", "away"])
def test_without_redis_the_text_in_mongodb_finds_what_is_to_be_corrected(hot: DeadIndex | None) -> None:
    services = container(hot=hot)
    tell(services, ANA, "Ana lives in Porto")
    (made,) = tell(a_day_later(services), ANA, "I moved to Lisbon")
    assert made.outcome is Outcome.SUPERSEDED
    assert active(services, ANA) == {"I moved to Lisbon"}


class DeafStore(InMemoryMemoryStore):
    """A store that takes writes and answers no search."""

    def recent(self, *arguments: Any, **options: Any) -> list[StoredMemory]:  # noqa: ARG002
        raise StoreUnavailable("mongo", "it is slow")


def test_where_nobody_can_look_the_row_is_added_and_that_is_said() -> None:
    telemetry = RecordedTelemetry()
    services = container(hot=None, store=DeafStore(), telemetry=telemetry)
    tell(services, ANA, "Ana lives in Porto")
    (made,) = tell(a_day_later(services), ANA, "Ana lives in Lisbon")
    assert made.outcome is Outcome.STORED
    assert "it is slow" in (made.reason or "")
    assert "neighbours_not_found" in [name for name, _ in telemetry.events]


def superseding(services: Container, **where: Any) -> tuple[str, str]:
    """The ids of a superseded memory of ana's and of what replaced it."""
    (first,) = tell(services, ANA, "Ana lives in Porto", **where)
    (made,) = tell(a_day_later(services), ANA, "Ana lives in Lisbon", **where)
    assert made.outcome is Outcome.SUPERSEDED
    return first.id, made.id


def test_a_superseded_row_can_be_restored_at_any_time() -> None:
    services = container()
    old, new = superseding(services)
    clock = services.ports.clock
    assert isinstance(clock, TestClock)
    clock.forward(days=90)
    memory, _ = services.editor.restore(ANA, old)
    assert (memory.status, memory.archived_reason, memory.archived_at, memory.links) == (Status.ACTIVE, None, None, ())
    assert now(services, ANA, new).links == (Link(kind=LinkKind.CONTRADICTS, target=old),)
    hits = services.recall.recall(ANA, RecallQuery(query="where does Ana live"))["hits"]
    assert {hit["memory"]["content"] for hit in hits} == {"Ana lives in Porto", "Ana lives in Lisbon"}


def test_a_restore_leaves_links_alone_that_are_a_callers_own() -> None:
    services = container()
    (note,) = tell(services, ANA, "Bob likes jazz")
    own = {"kind": "relates", "target": note.id}
    old, _ = superseding(services, links=[own])
    memory, _ = services.editor.restore(ANA, old)
    assert [link.target for link in memory.links] == [note.id]


def test_a_restore_is_for_those_who_could_edit_and_unlinks_only_what_they_could_edit() -> None:
    services = container()
    (first,) = tell(services, ANA, "Carla lives in Porto", **RED)
    (made,) = tell(a_day_later(services), ADMIN, "Carla lives in Lisbon", **RED)
    with pytest.raises(Forbidden):
        services.editor.restore(BOB, first.id)
    with pytest.raises(NotFound):
        services.editor.restore(caller("acme", "eve"), first.id)
    services.editor.restore(ANA, first.id)
    assert now(services, ANA, first.id).status is Status.ACTIVE
    assert now(services, ANA, made.id).links == (Link(kind=LinkKind.SUPERSEDES, target=first.id),)


def test_a_superseded_row_whose_content_exists_again_is_not_restored() -> None:
    services = container()
    old, _ = superseding(services)
    tell(a_day_later(services), ANA, "Ana lives in Porto")
    with pytest.raises(DuplicateContent):
        services.editor.restore(ANA, old)


def test_an_active_row_has_nothing_to_restore() -> None:
    services = container()
    _, new = superseding(services)
    with pytest.raises(Conflict):
        services.editor.restore(ANA, new)
    assert now(services, ANA, new).archived_reason is not ArchivedReason.SUPERSEDED
