"""What was said around a hit counts for it: within one session of one scope, in the order in which it was said."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.bootstrap import Container
from chalicelib.domain.bm25 import LENGTH_PIVOT
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.explanation import LeftOut, LeftOutRule
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.place import Place, Situation
from chalicelib.domain.query import Candidate, RecallQuery
from chalicelib.domain.scope import Scope
from chalicelib.recall.surroundings import ANSWER_SHARE, SHARES, lent
from tests.building import caller, container
from tests.unit.test_recall import ANA, indexed, remembered

MINE, FOREIGN = "acme/user/ana", "acme/user/bob"


def said(
    position: int | None, *, scope: str = MINE, session: str | None = "s1", length: int = 10, asks: bool = False
) -> Candidate:
    """A message at a position of a session."""
    situation = Situation(Place(session, "Ana", asks), position, length, 0)
    return Candidate(f"mem_{scope}_{session}_{position}", scope, 0.5, 1.0, situation=situation)


def test_a_hit_lends_to_its_neighbours_less_with_the_distance_and_nothing_beyond() -> None:
    around = [said(position) for position in range(11)]
    got = lent(around, [0.0] * 5 + [2.0] + [0.0] * 5)
    fall = [2 * share for share in SHARES]
    assert got == pytest.approx([0.0, *reversed(fall), 0.0, *fall, 0.0])


def test_a_session_of_the_same_name_in_another_scope_lends_nothing() -> None:
    assert lent([said(3), said(4, scope=FOREIGN), said(2, scope="acme/space/red")], [5.0, 0.0, 0.0]) == [0.0, 0.0, 0.0]


def test_other_sessions_and_messages_of_none_are_not_around() -> None:
    others = [said(4, session="s2"), said(4, session=None), said(None), Candidate("mem_x", MINE, 0.5, 1.0)]
    assert lent([said(3), *others], [5.0, 0.0, 0.0, 0.0, 0.0]) == [0.0] * 5


def test_what_is_worse_than_the_mean_lends_nothing_and_takes_nothing_away() -> None:
    assert lent([said(1), said(2), said(3)], [-3.0, 0.0, -1.0]) == [0.0, 0.0, 0.0]


def test_what_follows_a_question_takes_more_than_what_came_before_it() -> None:
    before, after = (lent([said(1), said(2, asks=True), said(3)], [0.0, 1.0, 0.0])[i] for i in (0, 2))
    assert (before, after) == pytest.approx((SHARES[0], SHARES[0] + ANSWER_SHARE))


def test_a_long_message_lends_and_takes_less() -> None:
    long = int(4 * LENGTH_PIVOT)
    assert lent([said(1), said(2, length=long)], [1.0, 0.0])[1] == pytest.approx(SHARES[0] / 4)
    assert lent([said(1), said(2, length=long)], [0.0, 1.0])[0] == pytest.approx(SHARES[0] / 4)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.randoms())
def test_it_is_the_same_whatever_order_candidates_came_in(scores: list[float], chance: random.Random) -> None:
    pairs = [(said(position, asks=position % 3 == 0), score) for position, score in enumerate(scores)]
    expected = {one.id: got for (one, _), got in zip(pairs, lent(*zip(*pairs, strict=True)), strict=True)}
    chance.shuffle(pairs)
    assert {one.id: got for (one, _), got in zip(pairs, lent(*zip(*pairs, strict=True)), strict=True)} == expected


QUESTION = "When was the ferry to Corfu booked?"
TALK = (
    "Shall we book the ferry to Corfu?",
    "Yes, for the ninth",
    "My knee is better",
    "The neighbours paint their fence",
)


def converse(made: Container, who: Caller, items: list[dict[str, object]]) -> None:
    """Store what was said, whatever its worth as a memory."""
    admin = replace(who, roles=frozenset({*who.roles, Role.ADMIN}))
    made.remember.remember(admin, list(items), key=None, single=False, trusted=True)


def talk(*contents: str, session: str = "talk") -> list[dict[str, object]]:
    """Messages of one session, a second apart."""
    return [
        {
            "content": text,
            "type": "conversation",
            "eventTime": f"2026-03-01T10:00:{second:02}Z",
            "origin": {"sessionId": session},
        }
        for second, text in enumerate(contents)
    ]


def test_an_answer_is_found_by_its_question_and_says_why() -> None:
    made = container()
    converse(made, ANA, talk(*TALK))
    indexed(made)
    hits = made.recall.recall(ANA, RecallQuery(query=QUESTION))["hits"]
    assert [hit["memory"]["content"] for hit in hits[:2]] == list(TALK[:2])
    assert "what was said around it matches too" in hits[1]["why"]


def test_what_stands_around_a_hit_is_under_every_rule_but_the_floor() -> None:
    made = container(cache=None)
    converse(made, ANA, talk(*TALK[:2]) + talk(TALK[3], session="another"))
    indexed(made)

    def asked(**fields: Any) -> tuple[list[str], dict[str, LeftOut]]:
        """The texts of the hits, and by its text what was left out."""
        answer = made.recall.recall(ANA, RecallQuery(query=QUESTION, **fields))
        record = made.recall_audit.read(ANA, answer["recallId"])
        out = {made.editor.read(ANA, one.id).content: one for one in record.left_out}
        return [hit["memory"]["content"] for hit in answer["hits"]], out

    settings = made.settings.recall
    hits, out = asked()
    assert hits == list(TALK[:2])
    assert out[TALK[3]].rule is LeftOutRule.BELOW_FLOOR
    record = made.recall_audit.read(ANA, made.recall.recall(ANA, RecallQuery(query=QUESTION))["recallId"])
    assert [(one.moved or 0) > 0 for one in record.candidates] == [False, True, False]
    hits, out = asked(min_score=settings.floor)
    assert hits == [TALK[0]]
    assert out[TALK[1]].rule is LeftOutRule.BELOW_MIN_SCORE
    assert (out[TALK[1]].score or 0) < settings.floor
    hits, out = asked(limit=1)
    assert hits == [TALK[0]]
    assert out[TALK[1]].rule is LeftOutRule.BEYOND_LIMIT
    hits, out = asked(types=(MemoryType.FACT,))
    assert (hits, out) == ([], {})


def test_what_another_reader_said_in_a_session_of_the_same_name_moves_nothing() -> None:
    bob = caller("acme", "bob", spaces=("blue",))
    alone, beside = container(), container()
    for made in (alone, beside):
        converse(made, ANA, talk(*TALK))
    converse(beside, bob, talk("The ferry to Corfu sails at noon"))
    converse(
        beside, bob, [item | {"scope": "space", "scopeId": "blue"} for item in talk("The ferry to Corfu is booked")]
    )
    orders = []
    for made in (alone, beside):
        for reader in (ANA, bob):
            indexed(made, reader)
        hits = made.recall.recall(ANA, RecallQuery(query=QUESTION))["hits"]
        orders.append([(hit["memory"]["content"], hit["scores"]["fused"]) for hit in hits])
        assert {hit["memory"]["scopeId"] for hit in hits} == {"ana"}
    assert orders[0] == orders[1]


def test_scopes_of_the_chain_lend_nothing_to_one_another() -> None:
    made = container()
    converse(made, ANA, talk("Yes, for the ninth"))
    remembered(made, "The ferry to Corfu was booked", scope="space", scopeId="red", origin={"sessionId": "talk"})
    indexed(made)
    hits = made.recall.recall(ANA, RecallQuery(query=QUESTION))["hits"]
    assert hits[0]["memory"]["scope"] == Scope.SPACE
    assert all("around" not in hit["why"] for hit in hits)


def test_the_order_is_the_same_after_the_index_was_lost() -> None:
    made = container()
    converse(made, ANA, talk(*TALK))
    indexed(made)
    asked = RecallQuery(query=QUESTION)
    before = made.recall.recall(ANA, asked)["hits"]
    again = container(store=made.ports.store, hot=InMemoryHotIndex())
    assert indexed(again).recall.recall(ANA, asked)["hits"] == before
