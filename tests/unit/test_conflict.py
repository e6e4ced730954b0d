"""Where hits disagree, the reader is told what holds for it: policy first, then the narrowest scope, then what is later; and
each hit says what it overrode, and why."""

import itertools
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.conflicts import OverrideRule
from chalicelib.domain.memory import ArchivedReason, LinkKind, Memory, MemoryType, Status
from chalicelib.domain.query import Hit, Scores, TierName
from chalicelib.domain.scope import Scope
from chalicelib.recall.conflict import Resolved, resolve
from chalicelib.recall.succession import FARTHEST, newer_first
from tests.building import NOW, caller, memory, row
from tests.unit.recalling import ANA, claims, contents, holding, linked, recall

DAY = timedelta(days=1)
IDS = {Scope.ORGANIZATION: "acme", Scope.SPACE: "red", Scope.UNIVERSE: "docs", Scope.USER: "ana"}


def office(city: str, scope: Scope = Scope.USER, **fields: Any) -> Memory:
    """A memory that says in which city the office is."""
    values: dict[str, Any] = {"id": f"mem_{city.lower()}", "scope": scope, "scope_id": IDS[scope]}
    values |= {"content": f"The office of Acme is in {city}", "claims": claims(("Acme", "residence", city))}
    return memory(**values | fields)


def hit(one: Memory, score: float = 0.5) -> Hit:
    """A hit of that memory."""
    scores = Scores(cosine=None, similarity=None, bm25=0, coverage=score, fused=0)
    return Hit(memory=one, score=score, scores=scores, tier=TierName.HOT_TEXT, why="")


def resolved(*memories: Memory) -> Resolved:
    """What holds among hits of these."""
    return resolve([hit(one) for one in memories])


def ids(hits: tuple[Hit, ...]) -> list[str]:
    """The ids of hits."""
    return [one.memory.id for one in hits]


def rule(outcome: Resolved) -> OverrideRule:
    """The only rule by which one memory was overridden."""
    (said,) = [one for each in outcome.hits for one in each.overrode or ()]
    return said.rule


PAIRS = list(itertools.product(Scope, Scope, (True, False), (True, False)))


@pytest.mark.parametrize(("first", "second", "first_is_policy", "second_is_policy"), PAIRS)
def test_every_pair_of_scopes_is_settled_by_the_rules(
    first: Scope, second: Scope, first_is_policy: bool, second_is_policy: bool
) -> None:
    one = office("Porto", first, overridable=not first_is_policy, event_time=NOW - DAY)
    other = office("Lisbon", second, overridable=not second_is_policy)
    for hits in ((one, other), (other, one)):
        outcome = resolved(*hits)
        if first_is_policy != second_is_policy:
            expected = one if first_is_policy else other
            why = OverrideRule.POLICY
        elif first is second:
            expected, why = other, OverrideRule.LATER
        elif first_is_policy:
            expected = min(one, other, key=lambda each: each.scope.breadth)
            why = OverrideRule.BROADEST_POLICY
        else:
            expected = max(one, other, key=lambda each: each.scope.breadth)
            why = OverrideRule.NARROWEST_SCOPE
        (loser,) = {one.id, other.id} - {expected.id}
        assert (ids(outcome.hits), ids(outcome.left_out), rule(outcome)) == ([expected.id], [loser], why)
        (said,) = outcome.hits[0].overrode or ()
        assert (said.id, said.subject, said.attribute) == (loser, "acme", "residence")
        assert "residence of acme" in said.why
        (back,) = outcome.left_out[0].overridden_by or ()
        assert back.id == expected.id


def test_within_one_scope_the_later_then_the_more_important_then_the_id_holds() -> None:
    old, new = office("Porto", event_time=NOW - DAY, importance=0.9), office("Lisbon", importance=0.1)
    assert rule(resolved(old, new)) is OverrideRule.LATER
    assert ids(resolved(old, new).hits) == ["mem_lisbon"]
    more, less = office("Porto", importance=0.9), office("Lisbon", importance=0.1)
    assert (ids(resolved(less, more).hits), rule(resolved(less, more))) == (["mem_porto"], OverrideRule.IMPORTANCE)
    assert (
        ids(resolved(office("Porto"), office("Lisbon")).hits),
        rule(resolved(office("Porto"), office("Lisbon"))),
    ) == (
        ["mem_porto"],
        OverrideRule.ID,
    )


def test_preferences_obey_scope_and_within_one_their_importance() -> None:
    def preference(value: str, scope: Scope, **fields: Any) -> Memory:
        said = claims(("answers", "length", value))
        return memory(
            f"Wants {value} answers", id=f"mem_{value}", claims=said, scope=scope, scope_id=IDS[scope], **fields
        )

    kind: dict[str, Any] = {"type": MemoryType.PREFERENCE}
    mine = preference("short", Scope.USER, event_time=NOW - DAY, importance=0.1, **kind)
    theirs = preference("long", Scope.SPACE, importance=0.9, **kind)
    assert ids(resolved(theirs, mine).hits) == ["mem_short"]
    strong = preference("short", Scope.USER, event_time=NOW - DAY, importance=0.9, **kind)
    late = preference("long", Scope.USER, importance=0.5, **kind)
    assert (ids(resolved(late, strong).hits), rule(resolved(late, strong))) == (["mem_short"], OverrideRule.IMPORTANCE)


APART: dict[str, tuple[Memory, Memory]] = {
    "another subject": (office("Porto"), office("Lisbon", claims=claims(("Beta", "residence", "Lisbon")))),
    "another attribute": (office("Porto"), office("Lisbon", claims=claims(("Acme", "birthday", "3 May 2020")))),
    "qualified otherwise": (
        office("4", claims=claims(("Acme", "travel budget", "400 euros"))),
        office("5", claims=claims(("Acme", "rent budget", "500 euros"))),
    ),
    "the same value": (office("Porto"), office("Lisbon", claims=claims(("ACME", "residence", "porto")))),
    "a value that says more": (
        office("Porto"),
        office("Lisbon", claims=claims(("Acme", "residence", "Porto, Portugal"))),
    ),
    "many values": (
        office("Tea", claims=claims(("Ana", "likes", "tea"))),
        office("Milk", claims=claims(("Ana", "likes", "milk"))),
    ),
    "another time": (
        office("Porto", type=MemoryType.EVENT, event_time=NOW - DAY),
        office("Lisbon", type=MemoryType.EVENT),
    ),
    "no claims": (office("Porto", claims=()), office("Lisbon")),
    "superseded": (
        office("Porto", status=Status.ARCHIVED, archived_reason=ArchivedReason.SUPERSEDED, archived_at=NOW),
        office("Lisbon"),
    ),
}


@pytest.mark.parametrize("pair", APART.values(), ids=APART)
def test_what_can_be_true_together_is_no_conflict(pair: tuple[Memory, Memory]) -> None:
    outcome = resolved(*pair)
    assert ids(outcome.hits) == [one.id for one in pair]
    assert [one.overrode for one in outcome.hits] == [None, None]


def test_what_says_more_stays_behind_what_holds_and_both_say_so() -> None:
    more = office("Porto", claims=claims(("Acme", "residence", "Porto"), ("Acme", "birthday", "3 May 2020")))
    outcome = resolved(more, office("Lisbon", Scope.ORGANIZATION, overridable=False))
    assert (ids(outcome.hits), outcome.left_out) == (["mem_lisbon", "mem_porto"], ())
    assert [one.id for one in outcome.hits[1].overridden_by or ()] == ["mem_lisbon"]
    assert [one.id for one in outcome.hits[0].overrode or ()] == ["mem_porto"]


def test_of_two_spaces_neither_hides_the_other() -> None:
    red, blue = office("Porto", Scope.SPACE), office("Lisbon", Scope.SPACE, scope_id="blue", event_time=NOW - DAY)
    outcome = resolved(blue, red)
    assert (ids(outcome.hits), outcome.left_out) == (["mem_porto", "mem_lisbon"], ())
    assert outcome.hits[1].overridden_by


def test_what_consolidation_was_not_sure_of_stays_and_a_link_saves_nothing_from_a_policy() -> None:
    old, new = office("Porto", event_time=NOW - DAY), office("Lisbon", links=linked("mem_porto", LinkKind.CONTRADICTS))
    assert ids(resolved(old, new).hits) == ["mem_lisbon", "mem_porto"]
    policy = office("Porto", Scope.ORGANIZATION, overridable=False)
    assert ids(resolved(new, policy).hits) == ["mem_porto"]
    assert ids(newer_first(tuple(hit(one) for one in (policy, new)))) == ["mem_porto", "mem_lisbon"]


def test_the_winner_takes_the_place_of_the_loser() -> None:
    filler = [memory(f"note {i}", id=f"mem_{i}") for i in range(3)]
    outcome = resolved(filler[0], office("Porto"), *filler[1:], office("Lisbon", Scope.ORGANIZATION, overridable=False))
    assert ids(outcome.hits) == ["mem_0", "mem_lisbon", "mem_1", "mem_2"]


@st.composite
def memories(draw: st.DrawFn) -> list[Memory]:
    """Memories in any scopes that disagree on up to two topics, some linked."""
    made = []
    for i in range(draw(st.integers(0, 7))):
        scope = draw(st.sampled_from(Scope))
        cities = draw(st.lists(st.sampled_from(["Porto", "Lisbon", "Faro"]), min_size=1, max_size=2))
        said = [("Acme", attribute, city) for attribute, city in zip(("residence", "capital"), cities, strict=False)]
        made.append(
            office(
                cities[0],
                scope,
                id=f"mem_{i}",
                scope_id=draw(st.sampled_from([IDS[scope], "blue"])) if scope is Scope.SPACE else IDS[scope],
                claims=claims(*said),
                overridable=draw(st.booleans()),
                importance=draw(st.sampled_from([0.2, 0.8])),
                type=draw(st.sampled_from([MemoryType.FACT, MemoryType.PREFERENCE, MemoryType.EVENT])),
                event_time=NOW - draw(st.integers(0, 2)) * DAY,
                links=linked(f"mem_{draw(st.integers(0, 7))}", draw(st.sampled_from(LinkKind))),
            )
        )
    return made


@given(memories(), st.randoms())
def test_the_outcome_does_not_depend_on_the_order_of_the_hits(made: list[Memory], random: Any) -> None:
    one = resolve([hit(each) for each in made])
    random.shuffle(made)
    other = resolve([hit(each) for each in made])
    by_id = {each.memory.id: each for each in (*one.hits, *one.left_out)}
    assert {each.memory.id: each for each in (*other.hits, *other.left_out)} == by_id
    assert set(ids(one.hits)) == set(ids(other.hits))


@given(memories())
def test_nothing_is_lost_or_made_up_and_whatever_is_left_out_names_a_hit_that_holds(made: list[Memory]) -> None:
    outcome = resolve([hit(each) for each in made])
    assert sorted(ids(outcome.hits) + ids(outcome.left_out)) == sorted(each.id for each in made)
    kept = set(ids(outcome.hits))
    for each in outcome.left_out:
        assert {said.id for said in each.overridden_by or ()} & kept
    assert bool(outcome.hits) == bool(made)


@given(memories())
def test_policy_always_wins(made: list[Memory]) -> None:
    outcome = resolve([hit(each) for each in made])
    policies = {each.id for each in made if not each.overridable}
    for each in (*outcome.hits, *outcome.left_out):
        for said in each.overridden_by or ():
            assert each.memory.id not in policies or said.id in policies
            assert (said.rule is OverrideRule.POLICY) == (said.id in policies and each.memory.id not in policies)
    ordered = ids(newer_first(outcome.hits))
    assert sorted(ordered) == sorted(ids(outcome.hits))


@given(memories(), st.randoms())
def test_what_is_newer_stands_before_what_it_is_linked_to_and_others_keep_their_order(
    made: list[Memory], random: Any
) -> None:
    plain = [each.model_copy(update={"links": ()}) for each in made]
    assert ids(newer_first([hit(each) for each in plain])) == [each.id for each in plain]
    once = newer_first([hit(each) for each in made])
    assert newer_first(once) == once
    alone = [each.id for each in made if not each.links]
    assert [id_ for id_ in ids(once) if id_ in alone] == alone


def test_the_newer_takes_the_better_place_and_the_older_follows_right_behind() -> None:
    old = office("Porto", event_time=NOW - DAY)
    new = office("Lisbon", links=linked("mem_porto", LinkKind.CONTRADICTS))
    notes = [memory(f"note {i}", id=f"mem_{i}") for i in range(2)]
    for kind in (LinkKind.CONTRADICTS, LinkKind.SUPERSEDES):
        newer = new.model_copy(update={"links": linked("mem_porto", kind)})
        hits = [hit(each) for each in (notes[0], old, notes[1], newer)]
        assert ids(newer_first(hits)) == ["mem_0", "mem_lisbon", "mem_porto", "mem_1"]
        hits = [hit(each) for each in (newer, notes[0], old)]
        assert ids(newer_first(hits)) == ["mem_lisbon", "mem_0", "mem_porto"], "what is older moves up for nothing"
    related = new.model_copy(update={"links": linked("mem_porto", LinkKind.RELATES)})
    assert ids(newer_first([hit(old), hit(related)])) == ["mem_porto", "mem_lisbon"]


def test_of_three_the_latest_stands_first_and_what_a_third_corrects_too_is_not_linked() -> None:
    first, second, third = (
        office(city, event_time=NOW + n * DAY, links=linked(before, LinkKind.CONTRADICTS) if before else ())
        for n, (city, before) in enumerate([("Porto", ""), ("Lisbon", "mem_porto"), ("Faro", "mem_lisbon")])
    )
    assert ids(newer_first([hit(first), hit(second), hit(third)])) == ["mem_faro", "mem_lisbon", "mem_porto"]
    both = third.model_copy(
        update={"links": (*linked("mem_porto", LinkKind.CONTRADICTS), *linked("mem_lisbon", LinkKind.CONTRADICTS))}
    )
    alone = second.model_copy(update={"links": ()})
    assert ids(newer_first([hit(first), hit(alone), hit(both)])) == ["mem_faro", "mem_porto", "mem_lisbon"]


def test_what_is_newer_and_far_below_stays_where_it_is() -> None:
    old, new = office("Porto", event_time=NOW - DAY), office("Lisbon", links=linked("mem_porto", LinkKind.CONTRADICTS))
    for between in (FARTHEST - 1, FARTHEST):
        notes = [memory(f"note {i}", id=f"mem_{i}") for i in range(between)]
        found = ids(newer_first([hit(old), *(hit(each) for each in notes), hit(new)]))
        assert (found[0] == "mem_lisbon") == (between < FARTHEST)


def test_links_in_a_circle_end() -> None:
    a = office("Porto", event_time=NOW, links=linked("mem_lisbon", LinkKind.SUPERSEDES))
    b = office("Lisbon", event_time=NOW + 2 * DAY, links=linked("mem_faro", LinkKind.CONTRADICTS))
    c = office("Faro", event_time=NOW + DAY, links=linked("mem_porto", LinkKind.CONTRADICTS))
    assert sorted(ids(newer_first([hit(a), hit(b), hit(c)]))) == ["mem_faro", "mem_lisbon", "mem_porto"]


def stored(one: Memory) -> Any:
    """The memory as a row."""
    return row(**one.model_dump(exclude={"embedding"}) | {"org_id": "acme"})


def test_four_readers_of_one_organization_get_the_winners_of_their_own_chains() -> None:
    """Spec "Shows" 2: two spaces and two universes, one question."""
    everyone = office("Porto", Scope.ORGANIZATION)
    rows = [stored(everyone)]
    for scope, name, city in (
        (Scope.SPACE, "red", "Lisbon"),
        (Scope.SPACE, "blue", "Faro"),
        (Scope.UNIVERSE, "docs", "Braga"),
        (Scope.UNIVERSE, "code", "Evora"),
    ):
        rows.append(stored(office(city, scope, scope_id=name)))
    readers = {
        "Lisbon": caller("acme", "a", spaces=("red",)),
        "Faro": caller("acme", "b", spaces=("blue",)),
        "Braga": caller("acme", "c", spaces=("red",), universes=("docs",)),
        "Evora": caller("acme", "d", spaces=("blue",), universes=("code",)),
        "Porto": caller("acme", "e"),
    }
    everything = caller("acme", "z", spaces=("red", "blue"), universes=("docs", "code"))
    services = holding(*rows, who=everything, caches=True)
    for cached in (False, True):
        for city, who in readers.items():
            answer = recall(services, "in which city is the office of Acme?", who)
            assert (contents(answer), answer["cached"]) == ([f"The office of Acme is in {city}"], cached)
            overrode = answer["hits"][0].get("overrode", [])
            assert {said["rule"] for said in overrode} <= {"narrowest_scope"}
            seen = set(who.chain.keys)
            assert all(f"acme/{said['scope']}/{said['scopeId']}" in seen for said in overrode)


def test_a_policy_beats_every_reader_also_where_it_ranks_behind_the_page() -> None:
    policy = office("Porto", Scope.ORGANIZATION, overridable=False, content="Acme: Porto")
    services = holding(stored(policy), stored(office("Lisbon")))
    answer = recall(services, "the office of Acme is in which city", limit=1)
    assert contents(answer) == ["Acme: Porto"]
    assert [said["rule"] for said in answer["hits"][0]["overrode"]] == ["policy"]


def test_superseded_rows_that_were_asked_for_stand_right_behind_what_superseded_them() -> None:
    old = office("Porto", status=Status.ARCHIVED, archived_reason=ArchivedReason.SUPERSEDED, archived_at=NOW)
    new = office("Lisbon", links=linked("mem_porto", LinkKind.SUPERSEDES))
    services = holding(stored(old), stored(new))
    query = "is the office of Acme in Porto?"
    assert contents(recall(services, query)) == ["The office of Acme is in Lisbon"]
    both = ["The office of Acme is in Lisbon", "The office of Acme is in Porto"]
    assert contents(recall(services, query, include=("superseded",))) == both


def test_a_reader_without_the_scope_of_a_correction_still_has_the_fact() -> None:
    fact, correction = office("Porto", Scope.SPACE), office("Lisbon")
    bob = caller("acme", "bob", spaces=("red",))
    services = holding(stored(fact), stored(correction))
    query = "where is the office of Acme?"
    assert contents(recall(services, query, ANA)) == ["The office of Acme is in Lisbon"]
    assert contents(recall(services, query, bob)) == ["The office of Acme is in Porto"]
