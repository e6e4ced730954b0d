"""Recall over HTTP: explained hits, honest emptiness, a cache that never lies, and readers who change nothing."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.bootstrap import system_clock
from chalicelib.domain.caller import Role
from chalicelib.settings import RecallSettings, Settings
from tests.e2e.client import Api, User, absent
from tests.e2e.conftest import Serve
from tests.e2e.stores import Stores

HIT = {"memory", "score", "scores", "tier", "why"}
FACTS = {
    "Ana lives in Porto": {"type": "fact", "tags": ["home"], "eventTime": "2024-01-01T00:00:00Z"},
    "Ana moved to Porto for the sea": {
        "type": "decision",
        "tags": ["home", "sea"],
        "eventTime": "2025-01-01T00:00:00Z",
    },
    "Ana likes the food of Porto": {"type": "preference", "tags": ["food"], "eventTime": "2025-06-01T00:00:00Z"},
}


@pytest.fixture
def ana(api: Api) -> User:
    """Ana, who has told of Porto."""
    user = api.user("ana", spaces=("red",))
    items = [{"content": content, **item} for content, item in FACTS.items()]
    assert user.post("/engine/memories", {"memories": items}).status == 200
    api.index(user)
    return user


def test_a_hit_says_what_it_is_how_near_and_why(ana: User) -> None:
    answer = ana.answer("where does Ana live?")
    assert answer["recallId"].startswith("rcl_")
    assert answer["cached"] is False
    assert answer["degraded"] == []
    assert "empty" not in answer
    assert {"cache", "redis_vectors", "redis_text"} <= {tier["tier"] for tier in answer["tiers"]}
    hit = answer["hits"][0]
    assert hit.keys() == HIT
    assert hit["memory"]["content"] == "Ana lives in Porto"
    assert hit["tier"] == "redis_vectors"
    assert 0 < hit["score"] <= 1
    assert "“live”" in hit["why"]
    assert not {"embedding", "admission", "terms"} & hit["memory"].keys()
    assert ana.read(hit["memory"]["id"])["content"] == hit["memory"]["content"]


def test_a_recall_right_after_a_remember_finds_it(api: Api) -> None:
    user = api.user()
    for i in range(5):
        content = f"the code of door {i} is {i}{i}{i}"
        user.remember(content)
        assert content in user.recalled("what is the code of the door?")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"types": ["fact"]}, {"Ana lives in Porto"}),
        ({"types": ["fact", "decision"]}, {"Ana lives in Porto", "Ana moved to Porto for the sea"}),
        ({"tags": ["home"]}, {"Ana lives in Porto", "Ana moved to Porto for the sea"}),
        ({"tags": ["home", "sea"]}, {"Ana moved to Porto for the sea"}),
        ({"since": "2025-01-01T00:00:00Z"}, {"Ana moved to Porto for the sea", "Ana likes the food of Porto"}),
        ({"before": "2025-01-01T00:00:00Z"}, {"Ana lives in Porto"}),
        ({"since": "2025-01-01T01:00:00+01:00", "before": "2025-06-01T00:00:00Z"}, {"Ana moved to Porto for the sea"}),
        ({"scopes": ["user"]}, set(FACTS)),
        ({"scopeIds": ["ana"]}, set(FACTS)),
        ({"scopes": ["organization", "space"]}, set()),
        ({"scopeIds": ["red"]}, set()),
        ({"types": ["goal"]}, set()),
        ({"tags": ["hom"]}, set()),
    ],
)
def test_filters_hold(ana: User, asked: dict[str, Any], expected: set[str]) -> None:
    assert set(ana.recalled("Ana Porto", **asked)) == expected


def test_limit_and_least_score_hold(ana: User) -> None:
    hits = ana.answer("where does Ana live?")["hits"]
    assert len(hits) == 3
    assert ana.recalled("where does Ana live?", limit=1) == [hits[0]["memory"]["content"]]
    least = sorted(hit["score"] for hit in hits)[1]
    assert all(hit["score"] >= least for hit in ana.answer("where does Ana live?", minScore=least)["hits"])


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"querry": "x"}, "querry"),
        ({"scope": "user"}, "scope"),
        ({"scope_ids": ["ana"]}, "scope_ids"),
        ({"filter": {"type": {"$ne": "fact"}}}, "filter"),
        ({"types": ["gossip"]}, "types.0"),
        ({"types": []}, "types"),
        ({"types": "fact"}, "types"),
        ({"types": {"$ne": "fact"}}, "types"),
        ({"tags": {"$exists": True}}, "tags"),
        ({"tags": ["a\ud800"]}, "tags.0"),
        ({"scopes": ["galaxy"]}, "scopes.0"),
        ({"scopes": []}, "scopes"),
        ({"scopeIds": []}, "scopeIds"),
        ({"scopeIds": [3]}, "scopeIds.0"),
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"minScore": 2}, "minScore"),
        ({"since": "yesterday"}, "since"),
        ({"since": {"$gt": "2025-01-01T00:00:00Z"}}, "since"),
        ({"before": "2025-01-01T00:00:00"}, "before"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "since"),
        ({"query": None}, "query"),
        ({"query": ["x"]}, "query"),
        ({"query": "x" * 4001}, "query"),
        ({"query": "\ud800"}, "query"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_embedded(
    api: Api, embedder: TermEmbedder, asked: dict[str, Any], field: str
) -> None:
    assert api.user().post("/engine/memories/recall", {"query": "Porto", **asked}).field == field
    assert embedder.calls == 0


def test_a_query_in_which_nothing_can_be_seen_is_refused_and_not_embedded(ana: User, embedder: TermEmbedder) -> None:
    before = embedder.calls
    for query in (
        "",
        " ",
        "\n\t",
        "\u200b",
        "\u200b \ufeff\u2060",
        "\u00ad",
        "\u202e\u200d",
        "\x00\x01",
        "\u3000",
    ):
        assert ana.post("/engine/memories/recall", {"query": query}).field == "query", ascii(query)
    assert ana.post("/engine/memories/recall", {}).field == "query"
    assert embedder.calls == before


def test_characters_that_take_no_space_or_show_none_are_nothing_too(ana: User) -> None:
    """A combining joiner, a variation selector, the fillers of Hangul."""
    for text in ("\u034f", "\ufe0f", "\u115f\u1160", "\u3164"):
        assert ana.post("/engine/memories/recall", {"query": text}).status == 422, ascii(text)
        assert ana.post("/engine/memories", {"content": text}).status == 422, ascii(text)


def test_a_query_that_matches_nothing_brings_nothing(ana: User) -> None:
    for query in ("???", "。。。", "😀", "…—", "*", "$ne", ".*", "%", "zebra", "斑马", "얼룩말", "ม้าลาย"):
        answer = ana.answer(query)
        assert answer["hits"] == [], query
        assert answer["empty"]["reason"] == "nothing_similar", query


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("東京に住んでいます", "東京"),
        ("我住在北京的海淀区", "北京海淀"),
        ("안나는 포르투에 산다", "포르투"),
        ("แอนนาอาศัยอยู่ในปอร์โต", "ปอร์โต"),
        ("Ана живёт в Порту", "Где живёт Ана?"),
        ("يسكن أحمد في القاهرة", "القاهرة"),
    ],
)
def test_scripts_without_spaces_are_found_and_match_no_others(ana: User, content: str, query: str) -> None:
    assert ana.receipt(content)["outcome"] in {"stored", "superseded"}  # where she says that she lives elsewhere now
    near = [hit["memory"]["content"] for hit in ana.answer(query)["hits"] if hit["score"] >= 0.5]
    assert near == [content]


def test_an_empty_answer_says_which_kind_of_empty_it_is(ana: User, api: Api) -> None:
    def why(user: User, query: str, **asked: Any) -> Any:
        answer = user.answer(query, **asked)
        assert answer["hits"] == []
        assert answer["empty"]["message"]
        assert answer["empty"]["next"]
        return answer["empty"]["reason"]

    assert why(api.user("newcomer"), "where?") == "nothing_stored"
    carol = api.user("carol")
    carol.remember("Carol lives in Faro")
    assert why(carol, "quantum chromodynamics") == "not_indexed_yet"
    assert why(ana, "quantum chromodynamics") == "nothing_similar"
    assert why(ana, "where does Ana live?", types=["goal"]) == "all_filtered"
    assert why(ana, "where does Ana live?", since="2099-01-01T00:00:00Z") == "all_filtered"
    assert why(api.user("bob"), "where?", scopes=["space"]) == "nothing_stored"
    assert why(ana, "where does Ana live?", scopeIds=["red"]) == "nothing_stored"


def test_the_same_recall_is_answered_from_the_cache_and_says_so(ana: User, embedder: TermEmbedder) -> None:
    first = ana.answer("where does Ana live?")
    calls = embedder.calls
    second = ana.answer("where does Ana live?")
    assert (first["cached"], second["cached"]) == (False, True)
    assert second["hits"] == first["hits"]
    assert second["recallId"] != first["recallId"]
    assert embedder.calls == calls
    for other in ({"limit": 2}, {"types": ["fact"]}, {"minScore": 0.1}, {"scopes": ["user"]}):
        assert ana.answer("where does Ana live?", **other)["cached"] is False


def test_the_cache_serves_nothing_that_was_changed_forgotten_or_added_since(ana: User) -> None:
    query = "where does Ana live?"

    def cached_twice() -> list[str]:
        contents = ana.recalled(query)
        again = ana.answer(query)
        assert again["cached"]
        assert [hit["memory"]["content"] for hit in again["hits"]] == contents
        return contents

    assert "Ana lives in Porto" in cached_twice()
    id_ = ana.answer(query)["hits"][0]["memory"]["id"]
    assert ana.patch(id_, {"content": "Ana lives in Porto by the river"}, 1).status == 200
    assert "Ana lives in Porto by the river" in (contents := cached_twice())
    assert "Ana lives in Porto" not in contents
    assert ana.forget(id_).status == 200
    assert "Ana lives in Porto by the river" not in cached_twice()
    assert ana.post(f"/engine/memories/{id_}/restore").status == 200
    assert "Ana lives in Porto by the river" in cached_twice()
    ana.remember("Ana lives in a red house")
    assert "Ana lives in a red house" in cached_twice()
    root = ana.api.user("ana", Role.ADMIN)
    assert root.forget(id_, "purge=true").status == 200
    assert "Ana lives in Porto by the river" not in cached_twice()


def test_a_write_of_one_member_reaches_what_is_cached_for_another(api: Api) -> None:
    ana, bob = api.user(spaces=("red",)), api.user("bob", spaces=("red",))
    item = {"scope": "space", "scopeId": "red"}
    id_ = ana.remember("the red team meets at noon", **item)
    for _ in range(2):
        assert bob.recalled("when does the red team meet?") == ["the red team meets at noon"]
    ana.forget(id_)
    assert bob.recalled("when does the red team meet?") == []


def test_a_memory_that_expired_is_not_recalled(api: Api) -> None:
    user = api.user()
    past, future = (system_clock() + timedelta(days=days) for days in (-1, 1))
    user.remember("the red pass is valid", expiresAt=past.isoformat())
    user.remember("the blue pass is valid", expiresAt=future.isoformat())
    assert user.recalled("which pass is valid?") == ["the blue pass is valid"]


def test_a_query_that_cannot_be_embedded_is_answered_by_words_and_not_cached(ana: User, embedder: TermEmbedder) -> None:
    embedder.fail = True
    for _ in range(2):
        answer = ana.answer("Ana lives in Porto")
        assert answer["hits"][0]["memory"]["content"] == "Ana lives in Porto"
        assert answer["degraded"]
        assert answer["cached"] is False
    embedder.fail = False
    assert ana.answer("Ana lives in Porto")["degraded"] == []


def test_the_same_recall_is_the_same_after_a_restart(serve: Serve) -> None:
    settings = Settings(recall=RecallSettings(cache_seconds=0, query_cache_seconds=0))
    api = serve(settings)
    ana = api.user()
    facts = [{"content": f"Ana has {i} cats of colour {i % 7}", "eventTime": "2025-01-01T00:00:00Z"} for i in range(60)]
    ana.post("/engine/memories", {"memories": facts})
    first = ana.answer("how many cats does Ana have?", limit=50)["hits"]
    assert len(first) == 50
    again = User(serve(settings), ana.headers).answer("how many cats does Ana have?", limit=50)
    assert again["cached"] is False
    assert again["hits"] == first


def test_a_recall_explains_itself_to_who_asked_and_without_the_query_to_an_admin(ana: User, api: Api) -> None:
    first = ana.answer("where does Ana live?")
    second = ana.answer("where does Ana live?")
    for answer in (first, second):
        found = ana.get(f"/engine/recalls/{answer['recallId']}").json
        assert found["query"] == "where does Ana live?"
        assert found["cached"] is answer["cached"]
        assert [hit["id"] for hit in found["hits"]] == [hit["memory"]["id"] for hit in answer["hits"]]
        assert [hit["score"] for hit in found["hits"]] == [hit["score"] for hit in answer["hits"]]
        assert (found["orgId"], found["userId"]) == (api.org, "ana")
        assert not any(content in str(found) for content in FACTS)
    seen = api.user("root", Role.ADMIN).get(f"/engine/recalls/{first['recallId']}").json
    assert seen["query"] == ""
    assert [hit["id"] for hit in seen["hits"]] == [hit["memory"]["id"] for hit in first["hits"]]
    for other in (api.user("bob"), api.user("bob", Role.REVIEWER)):
        assert other.get(f"/engine/recalls/{first['recallId']}").refusal == (404, "not_found")
    assert ana.get(f"/engine/recalls/{absent('rcl')}").refusal == (404, "not_found")


def test_the_audit_of_an_empty_recall_says_why_it_was_empty(ana: User) -> None:
    recall = ana.answer("quantum chromodynamics")["recallId"]
    assert ana.get(f"/engine/recalls/{recall}").json["empty"] == "nothing_similar"


def test_an_observer_reads_and_changes_nothing(api: Api, stores: Stores) -> None:
    root, item = api.user("root", Role.ADMIN), {"scope": "organization"}
    ids = [root.remember(content, **item) for content in ("the office is in Porto", "the office has a garden")]
    observer, member = api.user("eve", Role.OBSERVER), api.user("bob")
    before = [stores.memory(id_) for id_ in ids]
    ranking = member.answer("where is the office?")["hits"]
    for i in range(10):
        assert observer.recalled(f"where is the office {i}?")
        observer.read(ids[1])
    assert [stores.memory(id_) for id_ in ids] == before
    fresh = member.answer("where is the office?", minScore=0.0001)
    assert fresh["cached"] is False
    assert fresh["hits"] == ranking


def test_changing_tags_makes_no_memory_look_newer(ana: User) -> None:
    id_ = ana.answer("where does Ana live?")["hits"][0]["memory"]["id"]
    before = ana.read(id_)
    assert ana.patch(id_, {"tags": ["moved"]}, before["revision"]).status == 200
    after = ana.read(id_)
    same = ("eventTime", "createdAt", "admittedAt")
    assert [after[name] for name in same] == [before[name] for name in same]
    assert datetime.fromisoformat(after["updatedAt"]) > datetime.fromisoformat(before["updatedAt"])
    assert "Ana lives in Porto" in ana.recalled("Ana Porto", before="2024-01-01T00:00:01Z")
