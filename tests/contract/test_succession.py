"""A process that dies between storing a memory and retiring what it supersedes: one of the two is recalled, and the worker
ends it, on every store."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import ArchivedReason, Memory, Status, Yield
from chalicelib.domain.query import RecallQuery, StoredMemory
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Browse, MemoryStore
from tests.building import NOW, TestClock, caller, no_questions, row
from tests.contract.retention_steps import HELD, Killed, events, killed_at, over

PORTO, LISBON = "Ana lives in Porto", "Ana lives in Lisbon"
WRITES = 8  # of a remember that supersedes


def ana(org: str) -> Caller:
    """Whose memories they are."""
    return caller(org, "ana", Role.ADMIN)


def told(services: Container, org: str, content: str) -> str:
    """Remember it; the receipt's outcome."""
    (receipt,) = services.remember.remember(ana(org), [{"content": content}], key=None, single=True)
    return str(receipt["outcome"])


def recalled(services: Container, org: str) -> list[str]:
    """What a recall finds."""
    hits = services.recall.recall(ana(org), RecallQuery(query="where does Ana live?"))["hits"]
    return [hit["memory"]["content"] for hit in hits]


def rows(services: Container, org: str, status: Status = Status.ACTIVE) -> list[Memory]:
    """The memories of that status."""
    return list(services.ports.store.browse(ana(org).chain, Browse(status=status)).items)


def begun(store: MemoryStore, org: str) -> Container:
    """The services with a memory of the day before."""
    clock = TestClock()
    services = over(store, clock=clock, switches=no_questions(org))
    told(services, org, PORTO)
    clock.forward(days=1)
    return services


def worked(services: Container) -> int:
    """What the worker does a while later; how many it retired."""
    clock: Any = services.ports.clock
    clock.forward(minutes=1)
    done = services.successions.finish()
    services.maintenance.retry_pending()
    return done


def cut_off(services: Container, org: str, work: Callable[[], Any]) -> None:
    """Have a process die before it retires what it has to."""
    with pytest.MonkeyPatch.context() as patch:

        def dies(*_: Any) -> None:
            raise Killed

        patch.setattr(services.consolidator, "apply", dies)
        with pytest.raises(Killed):
            work()
    assert len(rows(services, org)) == 2


def test_what_is_not_retired_yet_is_not_recalled_and_the_worker_retires_it(empty_store: MemoryStore, org: str) -> None:
    services = begun(empty_store, org)
    cut_off(services, org, lambda: told(services, org, LISBON))
    assert recalled(services, org) == [LISBON]
    assert services.successions.finish() == 0, "the request may still be at it"
    assert worked(services) == 1
    (old,) = rows(services, org, Status.ARCHIVED)
    assert (old.content, old.archived_reason, old.yields) == (PORTO, ArchivedReason.SUPERSEDED, ())
    assert recalled(services, org) == [LISBON]
    (event,) = events(services, org)
    assert (event.action, event.actor, event.target) == ("supersede", "system", old.id)
    assert event.details["by"] == rows(services, org)[0].id
    assert worked(services) == 0
    assert services.editor.restore(ana(org), old.id)[0].status is Status.ACTIVE
    assert worked(services) == 0
    assert sorted(recalled(services, org)) == [LISBON, PORTO]


@pytest.mark.parametrize("write", range(WRITES))
def test_whatever_a_process_dies_at_one_of_the_two_is_recalled_and_one_stays(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    services = begun(empty_store, org)
    with monkeypatch.context() as patch:
        killed_at(patch, services, write)
        with pytest.raises(Killed):
            told(services, org, LISBON)
    now = recalled(services, org)
    assert len(now) == 1
    worked(services)
    (left,) = rows(services, org)
    assert recalled(services, org) == [left.content]
    assert now in ([PORTO], [left.content])
    assert empty_store.yielding(10) == []


def test_the_writes_of_a_remember_are_as_many_as_are_tried(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = begun(empty_store, org)
    killed_at(monkeypatch, services, WRITES)
    assert told(services, org, LISBON) == "superseded"


def test_a_batch_that_corrects_itself_is_ended_too(empty_store: MemoryStore, org: str) -> None:
    services = over(empty_store, clock=TestClock())
    items: list[Mapping[str, Any]] = [{"content": PORTO}, {"content": "Ana moved to Lisbon"}]
    cut_off(services, org, lambda: services.remember.remember(ana(org), items, key=None, single=False))
    assert recalled(services, org) == ["Ana moved to Lisbon"]
    assert worked(services) == 1
    assert [memory.content for memory in rows(services, org)] == ["Ana moved to Lisbon"]


def test_a_promote_that_is_cut_off_is_ended_too(empty_store: MemoryStore, org: str) -> None:
    services = begun(empty_store, org)
    held: StoredMemory = row(LISBON, org_id=org, **HELD | {"event_time": NOW + timedelta(days=1)})
    empty_store.insert([held])
    services.maintenance.rebuild(held.memory.scope_ref.key)
    cut_off(services, org, lambda: services.reviewer.promote(ana(org), held.memory.id))
    assert recalled(services, org) == [LISBON]
    assert worked(services) == 1
    assert recalled(services, org) == [LISBON]


def test_an_edit_that_comes_after_the_mark_keeps_the_memory(empty_store: MemoryStore, org: str) -> None:
    services = begun(empty_store, org)
    (old,) = rows(services, org)
    cut_off(services, org, lambda: told(services, org, LISBON))
    services.editor.edit(ana(org), old.id, {"tags": ["home"]}, 1)
    assert recalled(services, org) == [LISBON], "both stand, and of two that disagree the later holds"
    assert worked(services) == 0
    assert len(rows(services, org)) == 2
    assert empty_store.yielding(10) == []


@pytest.mark.parametrize("away", ["forgotten", "never stored", "of another scope", "without the link"])
def test_a_mark_whose_successor_is_not_there_retires_nothing(empty_store: MemoryStore, org: str, away: str) -> None:
    services = begun(empty_store, org)
    (old,) = rows(services, org)
    stored = empty_store.fetch(ana(org).chain, [old.id], with_vectors=True)[0]
    other = row("tea at four", org_id=org, scope_id="bob" if away == "of another scope" else "ana")
    if away != "never stored":
        empty_store.insert([other])
        services.indexer.publish([other])
    if away == "forgotten":
        services.editor.forget(ana(org), other.memory.id)
    mark = Yield(to=other.memory.id, at=NOW, revision=1)
    assert empty_store.replace(
        StoredMemory(stored.memory.model_copy(update={"yields": (mark,)}), stored.counts, stored.length), 1
    )
    assert recalled(services, org) == [PORTO]
    assert worked(services) == 0
    assert recalled(services, org) == [PORTO]
    assert empty_store.yielding(10) == []


def test_what_a_caller_links_as_superseded_hides_nothing(store: MemoryStore, org: str) -> None:
    services = begun(store, org)
    (old,) = rows(services, org)
    item = {"content": "tea at four", "links": [{"kind": "supersedes", "target": old.id}]}
    services.remember.remember(ana(org), [item], key=None, single=True)
    assert recalled(services, org) == [PORTO]


def test_a_store_that_fails_in_between_is_said_and_ended_by_the_worker(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = begun(empty_store, org)
    real = empty_store.replace

    def refuses(changed: StoredMemory, expected_revision: int) -> bool:
        if changed.memory.status is Status.ARCHIVED:
            raise StoreUnavailable("mongo", "no answer")
        return real(changed, expected_revision)

    with monkeypatch.context() as patch:
        patch.setattr(empty_store, "replace", refuses)
        assert told(services, org, LISBON) == "stored"
    assert recalled(services, org) == [LISBON]
    assert worked(services) == 1
    assert [memory.content for memory in rows(services, org)] == [LISBON]
