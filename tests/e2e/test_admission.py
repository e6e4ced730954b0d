"""Admission over HTTP and real stores: what gets in, what waits, what is refused, and who may overrule it."""

from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.domain.admission import Verdict
from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from chalicelib.write.admission.judgement import replay
from tests.e2e.client import Api, User

MEMORIES = "/engine/memories"
SUNDAYS = "Ana plays the cello on Sundays"


def receipts(user: User, items: list[dict[str, Any]], **asked: Any) -> list[dict[str, Any]]:
    """The receipts of a batch that the service took."""
    reply = user.post(MEMORIES, {"memories": items, **asked})
    assert reply.status == 200, reply.body
    return list(reply.json["receipts"])


def test_a_statement_is_active_a_greeting_waits_and_an_acknowledgement_is_refused(api: Api) -> None:
    ana = api.user("ana", Role.REVIEWER)
    items = [
        {"content": SUNDAYS},
        {"content": "That's wrong, I live in Faro", "type": "conversation"},
        {"content": "hi"},
        {"content": "ok thanks", "type": "conversation"},
    ]
    found = receipts(ana, items)
    assert [each["outcome"] for each in found] == ["stored", "stored", "quarantined", "rejected"]
    assert [each["admission"]["decision"] for each in found] == ["admit", "admit", "quarantine", "reject"]
    assert all(each["reason"] for each in found[2:])
    assert "id" not in found[3]
    assert sorted(ana.listed()) == [SUNDAYS, "That's wrong, I live in Faro"]
    assert ana.listed("status=quarantined") == ["hi"]
    assert ana.recalled("hi") == []
    assert ana.read(found[2]["id"])["quarantineReason"] == "score"


def test_a_stored_verdict_replays_to_itself(api: Api) -> None:
    ana = api.user()
    stored = ana.read(ana.remember(SUNDAYS, messages=[{"speaker": "Ana", "text": "On Sundays I play the cello"}]))
    verdict = Verdict.model_validate(stored["admission"])
    assert replay(verdict) == verdict
    assert verdict.signals.grounded is not None
    assert "messages" not in stored


@pytest.mark.parametrize("single", [True, False], ids=["one", "batch"])
def test_a_dry_run_answers_the_verdict_and_stores_nothing(api: Api, single: bool) -> None:
    ana = api.user("ana", Role.ADMIN)
    body = {"content": SUNDAYS} if single else {"memories": [{"content": SUNDAYS}]}
    key = {"Idempotency-Key": "k"}
    reply = ana.post(MEMORIES, body | {"dryRun": True}, key)
    (receipt,) = reply.json["receipts"]
    assert (receipt["outcome"], receipt["dryRun"], receipt["admission"]["decision"]) == ("stored", True, "admit")
    assert "id" not in receipt
    assert ana.listed() == []
    assert ana.recalled(SUNDAYS) == []
    assert ana.post(MEMORIES, body, key).json["receipts"][0]["outcome"] == "stored"


def test_trust_admits_is_recorded_and_takes_an_admin(api: Api) -> None:
    admin, ana = api.user("root", Role.ADMIN), api.user("ana", Role.REVIEWER)
    (receipt,) = receipts(admin, [{"content": "hi"}], trusted=True)
    assert (receipt["outcome"], receipt["admission"]["by"]) == ("stored", "trust")
    assert admin.read(receipt["id"])["admission"]["trustedBy"] == "root"
    events = admin.get("/engine/audit").json["events"]
    assert [(each["action"], each["target"]) for each in events] == [("trust", receipt["id"])]
    reply = ana.post(MEMORIES, {"memories": [{"content": "hi"}], "trusted": True})
    assert reply.refusal == (403, "forbidden")
    assert ana.listed("status=quarantined") == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"content": "x", "dryRun": "yes"}, "dryRun"),
        ({"content": "x", "trusted": True}, "trusted"),
        ({"memories": [{"content": "x"}], "dryRun": 1}, "dryRun"),
        ({"memories": [{"content": "x"}], "trusted": None}, "trusted"),
        ({"content": "x", "messages": [{"speaker": "a"}]}, "messages.0.text"),
        ({"content": "x", "messages": [{"text": "a", "by": "b"}]}, "messages.0.by"),
    ],
)
def test_a_wrong_flag_is_named_and_nothing_is_stored(
    api: Api, embedder: TermEmbedder, body: dict[str, Any], field: str
) -> None:
    admin = api.user("root", Role.ADMIN)
    assert admin.post(MEMORIES, body).field == field
    assert admin.listed() == []
    assert embedder.calls == 0


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "no index"])
def test_what_others_hold_does_not_make_a_memory_less_new(api: Api, indexed: bool) -> None:
    others = [
        (api.user("bob", spaces=("red",)), {}),
        (api.user("bob", spaces=("red",)), {"scope": "space", "scopeId": "red"}),
        (api.user("ana", org=new_id("org")), {}),
    ]
    ana = api.user("ana", spaces=("red",))
    if indexed:
        api.index(ana)

    def verdict() -> Any:
        return ana.post(MEMORIES, {"content": SUNDAYS, "dryRun": True}).json["receipts"][0]["admission"]

    before = verdict()
    for user, where in others:
        user.remember(SUNDAYS, **where)
        if indexed and user.api.org == api.org:
            api.index(ana)
    assert verdict() == before
    ana.remember(f"{SUNDAYS}!", type="observation")
    assert verdict()["factors"]["semanticNovelty"] < before["factors"]["semanticNovelty"] / 2
