"""A cached answer is never one that stopped being true (faults.md 23), and says that it is cached."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.memory.cache import InMemoryRecallCache
from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.index import GenerationCounter
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.query import RecallQuery, StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.errors import StoreUnavailable
from tests.building import NOW, TestClock, caller, container

ANA = caller("acme", "ana")
ADMIN = caller("acme", "root", Role.ADMIN)


def given(services: Container, content: str = "Ana lives in Porto", **item: Any) -> str:
    """The id of a memory that was stored before."""
    (receipt,) = services.remember.remember(ANA, [{"content": content, **item}], key=None, single=True)
    return str(receipt["id"])


def recall(services: Container, **asked: Any) -> dict[str, Any]:
    """The answer to one and the same query."""
    return services.recall.recall(ANA, RecallQuery(query="where does Ana live?", **asked))


def contents(answer: dict[str, Any]) -> list[str]:
    """What the hits say."""
    return [hit["memory"]["content"] for hit in answer["hits"]]


def test_the_same_question_again_is_answered_from_the_cache_under_an_id_of_its_own() -> None:
    embedder = TermEmbedder()
    services = container(embedder=embedder)
    given(services)
    first, calls = recall(services), embedder.calls
    second = recall(services)
    assert (first["cached"], second["cached"]) == (False, True)
    assert second["hits"] == first["hits"]
    assert second["recallId"] != first["recallId"]
    assert [tier["tier"] for tier in second["tiers"]] == ["cache"]
    assert embedder.calls == calls


@pytest.mark.parametrize(
    "asked", [{"limit": 3}, {"min_score": 0.1}, {"tags": ("x",)}, {"types": ("fact",)}, {"before": NOW}], ids=str
)
def test_another_question_is_not_answered_by_it(asked: dict[str, Any]) -> None:
    services = container()
    given(services)
    recall(services)
    assert recall(services, **asked)["cached"] is False


def test_the_vector_of_a_query_is_kept_for_other_questions_with_the_same_text() -> None:
    embedder = TermEmbedder()
    services = container(embedder=embedder)
    given(services)
    recall(services)
    calls = embedder.calls
    recall(services, limit=3)
    assert embedder.calls == calls


def test_a_cached_answer_lives_at_most_a_minute() -> None:
    clock = TestClock()
    services = container(clock=clock)
    given(services)
    recall(services)
    clock.forward(seconds=59)
    assert recall(services)["cached"] is True
    clock.forward(seconds=2)
    assert recall(services)["cached"] is False


def test_what_was_remembered_since_is_found_at_once() -> None:
    services = container()
    given(services)
    recall(services)
    given(services, "Ana lives near the river")
    assert "Ana lives near the river" in contents(recall(services))


def test_an_edit_a_forget_a_restore_and_a_purge_show_at_once() -> None:
    services = container()
    id_ = given(services)
    assert contents(recall(services)) == ["Ana lives in Porto"]
    services.editor.edit(ANA, id_, {"content": "Ana lives in Braga"}, 1)
    assert contents(recall(services)) == ["Ana lives in Braga"]
    services.editor.forget(ANA, id_)
    assert contents(recall(services)) == []
    services.editor.restore(ANA, id_)
    assert contents(recall(services)) == ["Ana lives in Braga"]
    services.editor.purge(caller("acme", "ana", Role.ADMIN), id_)
    assert contents(recall(services)) == []


def test_a_write_to_a_broader_scope_shows_at_once() -> None:
    services = container()
    given(services)
    recall(services)
    policy = {"content": "Nobody says where Ana lives", "scope": "organization", "overridable": False}
    services.remember.remember(ADMIN, [policy], key=None, single=True)
    assert "Nobody says where Ana lives" in contents(recall(services))


def test_an_answer_that_was_begun_before_a_forget_is_not_served_after_it() -> None:
    class Interrupted(InMemoryMemoryStore):
        after_fetch: Any = None

        def fetch(self, chain: Chain, ids: Sequence[str], *, with_vectors: bool = False) -> list[StoredMemory]:
            found = super().fetch(chain, ids, with_vectors=with_vectors)
            act, self.after_fetch = self.after_fetch, None
            if act:
                act()
            return found

    store = Interrupted()
    services = container(store=store)
    id_ = given(services)
    store.after_fetch = lambda: services.editor.forget(ANA, id_)
    recall(services)
    assert contents(recall(services)) == []


@pytest.mark.parametrize("seconds", [0.5, 1, 30])
def test_a_memory_that_expired_is_not_served_from_the_cache(seconds: float) -> None:
    clock = TestClock()
    services = container(clock=clock)
    given(services, expiresAt=(NOW + timedelta(seconds=seconds)).isoformat())
    assert contents(recall(services)) == ["Ana lives in Porto"]
    clock.forward(seconds=seconds)
    assert contents(recall(services)) == []


def test_a_degraded_answer_is_not_kept() -> None:
    embedder = TermEmbedder()
    services = container(embedder=embedder)
    given(services)
    embedder.fail = True
    assert recall(services)["degraded"]
    embedder.fail = False
    again = recall(services)
    assert again["cached"] is False
    assert again["degraded"] == []


def test_an_answer_from_an_index_that_is_still_being_built_is_not_kept_empty() -> None:
    services = container()
    given(services, "the cat is called Miso")
    services.recall.recall(ANA, RecallQuery(query="revenue"))
    assert services.recall.recall(ANA, RecallQuery(query="revenue"))["cached"] is False


def test_a_cache_that_is_down_is_said_and_costs_nothing_else() -> None:
    class Down(InMemoryRecallCache):
        def open(self, *_: Any) -> Any:
            raise StoreUnavailable("redis", "no answer")

    services = container(cache=Down(GenerationCounter(), TestClock()))
    given(services)
    answer = recall(services)
    assert contents(answer) == ["Ana lives in Porto"]
    assert answer["tiers"][0] | {"ms": 0} == {
        "tier": "cache",
        "ms": 0,
        "candidates": 0,
        "skipped": "redis is unavailable",
    }
    assert services.recall_audit.read(ANA, answer["recallId"]).query


def test_a_cache_that_goes_down_on_the_way_loses_no_audit() -> None:
    class Forgetful(InMemoryRecallCache):
        def close(self, *_: Any) -> None:
            raise StoreUnavailable("redis", "no answer")

    services = container(cache=Forgetful(GenerationCounter(), TestClock()))
    given(services)
    answer = recall(services)
    assert services.recall_audit.read(ANA, answer["recallId"]).hits
    assert "recall_not_cached" in [name for name, _ in services.ports.telemetry.events]  # type: ignore[attr-defined]
