"""`layer`, the old word for scopes: it narrows the reader's chain as `scopes` does, and never widens it."""

from typing import Any

import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.scope import Scope
from chalicelib.domain.validation import validated
from chalicelib.errors import InvalidInput, NotFound
from tests.building import caller, container, row

ANA = caller("acme", "ana", spaces=("red",), universes=("blue",))
PLACES = {Scope.ORGANIZATION: "acme", Scope.SPACE: "red", Scope.UNIVERSE: "blue", Scope.USER: "ana"}
NARROWER = {Scope.SPACE, Scope.UNIVERSE, Scope.USER}


@pytest.fixture
def services() -> Container:
    """A memory in each of ana's scopes, and in one of each kind that she does not see."""
    made = container()
    foreign = ((Scope.SPACE, "green"), (Scope.UNIVERSE, "dark"), (Scope.USER, "bob"))
    rows = [row(f"the tea of {s} {i}", scope=s, scope_id=i) for s, i in (*PLACES.items(), *foreign)]
    made.ports.store.insert(
        [*rows, row("the tea of rival", org_id="rival", scope=Scope.ORGANIZATION, scope_id="rival")]
    )
    return made


def found(services: Container, who: Caller = ANA, **asked: Any) -> set[str]:
    """The scopes of what a recall finds."""
    query = validated(RecallQuery, {"query": "the tea of", **asked})
    hits = services.recall.recall(who, query)["hits"]
    assert all(hit["memory"]["scopeId"] == PLACES[Scope(hit["memory"]["scope"])] for hit in hits)
    return {hit["memory"]["scope"] for hit in hits}


def test_each_layer_means_its_scopes(services: Container) -> None:
    assert found(services, layer="developer") == found(services) == set(Scope)
    assert found(services, layer="space_builder") == NARROWER


def test_a_layer_means_what_those_scopes_mean(services: Container) -> None:
    assert found(services, layer="space_builder") == found(services, scopes=["space", "universe", "user"])
    assert found(services, layer="space_builder", scopeIds=["red"]) == {Scope.SPACE}


@pytest.mark.parametrize("layer", ["developer", "space_builder"])
def test_a_layer_shows_nobody_more_than_the_chain(services: Container, layer: str) -> None:
    bare = caller("acme", "ana")
    assert found(services, bare, layer=layer) <= {Scope.ORGANIZATION, Scope.USER}
    admin = caller("rival", "ana", Role.ADMIN, spaces=("red",))
    assert "acme" not in str(services.recall.recall(admin, RecallQuery(query="the tea of", layer=layer))["hits"])
    with pytest.raises(NotFound):
        found(services, bare, layer=layer, scopeIds=["red"])


@pytest.mark.parametrize(
    "asked",
    [
        {"layer": "developer", "scopes": ["user"]},
        {"layer": "admin"},
        {"layer": ""},
        {"layer": "Developer"},
        {"layer": ["developer"]},
    ],
    ids=str,
)
def test_both_words_or_an_unknown_layer_are_refused_by_the_field(services: Container, asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        found(services, **asked)
    assert refused.value.field == "layer"


def test_a_null_layer_is_none(services: Container) -> None:
    assert found(services, layer=None, scopes=["user"]) == {Scope.USER}
