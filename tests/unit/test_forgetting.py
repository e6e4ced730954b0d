"""A forgotten memory is seen by nobody, comes back for 7 days, and a purged one never does."""

from typing import Any

import pytest

from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.memory import Status
from chalicelib.domain.query import RecallQuery
from chalicelib.errors import Conflict, DuplicateContent, Forbidden, NotFound, StaleRevision, StoreUnavailable
from chalicelib.ports import Browse
from tests.building import TestClock, caller, container
from tests.unit.fake_secrets import AWS_KEY

ANA = caller("acme", "ana")
ANA_ADMIN = caller("acme", "ana", Role.ADMIN)


def given(services: Container, content: str = "Ana lives in Porto", **item: Any) -> str:
    """The id of a memory that was stored before."""
    (receipt,) = services.remember.remember(ANA, [{"content": content, **item}], key=None, single=True)
    return str(receipt["id"])


def seen(services: Container) -> list[str]:
    """What browsing by any status, and recall, show."""
    rows = [m for status in Status for m in services.ports.store.browse(ANA.chain, Browse(status=status)).items]
    hits = services.recall.recall(ANA, RecallQuery(query="where does Ana live, Porto?"))["hits"]
    return [memory.id for memory in rows] + [hit["memory"]["id"] for hit in hits]


def test_a_forgotten_memory_is_hidden_everywhere_at_once() -> None:
    services = container()
    id_ = given(services)
    assert seen(services) == [id_, id_]
    services.editor.forget(ANA, id_)
    assert seen(services) == []
    for attempt in (
        lambda: services.editor.read(ANA, id_),
        lambda: services.editor.revision(ANA, id_, 1),
        lambda: services.editor.edit(ANA, id_, {"content": "x"}, 2),
        lambda: services.editor.restore_revision(ANA, id_, 1, 2),
        lambda: services.editor.forget(ANA, id_),
    ):
        with pytest.raises(NotFound):
            attempt()


def test_a_forgotten_memory_is_hidden_where_the_index_is_rebuilt() -> None:
    services = container()
    id_ = given(services)
    services.editor.forget(ANA, id_)
    services.maintenance.rebuild("acme/user/ana")
    assert seen(services) == []


def test_a_forgotten_memory_comes_back_whole() -> None:
    clock = TestClock()
    services = container(clock=clock)
    id_ = given(services, tags=["home"])
    before = services.editor.read(ANA, id_)
    services.editor.forget(ANA, id_)
    clock.forward(days=6, hours=23)
    restored, _ = services.editor.restore(ANA, id_)
    assert restored.archived_reason is None
    assert restored.archived_at is None
    same = {"revision", "updated_at", "index_state", "embedding"}
    assert restored.model_dump(exclude=same) == before.model_dump(exclude=same)
    assert seen(services) == [id_, id_]


def test_after_7_days_a_forgotten_memory_is_gone() -> None:
    clock = TestClock()
    services = container(clock=clock)
    id_ = given(services)
    services.editor.forget(ANA, id_)
    clock.forward(days=7, seconds=1)
    with pytest.raises(NotFound):
        services.editor.restore(ANA, id_)


def test_what_was_not_forgotten_is_not_restored() -> None:
    services = container()
    id_ = given(services)
    with pytest.raises(Conflict) as refused:
        services.editor.restore(ANA, id_)
    assert refused.value.details["status"] == "active"
    with pytest.raises(NotFound):
        services.editor.restore(caller("acme", "bob"), id_)


def test_a_memory_whose_content_was_stored_again_is_not_restored_beside_it() -> None:
    services = container()
    id_ = given(services)
    services.editor.forget(ANA, id_)
    again = given(services)
    with pytest.raises(DuplicateContent):
        services.editor.restore(ANA, id_)
    assert seen(services) == [again, again]
    services.editor.forget(ANA, again)
    assert services.editor.restore(ANA, id_)[0].id == id_


def test_forgetting_and_restoring_leave_events() -> None:
    clock = TestClock()
    services = container(clock=clock)
    id_ = given(services)
    for act in (
        lambda: services.editor.edit(ANA, id_, {"importance": 0.9}, 1),
        lambda: services.editor.forget(ANA, id_),
        lambda: services.editor.restore(ANA, id_),
        lambda: services.editor.restore_revision(ANA, id_, 4, 4),
        lambda: services.editor.purge(ANA_ADMIN, id_),
    ):
        clock.forward(seconds=1)
        act()
    events = services.ports.audit.list("acme", None, 10).items
    assert [event.action for event in events] == ["purge", "restore_revision", "restore", "forget", "edit"]
    assert {event.target for event in events} == {id_}


def test_purging_takes_an_admin_and_leaves_nothing() -> None:
    services = container()
    id_ = given(services)
    with pytest.raises(Forbidden):
        services.editor.purge(ANA, id_)
    services.editor.purge(ANA_ADMIN, id_)
    assert seen(services) == []
    assert services.ports.store.fetch(ANA.chain, [id_]) == []
    for attempt in (lambda: services.editor.restore(ANA, id_), lambda: services.editor.purge(ANA_ADMIN, id_)):
        with pytest.raises(NotFound):
            attempt()


def test_a_forgotten_memory_can_be_purged() -> None:
    services = container()
    id_ = given(services)
    services.editor.forget(ANA, id_)
    services.editor.purge(ANA_ADMIN, id_)
    assert services.ports.store.fetch(ANA.chain, [id_]) == []


class Unreachable(InMemoryHotIndex):
    """An index that is down while `down` is set."""

    down = False

    def apply(self, changes: Any) -> None:
        if self.down:
            raise StoreUnavailable("redis", "no answer")
        super().apply(changes)


def test_a_forget_that_the_index_missed_is_pending_and_still_hides_the_memory() -> None:
    hot, clock = Unreachable(), TestClock()
    services = container(hot=hot, cache=None, clock=clock)
    id_ = given(services)
    hot.down = True
    _, index = services.editor.forget(ANA, id_)
    assert index.state == "pending"
    assert seen(services) == []
    hot.down = False
    clock.forward(minutes=1)
    assert services.maintenance.retry_pending() == 1
    assert seen(services) == []


def test_a_purge_that_the_index_missed_is_repaired_by_the_worker() -> None:
    hot = Unreachable()
    services = container(hot=hot, cache=None)
    id_ = given(services)
    hot.down = True
    assert services.editor.purge(ANA_ADMIN, id_).state == "pending"
    assert services.ports.store.marked_for_repair()
    hot.down = False
    assert services.maintenance.rebuild_wanted() >= 1
    assert services.ports.store.marked_for_repair() == []
    assert hot.changed() == [("acme/user/ana", 0)]


def test_a_purge_that_the_index_missed_is_repaired_by_its_message_where_no_worker_looks() -> None:
    hot, clock = Unreachable(), TestClock()
    services = container(hot=hot, cache=None, clock=clock)
    id_ = given(services)
    hot.down = True
    services.editor.purge(ANA_ADMIN, id_)
    hot.down = False
    clock.forward(seconds=10)
    assert services.consumer.drain().failed == 0
    assert services.ports.store.marked_for_repair() == []
    assert hot.changed() == [("acme/user/ana", 0)]


def test_an_earlier_revision_is_restored_as_an_edit_of_its_own() -> None:
    services = container()
    id_ = given(services, tags=["home"], summary="a home")
    services.editor.edit(ANA, id_, {"content": "Ana lives in Braga", "tags": [], "summary": None}, 1)
    memory, _ = services.editor.restore_revision(ANA, id_, 1, 2)
    assert (memory.content, memory.tags, memory.summary, memory.revision) == (
        "Ana lives in Porto",
        ("home",),
        "a home",
        3,
    )
    assert [one.revision for one in memory.history] == [1, 2]


@pytest.mark.parametrize("stale", [0, 1, 3])
def test_restoring_a_revision_against_a_stale_one_is_refused(stale: int) -> None:
    services = container()
    id_ = given(services)
    services.editor.edit(ANA, id_, {"content": "Ana lives in Braga"}, 1)
    with pytest.raises(StaleRevision):
        services.editor.restore_revision(ANA, id_, 1, stale)


def test_restoring_a_revision_that_never_was_is_not_found() -> None:
    services = container()
    with pytest.raises(NotFound):
        services.editor.restore_revision(ANA, given(services), 7, 1)


def test_restoring_a_revision_whose_content_is_elsewhere_now_is_refused() -> None:
    services = container()
    id_ = given(services)
    services.editor.edit(ANA, id_, {"content": "Ana lives in Braga"}, 1)
    given(services)
    with pytest.raises(DuplicateContent):
        services.editor.restore_revision(ANA, id_, 1, 2)


def test_a_secret_in_an_earlier_revision_does_not_come_back() -> None:
    services = container()
    id_ = given(services)
    services.editor.edit(ANA, id_, {"content": "Ana lives in Braga"}, 1)
    (stored,) = services.ports.store.fetch(ANA.chain, [id_])
    dirty = stored.memory.history[0].model_copy(update={"content": f"key {AWS_KEY}"})
    changed = stored.memory.model_copy(update={"history": (dirty,)})
    services.ports.store.replace(type(stored)(changed, stored.counts, stored.length), 2)
    assert services.editor.restore_revision(ANA, id_, 1, 2)[0].content == "key [REDACTED:aws_access_key]"
