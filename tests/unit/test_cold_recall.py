"""Cold recall: archived rows where they are asked for, and answers as of a time, from what was true and known then."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.domain.memory import ArchivedReason, Memory, Origin, Revision, Status
from chalicelib.domain.past import as_it_was
from chalicelib.domain.place import Place, Situation
from chalicelib.domain.query import Candidate, RecallQuery, TierName
from chalicelib.domain.scope import Scope
from chalicelib.domain.validation import validated
from chalicelib.errors import InvalidInput, StoreUnavailable
from chalicelib.recall import cold
from chalicelib.recall.found import Found
from tests.building import NOW, TestClock, caller, container, memory, row
from tests.unit.recalling import ANA, contents, holding, recall, tier

DAY = timedelta(days=1)
QUESTION = "where does Ana live?"
PORTO, LISBON = "Ana lives in Porto", "Ana lives in Lisbon"


def archived(reason: ArchivedReason, content: str = PORTO, **fields: Any) -> Any:
    """A row that was archived for that reason yesterday."""
    values: dict[str, Any] = {
        "created_at": NOW - 9 * DAY,
        "event_time": NOW - 9 * DAY,
        "archived_at": NOW - DAY,
        "revision": 2,
    }
    return row(content, status=Status.ARCHIVED, archived_reason=reason, **values | fields)


@pytest.mark.parametrize("reason", ["superseded", "merged", "shipped"])
def test_an_archived_row_is_recalled_where_it_is_asked_for_and_only_then(reason: str) -> None:
    services = holding(row(LISBON), archived(ArchivedReason(reason)))
    assert contents(recall(services, QUESTION)) == [LISBON]
    others = tuple({"superseded", "merged", "shipped"} - {reason})
    assert contents(recall(services, QUESTION, include=others)) == [LISBON]
    answer = recall(services, QUESTION, include=(reason,))
    assert set(contents(answer)) == {PORTO, LISBON}
    (old,) = [hit for hit in answer["hits"] if hit["memory"]["content"] == PORTO]
    assert (old["tier"], old["memory"]["status"], old["memory"]["archivedReason"]) == ("cold", "archived", reason)
    assert tier(answer, "cold")["candidates"] == 1


@pytest.mark.parametrize("reason", ["forgotten", "quarantined", "expired", ""])
def test_nothing_else_can_be_asked_for(reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        validated(RecallQuery, {"query": "x", "include": [reason]})
    assert refused.value.field == "include.0"


EVERYTHING = ("superseded", "merged", "shipped")
FOREIGN: dict[str, dict[str, Any]] = {
    "of another user": {"scope_id": "bob", "user_id": "bob"},
    "of another space": {"scope": Scope.SPACE, "scope_id": "green"},
    "of another organization": {"org_id": "rival"},
}


@pytest.mark.parametrize("asked", [{"include": EVERYTHING}, {"as_of": NOW - 2 * DAY}], ids=["include", "asOf"])
@pytest.mark.parametrize("fields", FOREIGN.values(), ids=FOREIGN)
def test_the_past_of_others_is_not_ours(asked: dict[str, Any], fields: dict[str, Any]) -> None:
    services = holding(archived(ArchivedReason.SUPERSEDED, updated_at=NOW, **fields))
    assert contents(recall(services, QUESTION, **asked)) == []


@pytest.mark.parametrize("asked", [{"include": EVERYTHING}, {"as_of": NOW - 2 * DAY}], ids=["include", "asOf"])
def test_what_was_forgotten_is_in_no_past(asked: dict[str, Any]) -> None:
    services = holding(archived(ArchivedReason.FORGOTTEN, updated_at=NOW, archived_before=ArchivedReason.SUPERSEDED))
    assert contents(recall(services, QUESTION, **asked)) == []


def test_where_it_was_skipped_the_tier_says_why() -> None:
    services = holding(archived(ArchivedReason.SUPERSEDED))
    assert "nothing of it was asked for" in tier(recall(services, QUESTION), "cold")["skipped"]
    fast = recall(services, QUESTION, include=EVERYTHING, route="fast")
    assert tier(fast, "cold")["skipped"] == "the fast route leaves it out"
    assert contents(fast) == []


def test_a_short_query_about_the_past_is_no_fast_recall() -> None:
    answer = recall(holding(archived(ArchivedReason.SUPERSEDED)), "Ana Porto", include=("superseded",))
    assert (answer["route"]["name"], answer["route"]["reasons"][0]["code"]) == ("standard", "past_asked")
    assert contents(answer) == [PORTO]


class Failing(InMemoryMemoryStore):
    """A store that does not answer for its past."""

    def archived(self, *_: Any, **__: Any) -> Any:
        raise StoreUnavailable("mongo", "no answer")


def test_a_past_that_cannot_be_read_is_said_and_the_present_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    services = holding(row(LISBON), store=Failing())
    answer = recall(services, QUESTION, include=EVERYTHING)
    assert contents(answer) == [LISBON]
    assert [(part["part"], part["code"]) for part in answer["degraded"]] == [("cold", "store_unavailable")]
    monkeypatch.setattr(cold, "time_left", lambda: 0.01)
    late = recall(services, QUESTION, include=EVERYTHING)
    assert [(part["part"], part["code"]) for part in late["degraded"]] == [("cold", "out_of_time")]


def test_an_answer_as_of_a_time_has_what_was_true_and_known_then() -> None:
    clock = TestClock(NOW - 10 * DAY)
    services = container(clock=clock, cache=None)

    def remember(content: str, **fields: Any) -> str:
        (receipt,) = services.remember.remember(ANA, [{"content": content, **fields}], key=None, single=True)
        return str(receipt["id"])

    first = remember(PORTO)
    clock.forward(days=2)
    cat = remember("Ana has a cat called Miso", tags=["pet"])
    clock.forward(days=2)
    services.editor.edit(ANA, cat, {"content": "Ana has a dog called Rex"}, 1)
    clock.forward(days=2)
    second = remember("Ana lives in Lisbon now")
    for scope in ANA.chain.keys:
        services.maintenance.rebuild(scope)
    assert services.editor.read(ANA, first).status is Status.ARCHIVED
    clock.forward(days=4)

    def then(days: int, query: str) -> list[str]:
        answer = recall(services, query, as_of=NOW - (10 - days) * DAY + timedelta(hours=1))
        assert answer["degraded"] == []
        return [text for text in contents(answer) if "lives" in text or "has" in text]

    assert then(-1, QUESTION) == []
    assert then(0, QUESTION) == [PORTO]
    assert then(5, QUESTION)[0] == PORTO
    assert "Ana lives in Lisbon now" not in then(5, QUESTION)
    assert then(7, QUESTION)[0] == "Ana lives in Lisbon now"
    assert PORTO not in then(7, QUESTION)
    assert then(3, "which animal does Ana have? cat Miso")[0] == "Ana has a cat called Miso"
    assert then(5, "which animal does Ana have? dog Rex")[0] == "Ana has a dog called Rex"
    assert "Ana has a cat called Miso" not in then(5, "which animal does Ana have? cat Miso")
    answer = recall(services, "cat Miso", as_of=NOW - 7 * DAY)
    assert answer["hits"][0]["memory"]["revision"] == 1
    services.editor.forget(ANA, second)
    assert "Ana lives in Lisbon now" not in then(7, QUESTION)


def test_an_answer_as_of_a_time_may_have_what_was_superseded_by_then_where_that_is_asked() -> None:
    services = holding(archived(ArchivedReason.SUPERSEDED, updated_at=NOW - DAY))
    at = NOW - timedelta(hours=1)
    assert contents(recall(services, QUESTION, as_of=at)) == []
    assert contents(recall(services, QUESTION, as_of=at, include=("superseded",))) == [PORTO]
    assert contents(recall(services, QUESTION, as_of=NOW - 10 * DAY, include=("superseded",))) == []


def test_what_is_recalled_of_the_past_counts_by_who_said_it() -> None:
    fields: dict[str, Any] = {"embedding": None, "reason": ArchivedReason.SUPERSEDED}
    rows = [
        archived(content=f"Lives in {town}", origin=Origin(speaker=speaker), **fields)
        for town, speaker in (("Porto", "Bob"), ("Lisbon", "Ana"), ("Faro", "Eve"))
    ]
    answer = recall(holding(*rows), "where does Ana say that she lives?", include=("superseded",))
    assert contents(answer)[0] == "Lives in Lisbon"
    assert "said by whom the query names" in answer["hits"][0]["why"]


def test_a_time_that_is_named_from_now_is_counted_from_the_time_that_is_asked_for() -> None:
    at = NOW - 5 * DAY
    rows = [
        row(f"Ana went to {town}", event_time=at - days * DAY, created_at=at - days * DAY)
        for town, days in (("Faro", 3), ("Braga", 1), ("Sintra", 2))
    ]
    answer = recall(holding(*rows), "where is it that Ana went yesterday?", as_of=at)
    raised = [hit for hit in answer["hits"] if "of the time that the query names" in hit["why"]]
    assert [hit["memory"]["content"] for hit in raised] == ["Ana went to Braga"]
    assert len(answer["hits"]) == len(rows)


def test_what_the_past_said_keeps_its_place_among_what_was_said_around_it() -> None:
    here = Place("talk", "Ana")
    known = Candidate("mem_a", "acme/user/ana", situation=Situation(here, 3, 5, 0))
    found = Found(candidates=[known])
    earlier = [Candidate(f"mem_{name}", "acme/user/ana", situation=Situation(here, None, 7, 0)) for name in "ab"]
    found.replace(earlier, TierName.COLD)
    assert [(one.id, one.situation) for one in found.candidates] == [
        ("mem_a", Situation(here, 3, 7, 0)),
        ("mem_b", Situation(here, None, 7, 0)),
    ]


def test_a_time_to_come_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        recall(holding(), QUESTION, as_of=NOW + DAY)
    assert refused.value.field == "asOf"


def test_an_answer_as_of_then_is_cached_apart_from_the_present_one() -> None:
    services = container()
    services.ports.store.insert([row(PORTO), archived(ArchivedReason.SUPERSEDED, LISBON, updated_at=NOW - DAY)])
    for scope in ANA.chain.keys:
        services.maintenance.rebuild(scope)
    for _ in range(2):
        assert contents(recall(services, QUESTION)) == [PORTO]
        assert contents(recall(services, QUESTION, as_of=NOW - 5 * DAY)) == [LISBON]
    assert recall(services, QUESTION)["cached"]
    bob = caller("acme", "bob", spaces=("red", "blue"), universes=("docs",))
    assert contents(recall(services, QUESTION, bob)) == []


TIMES = st.integers(-20, 20).map(lambda days: NOW + days * DAY)


@st.composite
def lives(draw: st.DrawFn) -> Memory:
    """A memory with some life: stored, perhaps edited, perhaps archived."""
    created = draw(TIMES)
    edited = draw(st.none() | st.integers(0, 10).map(lambda days: created + days * DAY))
    reason = draw(st.none() | st.sampled_from(ArchivedReason))
    history = (Revision(revision=1, content="before", edited_by="ana", edited_at=created),) if edited else ()
    return memory(
        "after" if edited else "before",
        created_at=created,
        admitted_at=draw(st.none() | TIMES),
        event_time=draw(TIMES),
        edited_at=edited,
        history=history,
        revision=2 if edited else 1,
        expires_at=draw(st.none() | TIMES),
        status=Status.ARCHIVED if reason else draw(st.sampled_from([Status.ACTIVE, Status.QUARANTINED])),
        archived_reason=reason,
        archived_at=draw(TIMES) if reason else None,
    )


@given(lives(), TIMES)
def test_nothing_is_shown_of_a_time_that_it_was_not_of(one: Memory, at: Any) -> None:
    was = as_it_was(one, at)
    if was is None:
        return
    assert one.created_at <= at
    assert one.event_time <= at
    assert one.expires_at is None or at < one.expires_at
    assert one.archived_at is None or at < one.archived_at
    assert not one.is_forgotten
    assert was.status is Status.ACTIVE
    assert was.content == ("after" if one.edited_at and one.edited_at <= at else "before")
    assert as_it_was(was, at) == was
