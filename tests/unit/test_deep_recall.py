"""Deep recall follows links and shared names within the reader's chain, and searches for the parts of a query one by one."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.domain.memory import ArchivedReason, LinkKind, MemoryType, Status
from chalicelib.domain.query import Hit, Scores, TierName
from chalicelib.domain.scope import Scope
from chalicelib.domain.vector import Vector
from chalicelib.errors import StoreUnavailable
from chalicelib.recall import links, search
from chalicelib.recall.merging import merged, with_parts
from tests.building import NOW, caller, memory, row
from tests.unit.recalling import ANA, claims, contents, fillers, holding, linked, recall, tier

LEAD = row("The harbour project is led by Ana", id="mem_lead", key_entities=("Harbour",))
QUESTION = "who leads the harbour project?"


def deep(services: Any, query: str = QUESTION, **asked: Any) -> dict[str, Any]:
    """The answer on the deep route."""
    return recall(services, query, route="deep", **asked)


def via(answer: dict[str, Any], content: str) -> dict[str, Any]:
    """How a hit was reached."""
    (hit,) = [hit for hit in answer["hits"] if hit["memory"]["content"] == content]
    return dict(hit["via"])


@pytest.mark.parametrize("kind", LinkKind)
@pytest.mark.parametrize("outgoing", [True, False])
def test_a_link_is_followed_either_way_and_the_hit_says_from_where(kind: LinkKind, outgoing: bool) -> None:
    other = row("Budget: forty thousand", id="mem_other", links=() if outgoing else linked("mem_lead", kind))
    source = row(LEAD.memory.content, id="mem_lead", links=linked(other, kind) if outgoing else ())
    answer = deep(holding(source, other, *fillers(3)))
    assert set(contents(answer)[:2]) == {LEAD.memory.content, "Budget: forty thousand"}
    assert via(answer, "Budget: forty thousand") == {"id": "mem_lead", "over": kind}
    hits = {hit["memory"]["id"]: hit for hit in answer["hits"]}
    assert f"is linked ({kind}) with mem_lead" in hits["mem_other"]["why"]
    assert 0 < hits["mem_other"]["scores"]["lent"] < hits["mem_lead"]["score"]
    assert hits["mem_other"]["score"] < hits["mem_lead"]["score"]
    assert tier(answer, "links")["candidates"] == 1


@pytest.mark.parametrize("fields", [{"key_entities": ("harbour",)}, {"claims": claims(("HARBOUR", "budget", "40k"))}])
def test_a_shared_name_is_followed_however_it_is_written(fields: dict[str, Any]) -> None:
    services = holding(LEAD, row("Budget: forty thousand", **fields), *fillers(3))
    assert via(deep(services, min_score=0.1), "Budget: forty thousand") == {
        "id": "mem_lead",
        "over": "entity",
        "name": "harbour",
    }


def test_two_hops_are_taken_and_a_third_is_not() -> None:
    chain = [row(f"step {i}", id=f"mem_{i}", links=linked(f"mem_{i + 1}")) for i in range(5)]
    start = row(LEAD.memory.content, id="mem_lead", links=linked("mem_0"))
    answer = deep(holding(start, *chain))
    assert contents(answer) == [LEAD.memory.content, "step 0", "step 1"]
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("route", ["fast", "standard"])
def test_other_routes_follow_nothing(route: str) -> None:
    services = holding(LEAD, row("Budget: forty thousand", links=linked(LEAD)))
    answer = recall(services, QUESTION, route=route)
    assert not [hit for hit in answer["hits"] if "via" in hit]
    assert [report for report in answer["tiers"] if report["tier"] == "links"] == []


FOREIGN: dict[str, dict[str, Any]] = {
    "of another user": {"scope_id": "bob", "user_id": "bob"},
    "of another space": {"scope": Scope.SPACE, "scope_id": "green"},
    "of another organization": {"org_id": "rival"},
    "of a space named as the user": {"scope": Scope.SPACE, "scope_id": "ana"},
}
RETIRED: dict[str, dict[str, Any]] = {
    "superseded": {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.SUPERSEDED, "archived_at": NOW},
    "forgotten": {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.FORGOTTEN, "archived_at": NOW},
    "quarantined": {"status": Status.QUARANTINED},
    "expired": {"expires_at": NOW},
}


@pytest.mark.parametrize("fields", [*FOREIGN.values(), *RETIRED.values()], ids=[*FOREIGN, *RETIRED])
def test_nothing_foreign_and_nothing_retired_is_reached(fields: dict[str, Any]) -> None:
    incoming = row("a secret sum", id="mem_secret", links=linked("mem_lead"), key_entities=("harbour",), **fields)
    start = row(LEAD.memory.content, id="mem_lead", links=linked("mem_secret"), key_entities=("harbour",))
    assert contents(deep(holding(start, incoming))) == [LEAD.memory.content]


def test_what_was_asked_for_filters_what_is_reached() -> None:
    services = holding(LEAD, row("Budget: forty thousand", links=linked(LEAD), type=MemoryType.GOAL))
    assert contents(deep(services, types=(MemoryType.FACT,))) == [LEAD.memory.content]
    assert contents(deep(services, min_score=0.6)) == [LEAD.memory.content]


def test_an_off_topic_query_abstains_and_follows_nothing() -> None:
    services = holding(LEAD, row("Budget: forty thousand", links=linked(LEAD)))
    answer = deep(services, "quarterly revenue forecast spreadsheet")
    assert answer["hits"] == []
    assert answer["empty"]["reason"] == "nothing_similar"


def test_the_rows_that_are_followed_are_bounded_and_the_limit_holds() -> None:
    many = [row(f"note {i}", key_entities=("harbour",), links=linked("mem_lead")) for i in range(200)]
    services = holding(LEAD, *many)
    assert len(deep(services)["hits"]) == 20
    assert tier(deep(services), "links")["candidates"] <= links.HOPS * 3 * links.MOST_ROWS


class Failing(InMemoryMemoryStore):
    """A store that does not answer what links lead to."""

    def related(self, *_: Any, **__: Any) -> Any:
        raise StoreUnavailable("mongo", "no answer")


def test_links_that_cannot_be_followed_are_said_and_the_rest_stands() -> None:
    answer = deep(holding(LEAD, store=Failing()))
    assert contents(answer) == [LEAD.memory.content]
    assert [(part["part"], part["code"]) for part in answer["degraded"]] == [("links", "store_unavailable")]


def test_without_time_neither_links_nor_parts_are_looked_for_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (links, search):
        monkeypatch.setattr(module, "time_left", lambda: 0.01)
    answer = deep(holding(LEAD), "who leads the harbour project? And where is the tower?")
    assert contents(answer) == [LEAD.memory.content]
    assert {(part["part"], part["code"]) for part in answer["degraded"]} == {
        ("links", "out_of_time"),
        ("parts", "out_of_time"),
    }


VIOLIN, CAT = row("Ana plays the violin on Sundays"), row("The cat of Bob is called Miso")


def test_each_part_of_a_query_is_searched_for_and_the_hits_are_merged() -> None:
    query = "What does Ana play on Sundays? And what is the cat of Bob called?"
    services = holding(VIOLIN, CAT, *fillers(5))
    answer = recall(services, query)
    assert answer["route"]["name"] == "deep"
    assert set(contents(answer)[:2]) == {VIOLIN.memory.content, CAT.memory.content}
    whole = recall(services, query, route="standard")
    assert max(hit["score"] for hit in answer["hits"]) > max((hit["score"] for hit in whole["hits"]), default=0)
    names = [report["tier"] for report in answer["tiers"]]
    assert len(names) == len(set(names))
    assert tier(answer, "redis_vectors")["candidates"] > tier(whole, "redis_vectors")["candidates"]


def shown(name: str, score: float) -> Hit:
    """A hit with that score."""
    parts = Scores(cosine=None, similarity=None, bm25=0, coverage=score, fused=0)
    return Hit(memory=memory(name, id=name), score=score, scores=parts, tier=TierName.HOT_TEXT, why="")


def test_what_a_part_finds_does_not_outrank_what_fits_the_whole_by_its_score_alone() -> None:
    whole = [shown(f"whole {n}", 0.6 - n / 100) for n in range(8)]
    part = [shown("part 0", 0.99), shown("whole 3", 0.9)]
    other = [shown("whole 3", 0.2), shown("part 1", 0.99)]
    found = with_parts(whole, [part, other])
    assert [hit.memory.id for hit in found[:3]] == ["whole 3", "whole 0", "whole 1"]
    assert {hit.memory.id: hit.score for hit in found}["whole 3"] == 0.9
    assert {"part 0", "part 1"} < {hit.memory.id for hit in found}
    assert with_parts(whole, []) == tuple(whole)
    assert [hit.memory.id for hit in with_parts([], [part, other])] == ["whole 3", "part 0", "part 1"]


class Counting(TermEmbedder):
    """An embedder that knows what it was asked, request by request."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.append(list(texts))
        return super().embed_queries(texts)


def test_the_whole_and_its_parts_are_embedded_in_one_request_and_not_again_while_kept() -> None:
    embedder = Counting()
    services = holding(VIOLIN, CAT, caches=True, embedder=embedder)
    query = "Who plays the violin? And whose cat is Miso?"
    first = deep(services, query)
    again = deep(services, query, min_score=0.05)
    assert [len(texts) for texts in embedder.asked] == [3]
    assert not again["cached"]
    assert contents(again) == contents(first)
    recall(services, query, route="standard")
    assert [len(texts) for texts in embedder.asked] == [3, 1]


def test_parts_are_searched_for_by_words_where_nothing_can_be_embedded() -> None:
    embedder = TermEmbedder()
    services = holding(VIOLIN, CAT, embedder=embedder)
    embedder.fail = True
    answer = recall(services, "Who plays the violin? And whose cat is Miso?")
    assert set(contents(answer)) == {VIOLIN.memory.content, CAT.memory.content}
    assert [part["part"] for part in answer["degraded"]] == ["query_vector"]


def test_another_reader_of_the_same_space_reaches_its_own() -> None:
    shared = row("The harbour project has a plan", id="mem_shared", scope=Scope.SPACE, scope_id="red")
    rows = [
        row(f"a note of {user}", scope_id=user, user_id=user, links=linked("mem_shared")) for user in ("ana", "bob")
    ]
    bob = caller("acme", "bob", spaces=("red",))
    services = holding(shared, *rows)
    for who, mine in ((ANA, "a note of ana"), (bob, "a note of bob")):
        answer = recall(services, "the plan of the harbour project", who, route="deep")
        assert contents(answer) == [shared.memory.content, mine]


def hit(id_: str, score: float) -> Hit:
    """A hit of that score."""
    scores = Scores(cosine=None, similarity=None, bm25=0, coverage=score, fused=0)
    return Hit(memory=memory(id_, id=id_), score=score, scores=scores, tier=TierName.HOT_TEXT, why="")


HITS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 1)), max_size=8, unique_by=lambda one: one[0])


@given(HITS, HITS, st.randoms())
def test_merging_loses_nothing_repeats_nothing_and_does_not_depend_on_order(
    first: Any, second: Any, random: Any
) -> None:
    one, other = [hit(*each) for each in first], [hit(*each) for each in second]
    together = merged(one, other)
    ids = [each.memory.id for each in together]
    assert sorted(ids) == sorted({each.memory.id for each in [*one, *other]})
    best = {id_: max(each.score for each in [*one, *other] if each.memory.id == id_) for id_ in ids}
    assert {each.memory.id: each.score for each in together} == best
    random.shuffle(other)
    assert merged(one, other) == together
    kept = [each.memory.id for each in together if each in one]
    assert kept == [each.memory.id for each in one if each.memory.id in kept]


def test_what_is_reached_and_was_not_found_says_so_by_its_tier() -> None:
    services = holding(LEAD, *fillers(3), row("Sum: 4", links=linked(LEAD)))
    answer = deep(services, min_score=0.1)
    (reached,) = [hit for hit in answer["hits"] if hit["memory"]["content"] == "Sum: 4"]
    assert (reached["tier"], reached["via"]["over"]) == ("links", "relates")
