"""What a write answers: one true receipt an item, and nothing stored that may not be."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import Memory
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.text.cleaning import RECALL_FENCE
from chalicelib.errors import Forbidden, InvalidInput, NotFound, VittoError
from chalicelib.ports import Browse
from tests.building import NOW, TestClock, caller, container
from tests.unit.fake_secrets import AWS_KEY

ANA = caller("acme", "ana", spaces=("red",))
ADMIN = caller("acme", "root", Role.ADMIN)
PORTO: dict[str, Any] = {"content": "Ana lives in Porto"}


def remember(services: Container, who: Caller = ANA, **item: Any) -> dict[str, Any]:
    """The receipt of one item, by default a new fact of ana's."""
    (receipt,) = services.remember.remember(who, [PORTO | item], key=None, single=True)
    return receipt


def stored(services: Container, who: Caller = ANA) -> list[Memory]:
    """All active memories that `who` sees."""
    return list(services.ports.store.browse(who.chain, Browse(limit=200)).items)


def test_a_receipt_says_what_was_stored_and_where() -> None:
    services = container()
    receipt = remember(services)
    assert receipt.pop("admission")["decision"] == "admit"
    assert receipt == {
        "outcome": "stored",
        "id": receipt["id"],
        "scope": "user",
        "scopeId": "ana",
        "status": "active",
        "revision": 1,
        "redacted": [],
        "index": {"state": "indexed"},
    }
    assert services.editor.read(ANA, receipt["id"]).content == "Ana lives in Porto"


def test_identity_comes_from_the_caller_and_times_from_the_clock() -> None:
    services = container()
    memory = services.editor.read(ANA, remember(services)["id"])
    assert (memory.org_id, memory.user_id, memory.scope_id) == ("acme", "ana", "ana")
    assert memory.event_time == memory.created_at == memory.updated_at == memory.admitted_at == NOW


@pytest.mark.parametrize(
    "field", ["orgId", "userId", "id", "status", "createdAt", "layer", "scope_id", "event_time", "tagz"]
)
def test_a_field_that_is_not_known_is_refused_by_its_name(field: str) -> None:
    services = container()
    with pytest.raises(InvalidInput) as refused:
        services.remember.remember(ANA, [PORTO | {field: "x"}], key=None, single=True)
    assert refused.value.field == field
    assert stored(services) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type", "wisdom"),
        ("scope", "galaxy"),
        ("content", 7),
        ("content", None),
        ("importance", 1.5),
        ("importance", "nan"),
        ("confidence", -0.1),
        ("eventTime", "yesterday"),
        ("eventTime", "2026-01-01T00:00:00"),
        ("tags.0", [""]),
        ("claims.0.value", [{"subject": "a", "attribute": "b"}]),
        ("links.0.kind", [{"kind": "likes", "target": "mem_1"}]),
        ("origin.speakers", {"speakers": "Ana"}),
        ("attachments.0.url", [{"type": "image", "url": ""}]),
    ],
)
def test_a_value_that_is_wrong_is_refused_by_its_path(field: str, value: object) -> None:
    services = container()
    with pytest.raises(InvalidInput) as refused:
        services.remember.remember(ANA, [PORTO | {field.partition(".")[0]: value}], key=None, single=True)
    assert refused.value.field == field
    assert refused.value.details["problems"][0]["field"] == field
    assert stored(services) == []


def test_content_that_is_missing_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidInput) as refused:
        container().remember.remember(ANA, [{}], key=None, single=True)
    assert refused.value.field == "content"


def test_a_refused_value_is_not_repeated() -> None:
    with pytest.raises(InvalidInput) as refused:
        remember(container(), type=AWS_KEY)
    assert AWS_KEY not in f"{refused.value.message} {refused.value.details}"


@pytest.mark.parametrize("content", ["", "  ", "\u200b\u2060", "\n\t", "\x00", "\u00a0\u3000"], ids=ascii)
def test_blank_content_is_refused_and_the_embedder_not_called(content: str) -> None:
    embedder = TermEmbedder()
    with pytest.raises(InvalidInput) as refused:
        remember(container(embedder=embedder), content=content)
    assert refused.value.field == "content"
    assert embedder.calls == 0


def test_content_over_16_kilobytes_is_refused_with_the_limit_named() -> None:
    services = container()
    with pytest.raises(InvalidInput) as refused:
        remember(services, content="é" * 8193)
    assert refused.value.field == "content"
    assert refused.value.details["limit"] == 16384
    assert remember(services, content="é" * 8192)["outcome"] == "stored"


def test_in_a_batch_an_item_that_fails_has_its_own_receipt_and_the_others_are_stored() -> None:
    services = container()
    items: list[Any] = [
        {"content": "Ana lives in Porto"},
        {"content": " "},
        {"content": "Ana likes tea", "type": "wisdom"},
        {"content": "Ana likes tea", "scope": "space", "scopeId": "green"},
        {"content": "Ana likes tea", "overridable": False},
        {"content": "Ana has a cat"},
        {"content": "Ana lives in Porto"},
    ]
    receipts = services.remember.remember(ANA, items, key=None, single=False)
    assert [r["outcome"] for r in receipts] == [
        "stored",
        "invalid",
        "invalid",
        "invalid",
        "invalid",
        "stored",
        "duplicate",
    ]
    assert [r["error"]["details"]["field"] for r in receipts[1:5]] == ["content", "type", "scopeId", "overridable"]
    assert [r["error"]["code"] for r in receipts[1:5]] == ["invalid_input", "invalid_input", "not_found", "forbidden"]
    assert receipts[6]["id"] == receipts[0]["id"]
    assert sorted(memory.content for memory in stored(services)) == ["Ana has a cat", "Ana lives in Porto"]
    assert all("id" not in receipt for receipt in receipts[1:5])


def test_a_batch_in_which_every_item_fails_stores_nothing() -> None:
    services = container()
    receipts = services.remember.remember(ANA, [{"content": ""}, {}], key=None, single=False)
    assert [receipt["outcome"] for receipt in receipts] == ["invalid", "invalid"]
    assert stored(services) == []


@pytest.mark.parametrize("content", ["Ana lives in Porto", " Ana  lives\nin Porto ", "Ana\u200b lives in Porto"])
def test_the_same_content_in_the_same_scope_is_one_row(content: str) -> None:
    services = container()
    first = remember(services)
    second = remember(services, content=content)
    assert second["outcome"] == "duplicate"
    assert second["id"] == first["id"]
    assert second["reason"]
    assert len(stored(services)) == 1


def test_the_same_content_in_another_scope_is_another_row() -> None:
    services = container()
    receipts = [remember(services), remember(services, scope="space", scopeId="red")]
    receipts += [remember(services, caller("acme", "bob")), remember(services, caller("rival", "ana"))]
    assert [receipt["outcome"] for receipt in receipts] == ["stored"] * 4
    assert len({receipt["id"] for receipt in receipts}) == 4


@pytest.mark.parametrize("kind", ["event", "observation", "conversation"])
def test_of_a_timed_type_the_same_content_at_another_time_is_another_row(kind: str) -> None:
    services = container()
    times = NOW.isoformat(), (NOW + timedelta(days=1)).isoformat(), NOW.isoformat()
    items: list[Any] = [PORTO | {"type": kind, "eventTime": time} for time in times]
    receipts = services.remember.remember(ADMIN, items, key=None, single=False, trusted=True)
    assert [receipt["outcome"] for receipt in receipts] == ["stored", "stored", "duplicate"]


def test_of_other_types_the_event_time_makes_no_other_row() -> None:
    services = container()
    remember(services)
    assert remember(services, eventTime=(NOW - timedelta(days=9)).isoformat())["outcome"] == "duplicate"


def test_an_archived_row_does_not_hold_its_content() -> None:
    services = container()
    first = remember(services)
    services.editor.forget(ANA, first["id"])
    second = remember(services)
    assert second["outcome"] == "stored"
    assert second["id"] != first["id"]


def test_a_policy_takes_an_admin() -> None:
    services = container()
    with pytest.raises(Forbidden) as refused:
        remember(services, overridable=False)
    assert refused.value.details["field"] == "overridable"
    assert remember(services, ADMIN, overridable=False)["outcome"] == "stored"


def test_organization_scope_takes_an_admin() -> None:
    services = container()
    with pytest.raises(Forbidden):
        remember(services, scope="organization")
    assert remember(services, ADMIN, scope="organization")["scopeId"] == "acme"
    assert [memory.content for memory in stored(services)] == ["Ana lives in Porto"]


@pytest.mark.parametrize(
    "where",
    [{"scopeId": "bob"}, {"scope": "space", "scopeId": "green"}, {"scope": "universe", "scopeId": "red"}],
    ids=str,
)
@pytest.mark.parametrize("who", [ANA, caller("acme", "ana", Role.ADMIN)], ids=["member", "admin"])
def test_a_foreign_scope_is_not_found(where: dict[str, str], who: Caller) -> None:
    services = container()
    with pytest.raises(NotFound):
        remember(services, who, **where)


@pytest.mark.parametrize(
    "who", [caller("acme", "ana", Role.OBSERVER), caller("acme", "ana", Role.OBSERVER, Role.ADMIN)]
)
def test_an_observer_stores_nothing(who: Caller) -> None:
    services = container()
    with pytest.raises(Forbidden):
        remember(services, who)
    with pytest.raises(Forbidden):
        services.remember.remember(who, [PORTO], key="k", single=False)
    assert stored(services) == []


def test_a_text_that_brings_a_recall_block_back_is_skipped() -> None:
    services = container()
    receipt = remember(services, content=f"Notes: <{RECALL_FENCE}>Ana lives in Porto</{RECALL_FENCE}>")
    assert receipt["outcome"] == "skipped"
    assert receipt["reason"]
    assert stored(services) == []


def test_secrets_are_redacted_before_anything_is_stored_or_embedded() -> None:
    seen: list[str] = []

    class Spy(TermEmbedder):
        def embed_query(self, text: str) -> bytes:
            seen.append(text)
            return super().embed_query(text)

    services = container(embedder=Spy())
    receipt = remember(
        services,
        content=f"the key is {AWS_KEY}",
        tags=[AWS_KEY],
        attachments=[{"type": "image", "url": "https://example.com/a", "description": AWS_KEY}],
    )
    assert receipt["redacted"] == ["aws_access_key"]
    (row,) = services.ports.store.fetch(ANA.chain, [receipt["id"]], with_vectors=True)
    assert AWS_KEY not in f"{row} {seen} {receipt}"
    assert AWS_KEY.lower() not in row.counts


def test_two_contents_that_differ_in_a_secret_alone_are_one_row() -> None:
    services = container()
    remember(services, content=f"the key is {AWS_KEY}")
    assert remember(services, content=f"the key is {AWS_KEY[:-1]}Z")["outcome"] == "duplicate"


def test_a_memory_that_could_not_be_embedded_is_pending_and_found_by_its_words() -> None:
    embedder = TermEmbedder()
    embedder.fail = True
    services = container(embedder=embedder)
    receipt = remember(services)
    assert receipt["outcome"] == "stored"
    assert receipt["index"]["state"] == "pending"
    assert receipt["index"]["reason"]
    assert services.ports.store.count_pending() == 1
    answer = services.recall.recall(ANA, RecallQuery(query="Porto"))
    assert [hit["memory"]["id"] for hit in answer["hits"]] == [receipt["id"]]


def test_a_pending_memory_is_indexed_once_the_embedder_is_back() -> None:
    embedder, clock = TermEmbedder(), TestClock()
    embedder.fail = True
    services = container(embedder=embedder, clock=clock)
    id_ = remember(services)["id"]
    clock.forward(minutes=1)
    assert services.maintenance.retry_pending() == 0
    embedder.fail = False
    assert services.maintenance.retry_pending() == 1
    memory = services.editor.read(ANA, id_)
    assert (memory.index_state, memory.revision, memory.updated_at) == ("indexed", 1, NOW)
    assert services.ports.store.count_pending() == 0
    (hit,) = services.recall.recall(ANA, RecallQuery(query="where does Ana live"))["hits"]
    assert hit["tier"] == "redis_vectors"


def test_one_text_that_the_embedder_refuses_holds_up_no_other() -> None:
    class Picky(TermEmbedder):
        def embed_query(self, text: str) -> bytes:
            self.fail = "poison" in text or self.calls < 1
            return super().embed_query(text)

    clock = TestClock()
    services = container(embedder=Picky(), clock=clock)
    items: list[Any] = [{"content": f"fact number {i}" if i else "poison"} for i in range(4)]
    receipts = services.remember.remember(ANA, items, key=None, single=False)
    assert {receipt["index"]["state"] for receipt in receipts} == {"pending"}
    clock.forward(minutes=1)
    assert services.maintenance.retry_pending() == 3
    assert services.ports.store.count_pending() == 1


def test_what_an_assistant_does_for_a_user_is_audited_under_both_names() -> None:
    services = container()
    acting = caller("acme", "ana", on_behalf_by="key_1")
    receipt = remember(services, acting)
    (event,) = services.ports.audit.list("acme", None, 10).items
    assert (event.action, event.actor, event.on_behalf_by, event.target) == ("remember", "ana", "key_1", receipt["id"])


def test_nothing_is_audited_where_nothing_was_stored() -> None:
    services = container()
    acting = caller("acme", "ana", on_behalf_by="key_1")
    remember(services, ANA)
    remember(services, acting)
    with pytest.raises(VittoError):
        remember(services, acting, content="")
    assert services.ports.audit.list("acme", None, 10).items == ()
