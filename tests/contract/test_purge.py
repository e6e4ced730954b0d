"""The purge of forgotten rows against a clock, on every store; and that nothing it decides on is lost or told twice."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import ArchivedReason, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.errors import NotFound, StoreUnavailable
from chalicelib.ports import MemoryStore
from tests.building import NOW, TestClock, caller, row
from tests.contract.retention_steps import Killed, after_times, days_ago, events, killed_at, over, present, told
from tests.contract.store_steps import FORGOTTEN

TICK = timedelta(milliseconds=1)


def forgotten(org: str, days: float, content: str = "gone", **fields: Any) -> StoredMemory:
    """A row that was forgotten that long ago."""
    return row(content, org_id=org, **FORGOTTEN | {"archived_at": days_ago(days)} | fields)


def test_what_was_forgotten_more_than_7_days_ago_goes_with_an_event_each(empty_store: MemoryStore, org: str) -> None:
    services, other = over(empty_store), new_id("org")
    gone = [forgotten(org, 8, "one"), forgotten(org, 7 + 1 / 24, "two"), forgotten(other, 365, "three", scope_id="bob")]
    kept = [
        forgotten(org, 7, "restorable for a moment more"),
        forgotten(org, 1, "young"),
        row(
            "superseded",
            org_id=org,
            status=Status.ARCHIVED,
            archived_reason=ArchivedReason.SUPERSEDED,
            archived_at=days_ago(90),
        ),
        row("active", org_id=org, updated_at=days_ago(90)),
        row("waits", org_id=org, status=Status.QUARANTINED, quarantined_at=days_ago(90)),
    ]
    empty_store.insert([*gone, *kept])
    before = [present(empty_store, each) for each in kept]
    assert services.purge.run().body() == {"done": 3, "dryRun": False, "purged": 3, "overtaken": 0, "finished": True}
    assert [present(empty_store, each) for each in gone] == [None] * 3
    assert [present(empty_store, each) for each in kept] == before
    assert told(services, org) == sorted(("purge", each.memory.id) for each in gone[:2])
    assert told(services, other) == [("purge", gone[2].memory.id)]
    assert services.purge.run().done == 0
    assert len(events(services, org)) == 2


def test_the_event_says_when_and_by_whom_it_was_written_and_never_what(empty_store: MemoryStore, org: str) -> None:
    services, gone = over(empty_store), forgotten(org, 8, "the pin is 4921")
    empty_store.insert([gone])
    services.purge.run()
    (event,) = events(services, org)
    assert (event.actor, event.target, event.at) == ("system", gone.memory.id, NOW)
    assert event.details == {"scope": "user", "scopeId": "ana", "author": "ana", "forgottenAt": days_ago(8).isoformat()}


def test_a_dry_run_counts_and_removes_nothing(empty_store: MemoryStore, org: str) -> None:
    services, gone = over(empty_store), forgotten(org, 8)
    empty_store.insert([gone])
    report = services.purge.run(dry_run=True)
    assert (report.purged, report.done) == (1, 0)
    assert present(empty_store, gone) == gone.memory.model_copy(update={"embedding": None})
    assert events(services, org) == []


def test_at_the_end_of_its_7_days_a_row_is_either_restored_or_purged(empty_store: MemoryStore, org: str) -> None:
    clock = TestClock()
    services, mine = over(empty_store, clock=clock), forgotten(org, 0)
    empty_store.insert([mine])
    clock.now = NOW + timedelta(days=7)
    assert services.purge.run().purged == 0
    services.editor.restore(caller(org), mine.memory.id)
    services.editor.forget(caller(org), mine.memory.id)
    clock.now += timedelta(days=7) + TICK
    with pytest.raises(NotFound):
        services.editor.restore(caller(org), mine.memory.id)
    assert services.purge.run().purged == 1


def test_more_rows_than_a_batch_all_go_and_time_that_is_up_leaves_the_rest(empty_store: MemoryStore, org: str) -> None:
    services = over(empty_store)
    empty_store.insert([forgotten(org, 8, f"row {i}") for i in range(120)])
    first = services.purge.run(time_is_up=after_times(1))
    assert (first.purged, first.finished) == (50, False)
    second = services.purge.run()
    assert (second.purged, second.finished) == (70, True)
    telemetry: Any = services.ports.telemetry
    assert [name for name, _ in telemetry.events] == ["purge_postponed", "purge_finished"]


@pytest.mark.parametrize("write", range(11))
def test_a_purge_that_is_killed_and_run_again_leaves_one_event_a_row_and_nothing_else(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    services = over(empty_store)
    rows = [forgotten(org, 8, f"row {i}") for i in range(3)]
    empty_store.insert(rows)
    with monkeypatch.context() as patch:
        killed_at(patch, services, write)
        with pytest.raises(Killed):
            services.purge.run()
    for each in rows:
        with pytest.raises(NotFound):
            services.editor.restore(caller(org), each.memory.id)
    services.purge.run()
    assert [present(empty_store, each) for each in rows] == [None] * 3
    assert told(services, org) == sorted(("purge", each.memory.id) for each in rows)


class Unreachable(InMemoryHotIndex):
    """An index that is down."""

    def apply(self, _: Any) -> None:
        raise StoreUnavailable("redis", "no answer")


def test_where_the_index_is_away_the_row_goes_and_its_scope_is_marked(empty_store: MemoryStore, org: str) -> None:
    services, gone = over(empty_store, hot=Unreachable()), forgotten(org, 8)
    empty_store.insert([gone])
    assert services.purge.run().purged == 1
    assert present(empty_store, gone) is None
    assert [scope for scope, _ in empty_store.marked_for_repair()] == [gone.memory.scope_ref.key]
    telemetry: Any = services.ports.telemetry
    assert telemetry.events[0][0] == "index_unreachable"


def test_an_answer_in_the_cache_goes_with_what_it_showed(empty_store: MemoryStore, org: str) -> None:
    forgot: list[str] = []
    services = over(empty_store)
    services.ports.cache.forget = forgot.append  # type: ignore[method-assign, union-attr]
    empty_store.insert([forgotten(org, 8)])
    services.purge.run()
    assert forgot == [org]


def test_an_admins_purge_is_finished_by_the_next_run(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, mine = over(empty_store), row("mine", org_id=org)
    empty_store.insert([mine])
    with monkeypatch.context() as patch:
        killed_at(patch, services, 1)
        with pytest.raises(Killed):
            services.editor.purge(caller(org, "ana", Role.ADMIN), mine.memory.id)
    services.purge.run()
    assert present(empty_store, mine) is None
    assert [(event.action, event.actor) for event in events(services, org)] == [("purge", "ana")]


def test_an_edit_carries_an_untold_event_on_until_it_is_told(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = over(empty_store)
    waiting = row("a rumour", org_id=org, status=Status.QUARANTINED, quarantine_reason="score")
    empty_store.insert([waiting])
    admin = caller(org, "ana", Role.ADMIN)
    with monkeypatch.context() as patch:
        killed_at(patch, services, 1)
        with pytest.raises(Killed):
            services.reviewer.promote(admin, waiting.memory.id)
    services.editor.edit(admin, waiting.memory.id, {"content": "a fact"}, 2)
    services.editor.forget(admin, waiting.memory.id)
    assert services.decisions.finish() == 1
    assert [event.action for event in events(services, org)].count("promote") == 1
    memory = present(empty_store, waiting)
    assert memory is not None
    assert memory.is_forgotten, "an event that is late must not remove what was only forgotten"
    assert services.decisions.finish() == 0


def rebuilt(services: Container, scope: str) -> set[str]:
    """The ids that the index holds once it was built anew."""
    services.maintenance.rebuild(scope)
    hot: Any = services.ports.hot
    return set(hot._rows.get(scope, {}))


def test_a_row_that_is_being_removed_is_in_no_index_that_is_built_meanwhile(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, mine = over(empty_store), row("mine", org_id=org)
    empty_store.insert([mine])
    scope = mine.memory.scope_ref.key
    assert rebuilt(services, scope) == {mine.memory.id}
    with monkeypatch.context() as patch:
        killed_at(patch, services, 2)
        with pytest.raises(Killed):
            services.editor.purge(caller(org, "ana", Role.ADMIN), mine.memory.id)
    assert rebuilt(services, scope) == set()
