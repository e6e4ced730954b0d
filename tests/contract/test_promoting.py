"""A promoted memory meets what its scope holds as a remembered one does, on every store; an undo puts all of it back."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import ArchivedReason, IndexState, Link, LinkKind, Memory, Status
from chalicelib.domain.query import RecallQuery, StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.errors import Conflict, DuplicateContent
from chalicelib.ports import MemoryStore
from tests.building import NOW, TestClock, caller, row
from tests.contract.retention_steps import CLAIM, HELD, admitted, days_ago, events, held, over, present, told

BUILD = "The nightly build runs on the old server"
MORE = f"{BUILD} in the basement"
PORTO, LISBON = "Ana lives in Porto", "Ana lives in Lisbon"
RED: dict[str, Any] = {"scope": Scope.SPACE, "scope_id": "red"}


def root(org: str) -> Caller:
    """An admin who sees the space `red`."""
    return caller(org, "root", Role.ADMIN, spaces=("red",))


def rita(org: str) -> Caller:
    """A reviewer of it, who wrote nothing."""
    return caller(org, "rita", Role.REVIEWER, spaces=("red",))


def waiting(org: str, content: str, **fields: Any) -> StoredMemory:
    """A quarantined row of ana's in the space."""
    return row(content, org_id=org, **RED | HELD | fields)


def there(org: str, content: str, **fields: Any) -> StoredMemory:
    """An active row of ana's in the space, of a month ago."""
    return row(content, org_id=org, **RED | {"event_time": days_ago(30), "admitted_at": days_ago(30)} | fields)


def recalled(services: Container, org: str, query: str) -> list[str]:
    """What a recall of the space finds."""
    hits = services.recall.recall(root(org), RecallQuery(query=query))["hits"]
    return [hit["memory"]["content"] for hit in hits]


def now(store: MemoryStore, stored: StoredMemory) -> Memory:
    """The row as it is; it has to be there."""
    memory = present(store, stored)
    assert memory is not None
    return memory


def put(services: Container, *rows: StoredMemory) -> None:
    """Store rows and have the index know them."""
    services.ports.store.insert(rows)
    services.indexer.publish(rows)


def test_what_is_there_in_other_words_is_not_made_active_twice(store: MemoryStore, org: str) -> None:
    services, old, new = over(store), there(org, "Bob works at Acme"), waiting(org, "Bob is employed at Acme")
    put(services, old, new)
    memory, index = services.reviewer.promote(rita(org), new.memory.id)
    assert (memory.status, memory.archived_reason) == (Status.ARCHIVED, ArchivedReason.MERGED)
    assert (memory.promoted_by, memory.admitted_at) == ("rita", None)
    assert memory.links == (Link(kind=LinkKind.RELATES, target=old.memory.id),)
    assert index.state is IndexState.INDEXED
    assert index.reason == f"{old.memory.id} says it in other words"
    assert recalled(services, org, "where does Bob work?") == ["Bob works at Acme"]
    assert now(store, old) == old.memory.model_copy(update={"embedding": None, "index_state": IndexState.INDEXED})
    (event,) = events(services, org)
    assert (event.action, event.target, event.details["duplicateOf"]) == ("promote", new.memory.id, old.memory.id)


def test_a_merged_promote_is_undone_unless_its_content_was_stored_again(store: MemoryStore, org: str) -> None:
    services, old, new = over(store), there(org, "Bob works at Acme"), waiting(org, "Bob is employed at Acme")
    put(services, old, new)
    services.reviewer.promote(rita(org), new.memory.id)
    with pytest.raises(Conflict):
        services.reviewer.promote(rita(org), new.memory.id)
    memory, _ = services.reviewer.undo_promote(rita(org), new.memory.id)
    assert (memory.status, memory.archived_reason, memory.links) == (Status.QUARANTINED, None, ())
    services.reviewer.promote(rita(org), new.memory.id)
    store.insert([there(org, "Bob is employed at Acme")])
    with pytest.raises(DuplicateContent):
        services.reviewer.undo_promote(rita(org), new.memory.id)


def test_a_promoted_correction_retires_what_it_corrects_and_an_undo_brings_it_back(
    store: MemoryStore, org: str
) -> None:
    services, old, new = over(store), there(org, PORTO), waiting(org, LISBON)
    put(services, old, new)
    memory, index = services.reviewer.promote(root(org), new.memory.id)
    assert memory.status is Status.ACTIVE
    assert memory.links == (Link(kind=LinkKind.SUPERSEDES, target=old.memory.id),)
    assert (index.reason or "").startswith(f"supersedes {old.memory.id}")
    assert now(store, old).archived_reason is ArchivedReason.SUPERSEDED
    assert recalled(services, org, "where does Ana live?") == [LISBON]
    memory, _ = services.reviewer.undo_promote(root(org), new.memory.id)
    assert (memory.status, memory.links) == (Status.QUARANTINED, ())
    restored = now(store, old)
    assert (restored.status, restored.archived_reason, restored.links) == (Status.ACTIVE, None, ())
    assert recalled(services, org, "where does Ana live?") == [PORTO]
    expected = [("promote", new), ("supersede", old), ("restore", old), ("undo_promote", new)]
    assert told(services, org) == sorted((action, each.memory.id) for action, each in expected)


def test_what_says_more_takes_the_place_of_what_says_less(store: MemoryStore, org: str) -> None:
    services, old, new = over(store), there(org, BUILD), waiting(org, MORE)
    put(services, old, new)
    services.reviewer.promote(root(org), new.memory.id)
    assert now(store, new).links == (Link(kind=LinkKind.SUPERSEDES, target=old.memory.id),)
    assert now(store, old).archived_reason is ArchivedReason.SUPERSEDED
    services.reviewer.undo_promote(root(org), new.memory.id)
    assert recalled(services, org, "where does the nightly build run?") == [BUILD]


def test_a_reviewer_changes_no_row_that_it_could_not_edit(store: MemoryStore, org: str) -> None:
    services, old, new = over(store), there(org, PORTO), waiting(org, LISBON)
    less, more = there(org, BUILD), waiting(org, MORE)
    put(services, old, new, less, more)
    memory, _ = services.reviewer.promote(rita(org), new.memory.id)
    assert memory.links == (Link(kind=LinkKind.CONTRADICTS, target=old.memory.id),)
    assert services.reviewer.promote(rita(org), more.memory.id)[0].links == ()
    assert [now(store, each).status for each in (old, new, less, more)] == [Status.ACTIVE] * 4


def test_rows_of_other_scopes_are_not_touched(store: MemoryStore, org: str) -> None:
    services, new = over(store), waiting(org, LISBON)
    others = [there(org, PORTO, scope_id="blue"), there(org, PORTO, scope=Scope.USER, scope_id="root", user_id="root")]
    put(services, *others, new)
    assert services.reviewer.promote(root(org), new.memory.id)[0].links == ()
    assert [now(store, other).status for other in others] == [Status.ACTIVE] * 2


def test_an_undo_leaves_retired_what_another_memory_replaces_too(store: MemoryStore, org: str) -> None:
    services, old, new = over(store), there(org, PORTO), waiting(org, LISBON)
    put(services, old, new)
    services.reviewer.promote(root(org), new.memory.id)
    retired = now(store, old)
    other = there(org, "Ana moved to Lisbon", links=(Link(kind=LinkKind.SUPERSEDES, target=old.memory.id),))
    put(services, other)
    links = (*retired.links, Link(kind=LinkKind.RELATES, target=other.memory.id))
    assert store.replace(StoredMemory(retired.model_copy(update={"links": links}), {}, 0), retired.revision)
    services.reviewer.undo_promote(root(org), new.memory.id)
    assert now(store, old).status is Status.ARCHIVED


def test_an_undo_that_finds_the_old_content_said_again_leaves_it_at_that(store: MemoryStore, org: str) -> None:
    services, old, new = over(store), there(org, PORTO), waiting(org, LISBON)
    put(services, old, new)
    services.reviewer.promote(root(org), new.memory.id)
    put(services, there(org, PORTO))
    assert services.reviewer.undo_promote(root(org), new.memory.id)[0].status is Status.QUARANTINED
    assert now(store, old).status is Status.ARCHIVED
    assert recalled(services, org, "where does Ana live?") == [PORTO]


def test_a_row_that_was_edited_meanwhile_is_neither_merged_into_nor_retired(
    store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = over(store)
    pairs = [(PORTO, LISBON, "Ana grew up in Porto"), ("Bob works at Acme", "Bob is employed at Acme", "Bob likes tea")]
    rows = [(there(org, old), waiting(org, new), edit) for old, new, edit in pairs]
    put(services, *(each for old, new, _ in rows for each in (old, new)))
    settle = services.consolidator.settle
    for old, new, edit in rows:

        def edited_meanwhile(*args: Any, old: StoredMemory = old, edit: str = edit) -> Any:
            made = settle(*args)
            services.editor.edit(root(org), old.memory.id, {"content": edit}, 1)
            return made

        monkeypatch.setattr(services.consolidator, "settle", edited_meanwhile)
        memory, _ = services.reviewer.promote(root(org), new.memory.id)
        assert memory == now(store, new).model_copy(update={"embedding": memory.embedding})
        assert (memory.status, memory.links) == (Status.ACTIVE, ())
        assert (now(store, old).status, now(store, old).content) == (Status.ACTIVE, edit)


def test_what_a_scope_holds_is_asked_about_once_it_is_promoted_or_brought_back(store: MemoryStore, org: str) -> None:
    services, old, new = over(store), there(org, PORTO), waiting(org, LISBON)
    put(services, old, new)
    queue: Any = services.ports.queue
    services.reviewer.promote(root(org), new.memory.id)
    assert queue.probe()["waiting"] == 1
    services.reviewer.undo_promote(root(org), new.memory.id)
    assert queue.probe()["waiting"] == 2


def test_the_sweep_retires_what_its_author_could_have_and_has_questions_written(
    empty_store: MemoryStore, org: str
) -> None:
    services = over(empty_store, clock=TestClock(NOW))
    new = held(org, 31, LISBON, event_time=days_ago(40), created_at=days_ago(40))
    old = row(PORTO, org_id=org, event_time=days_ago(60), admitted_at=days_ago(60))
    match = admitted(org, 1, "today Lisbon lives in Ana", event_time=days_ago(50))
    put(services, old, match, new)
    assert services.sweep.run().promoted == 1
    memory = now(empty_store, new)
    assert (memory.status, memory.promoted_by) == (Status.ACTIVE, "system")
    assert now(empty_store, old).archived_reason is ArchivedReason.SUPERSEDED
    retired = next(event for event in events(services, org) if event.action == "supersede")
    assert (retired.target, retired.actor, retired.on_behalf_by) == (old.memory.id, "ana", "system")
    queue: Any = services.ports.queue
    assert queue.probe()["waiting"] == 1
    services.reviewer.undo_promote(caller(org, "ana", Role.ADMIN), new.memory.id)
    assert now(empty_store, old).status is Status.ACTIVE


def test_the_sweep_retires_no_row_of_somebody_else(empty_store: MemoryStore, org: str) -> None:
    services = over(empty_store)
    new = waiting(org, LISBON, created_at=days_ago(40), quarantined_at=days_ago(31))
    old = there(org, PORTO, user_id="bob")
    put(services, old, new, there(org, "today Lisbon lives in Ana", admitted_at=days_ago(1)))
    assert services.sweep.run().promoted == 1
    assert now(empty_store, new).links == (Link(kind=LinkKind.CONTRADICTS, target=old.memory.id),)
    assert now(empty_store, old).status is Status.ACTIVE


def test_what_the_sweep_finds_said_already_is_merged_and_the_event_says_into_what(
    empty_store: MemoryStore, org: str
) -> None:
    services, new = over(empty_store), held(org, 31, f"{CLAIM}!", event_time=NOW - timedelta(days=40))
    match = admitted(org, 1, CLAIM)
    put(services, match, new)
    assert services.sweep.run().promoted == 1
    assert now(empty_store, new).archived_reason is ArchivedReason.MERGED
    (event,) = events(services, org)
    assert (event.action, event.details["duplicateOf"]) == ("sweep_promoted", match.memory.id)
    assert services.sweep.run().done == 0
