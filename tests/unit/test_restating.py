"""Another value of one thing, stated in passing: the two memories are linked, and neither is hidden."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.bootstrap import Container
from chalicelib.domain.memory import Link, LinkKind
from chalicelib.domain.query import IndexAnswer, IndexQuery
from chalicelib.domain.receipt import Outcome
from chalicelib.domain.scope import Chain
from chalicelib.errors import StoreUnavailable
from chalicelib.write.consolidation.applying import Applied
from tests.building import NOW, TestClock, caller, container
from tests.consolidating import active, now, tell

ANA = caller("acme", "ana", spaces=("red",))
BOB = caller("acme", "bob", spaces=("red",))
RED = {"scope": "space", "scopeId": "red"}
OLD = "I've put a picnic budget of $40 aside for the trip on Saturday, what should I buy for six people?"
NEW = "What salads could I make for the trip, now that I raised the picnic budget to $55?"


def scope(*before: str, indexed: bool = True) -> Container:
    """Services over a scope of ana's that holds some things to say."""
    services = container(clock=TestClock())
    others = ("Which films are good for a rainy evening?", "My sister plays the cello", "How do I repot a fern?")
    for text in (*others, *before):
        tell(services, ANA, text)
    hot: Any = services.ports.hot
    if indexed:
        services.maintenance.rebuild(ANA.chain.keys[-1])
        hot.complete(ANA.chain.keys[-1])
    return services


def later(services: Container, text: str, **fields: Any) -> Applied:
    """What became of a text a day later."""
    clock: Any = services.ports.clock
    clock.forward(days=1)
    (made,) = tell(services, ANA, text, **fields)
    return made


def links(services: Container, made: Applied) -> tuple[Link, ...]:
    """The links of what was stored."""
    return now(services, ANA, made.id).links


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OLD, NEW),
        (
            "I want my essay done in time, the library course starts on May 3, can you plan the weeks?",
            "The library course was moved to May 9, so how do I plan the essay now?",
        ),
        (
            "I have a call with Doctor Silva at 3 PM on Tuesday, what should I ask?",
            "Remind me that the call with Doctor Silva was rescheduled to 4:30 PM on Tuesday",
        ),
        (
            "Our test coverage of the billing module is 65% after the first week, how do we go on?",
            "The coverage of the billing module has improved to 78%, which tests are missing?",
        ),
        (
            "Für den Umzug haben wir eine Kaution von 900 Euro vereinbart, was fehlt noch?",
            "Die Kaution für den Umzug wurde auf 1100 Euro erhöht, wie spare ich das?",
        ),
        (
            "Mi biblioteca de Zotero tiene 45 fuentes sobre el clima, ¿cómo las ordeno?",
            "Mi biblioteca de Zotero ahora tiene 52 fuentes sobre el clima, ¿cuáles faltan?",
        ),
        ("我为周末旅行准备的野餐预算是400元，应该买什么？", "我把周末旅行的野餐预算提高到550元，还能买什么？"),
    ],
)
def test_another_value_of_the_same_thing_is_linked_and_both_stay(old: str, new: str, indexed: bool) -> None:
    services = scope(indexed=False)
    (first,) = tell(services, ANA, old)
    if indexed:
        services.maintenance.rebuild(ANA.chain.keys[-1])
    made = later(services, new)
    assert (made.outcome, links(services, made)) == (
        Outcome.STORED,
        (Link(kind=LinkKind.CONTRADICTS, target=first.id),),
    )
    assert f"contradicts {first.id}: it states" in (made.reason or "")
    assert {old, new} <= active(services, ANA)


@pytest.mark.parametrize(
    "new",
    [
        "What salads could I make for the trip on Saturday, with the picnic budget of $40?",
        "I raised the picnic budget for the trip to $4,000, what could I buy?",
        "I raised my fern budget to $55, which pot is big enough?",
        "The picnic for the trip on Saturday now starts at 3 PM, what should I buy?",
        "My sister has a new cello for $55",
    ],
)
def test_the_same_value_one_far_off_and_one_of_another_thing_are_not_linked(new: str) -> None:
    services = scope(OLD)
    assert links(services, later(services, new)) == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"origin": {"speaker": "assistant"}},
        {"eventTime": (NOW - timedelta(days=9)).isoformat()},
        {"type": "event"},
        RED,
    ],
    ids=str,
)
def test_only_what_one_said_in_one_scope_and_later_is_compared(fields: dict[str, Any]) -> None:
    services = scope(OLD)
    assert links(services, later(services, NEW, **fields)) == ()


def test_what_two_people_say_is_not_held_against_each_other() -> None:
    services = container(clock=TestClock())
    tell(services, ANA, OLD, **RED)
    (made,) = tell(services, BOB, NEW, **RED)
    assert now(services, BOB, made.id).links == ()


def test_a_batch_is_compared_with_itself_in_its_order() -> None:
    services = scope()
    first, second = tell(services, ANA, OLD, NEW)
    assert links(services, first) == ()
    assert links(services, second) == (Link(kind=LinkKind.CONTRADICTS, target=first.id),)


def test_what_is_superseded_for_sure_is_not_linked_as_well() -> None:
    services = scope("My picnic budget is $40")
    made = later(services, "My picnic budget has been increased to $55")
    assert [link.kind for link in links(services, made)] == [LinkKind.SUPERSEDES]


def test_an_index_that_is_away_is_said_and_what_was_found_otherwise_is_compared() -> None:
    class Away(InMemoryHotIndex):
        down = False

        def search(self, chain: Chain, query: IndexQuery) -> IndexAnswer:
            if self.down:
                raise StoreUnavailable("redis", "no answer")
            return super().search(chain, query)

    hot = Away()
    services = container(hot=hot, clock=TestClock())
    (first,) = tell(services, ANA, OLD)
    hot.down = True
    made = later(services, NEW)
    assert links(services, made) == (Link(kind=LinkKind.CONTRADICTS, target=first.id),)
    telemetry: Any = services.ports.telemetry
    assert "scope_without_index" in [name for name, _ in telemetry.events]
