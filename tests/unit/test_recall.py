"""An answer explains itself: what was found and why, what was missing, and which kind of empty it is."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.telemetry import DIMENSIONS
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import ArchivedReason, MemoryType, Status
from chalicelib.domain.query import IndexAnswer, RecallQuery
from chalicelib.domain.scope import Scope
from chalicelib.domain.validation import validated
from chalicelib.errors import InvalidInput, NotFound, StoreUnavailable
from tests.building import NOW, caller, container, row

ANA = caller("acme", "ana", spaces=("red",))
FACTS = (
    "Ana lives in Porto",
    "Ana has a cat called Miso",
    "Ana plays the violin on Sundays",
    "Ana is allergic to peanuts",
    "Ana's brother studies geology",
)


def remembered(services: Container, *contents: str, who: Caller = ANA, **item: Any) -> list[str]:
    """The ids of memories that were stored before."""
    items: list[Any] = [{"content": content, **item} for content in contents]
    return [receipt["id"] for receipt in services.remember.remember(who, items, key=None, single=False)]


def indexed(services: Container, who: Caller = ANA) -> Container:
    """The container with every scope of the caller wholly in its index."""
    for scope in who.chain.keys:
        services.maintenance.rebuild(scope)
    return services


def recall(services: Container, query: str = "where does Ana live?", who: Caller = ANA, **asked: Any) -> dict[str, Any]:
    """The answer to a query."""
    return services.recall.recall(who, RecallQuery(query=query, **asked))


def contents(answer: dict[str, Any]) -> list[str]:
    """What the hits say."""
    return [hit["memory"]["content"] for hit in answer["hits"]]


class DownIndex(InMemoryHotIndex):
    """An index that does not answer."""

    def search(self, *_: Any) -> IndexAnswer:
        raise StoreUnavailable("redis", "no answer")


def test_a_hit_says_where_it_is_from_how_near_it_is_and_why() -> None:
    services = container()
    remembered(services, *FACTS)
    answer = recall(indexed(services), "does Ana play the violin?")
    hit = answer["hits"][0]
    assert hit["memory"]["content"] == "Ana plays the violin on Sundays"
    assert (hit["memory"]["scope"], hit["memory"]["scopeId"], hit["tier"]) == ("user", "ana", "redis_vectors")
    assert "similar in meaning" in hit["why"]
    assert "“violin”" in hit["why"]
    assert answer["cached"] is False
    assert answer["degraded"] == []
    assert answer["recallId"].startswith("rcl_")
    assert [(tier["tier"], "skipped" in tier) for tier in answer["tiers"]] == [
        ("cache", False),
        ("redis_vectors", False),
        ("redis_text", False),
        ("cold", True),
    ]


def test_a_hit_carries_neither_vectors_nor_history_nor_the_verdict() -> None:
    services = container()
    (id_,) = remembered(services, FACTS[0])
    services.editor.edit(ANA, id_, {"content": "Ana lives in Braga"}, 1)
    (hit,) = recall(services)["hits"]
    assert not {"embedding", "admission"} & hit["memory"].keys()
    assert hit["memory"]["history"] == []


@given(st.lists(st.sampled_from(" ".join(FACTS).split()), min_size=1, max_size=6).map(" ".join))
def test_every_score_is_within_0_and_1_and_hits_come_in_the_order_of_fusion(query: str) -> None:
    services = container()
    remembered(services, *FACTS)
    hits = recall(services, query)["hits"]
    assert all(0 <= hit["score"] <= 1 for hit in hits)
    assert all(0 <= hit["scores"]["similarity"] <= 1 and 0 <= hit["scores"]["coverage"] <= 1 for hit in hits)
    fused = [hit["scores"]["fused"] for hit in hits]
    assert fused == sorted(fused, reverse=True)


@pytest.mark.parametrize("query", ["", " ", "\u200b\u2060", "\n", "\x00", "\ufeff"], ids=ascii)
def test_a_blank_query_is_refused_and_the_embedder_not_called(query: str) -> None:
    embedder = TermEmbedder()
    services = container(embedder=embedder)
    remembered(services, *FACTS)
    before = embedder.calls
    with pytest.raises(InvalidInput) as refused:
        recall(services, query)
    assert refused.value.field == "query"
    assert embedder.calls == before


def test_a_query_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        validated(RecallQuery, {"query": "a\ud800"})
    assert refused.value.field == "query"


@pytest.mark.parametrize("embeds", [True, False])
@pytest.mark.parametrize("query", ["…", "?!", "---"])
def test_a_query_without_words_never_matches_everything(query: str, embeds: bool) -> None:
    embedder = TermEmbedder()
    services = container(embedder=embedder)
    remembered(services, *FACTS)
    embedder.fail = not embeds
    assert contents(recall(services, query)) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scope", "user"),
        ("scopeID", ["ana"]),
        ("filters", {}),
        ("userId", "bob"),
        ("orgId", "rival"),
        ("scopes.0", ["galaxy"]),
        ("scopes", []),
        ("scopeIds", []),
        ("types.0", ["wisdom"]),
        ("limit", 0),
        ("limit", 101),
        ("minScore", 1.5),
        ("since", "yesterday"),
        ("before", "2026-01-01T00:00:00"),
        ("tags", {"$ne": "x"}),
    ],
)
def test_a_field_that_is_misspelt_or_wrong_is_refused_and_never_widens_the_search(field: str, value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        validated(RecallQuery, {"query": "x", field.partition(".")[0]: value})
    assert refused.value.field == field


def test_nothing_stored_says_so() -> None:
    answer = recall(container())
    assert answer["hits"] == []
    assert answer["empty"]["reason"] == "nothing_stored"
    assert "POST /engine/memories" in answer["empty"]["next"]


def test_nothing_similar_says_so() -> None:
    services = container()
    remembered(services, *FACTS)
    answer = recall(indexed(services), "quarterly revenue forecast spreadsheet")
    assert answer["hits"] == []
    assert answer["empty"]["reason"] == "nothing_similar"


def test_an_index_that_is_still_being_built_says_so() -> None:
    services = container()
    remembered(services, *FACTS)
    assert recall(services, "quarterly revenue forecast spreadsheet")["empty"]["reason"] == "not_indexed_yet"


@pytest.mark.parametrize(
    "asked", [{"types": ("goal",)}, {"tags": ("nowhere",)}, {"since": NOW + timedelta(days=1)}], ids=str
)
def test_hits_that_filters_left_out_are_said(asked: dict[str, Any]) -> None:
    services = container()
    remembered(services, *FACTS)
    assert recall(indexed(services), **asked)["empty"]["reason"] == "all_filtered"


def test_hits_that_the_least_score_left_out_are_said() -> None:
    services = container()
    remembered(services, *FACTS)
    answer = recall(indexed(services), "does Ana like peanuts or volcanoes?", min_score=1.0)
    assert answer["hits"] == []
    assert answer["empty"]["reason"] == "all_filtered"


def test_a_query_that_nothing_is_near_is_not_said_to_be_filtered() -> None:
    services = container()
    remembered(services, *FACTS)
    answer = recall(indexed(services), "quarterly revenue forecast spreadsheet", min_score=0.9)
    assert answer["empty"]["reason"] == "nothing_similar"


def test_a_store_that_is_down_is_said_and_the_text_still_answers() -> None:
    services = container(hot=DownIndex())
    remembered(services, *FACTS)
    answer = recall(services, "violin")
    assert contents(answer) == ["Ana plays the violin on Sundays"]
    assert answer["hits"][0]["tier"] == "mongo_text"
    assert any("redis is unavailable" in part["message"] for part in answer["degraded"])
    assert all("skipped" in tier for tier in answer["tiers"] if tier["tier"].startswith("redis"))
    assert recall(services, "revenue")["empty"]["reason"] == "store_down"


def test_without_redis_recall_goes_on_and_says_what_was_skipped() -> None:
    services = container(hot=None, cache=None)
    remembered(services, *FACTS)
    answer = recall(services, "violin")
    assert contents(answer) == ["Ana plays the violin on Sundays"]
    assert [tier.get("skipped") for tier in answer["tiers"]] == [
        *["not configured"] * 3,
        None,
        "nothing of it was asked for (include, asOf)",
    ]


@pytest.mark.parametrize("whole", [True, False], ids=["indexed", "not indexed"])
def test_a_query_that_cannot_be_embedded_is_answered_by_words_and_says_so(whole: bool) -> None:
    embedder = TermEmbedder()
    services = container(embedder=embedder)
    remembered(services, *FACTS)
    if whole:
        indexed(services)
    embedder.fail = True
    answer = recall(services, "violin")
    assert contents(answer) == ["Ana plays the violin on Sundays"]
    assert any(part["part"] == "query_vector" for part in answer["degraded"])
    assert 0 < answer["hits"][0]["score"] <= 1
    events = services.ports.telemetry.events  # type: ignore[attr-defined]
    (said,) = [fields for name, fields in events if name == "recall_degraded"]
    counted_by = {name: said[name] for name in DIMENSIONS if name in said}
    assert counted_by == {"part": "query_vector", "code": "embedding_failed"}


def test_vectors_of_another_model_are_diagnosed_and_the_text_still_answers() -> None:
    services = container()
    remembered(services, *FACTS)
    indexed(services)
    other = Container(
        services.settings, container(**vars(services.ports) | {"embedder": TermEmbedder("newer", 64)}).ports
    )
    answer = recall(other, "violin")
    assert contents(answer) == ["Ana plays the violin on Sundays"]
    assert any("another model" in part["message"] and "reindex" in part["message"] for part in answer["degraded"])
    for scope in ANA.chain.keys:
        other.maintenance.embed_again(scope)
    assert recall(other, "violin")["degraded"] == []


@pytest.mark.parametrize("hot", [True, False], ids=["index", "text in the store"])
def test_filters_leave_out_what_does_not_satisfy_every_one(hot: bool) -> None:
    services = container() if hot else container(hot=None)
    remembered(
        services, "Ana likes green tea", type="preference", tags=["drink", "hot"], eventTime="2026-01-10T00:00:00Z"
    )
    remembered(services, "Ana likes black tea", type="fact", tags=["drink"], eventTime="2026-02-10T00:00:00Z")

    def found(**asked: Any) -> list[str]:
        return sorted(contents(recall(services, "which tea does Ana like?", **asked)))

    green, black = "Ana likes green tea", "Ana likes black tea"
    february = NOW.replace(month=2, day=10, hour=0)
    assert found() == [black, green]
    assert found(types=(MemoryType.PREFERENCE,)) == [green]
    assert found(tags=("drink",)) == [black, green]
    assert found(tags=("drink", "hot")) == [green]
    assert found(since=february) == [black]
    assert found(before=february) == [green]
    assert found(types=(MemoryType.FACT,), tags=("hot",)) == []


def test_a_tag_asked_in_another_unicode_form_is_the_same_tag() -> None:
    services = container()
    remembered(services, FACTS[0], tags=["cafe\u0301"])
    for tag in ("caf\u00e9", "cafe\u0301"):
        assert contents(recall(services, tags=(tag,))) == [FACTS[0]]


def test_the_least_score_and_the_limit_hold() -> None:
    services = container()
    remembered(services, *(f"Ana drinks tea number {i}" for i in range(20)))
    hits = recall(services, "tea", limit=3)["hits"]
    assert len(hits) == 3
    assert all(hit["score"] >= 0.5 for hit in recall(services, "Ana drinks tea number 7", min_score=0.5)["hits"])


def test_narrowing_asks_the_named_scopes_alone() -> None:
    services = container()
    remembered(services, "Ana likes tea")
    remembered(services, "The red space likes tea", scope="space", scopeId="red")
    assert contents(recall(services, "who likes tea?", scopes=(Scope.SPACE,))) == ["The red space likes tea"]
    assert contents(recall(services, "who likes tea?", scope_ids=("ana",))) == ["Ana likes tea"]
    assert len(contents(recall(services, "who likes tea?"))) == 2
    with pytest.raises(NotFound):
        recall(services, "who likes tea?", scope_ids=("ana", "green"))


RETIRED: dict[str, dict[str, Any]] = {
    "quarantined": {"status": Status.QUARANTINED},
    "superseded": {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.SUPERSEDED},
    "merged": {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.MERGED},
    "forgotten": {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.FORGOTTEN},
    "expired": {"expires_at": NOW - timedelta(seconds=1)},
    "expiring now": {"expires_at": NOW},
}


@pytest.mark.parametrize("hot", [True, False], ids=["index", "text in the store"])
@pytest.mark.parametrize("fields", RETIRED.values(), ids=list(RETIRED))
def test_what_is_retired_is_never_recalled(fields: dict[str, Any], hot: bool) -> None:
    services = container() if hot else container(hot=None)
    stale = row("Ana lives in Porto", **fields)
    services.ports.store.insert([stale])
    if services.ports.hot:  # the index has not heard of it yet
        active = stale.memory.model_copy(update={"status": Status.ACTIVE})
        services.ports.hot.apply([services.indexer.change(type(stale)(active, stale.counts, stale.length))])
    assert contents(recall(services)) == []


def test_the_same_recall_is_the_same_after_a_restart_and_after_a_rebuild() -> None:
    services = container(cache=None)
    remembered(services, *FACTS, *(f"Ana drinks tea number {i}" for i in range(30)))
    indexed(services)

    def answered(one: Container) -> list[tuple[str, float]]:
        return [(hit["memory"]["id"], hit["score"]) for hit in recall(one, "does Ana drink tea?", limit=20)["hits"]]

    first = answered(services)
    assert len(first) == 20
    assert answered(Container(services.settings, services.ports)) == first
    indexed(services)
    assert answered(services) == first
    fresh = container(**vars(services.ports) | {"hot": InMemoryHotIndex()})
    assert answered(indexed(fresh)) == first


@pytest.mark.parametrize("role", [Role.OBSERVER, Role.MEMBER])
def test_reading_changes_neither_rows_nor_ranking(role: Role) -> None:
    services = container(cache=None)
    ids = remembered(services, *FACTS)
    indexed(services)
    services.ports.hot.changed()  # type: ignore[union-attr]
    before = services.ports.store.fetch(ANA.chain, ids, with_vectors=True)
    who = caller("acme", "ana", role, spaces=("red",))
    answers = [contents(recall(services, "Ana", who)) for _ in range(5)]
    for id_ in ids:
        services.editor.read(who, id_)
    assert all(answer == answers[0] for answer in answers)
    assert services.ports.store.fetch(ANA.chain, ids, with_vectors=True) == before
    assert services.ports.hot.changed() == []  # type: ignore[union-attr]
