"""A repeated write answers its first receipts, and no key reaches another caller's (faults.md 8)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller
from chalicelib.domain.query import StoredMemory
from chalicelib.errors import IdempotencyConflict, InProgress, InvalidInput, StoreUnavailable
from chalicelib.ports import Browse
from tests.building import TestClock, caller, container

ANA = caller("acme", "ana")
PORTO = {"content": "Ana lives in Porto"}
TEA = {"content": "Ana likes tea"}


def remember(services: Container, item: dict[str, Any], key: str | None = "k1", who: Caller = ANA) -> dict[str, Any]:
    """The receipt of one item under an idempotency key."""
    (receipt,) = services.remember.remember(who, [item], key=key, single=True)
    return receipt


def test_the_same_key_and_body_give_the_first_receipts() -> None:
    services = container()
    first = remember(services, PORTO)
    assert first["outcome"] == "stored"
    assert remember(services, PORTO) == first
    assert len(services.ports.store.browse(ANA.chain, Browse()).items) == 1


def test_the_order_of_fields_makes_no_other_body() -> None:
    services = container()
    first = remember(services, PORTO | {"type": "fact"})
    assert remember(services, {"type": "fact"} | PORTO) == first


def test_the_same_key_with_another_body_is_a_conflict_and_stores_nothing() -> None:
    services = container()
    remember(services, PORTO)
    with pytest.raises(IdempotencyConflict):
        remember(services, TEA)
    assert len(services.ports.store.browse(ANA.chain, Browse()).items) == 1


@pytest.mark.parametrize(
    "other",
    [caller("acme", "bob"), caller("rival", "ana"), caller("acme", "ana", on_behalf_by="key_1")],
    ids=["user", "organization", "assistant"],
)
def test_a_key_is_the_callers_own(other: Caller) -> None:
    services = container()
    remember(services, PORTO)
    assert remember(services, TEA, who=other)["outcome"] == "stored"


def test_no_user_id_reaches_the_keys_of_an_assistant() -> None:
    services = container()
    remember(services, PORTO, who=caller("acme", "ana", on_behalf_by="key_1"))
    assert remember(services, TEA, who=caller("acme", "key_1>ana"))["scopeId"] == "key_1>ana"


def test_a_key_is_not_used_up_by_a_body_that_is_invalid() -> None:
    services = container()
    with pytest.raises(InvalidInput):
        remember(services, {"content": " "})
    assert remember(services, PORTO)["outcome"] == "stored"


def test_a_write_without_a_key_is_not_held_by_one() -> None:
    services = container()
    remember(services, PORTO)
    assert remember(services, TEA, key=None)["outcome"] == "stored"
    assert remember(services, PORTO, key="k2")["outcome"] == "duplicate"


def test_a_batch_with_failing_items_answers_the_same_receipts_again() -> None:
    services = container()
    items: list[Any] = [PORTO, {"content": ""}, TEA]
    first = services.remember.remember(ANA, items, key="k1", single=False)
    assert [receipt["outcome"] for receipt in first] == ["stored", "invalid", "stored"]
    assert services.remember.remember(ANA, items, key="k1", single=False) == first


class Failing(InMemoryMemoryStore):
    """A store whose next write fails."""

    fail = False

    def insert(self, rows: Any) -> list[str | None]:
        if self.fail:
            self.fail = False
            raise StoreUnavailable("mongo", "no answer")
        return super().insert(rows)


def test_a_write_that_failed_can_be_repeated_at_once_under_its_first_time() -> None:
    store, clock = Failing(), TestClock()
    services = container(store=store, clock=clock)
    store.fail = True
    began = clock()
    with pytest.raises(StoreUnavailable):
        remember(services, PORTO | {"type": "event"})
    clock.forward(seconds=5)
    receipt = remember(services, PORTO | {"type": "event"})
    assert receipt["outcome"] == "stored"
    assert services.editor.read(ANA, receipt["id"]).event_time == began


def test_a_repeat_while_the_first_is_under_way_is_told_so() -> None:
    services = container()
    seen: list[type[Exception]] = []

    class Slow(InMemoryMemoryStore):
        def insert(self, rows: Any) -> list[str | None]:
            with pytest.raises(InProgress) as refused:
                remember(services, PORTO)
            seen.append(refused.type)
            return super().insert(rows)

    services = container(store=Slow())
    assert remember(services, PORTO)["outcome"] == "stored"
    assert seen == [InProgress]


def test_a_write_that_never_ended_is_taken_over_after_a_minute_and_makes_no_second_row() -> None:
    class Crashing(InMemoryMemoryStore):
        crash = True

        def insert(self, rows: Any) -> list[str | None]:
            found = super().insert(rows)
            if self.crash:
                raise KeyboardInterrupt
            return found

    store, clock = Crashing(), TestClock()
    services = container(store=store, clock=clock)
    with pytest.raises(KeyboardInterrupt):
        remember(services, PORTO | {"type": "event"})
    store.crash = False
    clock.forward(seconds=30)
    with pytest.raises(InProgress):
        remember(services, PORTO | {"type": "event"})
    clock.forward(seconds=31)
    assert remember(services, PORTO | {"type": "event"})["outcome"] == "duplicate"
    assert len(services.ports.store.browse(ANA.chain, Browse()).items) == 1


def test_of_many_identical_writes_at_once_one_is_stored() -> None:
    services = container()
    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(lambda _: remember(services, PORTO, key=None), range(32)))
    assert [receipt["outcome"] for receipt in receipts].count("stored") == 1
    assert len({receipt["id"] for receipt in receipts}) == 1


def test_of_two_rows_of_one_content_inserted_at_once_the_second_is_told_of_the_first() -> None:
    class Racing(InMemoryMemoryStore):
        def find_duplicates(self, rows: Any) -> list[str | None]:
            return [None for _ in rows]

    services = container(store=Racing())
    first, second = remember(services, PORTO, key=None), remember(services, PORTO, key=None)
    assert (first["outcome"], second["outcome"]) == ("stored", "duplicate")
    assert first["id"] == second["id"]
    assert isinstance(services.ports.store.fetch(ANA.chain, [first["id"]])[0], StoredMemory)
