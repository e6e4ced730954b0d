"""Readers of one organization ask the same: each gets the winner of its own chain, and why, whichever tier is gone."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.searchindex import create_search_index
from chalicelib.adapters.mongo.storedvectors import MongoStoredVectors
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import new_id
from chalicelib.domain.query import RecallQuery
from chalicelib.settings import RedisSettings
from tests.atlas_double import AtlasDouble
from tests.building import caller
from tests.integration.arrangements import contents, rebuild_all, remember, services, skipped
from vitto_tools.local.servers import HOST
from vitto_tools.local.trouble import Trouble, TroubledServer

OFFICE = RecallQuery(query="in which city is the office of Acme?")
PAYMENT = RecallQuery(query="in which currency does Acme pay?")
OFF_TOPIC = RecallQuery(query="quarterly thermodynamics of glaciers", min_score=0.2)
CITIES = {"organization": "Porto", "red": "Lisbon", "blue": "Faro", "docs": "Braga", "code": "Evora"}
POLICY = "Acme pays in the currency euro"
REDIS = {"redis_vectors", "redis_text"}
type Servers = Callable[[str], Any]
"""The servers by the names of their fixtures."""


@dataclass
class Arrangement:
    """The product with a tier gone, which tiers its answers have to say they went without, and how to take the tier away
    once everything is stored."""

    made: Container
    without: set[str]
    degraded: set[str]
    take: Callable[[], None] = lambda: None
    org: str = field(default_factory=lambda: new_id("org"))


def _everything(mongo: MongoConnection, server: Servers) -> Arrangement:
    return Arrangement(services(mongo, server("redis")), set(), set())


def _no_cache(mongo: MongoConnection, server: Servers) -> Arrangement:
    return Arrangement(services(mongo, server("redis"), cache=None), {"cache"}, set())


def _no_vectors(mongo: MongoConnection, server: Servers) -> Arrangement:
    return Arrangement(services(mongo, server("valkey")), {"redis_vectors"}, set())


def _no_query_vector(mongo: MongoConnection, server: Servers) -> Arrangement:
    embedder = TermEmbedder()
    made = services(mongo, server("redis"), embedder=embedder)
    return Arrangement(made, {"redis_vectors"}, {"query_vector"}, partial(setattr, embedder, "fail", True))


def _no_redis(mongo: MongoConnection, server: Servers) -> Arrangement:
    return Arrangement(services(mongo, None), {"cache", *REDIS}, set())


def _dead_redis(mongo: MongoConnection, server: Servers) -> Arrangement:
    proxy = TroubledServer(urlsplit(server("redis_url")).port or 0)
    through = RedisConnection(RedisSettings(url=f"redis://{HOST}:{proxy.port}/0", seconds=5))
    take = partial(setattr, proxy, "trouble", Trouble.DEAD)
    return Arrangement(services(mongo, through), {"cache", *REDIS}, REDIS, take)


def _atlas(mongo: MongoConnection) -> tuple[Container, AtlasDouble]:
    double = AtlasDouble(mongo)
    create_search_index(double, 256)
    return services(mongo, None, vectors=MongoStoredVectors(double)), double


def _atlas_alone(mongo: MongoConnection, server: Servers) -> Arrangement:
    return Arrangement(_atlas(mongo)[0], {"cache", *REDIS}, set())


def _dead_atlas(mongo: MongoConnection, server: Servers) -> Arrangement:
    made, double = _atlas(mongo)
    return Arrangement(made, {"atlas_vectors"}, {"atlas_vectors"}, partial(setattr, double, "refusal", 8000))


ARRANGEMENTS = {
    "everything": _everything,
    "no cache": _no_cache,
    "no vectors": _no_vectors,
    "no query vector": _no_query_vector,
    "no redis": _no_redis,
    "dead redis": _dead_redis,
    "atlas alone": _atlas_alone,
    "dead atlas": _dead_atlas,
}


@pytest.fixture(scope="module", params=ARRANGEMENTS)
def arrangement(request: pytest.FixtureRequest, mongo: MongoConnection) -> Arrangement:
    """One of them, with everything told; its tests only read."""
    made = ARRANGEMENTS[request.param](mongo, request.getfixturevalue)
    settle(made)
    return made


def said(subject: str, attribute: str, value: str) -> dict[str, Any]:
    """What a memory claims."""
    return {"claims": [{"subject": subject, "attribute": attribute, "value": value}]}


def settle(one: Arrangement) -> None:
    """Store where the office is, as each scope sees it, and how Acme pays, as its policy and a user see it."""
    org = one.org
    boss = caller(org, "boss", Role.ADMIN, spaces=("red", "blue"), universes=("docs", "code"))
    scopes = {"red": "space", "blue": "space", "docs": "universe", "code": "universe"}
    for name, city in CITIES.items():
        where = {"scope": scopes[name], "scopeId": name} if name in scopes else {"scope": "organization"}
        text = f"The office of Acme is in the city {city}"
        (receipt,) = remember(one.made, boss, text, **where, **said("Acme", "residence", city))
        assert receipt["outcome"] == "stored"
    remember(one.made, boss, POLICY, scope="organization", overridable=False, **said("Acme", "currency", "euro"))
    for name, who in readers(org).items():
        claim = said("Acme", "currency", f"dollar {name}")
        remember(one.made, who, f"Acme pays in the currency dollar {name}", **claim)
        one.made.recall.recall(who, OFFICE)
    one.made.after_response.settle()
    rebuild_all(one.made)
    one.take()


def readers(org: str) -> dict[str, Caller]:
    """The city of each reader's chain: two spaces and two universes, and nobody's."""
    return {
        "Lisbon": caller(org, "a", spaces=("red",)),
        "Faro": caller(org, "b", spaces=("blue",)),
        "Braga": caller(org, "c", spaces=("red",), universes=("docs",)),
        "Evora": caller(org, "d", spaces=("blue",), universes=("code",)),
        "Porto": caller(org, "e"),
    }


def test_each_reader_gets_the_winner_of_its_own_chain_and_why_whichever_tier_is_gone(arrangement: Arrangement) -> None:
    recall = arrangement.made.recall.recall
    for _ in range(2):  # the second time from the cache, where there is one
        for city, who in readers(arrangement.org).items():
            query = OFFICE.model_copy(update={"query": f"{OFFICE.query} {city}"})  # none is cached yet
            answer = recall(who, query)
            assert [text for text in contents(answer) if "office" in text] == [
                f"The office of Acme is in the city {city}"
            ]
            overrode = answer["hits"][0].get("overrode", [])
            assert {one["rule"] for one in overrode} == (set() if city == "Porto" else {"narrowest_scope"})
            assert {f"{arrangement.org}/{one['scope']}/{one['scopeId']}" for one in overrode} <= set(who.chain.keys)
            assert arrangement.without <= skipped(answer), answer["tiers"]
            assert arrangement.degraded <= {part["part"] for part in answer["degraded"]}, answer["degraded"]


def test_a_policy_beats_every_reader_whichever_tier_is_gone(arrangement: Arrangement) -> None:
    for who in readers(arrangement.org).values():
        answer = arrangement.made.recall.recall(who, PAYMENT)
        assert [text for text in contents(answer) if "currency" in text] == [POLICY]
        assert {one["rule"] for one in answer["hits"][0]["overrode"]} == {"policy"}
        record = arrangement.made.recall_audit.read(who, answer["recallId"])
        (out,) = [one for one in record.left_out if one.override == "policy"]
        assert (out.rule, out.by) == ("overridden", answer["hits"][0]["memory"]["id"])
        assert {tier.tier for tier in record.tiers if tier.skipped} >= arrangement.without


def test_off_topic_nothing_is_answered_and_what_could_not_be_seen_is_said(arrangement: Arrangement) -> None:
    for who in readers(arrangement.org).values():
        answer = arrangement.made.recall.recall(who, OFF_TOPIC)
        assert answer["hits"] == []
        down = {"redis_vectors", "atlas_vectors"} & arrangement.degraded
        assert answer["empty"]["reason"] == ("store_down" if down else "nothing_similar"), answer["empty"]
        assert arrangement.degraded <= {part["part"] for part in answer["degraded"]}
        assert arrangement.without <= skipped(answer)
