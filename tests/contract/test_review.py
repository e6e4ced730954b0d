"""Review by people on every store: who may decide, what a decision does, and that of two at once exactly one stands."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import IndexState, Status
from chalicelib.domain.query import RecallQuery, StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.errors import Conflict, Forbidden, NotFound, StaleRevision, VittoError
from chalicelib.ports import MemoryStore
from tests.building import NOW, TestClock, caller, row
from tests.contract.racing import at_once
from tests.contract.retention_steps import HELD, days_ago, events, over, present

RUMOUR = "the release is on Friday"
Decide = Callable[[Container, Caller, str], Any]
DECISIONS: dict[str, Decide] = {
    "promote": lambda services, who, id_: services.reviewer.promote(who, id_),
    "reject": lambda services, who, id_: services.reviewer.reject(who, id_),
    "undo_promote": lambda services, who, id_: services.reviewer.undo_promote(who, id_),
}
every_decision = pytest.mark.parametrize("decide", DECISIONS.values(), ids=list(DECISIONS))


def reviewer(org: str, user: str = "rita", *roles: Role) -> Caller:
    """A reviewer of the space `red`."""
    return caller(org, user, *(roles or (Role.REVIEWER,)), spaces=("red",))


def shared(org: str, content: str = RUMOUR, **fields: Any) -> StoredMemory:
    """A quarantined row of ana's in the space."""
    return row(content, org_id=org, **HELD | {"scope": Scope.SPACE, "scope_id": "red"} | fields)


def promoted(org: str, **fields: Any) -> StoredMemory:
    """A row of ana's that rita promoted."""
    values: dict[str, Any] = {"status": Status.ACTIVE, "admitted_at": NOW, "promoted_by": "rita"}
    return shared(org, **values | fields)


def ready(name: str, org: str, **fields: Any) -> StoredMemory:
    """A row that the decision of that name is about."""
    return promoted(org, **fields) if name == "undo_promote" else shared(org, **fields)


def recalled(services: Container, who: Caller) -> list[str]:
    """What a recall finds."""
    hits = services.recall.recall(who, RecallQuery(query="when is the release?"))["hits"]
    return [hit["memory"]["content"] for hit in hits]


def test_a_promoted_memory_is_active_and_found_at_once_and_by_whom_is_told(store: MemoryStore, org: str) -> None:
    clock = TestClock()
    services, held = over(store, clock=clock), shared(org, quarantined_at=days_ago(40))
    store.insert([held])
    assert recalled(services, reviewer(org)) == []
    clock.forward(hours=1)
    memory, index = services.reviewer.promote(reviewer(org), held.memory.id)
    assert (memory.status, memory.admitted_at, memory.promoted_by) == (Status.ACTIVE, clock(), "rita")
    assert (memory.revision, index.state) == (2, IndexState.INDEXED)
    assert recalled(services, reviewer(org)) == [RUMOUR]
    assert present(store, held) == memory.model_copy(update={"embedding": None})
    (event,) = events(services, org)
    assert (event.action, event.actor, event.target, event.at) == ("promote", "rita", held.memory.id, clock())
    assert event.details == {
        "scope": "space",
        "scopeId": "red",
        "type": "fact",
        "author": "ana",
        "revision": 1,
        "createdAt": NOW.isoformat(),
        "quarantinedAt": days_ago(40).isoformat(),
        "quarantineReason": "score",
    }


def test_a_rejected_memory_is_gone_from_every_store_and_its_event_says_why_and_not_what(
    store: MemoryStore, org: str
) -> None:
    services, held = over(store), shared(org, admission={"score": 0.31})
    store.insert([held])
    services.reviewer.reject(reviewer(org), held.memory.id)
    assert present(store, held) is None
    (event,) = events(services, org)
    assert (event.action, event.actor, event.target) == ("reject", "rita", held.memory.id)
    assert (event.details["quarantineReason"], event.details["score"]) == ("score", 0.31)
    assert "release" not in str(event)
    assert store.insert([shared(org)]) == [None], "what was rejected may be stored again"


def test_an_undone_promote_is_quarantined_as_before_and_no_longer_found(store: MemoryStore, org: str) -> None:
    clock = TestClock()
    services, held = over(store, clock=clock), shared(org, quarantine_reason="injection", quarantined_at=days_ago(40))
    store.insert([held])
    services.reviewer.promote(reviewer(org), held.memory.id)
    assert recalled(services, reviewer(org)) == [RUMOUR]
    clock.forward(hours=2)
    memory, _ = services.reviewer.undo_promote(reviewer(org), held.memory.id)
    assert (memory.status, memory.quarantine_reason) == (Status.QUARANTINED, "injection")
    assert (memory.quarantined_at, memory.admitted_at, memory.promoted_by) == (clock(), None, None)
    assert recalled(services, reviewer(org)) == []
    services.maintenance.rebuild(held.memory.scope_ref.key)
    assert recalled(services, reviewer(org)) == []
    assert [event.action for event in events(services, org)] == ["promote", "undo_promote"]


def test_a_memory_that_could_not_be_embedded_is_embedded_when_it_is_promoted(store: MemoryStore, org: str) -> None:
    embedder = TermEmbedder()
    services, held = over(store, embedder=embedder), shared(org, vectors=False)
    store.insert([held])
    _, index = services.reviewer.promote(reviewer(org), held.memory.id)
    assert index.state is IndexState.INDEXED
    assert store.fetch(reviewer(org).chain, [held.memory.id], with_vectors=True)[0].memory.embedding


def test_where_it_cannot_be_embedded_a_promoted_memory_is_pending_found_by_words_and_queued(
    store: MemoryStore, org: str
) -> None:
    embedder = TermEmbedder()
    services, held = over(store, embedder=embedder), shared(org, vectors=False)
    store.insert([held])
    embedder.fail = True
    memory, index = services.reviewer.promote(reviewer(org), held.memory.id)
    assert (memory.index_state, index.state) == (IndexState.PENDING, IndexState.PENDING)
    assert recalled(services, reviewer(org)) == [RUMOUR]
    queue: Any = services.ports.queue
    assert queue.probe()["waiting"] == 2  # one message to index it, one to have its questions written


@every_decision
def test_a_member_and_an_observer_decide_nothing(store: MemoryStore, org: str, decide: Decide) -> None:
    services, held = over(store), shared(org)
    store.insert([held])
    for roles in ((Role.MEMBER,), (Role.OBSERVER,), (Role.OBSERVER, Role.ADMIN)):
        for id_ in (held.memory.id, "mem_nowhere"):
            with pytest.raises(Forbidden):
                decide(services, reviewer(org, "rita", *roles), id_)
    assert present(store, held) == held.memory.model_copy(update={"embedding": None})


@pytest.mark.parametrize("name", DECISIONS)
def test_what_a_reviewer_does_not_see_is_not_there(store: MemoryStore, org: str, name: str) -> None:
    services, held = over(store), ready(name, org)
    private = ready(name, org, scope=Scope.USER, scope_id="ana")
    store.insert([held, private])
    outsiders = [
        caller(org, "rita", Role.REVIEWER, spaces=("blue",)),
        caller(org, "rita", Role.ADMIN, universes=("red",)),
        caller(new_id("org"), "rita", Role.ADMIN, spaces=("red",)),
    ]
    attempts = [(who, held) for who in outsiders] + [(reviewer(org, "root", Role.ADMIN), private)]
    for who, what in attempts:
        with pytest.raises(NotFound) as foreign:
            DECISIONS[name](services, who, what.memory.id)
        with pytest.raises(NotFound) as missing:
            DECISIONS[name](services, who, "mem_nowhere")
        assert (foreign.value.message, foreign.value.details) == (missing.value.message, missing.value.details)
    for each in (held, private):
        assert present(store, each) == each.memory.model_copy(update={"embedding": None})
    assert events(services, org) == []


def test_only_an_admin_promotes_a_memory_of_its_own(store: MemoryStore, org: str) -> None:
    services, held = over(store), shared(org)
    store.insert([held])
    with pytest.raises(Forbidden):
        services.reviewer.promote(reviewer(org, "ana"), held.memory.id)
    assert services.reviewer.promote(reviewer(org, "ana", Role.ADMIN), held.memory.id)[0].promoted_by == "ana"


@pytest.mark.parametrize("fields", [{"scope": Scope.ORGANIZATION}, {"overridable": False}], ids=str)
@pytest.mark.parametrize("name", DECISIONS)
def test_organization_scope_and_policies_take_an_admin(
    store: MemoryStore, org: str, name: str, fields: dict[str, Any]
) -> None:
    if "scope" in fields:
        fields = fields | {"scope_id": org}
    services, held = over(store), ready(name, org, **fields)
    store.insert([held])
    with pytest.raises(Forbidden):
        DECISIONS[name](services, reviewer(org), held.memory.id)
    assert DECISIONS[name](services, reviewer(org, "root", Role.ADMIN), held.memory.id)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("promote", {"status": Status.ACTIVE}),
        ("promote", {"status": Status.ARCHIVED}),
        ("reject", {"status": Status.ACTIVE}),
        ("reject", {"status": Status.ARCHIVED}),
        ("undo_promote", {"status": Status.QUARANTINED}),
        ("undo_promote", {"status": Status.ACTIVE, "quarantine_reason": None}),
        ("undo_promote", {"status": Status.ARCHIVED, "promoted_by": "rita"}),
    ],
    ids=str,
)
def test_a_decision_about_another_state_is_a_conflict_that_names_it(
    store: MemoryStore, org: str, name: str, state: dict[str, Any]
) -> None:
    services, held = over(store), shared(org, **state)
    store.insert([held])
    with pytest.raises(Conflict) as refused:
        DECISIONS[name](services, reviewer(org), held.memory.id)
    assert refused.value.details == {"status": held.memory.status}
    assert present(store, held) == held.memory.model_copy(update={"embedding": None})


@pytest.mark.parametrize("name", DECISIONS)
def test_a_forgotten_memory_is_not_decided_about(store: MemoryStore, org: str, name: str) -> None:
    services, held = over(store), ready(name, org)
    store.insert([held])
    services.editor.forget(caller(org, "ana", Role.MEMBER, spaces=("red",)), held.memory.id)
    with pytest.raises(NotFound):
        DECISIONS[name](services, reviewer(org), held.memory.id)


@pytest.mark.parametrize("stale", [0, 1, 3])
def test_what_was_edited_since_it_was_looked_at_is_not_let_in(store: MemoryStore, org: str, stale: int) -> None:
    services, held = over(store), shared(org)
    store.insert([held])
    ana = caller(org, "ana", Role.MEMBER, spaces=("red",))
    services.editor.edit(ana, held.memory.id, {"content": "the release is on Monday"}, 1)
    for decide in (services.reviewer.promote, services.reviewer.reject):
        with pytest.raises(StaleRevision) as refused:
            decide(reviewer(org), held.memory.id, stale)
        assert refused.value.details["revision"] == 2
    assert services.reviewer.promote(reviewer(org), held.memory.id, 2)[0].content == "the release is on Monday"


def outcome(work: Callable[[], Any]) -> str:
    """`done`, or the code of the error."""
    try:
        work()
    except VittoError as error:
        return error.code
    return "done"


@pytest.mark.parametrize("attempt", range(8))
def test_of_a_promote_and_a_reject_at_once_exactly_one_stands(store: MemoryStore, org: str, attempt: int) -> None:
    services, held = over(store), shared(org)
    store.insert([held])
    id_ = held.memory.id
    works = [
        lambda: outcome(lambda: services.reviewer.promote(reviewer(org, "rita"), id_)),
        lambda: outcome(lambda: services.reviewer.reject(reviewer(org, "rolf"), id_)),
    ]
    works = works if attempt % 2 else works[::-1]
    answers = at_once(*works)
    won, lost = (answers, answers[::-1])[answers[0] != "done"]
    assert won == "done"
    assert lost in {"not_found", "conflict"}
    is_promoted = (answers if attempt % 2 else answers[::-1])[0] == "done"
    memory = present(store, held)
    assert (memory is not None and memory.status is Status.ACTIVE) == is_promoted
    assert [event.action for event in events(services, org)] == ["promote" if is_promoted else "reject"]


def test_of_many_promotes_at_once_one_stands(store: MemoryStore, org: str) -> None:
    services, held = over(store), shared(org)
    store.insert([held])
    users = [f"reviewer {n}" for n in range(8)]
    answers = at_once(
        *(lambda u=u: outcome(lambda: services.reviewer.promote(reviewer(org, u), held.memory.id)) for u in users)
    )
    assert sorted(answers) == ["conflict"] * 7 + ["done"]
    assert len(events(services, org)) == 1
