"""The router chooses by the form of a query, in any language; a caller's own choice wins, and nothing gets wider than its
chain."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.bootstrap import Container
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.routing.parts import parts
from chalicelib.domain.routing.reading import read
from chalicelib.domain.routing.route import Route, RouteCode, RouteName
from chalicelib.domain.routing.router import route
from chalicelib.domain.scope import Scope
from chalicelib.domain.validation import validated
from chalicelib.errors import InvalidInput
from chalicelib.plugins.hooks import Asked, hook
from chalicelib.settings import PluginSettings, Settings
from tests.building import caller, in_memory_ports
from tests.unit.routed_queries import HELD_OUT, TUNED

ANA = caller(spaces=("red",))
LEAST_RIGHT = 18
"""Of the twenty that the router was not tuned on: a change that helps others may cost two."""


@pytest.mark.parametrize(("language", "query", "expected"), TUNED)
def test_a_labelled_query_takes_the_route_that_a_person_would_choose(language: str, query: str, expected: str) -> None:
    chosen = route(query)
    assert chosen.name == expected, (language, chosen.reasons)
    assert chosen.reasons


def test_queries_that_it_was_not_tuned_on_are_routed_as_well() -> None:
    wrong = [(query, route(query).name.value) for _, query, expected in HELD_OUT if route(query).name != expected]
    assert len(HELD_OUT) - len(wrong) >= LEAST_RIGHT, wrong


def test_the_labels_are_sixty_in_eight_languages_and_no_query_stands_twice() -> None:
    labels = TUNED + HELD_OUT
    assert len({query for _, query, _ in labels}) == 60
    assert len({language for language, _, _ in labels}) == 8
    assert {expected for _, _, expected in HELD_OUT} == set(RouteName)


def test_each_route_fixes_what_the_search_does() -> None:
    fast, standard, deep = (route(query) for query in ("hello", "Where does Ana live?", "Is tea better than coffee?"))
    assert [one.max_results for one in (fast, standard, deep)] == [5, 10, 20]
    assert [(one.links, one.prospective, one.cold) for one in (fast, standard, deep)] == [
        (False, False, False),
        (False, True, True),
        (True, True, True),
    ]
    assert fast.scopes == (Scope.ORGANIZATION, Scope.USER)
    assert standard.scopes is None is deep.scopes
    assert route("deploy schedule").scopes is None  # words may mean anything that is stored anywhere


REASONS: dict[str, RouteCode] = {
    "thank you so much": RouteCode.GREETING,
    "violin": RouteCode.VERY_SHORT,
    "where does Ana live?": RouteCode.PLAIN,
    "Postgres versus MongoDB for the archive": RouteCode.COMPARISON,
    "does Ana drink tea or coffee?": RouteCode.ALTERNATIVES,
    "what do Ana and Bob think of it?": RouteCode.SEVERAL_ENTITIES,
    "where is Ana? And when does Bob leave?": RouteCode.SEVERAL_QUESTIONS,
    " ".join(["a very long story about the harbour"] * 6): RouteCode.LONG,
}


@pytest.mark.parametrize(("query", "code"), REASONS.items())
def test_the_reasons_say_what_decided_and_repeat_no_word_of_the_query(query: str, code: RouteCode) -> None:
    reasons = route(query).reasons
    assert code in [reason.code for reason in reasons]
    for name in ("ana", "bob", "postgres", "mongodb", "harbour", "violin", "tea"):
        assert name not in " ".join(reason.text for reason in reasons).split()


def test_a_few_words_in_the_middle_of_a_conversation_go_on_with_it() -> None:
    assert route("in the other folder", 6).reasons[0].code is RouteCode.FOLLOW_UP
    assert route("in the other folder", 6).name is RouteName.FAST
    for position in (None, 0):
        assert route("in the other folder", position).name is RouteName.STANDARD
    assert route("where is the other folder", 6).name is RouteName.STANDARD
    assert route("what Ana said in May", 6).name is RouteName.STANDARD


def test_what_is_no_longer_active_is_no_fast_recall() -> None:
    chosen = route("deploy schedule", past=True)
    assert (chosen.name, chosen.reasons[0].code) == (RouteName.STANDARD, RouteCode.PAST_ASKED)


PARTS: dict[str, tuple[str, ...]] = {
    "Where does Ana live?": (),
    "Where does Ana work and when did she start?": ("Where does Ana work", "and when did she start?"),
    "Wo wohnt Ana? Was macht Bob beruflich?": ("Wo wohnt Ana?", "Was macht Bob beruflich?"),
    "Does Ana like tea or coffee?": ("Does Ana like tea?", "Does Ana like coffee?"),
    "安娜住在哪里，做什么工作？": ("安娜住在哪里", "做什么工作?"),
    "أين يعمل أحمد ومتى بدأ؟": ("أين يعمل أحمد", "ومتى بدأ؟"),
    "- where is Ana\n- when does Bob leave": ("where is Ana", "when does Bob leave"),
    "We sell tea or coffee": (),
}


@pytest.mark.parametrize(("query", "expected"), PARTS.items())
def test_what_asks_for_several_things_has_parts(query: str, expected: tuple[str, ...]) -> None:
    assert parts(read(query)) == expected


@given(st.text(max_size=400), st.none() | st.integers(0, 1000))
def test_whatever_is_asked_has_a_route_with_a_reason_always_the_same(text: str, position: int | None) -> None:
    chosen = route(text, position)
    route.cache_clear()
    assert route(text, position) == chosen
    assert chosen.reasons
    assert len(parts(read(text))) != 1


def answered(query: str, *plugins: Any, **asked: Any) -> dict[str, Any]:
    """Ana's answer from a few memories of hers."""
    return recalled(served(*plugins), query, **asked)


def served(*plugins: Any) -> Container:
    """The product with those plugins and nine memories of Ana in two scopes."""
    settings = Settings(plugins=PluginSettings(before_seconds=5))
    services = Container(settings, in_memory_ports(), plugins=plugins)
    items = [{"content": f"Ana drinks tea number {i}"} for i in range(8)]
    items += [{"content": "Ana drinks tea with the red team", "scope": "space", "scopeId": "red"}]
    services.remember.remember(ANA, [*items], key=None, single=False)
    return services


def recalled(services: Container, query: str, **asked: Any) -> dict[str, Any]:
    """Ana's answer."""
    return services.recall.recall(ANA, RecallQuery(query=query, **asked))


def test_the_answer_says_which_route_it_took_and_why_also_from_the_cache_and_in_the_audit() -> None:
    services = served()
    for cached in (False, True):
        answer = recalled(services, "does Ana drink tea or coffee?")
        assert answer["cached"] is cached
        assert answer["route"]["name"] == "deep"
        assert {reason["code"] for reason in answer["route"]["reasons"]} == {"alternatives"}
        assert answer["plugins"] == []
        record = services.recall_audit.read(ANA, answer["recallId"])
        assert record.route
        assert record.route.name is RouteName.DEEP


def test_the_route_gives_the_limit_and_the_callers_own_wins() -> None:
    assert len(answered("Ana tea")["hits"]) == 5
    assert len(answered("Ana tea", limit=7)["hits"]) == 7
    assert len(answered("which tea does Ana drink?")["hits"]) == 9


def test_a_greeting_narrows_the_scopes_unless_the_caller_names_some() -> None:
    services = served()
    asked = services.recall_audit.read(ANA, recalled(services, "hello")["recallId"])
    assert asked.scopes == ("acme/organization/acme", "acme/user/ana")
    named = services.recall_audit.read(ANA, recalled(services, "hello", scopes=(Scope.SPACE,))["recallId"])
    assert named.scopes == ("acme/space/red",)
    by_id = services.recall_audit.read(ANA, recalled(services, "hello", scope_ids=("red",))["recallId"])
    assert by_id.scopes == ("acme/space/red",)


@pytest.mark.parametrize("name", RouteName)
def test_a_route_that_the_caller_names_is_taken(name: RouteName) -> None:
    answer = answered("hello", route=name)
    assert answer["route"]["name"] == name
    assert [reason["code"] for reason in answer["route"]["reasons"]] == ["forced"]


@pytest.mark.parametrize(("field", "value"), [("route", "turbo"), ("position", -1), ("position", "first")])
def test_a_route_or_a_position_that_is_none_is_refused(field: str, value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        validated(RecallQuery, {"query": "x", field: value})
    assert refused.value.field == field


def test_where_the_router_is_off_every_recall_is_standard_and_says_so() -> None:
    services = served()
    assert recalled(services, "hello")["route"]["name"] == "fast"
    services.plugins.switch("acme", {"dopamine_router": False})
    for query in ("hello", "does Ana drink tea or coffee?"):
        chosen = recalled(services, query)["route"]
        assert (chosen["name"], [reason["code"] for reason in chosen["reasons"]]) == ("standard", ["router_off"])


def test_a_router_that_fails_is_named_and_the_recall_is_standard(monkeypatch: pytest.MonkeyPatch) -> None:
    services = served()

    def failing(*_: Any) -> Route:
        raise RuntimeError

    monkeypatch.setattr("chalicelib.domain.routing.router.route", failing)
    answer = recalled(services, "hello")
    assert [reason["code"] for reason in answer["route"]["reasons"]] == ["router_failed"]
    assert [(each["name"], each["outcome"]) for each in answer["plugins"]] == [("dopamine_router", "raised")]


class Routing:
    """A plugin that routes."""

    name = "routing"
    description = "Routes every recall its own way."

    def __init__(self, chosen: Any) -> None:
        self.chosen = chosen
        self.seen: list[Asked] = []

    @hook
    def before_recall(self, asked: Asked) -> Any:
        """The route."""
        self.seen.append(asked)
        return self.chosen


def test_a_plugin_may_route_after_the_router_and_reaches_no_further() -> None:
    plugin = Routing(Route(name=RouteName.DEEP, max_results=3, scopes=(Scope.USER,)))
    answer = answered("hello", plugin)
    shown = plugin.seen[0].route
    assert shown
    assert shown.name is RouteName.FAST
    assert (answer["route"]["name"], answer["route"]["maxResults"]) == ("deep", 3)
    assert answered("hello", plugin, route="standard")["route"]["name"] == "standard"
    wide = Routing(Route(name=RouteName.FAST, max_results=50))
    services = served(wide)
    asked = recalled(services, "which tea does Ana drink?", scopes=(Scope.USER,))
    assert services.recall_audit.read(ANA, asked["recallId"]).scopes == ("acme/user/ana",)


@pytest.mark.parametrize("update", [{"max_results": 0}, {"max_results": 1000}, {"scopes": ("galaxy",)}], ids=str)
def test_a_route_that_does_not_hold_together_is_left_out(update: dict[str, Any]) -> None:
    answer = answered("hello", Routing(Route(name=RouteName.DEEP, max_results=3).model_copy(update=update)))
    assert answer["route"]["name"] == "fast"
    assert [(each["name"], each["outcome"]) for each in answer["plugins"]] == [("routing", "invalid")]
