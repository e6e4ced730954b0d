"""The one look at the hot index that a write takes: who is asked, how often, and that no scope bears on another."""

import threading
from collections.abc import Sequence
from typing import Any

from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.bootstrap import Container
from chalicelib.domain.memory import IndexState
from chalicelib.domain.query import IndexAnswer, IndexQuery, TermStatistics
from chalicelib.domain.scope import Chain
from chalicelib.errors import StoreUnavailable
from tests.building import TestClock, caller, container, in_memory_ports, row

ANA = caller("acme", "ana", spaces=("red",))
PATIENCE = 20  # seconds; nobody waits for them unless the test is about to fail
TEXTS = ("Ana lives in Porto", "Bob plays chess on Sundays", "Eve painted the lighthouse green")


class Asked(InMemoryHotIndex):
    """Keeps what it was asked, one list a call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[tuple[Chain, IndexQuery]]] = []

    def search_many(self, asked: Sequence[tuple[Chain, IndexQuery]]) -> list[IndexAnswer]:
        self.calls.append(list(asked))
        return super().search_many(asked)


class Counted(InMemoryMemoryStore):
    """Counts how often it is asked for statistics, and answers with what it is told to."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.asked = 0
        self.rows = rows

    def statistics(self, chain: Chain) -> TermStatistics:  # noqa: ARG002
        self.asked += 1
        return TermStatistics(self.rows, {"porto": 50} if self.rows else {})


def complete(services: Container) -> Container:
    """The services, every scope of ana's complete in the index."""
    assert services.ports.hot
    for scope in ANA.chain.keys:
        services.ports.hot.complete(scope)
    return services


def tell(services: Container, *texts: str, **fields: Any) -> list[dict[str, Any]]:
    """The receipts of texts in one request of ana's."""
    items = [{"content": text} | fields for text in texts]
    return services.remember.remember(ANA, list(items), key=None, single=False)


def test_admission_and_consolidation_of_all_rows_of_a_request_ask_the_index_once() -> None:
    hot = Asked()
    services = complete(container(hot=hot))
    tell(services, *TEXTS)
    assert len(hot.calls) == 1
    assert len(hot.calls[0]) == len(TEXTS) + 1  # the first of them claims something


def test_the_words_around_values_are_asked_for_with_everything_else() -> None:
    hot = Asked()
    services = complete(container(hot=hot))
    tell(services, TEXTS[1], "The barn needs 40 planks of oak before winter")
    ((*_, (_, stating)),) = hot.calls
    assert len(hot.calls[0]) == 3
    assert (stating.vector, set(stating.terms)) == (None, {"barn", "need", "plank", "oak", "winter"})


def test_each_row_is_asked_about_in_its_own_scope_and_no_other() -> None:
    hot = Asked()
    services = complete(container(hot=hot))
    text = f"{TEXTS[0]}, where the rent is 700 euros"
    items = [{"content": text}, {"content": text, "scope": "space", "scopeId": "red"}]
    services.remember.remember(ANA, list(items), key=None, single=False)
    ((*asked,),) = hot.calls
    assert {chain.keys for chain, _ in asked} == {("acme/user/ana",), ("acme/space/red",)}


def test_what_is_frequent_in_a_scope_is_not_asked_for_and_known_for_a_minute() -> None:
    hot, store, clock = Asked(), Counted(rows=5_000), TestClock()
    services = complete(container(hot=hot, store=store, clock=clock))
    for text in ("Eve sold her boat in Porto before harvest", "Bob met Zoe in Porto over coffee yesterday"):
        tell(services, text)
    assert store.asked == 1
    assert all("porto" not in query.terms for some in hot.calls for _, query in some)
    clock.forward(seconds=61)
    tell(services, TEXTS[2])
    assert store.asked == 2


def test_that_nothing_is_known_of_a_scope_is_not_kept() -> None:
    store = Counted(rows=0)
    services = complete(container(hot=Asked(), store=store))
    tell(services, TEXTS[0])
    store.rows = 5_000
    tell(services, TEXTS[1])
    tell(services, TEXTS[2])
    assert store.asked == 2


class Away(InMemoryHotIndex):
    """An index that is away, and counts who asked it."""

    asked = 0

    def search_many(self, asked: Sequence[tuple[Chain, IndexQuery]]) -> list[IndexAnswer]:  # noqa: ARG002
        self.asked += 1
        raise StoreUnavailable("redis", "it is away")


def test_an_index_that_is_away_is_asked_once_a_request_and_that_is_said() -> None:
    hot, telemetry = Away(), RecordedTelemetry()
    services = container(hot=hot, telemetry=telemetry)
    (receipt,) = tell(services, TEXTS[0])
    assert receipt["outcome"] == "stored"
    assert receipt["admission"]["missing"] == ["index", "vectors"]
    assert hot.asked == 1
    assert [name for name, _ in telemetry.events].count("scope_without_index") == 1


def test_a_row_whose_terms_changed_is_asked_about_again() -> None:
    hot = Asked()
    services = container(hot=hot)
    look = services.lookup.begin()
    before = row(TEXTS[0])
    after = row(TEXTS[1], id=before.memory.id)
    look.around([before])
    look.around([before])
    look.around([after])
    assert len(hot.calls) == 2


class Held(InMemoryMemoryStore):
    """A store that takes a note once it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()

    def settle(self, indexed: Sequence[Any]) -> None:
        if not self.let.wait(PATIENCE):
            raise StoreUnavailable("mongo", "it was waited for")
        super().settle(indexed)


def test_a_server_answers_before_the_truth_notes_that_the_index_has_the_row() -> None:
    store = Held()
    services = complete(Container(container().settings, in_memory_ports(store=store), marks_later=True))
    (receipt,) = tell(services, TEXTS[0])
    assert receipt["index"]["state"] == "indexed"
    (stored,) = store.fetch(ANA.chain, [receipt["id"]])
    assert stored.memory.index_state is IndexState.PENDING
    store.let.set()
    services.after_response.settle()
    (stored,) = store.fetch(ANA.chain, [receipt["id"]])
    assert stored.memory.index_state is IndexState.INDEXED


class Stubborn(InMemoryMemoryStore):
    """A store that takes rows and no notes."""

    def settle(self, indexed: Sequence[Any]) -> None:  # noqa: ARG002
        raise StoreUnavailable("mongo", "it is slow")


def test_a_note_that_fails_after_the_response_is_said_and_leaves_the_row_to_the_worker() -> None:
    telemetry = RecordedTelemetry()
    ports = in_memory_ports(store=Stubborn(), telemetry=telemetry)
    services = complete(Container(container().settings, ports, marks_later=True))
    (receipt,) = tell(services, TEXTS[0])
    services.after_response.settle()
    assert "rows_not_settled" in [name for name, _ in telemetry.events]
    (stored,) = services.ports.store.fetch(ANA.chain, [receipt["id"]])
    assert stored.memory.index_state is IndexState.PENDING


def test_a_process_that_sleeps_once_it_has_answered_notes_it_before() -> None:
    services = complete(Container(container().settings, in_memory_ports(), sleeps=True, marks_later=True))
    (receipt,) = tell(services, TEXTS[0])
    (stored,) = services.ports.store.fetch(ANA.chain, [receipt["id"]])
    assert stored.memory.index_state is IndexState.INDEXED
