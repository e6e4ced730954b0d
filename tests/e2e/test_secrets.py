"""What must be left nowhere: a secret by whichever way it came in, and a memory that was purged."""

import base64
import hashlib
from typing import Any

import pytest

from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.domain.caller import Role
from tests.e2e.client import Api
from tests.e2e.stores import Stores


def core(org: str) -> str:
    """Letters and digits that look random, of this test alone."""
    return "K7" + base64.b32encode(hashlib.sha512(org.encode()).digest()).decode().rstrip("=")


def secret_texts(org: str) -> dict[str, str]:
    """A secret of several kinds, each with `core` in it."""
    random = core(org)
    return {
        "aws_access_key": "AK" + "IA" + random[:16],
        "github_token": "gh" + "p_" + random[:36],
        "url_password": f"postgres://ana:{random[:24]}@db.example.com/app",
        "private_key": "-----BEGIN PRIVATE " + f"KEY-----\n{random}\n-----END PRIVATE " + "KEY-----",
        "assigned_secret": "pass" + f"word={random[:20]}",
        "authorization": "Bear" + f"er {random[:30]}",
    }


def item_with(secret: str) -> dict[str, Any]:
    """A memory that has the secret in every field that a text can be in."""
    return {
        "content": f"東京{secret} is what Ana uses",
        "summary": f"uses {secret}",
        "tags": ["login", f"t {secret}"[:100]],
        "keyEntities": [f"e {secret}"[:100]],
        "source": f"chat {secret}",
        "origin": {"speaker": f"Ana {secret}"[:128]},
        "claims": [{"subject": "Ana", "attribute": "uses", "value": f"v {secret}"}],
        "outcome": f"rotated {secret}",
        "attachments": [{"type": "text", "url": f"https://x.test/?q={secret}", "description": f"shows {secret}"}],
    }


def test_a_secret_is_left_nowhere_whichever_way_it_came_in(
    api: Api, stores: Stores, telemetry: RecordedTelemetry
) -> None:
    needle = core(api.org)[:14].lower()
    for label, secret in secret_texts(api.org).items():
        ana, item, placeholder = api.user(label), item_with(secret), f"[REDACTED:{label}]"
        receipt = ana.receipt(**item)
        assert label in receipt["redacted"]
        path = f"/engine/memories/{receipt['id']}"
        assert placeholder in ana.read(receipt["id"])["content"]
        replies = [
            ana.post("/engine/memories", item | {"type": "task"}, {"Idempotency-Key": "k1"}),
            ana.post("/engine/memories", {"memories": [item | {"type": "goal"}, item | {"type": secret}]}),
            ana.patch(receipt["id"], {"content": f"now {secret}", "summary": secret, "tags": [f"u {secret}"[:100]]}, 1),
            ana.post(f"{path}/restore", {"revision": 1}),
            ana.post("/engine/memories/recall", {"query": f"what is {secret}?", "tags": [f"t {secret}"]}),
            ana.post("/engine/memories/recall", {"query": f"what is {secret}?"}),
            ana.get("/engine/memories", "q=uses"),
            ana.get(path),
            ana.get(f"{path}/revisions/1"),
        ]
        explained = ana.get(f"/engine/recalls/{replies[5].json['recallId']}")
        assert placeholder in explained.json["query"]
        for reply in (*replies, explained):
            assert reply.status == 200, reply.body
            assert needle not in reply.body.decode().lower(), label
    assert stores.places_of(needle) == []
    assert needle not in str(telemetry.events).lower()


def test_an_id_that_looks_like_a_secret_is_refused(api: Api, stores: Stores) -> None:
    secret, ana = secret_texts(api.org)["aws_access_key"], api.user()
    ids: list[dict[str, Any]] = [{"scopeId": secret}, {"origin": {"sessionId": secret}}]
    for field in (*ids, {"links": [{"kind": "relates", "target": secret}]}):
        reply = ana.post("/engine/memories", {"content": "x", **field})
        assert reply.refusal == (422, "invalid_input")
        assert core(api.org)[:14] not in reply.body.decode()
    assert stores.places_of(core(api.org)[:14]) == []


@pytest.mark.parametrize("forgotten", [False, True], ids=["active", "forgotten"])
def test_nothing_of_a_purged_memory_is_left(api: Api, stores: Stores, redis: RedisConnection, forgotten: bool) -> None:
    redis.command("DEL", *(keys.queue(part) for part in ("waiting", "taken", "texts", "attempts", "receipts")))
    word = f"zyx{core(api.org)[:12].lower()}"
    root = api.user("ana", Role.ADMIN)
    root.remember("the office is in Porto")
    item = {"content": f"the {word} is in Faro", "tags": [f"tag{word}"], "summary": f"about {word}"}
    id_ = root.post("/engine/memories", item, {"Idempotency-Key": "k1"}).json["receipts"][0]["id"]
    root.patch(id_, {"content": f"the {word} is in Lagos"}, 1)
    assert stores.places_of(word) != []
    if forgotten:
        root.forget(id_)
    assert root.forget(id_, "purge=true").json == {"id": id_, "purged": True, "index": {"state": "indexed"}}
    assert stores.memory(id_) is None
    assert stores.places_of(word) == []
    api.services.after_response.settle()
    assert (
        api.services.consumer.drain().failed == 0
    )  # messages name it until they are worked on, and bring nothing back
    assert stores.memory(id_) is None
    assert stores.places_of(word) == []
    kinds = {place.split(":")[2] if place.startswith("redis") else place for place in stores.places_of(id_)}
    assert kinds <= {"x", "mongo:audit", "mongo:receipts"}, "a tombstone, the event and the receipt name its id alone"
    for path in (f"/engine/memories/{id_}", f"/engine/memories/{id_}/revisions/1"):
        assert root.get(path).refusal == (404, "not_found")
    assert root.post(f"/engine/memories/{id_}/restore").refusal == (404, "not_found")
    assert root.recalled("what is in Faro or in Lagos?", minScore=0.5) == []


def test_nothing_of_a_purged_memory_is_left_in_answers_that_were_cached(api: Api, stores: Stores) -> None:
    word = f"zyx{core(api.org)[:12].lower()}"
    root = api.user("ana", Role.ADMIN)
    id_ = root.remember(f"the {word} is in Faro")
    root.recalled("what is in Faro?")
    assert root.answer("what is in Faro?")["cached"]
    root.forget(id_, "purge=true")
    assert stores.places_of(word) == []
    assert root.recalled("what is in Faro?") == []


def test_a_purge_of_what_another_may_not_see_leaves_it_as_it_was(api: Api) -> None:
    id_ = api.user("bob").remember("Bob lives in Faro")
    assert api.user("root", Role.ADMIN).forget(id_, "purge=true").refusal == (404, "not_found")
    assert api.user("bob").read(id_)["revision"] == 1
