"""`Idempotency-Key` over HTTP: a repeat is harmless, a mistake is said, and nobody meets another's receipts."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from tests.e2e.client import Api, Reply, User

ITEM = {"content": "Ana lives in Porto"}


def keyed(user: User, key: str, body: Any = None) -> Reply:
    """Remember under a key."""
    return user.post("/engine/memories", ITEM if body is None else body, {"Idempotency-Key": key})


def test_a_repeat_gets_the_first_receipt(api: Api) -> None:
    ana = api.user()
    first, *repeats = (keyed(ana, "k1").json for _ in range(3))
    assert first["receipts"][0]["outcome"] == "stored"
    assert repeats == [first, first]
    assert keyed(api.user(), "k1").json == first, "another key of the same user is the same caller"


def test_a_repeat_may_be_written_in_another_way(api: Api) -> None:
    ana = api.user()
    first = keyed(ana, "k1", {"content": "x", "tags": ["a"], "importance": 0.5})
    assert keyed(ana, "k1", b'{ "importance":0.5, "tags":["\\u0061"],\n "content":"x" }').json == first.json


@pytest.mark.parametrize(
    "other", [{"content": "Ana lives in Faro"}, ITEM | {"tags": ["home"]}, {"memories": [ITEM, ITEM]}]
)
def test_another_body_under_the_same_key_is_a_conflict(api: Api, other: dict[str, Any]) -> None:
    ana = api.user()
    keyed(ana, "k1")
    assert keyed(ana, "k1", other).refusal == (409, "idempotency_conflict")
    assert ana.listed() == ["Ana lives in Porto"]


def test_a_batch_gets_its_first_receipts_also_those_of_items_that_failed(api: Api) -> None:
    ana = api.user()
    body = {"memories": [ITEM, {"content": ""}, ITEM, {"content": "x", "scope": "organization"}]}
    first = keyed(ana, "k1", body).json
    assert [found["outcome"] for found in first["receipts"]] == ["stored", "invalid", "duplicate", "invalid"]
    assert keyed(ana, "k1", body).json == first


def test_callers_meet_no_receipt_of_one_another(api: Api) -> None:
    assistant = api.user("robot", act_as=True)
    callers = {
        "ana": api.user(),
        "bob": api.user("bob"),
        "ana of another organization": api.user(org=new_id("org")),
        "the assistant": assistant,
        "the assistant for ana": assistant.acting_for("ana"),
        "the assistant for bob": assistant.acting_for("bob"),
    }
    bodies = {name: {"content": f"fact {number}"} for number, name in enumerate(callers)}
    receipts = [keyed(user, "k1", bodies[name]).json["receipts"][0] for name, user in callers.items()]
    assert [found["outcome"] for found in receipts] == ["stored"] * len(callers)
    assert len({found["id"] for found in receipts}) == len(callers)


@pytest.mark.parametrize("key", ["a/b", "a%2Fb", "../k1", "k1 ", "K1", "self/ana/k1", "*", "名前", "x" * 255])
def test_an_awkward_key_is_a_key_of_its_own(api: Api, key: str) -> None:
    ana = api.user()
    keyed(ana, "k1")
    other = {"content": "another"}
    first = keyed(ana, key, other)
    assert first.json["receipts"][0]["outcome"] == "stored"
    assert keyed(ana, key, other).json == first.json


@pytest.mark.parametrize("key", ["", "  ", "x" * 256])
def test_a_key_that_is_none_is_named(api: Api, key: str) -> None:
    assert keyed(api.user(), key).field == "Idempotency-Key"


def test_a_request_that_was_refused_leaves_its_key_free(api: Api) -> None:
    ana = api.user()
    assert keyed(ana, "k1", {"content": ""}).field == "content"
    assert keyed(ana, "k1", {"content": "x", "scope": "organization"}).status == 403
    assert keyed(ana, "k1").json["receipts"][0]["outcome"] == "stored"


def test_an_observer_gets_no_receipt_of_what_it_wrote_before(api: Api) -> None:
    keyed(api.user(), "k1")
    assert keyed(api.user("ana", Role.OBSERVER), "k1").refusal == (403, "forbidden")


def test_sixteen_at_once_under_one_key_store_one_row_and_agree_on_its_receipt(api: Api) -> None:
    ana, barrier = api.user(), Barrier(16)
    body = {"memories": [ITEM, {"content": "Ana has a cat"}]}

    def send(_: int) -> Reply:
        barrier.wait(timeout=20)
        return keyed(ana, "k1", body)

    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(send, range(16)))
    assert all(reply.status == 200 or reply.refusal == (409, "in_progress") for reply in replies)
    said = [reply.json for reply in replies if reply.status == 200]
    assert said
    assert all(each == said[0] for each in said)
    assert {found["outcome"] for found in said[0]["receipts"]} == {"stored"}
    assert keyed(ana, "k1", body).json == said[0]
    assert sorted(ana.listed()) == ["Ana has a cat", "Ana lives in Porto"]


def test_sixteen_at_once_with_different_bodies_under_one_key_store_one_of_them(api: Api) -> None:
    ana, barrier = api.user(), Barrier(16)

    def send(i: int) -> Reply:
        barrier.wait(timeout=20)
        return keyed(ana, "k1", {"content": f"body {i}"})

    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(send, range(16)))
    stored = [reply for reply in replies if reply.status == 200]
    assert len(stored) == 1
    refusals = {reply.refusal for reply in replies if reply.status != 200}
    assert refusals == {(409, "idempotency_conflict")}
    assert len(ana.listed()) == 1
