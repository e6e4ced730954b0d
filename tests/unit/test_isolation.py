"""The promise of the product: no reader sees what its credential does not grant, through any tier (faults.md 1, 2)."""

from typing import Any

import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import RecallQuery
from chalicelib.ports import Browse
from tests.building import caller, container

ALICE, BOB = caller("acme", "alice", spaces=("red",)), caller("acme", "bob", spaces=("blue",))
OTHERS = {
    "another user": BOB,
    "an admin": caller("acme", "root", Role.ADMIN),
    "another organization": caller("rival", "alice", spaces=("red",)),
    "an id that looks like a key": caller("acme", "user/alice", spaces=("../user/alice", "acme/user/alice")),
    "an organization that looks like a key": caller("acme/user", "alice"),
    "another case": caller("acme", "ALICE"),
}
TIERS: dict[str, dict[str, Any]] = {"index": {}, "text in the store": {"hot": None}, "without a cache": {"cache": None}}


def remember(services: Container, who: Caller, *contents: str, **item: Any) -> None:
    """Store memories of `who`."""
    for start in range(0, len(contents), 100):
        items: list[Any] = [{"content": content, **item} for content in contents[start : start + 100]]
        services.remember.remember(who, items, key=None, single=False)


def recalled(services: Container, who: Caller, query: str, **asked: Any) -> list[str]:
    """What `who` recalls."""
    return [hit["memory"]["content"] for hit in services.recall.recall(who, RecallQuery(query=query, **asked))["hits"]]


@pytest.mark.parametrize("whole", [True, False], ids=["index complete", "index incomplete"])
@pytest.mark.parametrize("ports", TIERS.values(), ids=list(TIERS))
@pytest.mark.parametrize("other", OTHERS.values(), ids=list(OTHERS))
def test_the_query_of_one_reader_gives_another_nothing_of_it(other: Caller, ports: dict[str, Any], whole: bool) -> None:
    services = container(**ports)
    remember(services, ALICE, "Alice's pin is 4921")
    remember(services, ALICE, "The red space meets at noon", scope="space", scopeId="red")
    for scope in [*ALICE.chain.keys, *other.chain.keys] if whole else []:
        services.maintenance.rebuild(scope)
    query = "what is Alice's pin and when does the red space meet?"
    assert len(recalled(services, ALICE, query)) == 2
    assert recalled(services, other, query) == []
    assert services.ports.store.browse(other.chain, Browse()).items == ()


@pytest.mark.parametrize("ports", TIERS.values(), ids=list(TIERS))
def test_however_many_of_another_reader_are_nearer_a_reader_gets_its_own(ports: dict[str, Any]) -> None:
    services = container(**ports)
    remember(services, BOB, *(f"the tea house recipe for green tea, number {i}" for i in range(120)))
    remember(services, ALICE, "my tea is green", "tea at four", "a recipe with tea")
    found = recalled(services, ALICE, "the tea house recipe for green tea")
    assert sorted(found) == ["a recipe with tea", "my tea is green", "tea at four"]


def test_how_much_others_store_does_not_show_in_a_readers_scores() -> None:
    def scores(noise: int) -> list[float]:
        services = container()
        remember(services, ALICE, "my tea is green", "tea at four")
        remember(services, BOB, *(f"green tea {i}" for i in range(noise)))
        for scope in [*ALICE.chain.keys, *BOB.chain.keys]:
            services.maintenance.rebuild(scope)
        hits = services.recall.recall(ALICE, RecallQuery(query="green tea"))["hits"]
        return [hit["score"] for hit in hits]

    assert scores(0) == scores(50)


def test_a_shared_space_is_read_by_all_that_it_was_granted_to_and_by_no_other() -> None:
    services = container()
    remember(services, ALICE, "the release is on Friday", scope="space", scopeId="red")
    assert recalled(services, caller("acme", "carol", spaces=("red",)), "release") == ["the release is on Friday"]
    assert recalled(services, caller("acme", "carol", spaces=("blue",)), "release") == []
    assert recalled(services, caller("acme", "carol", universes=("red",)), "release") == []


def test_a_grant_that_was_taken_away_takes_cached_answers_with_it() -> None:
    services = container()
    remember(services, ALICE, "the release is on Friday", scope="space", scopeId="red")
    assert recalled(services, ALICE, "release") == ["the release is on Friday"]
    assert recalled(services, caller("acme", "alice"), "release") == []


def test_narrowing_to_a_scope_gives_no_cached_answer_of_the_whole_chain() -> None:
    services = container()
    remember(services, ALICE, "tea at four")
    remember(services, ALICE, "the red space drinks tea", scope="space", scopeId="red")
    assert len(recalled(services, ALICE, "tea")) == 2
    assert recalled(services, ALICE, "tea", scope_ids=("red",)) == ["the red space drinks tea"]
    assert recalled(services, ALICE, "tea", scope_ids=("alice",)) == ["tea at four"]
