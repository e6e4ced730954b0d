"""What a recall did can be read by who recalled, and by an admin without the query's text; contents are never kept."""

from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import RecallQuery
from chalicelib.errors import NotFound
from tests.building import TestClock, caller, container
from tests.unit.fake_secrets import AWS_KEY

ANA = caller("acme", "ana")


def recalled(services: Container, query: str = "where does Ana live?", who: Caller = ANA) -> dict[str, Any]:
    """The answer to a query over one memory."""
    services.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)
    return services.recall.recall(who, RecallQuery(query=query))


def test_the_audit_keeps_ids_and_scores_and_no_contents() -> None:
    services = container()
    answer = recalled(services)
    record = services.recall_audit.read(ANA, answer["recallId"])
    (hit,) = answer["hits"]
    assert record.query == "where does Ana live?"
    assert record.scopes == ANA.chain.keys
    assert [(one["id"], one["score"], one["tier"]) for one in record.hits] == [
        (hit["memory"]["id"], hit["score"], hit["tier"])
    ]
    assert "Porto" not in record.model_dump_json()


def test_an_empty_recall_keeps_which_kind_of_empty_it_was() -> None:
    services = container()
    answer = services.recall.recall(ANA, RecallQuery(query="anything"))
    assert services.recall_audit.read(ANA, answer["recallId"]).empty == "nothing_stored"


def test_a_recall_is_read_for_90_days_however_late_the_store_drops_it() -> None:
    clock = TestClock()
    services = container(clock=clock)
    answer = recalled(services)
    clock.forward(days=90)
    assert services.recall_audit.read(ANA, answer["recallId"]).query
    clock.forward(seconds=1)
    for who in (ANA, caller("acme", "root", Role.ADMIN)):
        with pytest.raises(NotFound):
            services.recall_audit.read(who, answer["recallId"])


def test_a_cached_answer_has_an_audit_of_its_own_with_the_hits_it_served() -> None:
    services = container()
    first = recalled(services)
    second = recalled(services)
    assert second["cached"] is True
    one, two = (services.recall_audit.read(ANA, answer["recallId"]) for answer in (first, second))
    assert (one.cached, two.cached) == (False, True)
    assert two.hits == one.hits
    assert two.hits
    assert two.recall_id == second["recallId"]


def test_the_audit_is_stored_once_however_often_it_is_drained() -> None:
    services = container()
    answer = recalled(services)
    assert services.recall_audit.drain() == 1
    assert services.recall_audit.drain() == 0
    assert services.recall_audit.read(ANA, answer["recallId"]).recall_id == answer["recallId"]


@pytest.mark.parametrize(
    "other",
    [
        caller("acme", "bob"),
        caller("acme", "rex", Role.REVIEWER),
        caller("rival", "ana"),
        caller("rival", "ana", Role.ADMIN),
        caller("acme", "eve", Role.ADMIN, Role.OBSERVER),
    ],
    ids=["user", "reviewer", "organization", "foreign admin", "observer"],
)
def test_no_other_reader_finds_it(other: Caller) -> None:
    services = container()
    answer = recalled(services)
    with pytest.raises(NotFound):
        services.recall_audit.read(other, answer["recallId"])


def test_an_admin_reads_it_without_the_text_of_the_query() -> None:
    services = container()
    answer = recalled(services)
    record = services.recall_audit.read(caller("acme", "root", Role.ADMIN), answer["recallId"])
    assert record.query == ""
    assert record.hits
    assert "where does" not in record.model_dump_json()


def test_an_unknown_recall_is_not_found() -> None:
    with pytest.raises(NotFound):
        container().recall_audit.read(ANA, "rcl_none")


def test_a_secret_in_a_query_reaches_neither_the_audit_nor_the_embedder() -> None:
    seen: list[str] = []

    class Spy(TermEmbedder):
        def embed_query(self, text: str) -> bytes:
            seen.append(text)
            return super().embed_query(text)

    services = container(embedder=Spy())
    answer = recalled(services, f"what opens {AWS_KEY}?")
    record = services.recall_audit.read(ANA, answer["recallId"])
    assert record.query == "what opens [REDACTED:aws_access_key]?"
    assert AWS_KEY not in str(seen)
    assert AWS_KEY not in str(services.ports.telemetry.__dict__)


def test_without_redis_the_audit_is_stored_at_once() -> None:
    services = container(hot=None, cache=None)
    answer = recalled(services)
    assert services.recall_audit.read(ANA, answer["recallId"]).query == "where does Ana live?"
    assert services.recall_audit.drain() == 0
