"""`ports.KeyStore`, `ports.ReceiptStore`, `ports.AuditLog` and `ports.RecallStore`."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from chalicelib.adapters.memory.administration import (
    InMemoryAuditLog,
    InMemoryKeyStore,
    InMemoryRecallStore,
    InMemoryReceiptStore,
)
from chalicelib.adapters.mongo.administration import MongoAuditLog, MongoKeyStore, MongoRecallStore
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import RECALLS, RECEIPTS
from chalicelib.adapters.mongo.receipts import MongoReceiptStore
from chalicelib.domain.administration import Page, Reservation, ReservationState
from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from chalicelib.domain.query import EmptyReason, Missing, MissingCode, TierName, TierReport
from chalicelib.errors import InvalidInput
from chalicelib.ports import AuditLog, KeyStore, RecallStore, ReceiptStore
from tests.building import AWKWARD_IDS, NOW, api_key, event, record
from tests.contract.racing import at_once

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
DAY = 86400
ADAPTERS = ["twin", "mongo"]


@pytest.fixture(params=ADAPTERS)
def keys(request: pytest.FixtureRequest) -> KeyStore:
    """API keys."""
    return InMemoryKeyStore() if request.param == "twin" else MongoKeyStore(request.getfixturevalue("mongo"))


@pytest.fixture(params=ADAPTERS)
def receipts(request: pytest.FixtureRequest) -> ReceiptStore:
    """Idempotency keys."""
    return InMemoryReceiptStore() if request.param == "twin" else MongoReceiptStore(request.getfixturevalue("mongo"))


@pytest.fixture(params=ADAPTERS)
def audit(request: pytest.FixtureRequest) -> AuditLog:
    """Audit events."""
    return InMemoryAuditLog() if request.param == "twin" else MongoAuditLog(request.getfixturevalue("mongo"))


@pytest.fixture(params=ADAPTERS)
def recalls(request: pytest.FixtureRequest) -> RecallStore:
    """The recall audit."""
    return InMemoryRecallStore() if request.param == "twin" else MongoRecallStore(request.getfixturevalue("mongo"))


def paged[T](read: Callable[[str | None], Page[T]]) -> list[T]:
    """The items of all pages."""
    page = read(None)
    items = list(page.items)
    while page.cursor:
        page = read(page.cursor)
        items += page.items
    return items


def test_an_organization_lists_its_own_keys_only(keys: KeyStore, org: str) -> None:
    mine, theirs = api_key(org), api_key(new_id("org"), user_id=org)
    keys.add(mine)
    keys.add(theirs)
    assert keys.list(org, None, 10).items == (mine,)
    assert keys.list(new_id("org"), None, 10).items == ()


def test_an_organization_revokes_its_own_keys_only(keys: KeyStore, org: str) -> None:
    mine = api_key(org)
    keys.add(mine)
    assert not keys.revoke(new_id("org"), mine.id, NOW)
    assert keys.get(mine.id) == mine
    assert not keys.revoke(org, "key_unknown", NOW)
    assert keys.get("key_unknown") is None


def test_a_key_comes_back_whole_with_its_hash(keys: KeyStore, org: str) -> None:
    full = api_key(
        org,
        user_id="a/b:名前",
        roles=(Role.ADMIN, Role.OBSERVER),
        spaces=("red", "a$.b"),
        universes=("blue",),
        act_as=True,
        expires_at=NOW + timedelta(days=1, milliseconds=7),
    )
    keys.add(full)
    found = keys.get(full.id)
    assert found == full
    assert found.secret_hash == full.secret_hash
    assert keys.list(org, None, 10).items == (full,)


def test_revoking_twice_keeps_the_first_time(keys: KeyStore, org: str) -> None:
    mine, other = api_key(org), api_key(org)
    keys.add(mine)
    keys.add(other)
    assert keys.revoke(org, mine.id, NOW + SECOND)
    assert keys.revoke(org, mine.id, NOW + MINUTE)
    assert keys.get(mine.id) == mine.model_copy(update={"revoked_at": NOW + SECOND})
    assert keys.get(other.id) == other


def test_keys_are_listed_newest_first_page_by_page(keys: KeyStore, org: str) -> None:
    made = [api_key(org, created_at=NOW - n // 2 * SECOND) for n in range(7)]
    for one in made:
        keys.add(one)
    found = paged(lambda cursor: keys.list(org, cursor, 2))
    assert found == sorted(made, key=lambda one: (one.created_at, one.id), reverse=True)


@pytest.mark.parametrize("cursor", ["x", "NQ==", "W251bGwsIG51bGxd"])
def test_a_list_refuses_what_is_no_cursor(keys: KeyStore, audit: AuditLog, org: str, cursor: str) -> None:
    for read in (keys.list, audit.list):
        with pytest.raises(InvalidInput):
            read(org, cursor, 10)


def test_the_first_request_takes_a_key_and_others_see_it_at_work(receipts: ReceiptStore, org: str) -> None:
    assert receipts.reserve(org, "ana", "k", "hash", NOW) == Reservation(ReservationState.NEW, "hash", NOW)
    again = receipts.reserve(org, "ana", "k", "hash", NOW + SECOND)
    assert again == Reservation(ReservationState.IN_PROGRESS, "hash", NOW)


def test_a_finished_request_gives_its_receipts(receipts: ReceiptStore, org: str) -> None:
    response: list[dict[str, Any]] = [{"id": "mem_1", "outcome": "stored", "a.b": {"$c": None}}, {"名前": [1.5, True]}]
    receipts.reserve(org, "ana", "k", "hash", NOW)
    receipts.complete(org, "ana", "k", response)
    done = Reservation(ReservationState.DONE, "hash", NOW, response)
    for later in (SECOND, timedelta(days=6)):
        assert receipts.reserve(org, "ana", "k", "hash", NOW + later) == done


def test_another_body_sees_what_the_key_was_taken_for(receipts: ReceiptStore, org: str) -> None:
    receipts.reserve(org, "ana", "k", "first", NOW)
    assert receipts.reserve(org, "ana", "k", "second", NOW).body_hash == "first"
    late = receipts.reserve(org, "ana", "k", "second", NOW + 10 * MINUTE)
    assert (late.state, late.body_hash) == (ReservationState.IN_PROGRESS, "first")
    receipts.release(org, "ana", "k")
    assert receipts.reserve(org, "ana", "k", "second", NOW).body_hash == "first"
    receipts.complete(org, "ana", "k", [])
    done = receipts.reserve(org, "ana", "k", "second", NOW)
    assert (done.state, done.body_hash) == (ReservationState.DONE, "first")


def test_organizations_callers_and_keys_are_independent(receipts: ReceiptStore, org: str) -> None:
    names = [
        (org, "ana", "k"),
        (org, "bob", "k"),
        (org, "ana", "l"),
        (new_id("org"), "ana", "k"),
        (org, "ana/a", "b"),
        (org, "ana", "a/b"),
        (f"{org}/receipt/ana", "k", "l"),
        (org, "ana/receipt/k", "l"),
        *((org, name, "k") for name in AWKWARD_IDS),
        *((org, "k", name) for name in AWKWARD_IDS),
    ]
    for name in names:
        assert receipts.reserve(*name, "hash", NOW).state is ReservationState.NEW
    receipts.complete(*names[0], [{"id": "mem_1"}])
    states = [receipts.reserve(*name, "hash", NOW).state for name in names]
    assert states == [ReservationState.DONE, *[ReservationState.IN_PROGRESS] * (len(names) - 1)]


def test_work_that_never_ended_is_taken_over_after_a_minute_under_its_first_time(
    receipts: ReceiptStore, org: str
) -> None:
    receipts.reserve(org, "ana", "k", "hash", NOW)
    assert receipts.reserve(org, "ana", "k", "hash", NOW + MINUTE).state is ReservationState.IN_PROGRESS
    taken = NOW + MINUTE + SECOND
    assert receipts.reserve(org, "ana", "k", "hash", taken) == Reservation(ReservationState.NEW, "hash", NOW)
    assert receipts.reserve(org, "ana", "k", "hash", taken + MINUTE).state is ReservationState.IN_PROGRESS
    again = receipts.reserve(org, "ana", "k", "hash", taken + MINUTE + SECOND)
    assert again == Reservation(ReservationState.NEW, "hash", NOW)


def test_a_release_lets_a_repeat_take_over_at_once_under_the_first_time(receipts: ReceiptStore, org: str) -> None:
    receipts.reserve(org, "ana", "k", "hash", NOW)
    receipts.release(org, "ana", "k")
    repeat = receipts.reserve(org, "ana", "k", "hash", NOW + SECOND)
    assert repeat == Reservation(ReservationState.NEW, "hash", NOW)
    assert receipts.reserve(org, "ana", "k", "hash", NOW + SECOND).state is ReservationState.IN_PROGRESS


def test_of_requests_at_once_exactly_one_is_new(receipts: ReceiptStore, org: str) -> None:
    for name in ("k1", "k2", "k3"):
        found = at_once(*[partial(receipts.reserve, org, "ana", name, "hash", NOW)] * 8)
        assert sorted(one.state for one in found) == [ReservationState.IN_PROGRESS] * 7 + [ReservationState.NEW]


def test_of_takeovers_at_once_exactly_one_is_new(receipts: ReceiptStore, org: str) -> None:
    receipts.reserve(org, "ana", "k", "hash", NOW)
    later = NOW + MINUTE + SECOND
    found = at_once(*(partial(receipts.reserve, org, "ana", "k", "hash", later + n * SECOND / 1000) for n in range(8)))
    assert sorted(one.state for one in found) == [ReservationState.IN_PROGRESS] * 7 + [ReservationState.NEW]
    assert {one.at for one in found} == {NOW}


def test_a_receipt_is_read_for_7_days_however_late_the_store_drops_it(receipts: ReceiptStore, org: str) -> None:
    week = timedelta(days=7)
    receipts.reserve(org, "ana", "k", "hash", NOW)
    receipts.complete(org, "ana", "k", [{"outcome": "stored"}])
    assert receipts.reserve(org, "ana", "k", "hash", NOW + week).state is ReservationState.DONE
    after = NOW + week + SECOND
    found = at_once(*[partial(receipts.reserve, org, "ana", "k", "another hash", after)] * 8)
    assert sorted(one.state for one in found) == [ReservationState.IN_PROGRESS] * 7 + [ReservationState.NEW]
    assert {(one.body_hash, one.at) for one in found} == {("another hash", after)}
    receipts.complete(org, "ana", "k", [{"outcome": "duplicate"}])
    assert receipts.reserve(org, "ana", "k", "another hash", after).response == [{"outcome": "duplicate"}]


def test_receipts_are_kept_for_7_days_and_recalls_for_90(mongo: MongoConnection) -> None:
    kept = {
        name: [index["expireAfterSeconds"] for index in indexes.values() if "expireAfterSeconds" in index]
        for name in (RECEIPTS, RECALLS)
        for indexes in (mongo.database.get_collection(name).index_information(),)
    }
    assert kept == {RECEIPTS: [7 * DAY], RECALLS: [90 * DAY]}


def test_an_organization_reads_its_own_events_only(audit: AuditLog, org: str) -> None:
    mine, theirs = event(org, id="evt_1"), event(new_id("org"), id="evt_1", target=org)
    audit.add([mine, theirs])
    assert audit.list(org, None, 10).items == (mine,)
    assert audit.list(new_id("org"), None, 10).items == ()


def test_events_are_listed_newest_first_page_by_page(audit: AuditLog, org: str) -> None:
    events = [event(org, at=NOW - n // 3 * SECOND) for n in range(8)]
    audit.add(events[4:])
    audit.add(events[:4])
    audit.add([])
    found = paged(lambda cursor: audit.list(org, cursor, 3))
    assert found == sorted(events, key=lambda one: (one.at, one.id), reverse=True)


def test_an_event_that_is_there_is_left_as_it_is(audit: AuditLog, org: str) -> None:
    first = event(org, action="reject")
    fresh = event(org, at=NOW + SECOND)
    audit.add([first])
    audit.add([first.model_copy(update={"action": "promote"}), fresh, fresh])
    assert audit.list(org, None, 10).items == (fresh, first)


def test_an_event_comes_back_whole(audit: AuditLog, org: str) -> None:
    details = {"fields": ["tags"], "a.b": {"$c": None}, "名前": 1.5, "none": None}
    full = event(org, id="a/b", on_behalf_by="key_1", target="mem_1", details=details)
    audit.add([full])
    assert audit.list(org, None, 10).items == (full,)


def test_an_organization_reads_its_own_recalls_only(recalls: RecallStore, org: str) -> None:
    other = new_id("org")
    mine, theirs = record(org, recall_id="rcl_1"), record(other, recall_id="rcl_1", query="what?")
    recalls.add([mine, theirs])
    assert (recalls.get(org, "rcl_1"), recalls.get(other, "rcl_1")) == (mine, theirs)
    assert recalls.get(new_id("org"), "rcl_1") is None
    assert recalls.get(org, "rcl_2") is None


def test_a_record_that_is_there_is_left_as_it_is(recalls: RecallStore, org: str) -> None:
    first = record(org, query="first")
    again = first.model_copy(update={"query": "again", "cached": True})
    fresh = record(org)
    recalls.add([first, again])
    recalls.add([again, fresh])
    recalls.add([])
    assert recalls.get(org, first.recall_id) == first
    assert recalls.get(org, fresh.recall_id) == fresh


def test_records_drained_twice_at_once_are_stored_once(recalls: RecallStore, org: str) -> None:
    records = [record(org) for _ in range(20)]
    at_once(*[partial(recalls.add, records)] * 4)
    assert [recalls.get(org, one.recall_id) for one in records] == records


def test_a_record_comes_back_whole(recalls: RecallStore, org: str) -> None:
    full = record(
        org,
        recall_id="a/b:%",
        credential="key_1",
        query="名前 $where",
        scopes=(f"{org}/user/a%2Fb",),
        cached=True,
        hits=({"id": "mem_1", "score": 0.5, "scores": {"cosine": None, "bm25": 1.25}},),
        empty=EmptyReason.NOTHING_SIMILAR,
        tiers=(TierReport(tier=TierName.CACHE, ms=0.25, candidates=3, skipped="off"),),
        degraded=(Missing(part="redis_vectors", code=MissingCode.STORE_UNAVAILABLE, message="away"),),
    )
    recalls.add([full])
    assert recalls.get(org, "a/b:%") == full
