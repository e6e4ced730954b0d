"""The service keeps its contract: schemathesis reads /openapi.json and asks, as every kind of caller, whatever it allows and
whatever it forbids. No answer is a 5xx, undocumented, or unlike its schema, and nothing wrong is accepted."""

from typing import Any

import pytest

from app import app
from chalicelib import bootstrap
from chalicelib.domain.memory import Status
from chalicelib.entrypoints.http import operations
from tests.building import row
from tests.conversing import said
from tests.e2e.hammering import HAMMERS, Walk, hammered, walking

MOST_SECONDS = 400  # on a machine that others use; it takes about 60
MEMORIES, MEMORY = "/engine/memories", "/engine/memories/{id}"
FEWEST_REQUESTS = 2000  # the number
pytestmark = pytest.mark.timeout(MOST_SECONDS)


@pytest.mark.parametrize("name", HAMMERS)
def test_every_answer_keeps_the_contract(name: str) -> None:
    found = hammered(name)
    assert found.problems == []
    assert not found.failures, "\n\n".join(found.failures[:20])
    assert not [answer for answer in found.answers if answer[1] >= 500]


def test_at_least_two_thousand_requests_were_made() -> None:
    requests = {name: hammered(name).requests for name in HAMMERS}
    print(f"{sum(requests.values())} requests: {requests}")
    assert sum(requests.values()) >= FEWEST_REQUESTS


def test_every_operation_was_asked_by_everyone() -> None:
    labels = {f"{operation.method} {operation.path}" for operation in operations(app)}
    labels.remove("GET /openapi.json")  # schemathesis reads its document there and leaves it alone
    for name in HAMMERS:
        assert labels <= {label for label, _ in hammered(name).answers}, name


def test_every_operation_does_its_work_and_answers_as_documented() -> None:
    with walking() as walk:
        _walk_through_a_memory(walk)
        _walk_through_review(walk)
        _walk_through_a_session(walk)
        _walk_through_the_rest(walk)
        assert walk.done == {(operation.method, operation.path) for operation in operations(app)}


def _walk_through_a_memory(walk: Walk) -> None:
    single = {"content": "Ana lives in Porto", "tags": ["home"], "origin": {"speaker": "Ana"}, "source": "chat"}
    (receipt,) = walk.ask("POST", MEMORIES, single)["receipts"]
    batch = {"memories": [single, {"content": "We deploy on Fridays", "overridable": False}, {"content": " "}]}
    receipts = walk.ask("POST", MEMORIES, batch)["receipts"]
    assert [each["outcome"] for each in receipts] == ["duplicate", "stored", "invalid"]
    id_ = receipt["id"]
    walk.ask("PATCH", MEMORY, {"content": "Ana lives in Lisbon", "summary": "home"}, if_match='"1"', id=id_)
    assert len(walk.ask("GET", MEMORY, id=id_)["history"]) == 1
    assert walk.ask("GET", f"{MEMORY}/revisions/{{number}}", id=id_, number=1)["content"] == "Ana lives in Porto"
    walk.ask("POST", f"{MEMORY}/restore", {"revision": 1}, if_match='"2"', id=id_)
    assert walk.ask("DELETE", MEMORY, id=id_)["restorableDays"] == 7
    walk.ask("POST", f"{MEMORY}/restore", {}, id=id_)
    assert walk.ask("GET", MEMORIES, limit=1, tag="home")["memories"][0]["id"] == id_
    assert walk.ask("GET", MEMORIES, limit=1)["cursor"]
    recalled = walk.ask("POST", f"{MEMORIES}/recall", {"query": "where does Ana live?"})
    assert recalled["hits"][0]["memory"]["id"] == id_
    explained = walk.ask("GET", "/engine/recalls/{recall_id}", recall_id=recalled["recallId"])
    assert explained["hits"]
    assert explained["candidates"]
    past = {"query": "where does Ana live?", "include": ["superseded"], "asOf": "2026-01-01T00:00:00Z"}
    assert walk.ask("POST", f"{MEMORIES}/recall", past)["empty"]
    routed = {"query": "Ana or Bob?", "route": "deep", "position": 3}
    assert walk.ask("POST", f"{MEMORIES}/recall", routed)["route"]["name"] == "deep"
    assert walk.ask("POST", f"{MEMORIES}/recall", {"query": "xyzzy plugh"})["empty"]["reason"]
    assert walk.ask("DELETE", MEMORY, id=id_, purge="true")["purged"]


def _walk_through_review(walk: Walk) -> None:
    held = [row(text, status=Status.QUARANTINED, quarantine_reason="score") for text in ("a rumour", "spam")]
    bootstrap.container().ports.store.insert(held)
    rumour, spam = (stored.memory.id for stored in held)
    assert len(walk.ask("GET", "/engine/admin/memories", status="quarantined", scope="user")["memories"]) == 2
    assert walk.ask("POST", f"{MEMORY}/promote", if_match='"1"', id=rumour)["status"] == "active"
    assert walk.ask("POST", f"{MEMORY}/undo-promote", id=rumour)["status"] == "quarantined"
    assert walk.ask("POST", f"{MEMORY}/reject", id=spam)["rejected"]
    walk.ask("PATCH", MEMORY, {"content": "a fact", "tags": ["seen"]}, if_match='"3"', id=rumour)
    since: dict[str, Any] = {"from": 3}
    difference = walk.ask("GET", f"{MEMORY}/diff", id=rumour, **since)
    assert [part["kind"] for part in difference["content"]["parts"]] == ["same", "removed", "added"]
    assert (difference["to"], difference["tags"]["added"]) == (4, ["seen"])


def _walk_through_a_session(walk: Walk) -> None:
    session, asked = "/engine/session/{session_id}", {"session_id": "chat-7"}
    said = [{"id": "m1", "role": "user", "text": "We meet in Porto on Friday"}]
    said += [{"id": "m2", "role": "assistant", "text": "Noted", "name": "Vi"}]
    begun = walk.ask("POST", f"{session}/messages", {"messages": said, "spaceId": "red", "totalBudget": 500}, **asked)
    assert [receipt["position"] for receipt in begun["receipts"]] == [0, 1]
    walk.ask("POST", f"{session}/messages", {"messages": [], "extract": "off"}, **asked)
    page = walk.ask("GET", f"{session}/messages", limit=1, **asked)
    rest = walk.ask("GET", f"{session}/messages", limit=1, cursor=page["cursor"], **asked)
    assert [each["id"] for each in (*page["messages"], *rest["messages"])] == ["m1", "m2"]
    assert walk.ask("GET", f"{session}/messages", latest=1, **asked)["messages"] == rest["messages"]
    assert walk.ask("GET", f"{session}/genome", **asked)["outside"] == 2
    turn = {"query": "where do we meet?", "totalBudget": 1000, "responseBuffer": 100, "system": "Be brief."}
    context = walk.ask("POST", f"{session}/context", turn, **asked)
    assert context["tokens"] <= context["budget"] == 900
    assert context["inContext"] == ["m1", "m2"]
    assert context["recall"]["recallId"]
    assert walk.ask("POST", f"{session}/end", **asked)["session"]["endedAt"]
    assert walk.ask("DELETE", session, **asked)["messages"] == 2


def _walk_through_the_rest(walk: Walk) -> None:
    expiring = {"name": "ci", "userId": "bot", "roles": ["observer"], "expiresAt": "2026-12-01T00:00:00Z"}
    made = walk.ask("POST", "/engine/keys", expiring)
    assert made["key"].startswith("vk_")
    assert walk.ask("DELETE", "/engine/keys/{id}", id=made["id"])["revoked"]
    assert any("revokedAt" in key for key in walk.ask("GET", "/engine/keys")["keys"])
    assert walk.ask("GET", "/engine/audit", limit=200)["events"]
    soul = {"name": "Vitto", "character": "warm", "values": ["honesty"], "mood": "calm", "persona": "a colleague"}
    assert walk.ask("PUT", "/engine/soul", soul)["redacted"] == []
    assert walk.ask("GET", "/engine/soul")["soul"] == soul
    bootstrap.container().user_genomes.merge("acme", "ana", "s1", [said("My name is Ana Silva.")])
    genome = walk.ask("GET", "/engine/users/{user_id}/genome", user_id="ana")
    assert "Ana Silva" in genome["facts"][0]["content"]
    bootstrap.container().ports.store.insert([row("Eve was here", user_id="eve", scope_id="eve")])
    user = "/engine/users/{user_id}"
    exported = walk.ask("GET", f"{user}/export", user_id="eve")
    assert [line["type"] for line in exported["lines"]] == ["memory"]
    assert walk.ask("DELETE", user, user_id="eve", shared="delete")["counts"]["memories"] == {
        "removed": 1,
        "changed": 0,
    }
    assert walk.ask("GET", f"{user}/erasure", user_id="eve")["leftTotal"] == 0
    assert walk.ask("GET", "/engine/plugins")["plugins"]
    plugins = walk.ask("PUT", "/engine/plugins", {"plugins": {"memory_versioning": False}})["plugins"]
    assert {each["name"] for each in plugins if not each["on"] and each["default"]} == {"memory_versioning"}
    assert walk.ask("POST", f"{MEMORIES}/backfill-embeddings")["state"] == "finished"
    assert walk.ask("GET", f"{MEMORIES}/backfill-embeddings")["left"] == 0
    assert walk.ask("POST", f"{MEMORIES}/export-to-docs", {"users": True})["files"] > 0
    assert walk.ask("GET", f"{MEMORIES}/export-to-docs", limit=1)["scopeReports"]
    assert walk.ask("GET", "/health")["pending"] == 0
    assert walk.ask("GET", "/openapi.json")["openapi"].startswith("3.1")


def test_nobody_is_let_in_without_a_credential() -> None:
    secured = {f"{operation.method} {operation.path}" for operation in operations(app) if not operation.is_open}
    assert {status for label, status in hammered("nobody").answers if label in secured} == {401}
