"""Consolidation: the same fact is one row, a correction retires what it corrects, and nothing else is touched."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.memory import ArchivedReason, Claim, Link, LinkKind, Status
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.receipt import Outcome
from chalicelib.errors import Forbidden
from tests.building import NOW, TestClock, caller, container
from tests.consolidating import active, consolidator, drafted, now, stored, tell

ANA = caller("acme", "ana", spaces=("red",), universes=("u",))
BOB = caller("acme", "bob", spaces=("red",), universes=("u",))
ADMIN = caller("acme", "root", Role.ADMIN, spaces=("red",))
RED = {"scope": "space", "scopeId": "red"}


def later(services: Container, **parts: float) -> Container:
    """The services, time having passed."""
    clock = services.ports.clock
    assert isinstance(clock, TestClock)
    clock.forward(**parts or {"days": 1})
    return services


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana lives in Porto", "Ana's home is in Porto"),
        ("Ana lives in Porto", "Porto is where Ana lives"),
        ("Ana lives in Porto", "I live in Porto"),
        ("The team decided to use Postgres for billing", "For billing, the team decided on Postgres"),
        ("We buy paper from the corner shop", "We purchase paper from the corner shop."),
        ("Bob works at Acme", "Bob is employed at Acme"),
        ("The deadline of Apollo is May 3", "Apollo's deadline is 3 May"),
        ("The deploy happens every Friday at 5 pm", "Every Friday at 5 pm the deploy happens"),
        ("If the build fails, we call Bob", "We call Bob if the build fails"),
    ],
)
def test_the_same_fact_in_other_words_is_no_second_row(old: str, new: str) -> None:
    services = container()
    (first,) = tell(services, ANA, old)
    (again,) = tell(later(services), ANA, new)
    assert (again.outcome, again.id) == (Outcome.DUPLICATE, first.id)
    assert first.id in (again.reason or "")
    assert active(services, ANA) == {old}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana lives in Porto", "Bob lives in Porto"),
        ("Ana lives in Porto", "Ana lived in Porto until 2019"),
        ("Ana likes cats", "Ana likes dogs"),
        ("Use tabs for indentation", "Use spaces for indentation"),
        ("Ana manages Bob", "Bob manages Ana"),
        ("The cat chased the dog", "The dog chased the cat"),
        ("Deploy before the freeze", "Deploy after the freeze"),
        ("Turn the cache on", "Turn the cache off"),
        ("I have two cats", "I have three cats"),
        ("Python 3.12 is required here", "Python 3.13 is required here"),
        ("The build is green and fast", "The build is not green and fast"),
        ("We ship the release with Bob", "We ship the release with Carla"),
        ("Ship the report to the board", "Ship the report to the board on Friday"),
        ("Call Bob after Ana", "Call Ana after Bob"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_what_differs_in_a_name_a_number_a_negation_or_a_word_stays_two_rows(
    one: str, other: str, turned: bool
) -> None:
    services = container()
    old, new = (other, one) if turned else (one, other)
    tell(services, ANA, old)
    (made,) = tell(later(services), ANA, new)
    assert made.outcome is Outcome.STORED
    assert active(services, ANA) == {one, other}


def test_what_says_more_replaces_the_content_and_keeps_what_was() -> None:
    services = container()
    (first,) = tell(services, ANA, "The nightly build runs on the old server", tags=["ci"], importance=0.4)
    new = {"content": "The nightly build runs on the old server in the basement", "tags": ["infra"], "importance": 0.7}
    (made,) = stored(later(services), ANA, drafted(services, ANA, new))
    assert (made.outcome, made.id, made.revision) == (Outcome.UPDATED, first.id, 2)
    memory = now(services, ANA, first.id)
    assert (memory.content, memory.tags, memory.importance) == (new["content"], ("ci", "infra"), 0.7)
    assert (memory.history[0].content, memory.edited_by) == ("The nightly build runs on the old server", "ana")
    assert memory.event_time == NOW
    services.editor.restore_revision(ANA, first.id, 1, None)
    assert active(services, ANA) == {"The nightly build runs on the old server"}


def test_a_merged_row_is_found_by_what_it_says_now() -> None:
    services = container()
    tell(services, ANA, "The nightly build runs on the old server")
    tell(services, ANA, "The nightly build runs on the old server in the basement")
    (hit,) = services.recall.recall(ANA, RecallQuery(query="what is in the basement?"))["hits"]
    assert hit["memory"]["content"].endswith("basement")


def test_what_says_less_is_no_second_row() -> None:
    services = container()
    (first,) = tell(services, ANA, "The nightly build runs on the old server in the basement")
    (made,) = tell(services, ANA, "The nightly build runs on the old server")
    assert (made.outcome, made.id) == (Outcome.DUPLICATE, first.id)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana lives in Porto", "Ana lives in Lisbon"),
        ("I live in Porto", "I moved to Lisbon"),
        ("Ana works at Acme", "Ana no longer works at Acme"),
        ("The deadline of Apollo is May 3", "Apollo's deadline was moved to June 1"),
        ("My favourite food is sushi", "My favourite food is ramen"),
        ("I prefer tea over coffee", "I prefer coffee over tea"),
        ("Our budget for travel is $5,000", "Our budget for travel is $6,000"),
        ("Anna wohnt in Hamburg", "Anna wohnt in Bremen"),
        ("Carla vive en Sevilla", "Carla ya no vive en Sevilla"),
        ("小明住在北京", "小明搬到了上海"),
        ("We use MySQL", "We switched from MySQL to Postgres"),
    ],
)
def test_a_later_claim_of_the_same_supersedes_the_earlier(old: str, new: str) -> None:
    services = container()
    (first,) = tell(services, ANA, old)
    (made,) = tell(later(services), ANA, new)
    assert made.outcome is Outcome.SUPERSEDED
    assert first.id in (made.reason or "")
    retired, fresh = now(services, ANA, first.id), now(services, ANA, made.id)
    assert (retired.status, retired.archived_reason) == (Status.ARCHIVED, ArchivedReason.SUPERSEDED)
    assert retired.archived_at == services.ports.clock()
    assert fresh.links == (Link(kind=LinkKind.SUPERSEDES, target=first.id),)
    assert active(services, ANA) == {new}


def test_recall_shows_the_correction_and_not_what_it_corrected() -> None:
    services = container()
    tell(services, ANA, "The deadline of Apollo is May 3")
    tell(later(services), ANA, "Apollo's deadline was moved to June 1")
    hits = services.recall.recall(ANA, RecallQuery(query="The deadline of Apollo is May 3"))["hits"]
    assert [hit["memory"]["content"] for hit in hits] == ["Apollo's deadline was moved to June 1"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana likes pizza", "Ana likes sushi"),
        ("My birthday is May 3", "Bob's birthday is May 4"),
        ("Ana lives in Porto", "Ana lives in Porto, Portugal"),
        ("My favourite food is sushi", "My favourite colour is green"),
        ("I prefer tea over coffee", "I prefer trains over planes"),
        ("My rent is $900", "My salary is $5,000"),
        ("Ana used to live in Porto", "Ana lives in Lisbon"),
        ("Ana lives in Porto", "Ana might live in Lisbon"),
        ("Ana lives in Porto", "Ana wants to live in Lisbon"),
        ("Ana lives in Porto", "Does Ana live in Lisbon?"),
        ("We use MySQL", "We use Redis"),
        ("Ana no longer works at Acme", "Ana works at Globex"),
    ],
)
def test_what_is_no_contradiction_is_neither_retired_nor_linked(old: str, new: str) -> None:
    services = container()
    tell(services, ANA, old)
    (made,) = tell(later(services), ANA, new)
    assert made.outcome in {Outcome.STORED, Outcome.UPDATED}
    assert all(not row.links for row in (now(services, ANA, made.id),))
    assert new in active(services, ANA)


def contradicts(services: Container, made: Any, old: Any) -> bool:
    """Whether the new row is linked to the old as its contradiction, and both are active."""
    memories = [now(services, ANA, one.id) for one in (made, old)]
    linked = Link(kind=LinkKind.CONTRADICTS, target=old.id) in memories[0].links
    return linked and all(memory.status is Status.ACTIVE for memory in memories)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The deadline is May 3", "The deadline is May 10"),
        ("Ana lives in Porto and plays chess with the neighbours on most weekends", "Ana lives in Lisbon"),
        ("The budget is $5,000", "The budget is $6,000"),
    ],
)
def test_where_it_is_not_sure_both_stay_and_are_linked(old: str, new: str) -> None:
    services = container()
    (first,) = tell(services, ANA, old)
    (made,) = tell(later(services), ANA, new)
    assert made.outcome is Outcome.STORED
    assert contradicts(services, made, first)


def test_an_older_statement_that_arrives_later_retires_nothing() -> None:
    services = container()
    (first,) = tell(services, ANA, "Ana lives in Lisbon")
    (made,) = tell(services, ANA, "Ana lives in Porto", eventTime=(NOW - timedelta(days=90)).isoformat())
    assert contradicts(services, made, first)


def test_two_of_one_moment_are_linked_unless_one_says_that_it_is_a_change() -> None:
    services = container()
    first, second = tell(services, ANA, "Ana lives in Lisbon", "Ana lives in Porto")
    assert contradicts(services, second, first)
    services = container()
    _, second = tell(services, ANA, "Ana lives in Lisbon", "Ana moved to Porto")
    assert second.outcome is Outcome.SUPERSEDED
    assert active(services, ANA) == {"Ana moved to Porto"}


def test_events_at_other_times_are_no_contradiction() -> None:
    services = container()
    for day, text in enumerate(("The meeting with Bob is on June 2", "The meeting with Bob is on June 9")):
        at = (NOW + timedelta(days=day)).isoformat()
        (made,) = tell(services, ANA, text, type="event", eventTime=at)
        assert now(services, ANA, made.id).links == ()
    assert len(active(services, ANA)) == 2


def test_a_claim_that_the_caller_gives_is_what_counts() -> None:
    services = container()
    tell(services, ANA, "Porto it is", claims=[{"subject": "Ana", "attribute": "lives in", "value": "Porto"}])
    (made,) = tell(
        later(services), ANA, "Lisbon now", claims=[{"subject": "Ana", "attribute": "lives in", "value": "Lisbon"}]
    )
    assert made.outcome is Outcome.SUPERSEDED
    assert now(services, ANA, made.id).claims == (Claim(subject="Ana", attribute="lives in", value="Lisbon"),)


def test_only_what_is_each_others_nearest_merges() -> None:
    services = container()
    base = "The nightly build runs on the old server"
    more = f"{base} in the basement behind glass doors"
    texts = [base, f"{more} of Bob", more]
    done = [tell(services, ANA, text)[0] for text in texts]
    assert [one.outcome for one in done] == ["stored", "stored", "stored"]
    assert active(services, ANA) == set(texts)


def test_a_chain_never_fuses_what_is_not_alike() -> None:
    services = container()
    texts = [
        "The garden has roses tulips and daisies beside a wall",
        "The garden has tulips and daisies and lilies beside a wall",
        "The garden has daisies and lilies and orchids beside a wall",
    ]
    for text in texts:
        tell(services, ANA, text)
    assert active(services, ANA) == set(texts)


def test_a_batch_is_consolidated_with_itself() -> None:
    services = container()
    done = tell(
        services, ANA, "Bob works at Acme", "Bob is employed at Acme", "Bob likes jazz", "Bob no longer works at Acme"
    )
    assert [one.outcome for one in done] == ["stored", "duplicate", "stored", "superseded"]
    assert done[1].id == done[0].id
    assert active(services, ANA) == {"Bob likes jazz", "Bob no longer works at Acme"}


def test_what_waits_for_review_changes_nothing() -> None:
    services = container()
    (first,) = tell(services, ANA, "Ana lives in Porto")
    (row,) = drafted(later(services), ANA, {"content": "Ana lives in Lisbon"})
    waiting = row.memory.model_copy(update={"status": Status.QUARANTINED})
    (made,) = stored(services, ANA, [type(row)(waiting, row.counts, row.length)])
    assert made.outcome is Outcome.STORED
    assert now(services, ANA, first.id).status is Status.ACTIVE


def test_an_observer_consolidates_nothing() -> None:
    services = container()
    rows = drafted(services, ANA, {"content": "Ana lives in Porto"})
    with pytest.raises(Forbidden):
        consolidator(services).settle(caller("acme", "ana", Role.OBSERVER), rows)


def test_another_authors_row_is_linked_and_not_changed() -> None:
    services = container()
    (first,) = tell(services, BOB, "Carla lives in Porto", **RED)
    before = now(services, ANA, first.id)
    (made,) = tell(later(services), ANA, "Carla lives in Lisbon", **RED)
    assert contradicts(services, made, first)
    assert now(services, ANA, first.id) == before


def test_another_authors_row_is_not_given_more_content() -> None:
    services = container()
    (first,) = tell(services, BOB, "The nightly build runs on the old server", **RED)
    (made,) = tell(services, ANA, "The nightly build runs on the old server in the basement", **RED)
    assert made.outcome is Outcome.STORED
    assert now(services, ANA, first.id).revision == 1


def test_an_admin_may_change_what_others_wrote() -> None:
    services = container()
    (first,) = tell(services, BOB, "Carla lives in Porto", **RED)
    (made,) = tell(later(services), ADMIN, "Carla lives in Lisbon", **RED)
    assert made.outcome is Outcome.SUPERSEDED
    assert now(services, ADMIN, first.id).archived_reason is ArchivedReason.SUPERSEDED


def test_policy_gives_way_to_policy_alone() -> None:
    services = container()
    (policy,) = tell(services, ADMIN, "The deadline of Apollo is May 3", overridable=False, **RED)
    (made,) = tell(later(services), ADMIN, "The deadline of Apollo is June 1", **RED)
    assert made.outcome is Outcome.STORED
    assert now(services, ADMIN, policy.id).status is Status.ACTIVE
    (made,) = tell(later(services), ADMIN, "The deadline of Apollo is July 1", overridable=False, **RED)
    assert made.outcome is Outcome.SUPERSEDED


@pytest.mark.parametrize("content", ["Carla lives in Lisbon", "Carla's home is in Porto"])
@pytest.mark.parametrize(
    ("who", "where"),
    [
        (ANA, {}),
        (ANA, {"scope": "universe", "scopeId": "u"}),
        (BOB, {}),
        (caller("other", "ana", spaces=("red",)), RED),
    ],
)
def test_other_scopes_are_never_touched(content: str, who: Any, where: dict[str, str]) -> None:
    services = container()
    (broad,) = tell(services, ANA, "Carla lives in Porto", **RED)
    before = now(services, ANA, broad.id)
    (made,) = tell(later(services), who, content, **where)
    assert made.outcome is Outcome.STORED
    assert made.id != broad.id
    assert now(services, who, made.id).links == ()
    assert now(services, ANA, broad.id) == before


def test_an_audit_event_tells_of_every_row_that_was_changed() -> None:
    services = container()
    (first,) = tell(services, ANA, "Ana lives in Porto")
    (made,) = tell(later(services), ANA, "Ana lives in Lisbon")
    (event,) = services.ports.audit.list("acme", None, 10).items
    assert (event.action, event.target, event.details["by"]) == ("supersede", first.id, made.id)
