"""Memory versioning over HTTP: where an organization has it off, no route answers anything of an earlier revision."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import TypeAdapter

from app import app
from chalicelib.domain.caller import Role
from chalicelib.domain.memory import Revision, Status
from chalicelib.entrypoints.contract import Operation
from chalicelib.entrypoints.http import operations
from tests.building import NOW, row
from tests.e2e.client import Api, Reply
from tests.e2e.stores import Stores

EARLIER, PRESENT = "the vault opens at noon", "the vault opens at dusk"
WITH_HISTORY = {"Revision", "TextDifference"}
"""The models that a state of before can be told by."""


@dataclass(frozen=True)
class Ask:
    """How to ask a route of a memory with an earlier revision, and what it says where history is hidden."""

    body: Any = None
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    hidden: int = 200
    is_told: bool = True


HELD: dict[str, Any] = {"status": Status.QUARANTINED, "quarantine_reason": "score"}
LET_IN: dict[str, Any] = {"quarantine_reason": "score", "promoted_by": "root", "admitted_at": NOW}
PATH = "/engine/memories/{id}"
ASKS = {
    ("GET", "/engine/memories"): Ask(),
    ("GET", "/engine/admin/memories"): Ask(),
    ("POST", "/engine/memories/recall"): Ask(body={"query": "when does the vault open?"}, is_told=False),
    ("GET", PATH): Ask(),
    ("PATCH", PATH): Ask(body={"importance": 0.9}, headers={"If-Match": '"2"'}),
    ("GET", f"{PATH}/revisions/{{number}}"): Ask(hidden=404),
    ("GET", f"{PATH}/diff"): Ask(query="from=1&to=2", hidden=404),
    ("POST", f"{PATH}/restore"): Ask(body={"revision": 1}, hidden=404),
    ("POST", f"{PATH}/promote"): Ask(memory=HELD),
    ("POST", f"{PATH}/undo-promote"): Ask(memory=LET_IN),
    ("POST", "/engine/session/{session_id}/context"): Ask(
        body={"query": "when does the vault open?", "totalBudget": 2000}, is_told=False
    ),
}


def may_tell_of_before(operation: Operation) -> bool:
    """Whether the answer's model has a place for an earlier state."""
    schema = TypeAdapter(operation.gives.model).json_schema(mode="serialization")
    return bool(WITH_HISTORY & {schema.get("title"), *schema.get("$defs", {})})


def test_every_route_that_could_tell_of_an_earlier_revision_is_asked_here() -> None:
    assert {(each.method, each.path) for each in operations(app) if may_tell_of_before(each)} == ASKS.keys()


def asked(api: Api, method: str, path: str, ask: Ask, *, on: bool) -> tuple[str, Reply]:
    """The id of a memory of root's that was edited once, and what the route answers with versioning on or off."""
    root = api.user("root", Role.ADMIN)
    assert root.send("PUT", "/engine/plugins", {"plugins": {"memory_versioning": on}}).status == 200
    before = Revision(revision=1, content=EARLIER, edited_by="root", edited_at=NOW)
    owned: dict[str, Any] = {
        "org_id": api.org,
        "scope_id": "root",
        "user_id": "root",
        "revision": 2,
        "history": (before,),
    }
    made = row(PRESENT, **owned | ask.memory)
    api.services.ports.store.insert([made])
    api.services.indexer.publish([made])
    assert root.post("/engine/session/talk/messages", {"messages": [], "extract": "off"}).status == 200
    target = path.replace("{id}", made.memory.id).replace("{number}", "1").replace("{session_id}", "talk")
    return made.memory.id, root.send(method, target, ask.body, ask.query, ask.headers)


@pytest.mark.parametrize(("route", "ask"), ASKS.items(), ids=[" ".join(route) for route in ASKS])
def test_no_route_tells_of_an_earlier_revision_where_versioning_is_off(
    api: Api, stores: Stores, route: tuple[str, str], ask: Ask
) -> None:
    id_, reply = asked(api, *route, ask, on=False)
    assert reply.status == ask.hidden, reply.body
    assert EARLIER not in reply.body.decode()
    assert (PRESENT in reply.body.decode()) is (ask.hidden == 200)
    document = stores.memory(id_)
    assert document
    assert document["content"] == PRESENT
    assert [earlier["content"] for earlier in document["history"]] == [EARLIER]


@pytest.mark.parametrize(("route", "ask"), ASKS.items(), ids=[" ".join(route) for route in ASKS])
def test_the_same_routes_tell_of_it_where_versioning_is_on(api: Api, route: tuple[str, str], ask: Ask) -> None:
    _, reply = asked(api, *route, ask, on=True)
    assert reply.status == 200, reply.body
    assert (EARLIER in reply.body.decode() or '"noon"' in reply.body.decode()) is ask.is_told
