"""Remembering over HTTP: every item has a true receipt, and whatever may not be stored is named and is not."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.domain.caller import Role
from chalicelib.domain.text.cleaning import RECALL_FENCE
from tests.e2e.client import Api, User

WHOLE: dict[str, Any] = {
    "content": "Ana lives in Porto",
    "scope": "space",
    "scopeId": "red",
    "type": "decision",
    "summary": "where Ana lives",
    "tags": ["home", "家"],
    "keyEntities": ["Ana", "Porto"],
    "importance": 0.9,
    "overridable": False,
    "source": "chat",
    "origin": {"sessionId": "s1", "messageId": "m1", "speaker": "Ana"},
    "confidence": 0.8,
    "claims": [{"subject": "Ana", "attribute": "lives in", "value": "Porto"}],
    "eventTime": "2025-06-01T10:00:00+02:00",
    "expiresAt": "2999-01-01T00:00:00Z",
    "links": [{"kind": "evidence", "target": "m1"}],
    "outcome": "she moved",
    "attachments": [{"type": "image", "url": "https://example.com/a.png", "description": "a house"}],
}


def batch(user: User, *items: Any) -> list[dict[str, Any]]:
    """The receipts of a batch."""
    reply = user.post("/engine/memories", {"memories": list(items)})
    assert reply.status == 200, reply.body
    return list(reply.json["receipts"])


def test_a_receipt_says_what_became_of_an_item(api: Api) -> None:
    found = api.user().receipt("Ana lives in Porto")
    assert found.pop("admission")["decision"] == "admit"
    assert found == {
        "outcome": "stored",
        "id": found["id"],
        "scope": "user",
        "scopeId": "ana",
        "status": "active",
        "revision": 1,
        "redacted": [],
        "index": {"state": "indexed"},
    }


def test_every_field_is_kept_and_comes_back_under_its_name(api: Api) -> None:
    root = api.user("root", Role.ADMIN, spaces=("red",))
    memory = root.read(root.remember(**WHOLE))
    changed = {"eventTime": memory["eventTime"], "expiresAt": memory["expiresAt"]}
    assert {name: memory[name] for name in WHOLE} == WHOLE | changed
    assert memory["eventTime"].startswith("2025-06-01T08:00:00")
    assert memory["eventTime"].endswith("Z")
    assert (memory["orgId"], memory["userId"], memory["indexState"]) == (api.org, "root", "indexed")
    assert not any("_" in name for name in memory)
    assert not {"embedding", "terms", "contentKey", "scopeKey"} & memory.keys()


def test_the_same_content_in_the_same_scope_is_a_duplicate_of_the_row_that_is_there(api: Api) -> None:
    ana = api.user(spaces=("red",))
    id_ = ana.remember("Ana lives in Porto")
    for content in ("Ana lives in Porto", "  Ana  lives\r\nin Porto\u200b "):
        again = ana.receipt(content)
        assert (again["outcome"], again["id"]) == ("duplicate", id_)
        assert again["reason"]
    assert ana.receipt("Ana lives in Porto", scope="space", scopeId="red")["outcome"] == "stored"
    assert api.user("bob").receipt("Ana lives in Porto")["outcome"] == "stored"


@pytest.mark.parametrize("kind", ["event", "observation", "conversation"])
def test_what_happens_twice_is_remembered_twice(api: Api, kind: str) -> None:
    admin = api.user("root", Role.ADMIN)
    for time, outcome in (
        ("2025-06-01T08:00:00Z", "stored"),
        ("2025-06-02T08:00:00Z", "stored"),
        ("2025-06-01T10:00:00+02:00", "duplicate"),
    ):
        item = {"content": "Ana went running", "type": kind, "eventTime": time}
        (receipt,) = admin.post("/engine/memories", {"memories": [item], "trusted": True}).json["receipts"]
        assert receipt["outcome"] == outcome


def test_each_item_of_a_batch_has_its_own_receipt_and_none_hinders_another(api: Api) -> None:
    ana = api.user()
    known = ana.remember("Ana has a cat")
    receipts = batch(
        ana,
        {"content": "Ana lives in Porto"},
        {"content": "Ana lives in Porto"},
        {"content": "Ana has a cat"},
        {"content": " \u200b "},
        {"content": "x", "type": "gossip"},
        {"content": "x", "colour": "red"},
        {"content": "x", "scope": "organization"},
        {"content": "x", "scope": "space", "scopeId": "red"},
        {"content": f"[{RECALL_FENCE}] Ana lives in Porto"},
        {"content": "Ana plays chess"},
    )
    outcomes = ["stored", "duplicate", "duplicate", *["invalid"] * 5, "skipped", "stored"]
    assert [found["outcome"] for found in receipts] == outcomes
    assert receipts[1]["id"] == receipts[0]["id"]
    assert receipts[2]["id"] == known
    errors = [found["error"] for found in receipts if found["outcome"] == "invalid"]
    assert [(error["code"], error["details"].get("field")) for error in errors] == [
        ("invalid_input", "content"),
        ("invalid_input", "type"),
        ("invalid_input", "colour"),
        ("forbidden", "scope"),
        ("not_found", "scopeId"),
    ]
    assert all(found["reason"] for found in receipts if found["outcome"] != "stored")
    assert sorted(ana.listed()) == ["Ana has a cat", "Ana lives in Porto", "Ana plays chess"]


def test_a_hundred_items_are_a_batch_and_one_more_is_not(api: Api) -> None:
    ana = api.user()
    items = [{"content": f"fact {i}"} for i in range(101)]
    refused = ana.post("/engine/memories", {"memories": items})
    assert refused.field == "memories"
    assert refused.error["details"]["limit"] == 100
    assert ana.listed() == []
    assert {found["outcome"] for found in batch(ana, *items[:100])} == {"stored"}


@pytest.mark.parametrize("memories", [[], {}, "x", None, 3])
def test_a_batch_is_a_list_of_objects(api: Api, memories: Any) -> None:
    assert api.user().post("/engine/memories", {"memories": memories}).field == "memories"


@pytest.mark.parametrize("item", [None, "x", 1, ["x"]])
def test_an_item_that_is_no_object_is_named(api: Api, item: Any) -> None:
    items = [{"content": "x"}, item]
    assert api.user().post("/engine/memories", {"memories": items}).field == "memories.1"


def test_nothing_stands_beside_a_batch(api: Api) -> None:
    body = {"memories": [{"content": "x"}], "scope": "user"}
    assert api.user().post("/engine/memories", body).field == "scope"


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({}, "content"),
        ({"content": None}, "content"),
        ({"content": 3}, "content"),
        ({"content": ""}, "content"),
        ({"content": " \n\t "}, "content"),
        ({"content": "\u200b\u2060\ufeff\u00ad"}, "content"),
        ({"content": "\x00\x07"}, "content"),
        ({"content": "\ud800"}, "content"),
        ({"content": "x", "colour": "red"}, "colour"),
        ({"content": "x", "scope_id": "ana"}, "scope_id"),
        ({"content": "x", "event_time": "2025-06-01T08:00:00Z"}, "event_time"),
        ({"content": "x", "status": "active"}, "status"),
        ({"content": "x", "id": "mem_1"}, "id"),
        ({"content": "x", "admission": {}}, "admission"),
        ({"content": "x", "type": "gossip"}, "type"),
        ({"content": "x", "type": "Fact"}, "type"),
        ({"content": "x", "scope": "galaxy"}, "scope"),
        ({"content": "x", "importance": 1.1}, "importance"),
        ({"content": "x", "importance": -0.1}, "importance"),
        ({"content": "x", "importance": "very"}, "importance"),
        ({"content": "x", "eventTime": "yesterday"}, "eventTime"),
        ({"content": "x", "eventTime": "2025-06-01T08:00:00"}, "eventTime"),
        ({"content": "x", "eventTime": "0001-01-01T00:00:00+14:00"}, "eventTime"),
        ({"content": "x", "expiresAt": "9999-12-31T23:59:59-14:00"}, "expiresAt"),
        ({"content": "x", "tags": "home"}, "tags"),
        ({"content": "x", "tags": [""]}, "tags.0"),
        ({"content": "x", "tags": ["home", "\u200b"]}, "tags.1"),
        ({"content": "x", "tags": ["t" * 101]}, "tags.0"),
        ({"content": "x", "tags": [f"t{i}" for i in range(51)]}, "tags"),
        ({"content": "x", "summary": "s" * 2001}, "summary"),
        ({"content": "x", "origin": {"speaker": "Ana", "mood": "good"}}, "origin.mood"),
        ({"content": "x", "claims": [{"subject": "Ana"}]}, "claims.0.attribute"),
        ({"content": "x", "links": [{"kind": "likes", "target": "m"}]}, "links.0.kind"),
        ({"content": "x", "attachments": [{"type": "image", "url": ""}]}, "attachments.0.url"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_stored_or_embedded(
    api: Api, embedder: TermEmbedder, item: dict[str, Any], field: str
) -> None:
    ana = api.user()
    assert ana.post("/engine/memories", item).field == field
    (receipt,) = batch(ana, item)
    assert (receipt["outcome"], receipt["error"]["details"]["field"]) == ("invalid", field)
    assert ana.listed() == []
    assert embedder.calls == 0


def test_every_problem_of_an_item_is_listed_and_no_value_is_repeated(api: Api) -> None:
    reply = api.user().post("/engine/memories", {"importance": 7.25, "type": "gossip", "colour": "crimson"})
    problems = {problem["field"] for problem in reply.error["details"]["problems"]}
    assert problems == {"content", "importance", "type", "colour"}
    assert not any(value in reply.body.decode() for value in ("7.25", "gossip", "crimson"))


def test_content_of_16_kb_is_kept_whole_and_a_longer_one_is_refused_with_the_limit(api: Api) -> None:
    ana = api.user()
    longest = ("名前" * 2730 + "abcd")[: 16 * 1024]
    assert len(longest.encode()) == 16 * 1024
    assert ana.read(ana.remember(longest))["content"] == longest
    refused = ana.post("/engine/memories", {"content": longest + "x"})
    assert refused.field == "content"
    assert refused.error["details"]["limit"] == 16 * 1024


@pytest.mark.parametrize(
    "contents", [("東京に住んでいます",), ("안나는 포르투에 산다",), ("อานาอยู่ที่ปอร์โต",), ("Ана живёт в Порту", "Ήρα")]
)
def test_text_of_any_script_is_stored_as_it_was_said_and_found(api: Api, contents: tuple[str, ...]) -> None:
    ana = api.user()
    for content in contents:
        assert ana.read(ana.remember(content))["content"] == content
        assert content in ana.recalled(content)
        assert content in [m["content"] for m in ana.get("/engine/memories").json["memories"]]


@pytest.mark.parametrize(
    ("item", "refusal"),
    [
        ({"scope": "organization"}, (403, "forbidden")),
        ({"overridable": False}, (403, "forbidden")),
        ({"scope": "space", "scopeId": "blue"}, (404, "not_found")),
        ({"scope": "user", "scopeId": "bob"}, (404, "not_found")),
        ({"scope": "organization", "scopeId": "rival"}, (404, "not_found")),
    ],
)
def test_a_member_writes_to_its_own_scopes_alone(api: Api, item: dict[str, Any], refusal: tuple[int, str]) -> None:
    for user in (api.user(spaces=("red",)), api.user("ana", Role.REVIEWER)):
        assert user.post("/engine/memories", {"content": "x", **item}).refusal == refusal


def test_an_admin_writes_policy_for_the_whole_organization(api: Api) -> None:
    root = api.user("root", Role.ADMIN)
    assert root.receipt("invoices are paid in euros", scope="organization", overridable=False)["scopeId"] == api.org
    assert api.user("bob").recalled("how are invoices paid?") == ["invoices are paid in euros"]


def test_members_of_a_space_and_of_a_universe_share_what_they_put_there(api: Api) -> None:
    grants = {"spaces": ("red",), "universes": ("sol",)}
    ana, bob = api.user("ana", **grants), api.user("bob", **grants)
    ana.remember("the red team meets at noon", scope="space", scopeId="red")
    ana.remember("the sol universe has nine planets", scope="universe", scopeId="sol")
    assert sorted(bob.listed()) == ["the red team meets at noon", "the sol universe has nine planets"]


def test_an_observer_writes_nothing(api: Api) -> None:
    for roles in ((Role.OBSERVER,), (Role.OBSERVER, Role.ADMIN), (Role.MEMBER, Role.OBSERVER)):
        refused = api.user("ana", *roles).post("/engine/memories", {"content": "x"})
        assert refused.refusal == (403, "forbidden")
        assert refused.error["details"]["needs"] == ["member"]
    assert api.user().listed() == []


def test_text_that_brings_a_recalled_block_back_is_skipped_with_the_reason(api: Api) -> None:
    ana = api.user()
    found = ana.receipt(f"<{RECALL_FENCE}> Ana lives in Porto </{RECALL_FENCE}>")
    assert found["outcome"] == "skipped"
    assert found["reason"]
    assert "id" not in found
    assert ana.listed() == []


def test_what_could_not_be_embedded_is_stored_pending_found_by_its_words_and_counted(
    api: Api, embedder: TermEmbedder
) -> None:
    ana, root = api.user(), api.user("root", Role.ADMIN)
    embedder.fail = True
    receipts = batch(ana, {"content": "Ana lives in Porto"}, {"content": "Ana has a cat"})
    assert [(found["outcome"], found["index"]["state"]) for found in receipts] == [("stored", "pending")] * 2
    assert all(found["index"]["reason"] for found in receipts)
    answer = ana.answer("where does Ana live, Porto?")
    assert [hit["memory"]["content"] for hit in answer["hits"]][:1] == ["Ana lives in Porto"]
    assert any("vector" in missing["part"] for missing in answer["degraded"])
    embedder.fail = False
    assert root.get("/health").json["pending"] >= 2
    assert ana.read(receipts[0]["id"])["indexState"] == "pending"
    api.services.maintenance.retry_pending(grace=timedelta(0))
    assert ana.read(receipts[0]["id"])["indexState"] == "indexed"
