"""Claims are found where a text makes one plain, in many languages, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.claims.extraction import Statement, statements
from chalicelib.domain.claims.of_memory import statements_of, with_claims
from chalicelib.domain.claims.values import Kind, value_of
from chalicelib.domain.memory import Claim, Origin
from tests.building import NOW, memory
from tests.unit.claim_sentences import CLAIMS

TABLE = [tuple(part.strip() for part in line.split("=>")) for line in CLAIMS.strip().splitlines()]


def written(one: Statement) -> str:
    """A statement as the table writes it."""
    subject = one.subject if one.sure else f"? {one.subject}".strip()
    return f"{subject} | {'not ' if one.negated else ''}{one.attribute_text} | {one.value.text}"


def test_the_table_is_large_and_holds_sentences_that_make_no_claim() -> None:
    assert len(TABLE) >= 150
    assert sum(not expected for _, expected in TABLE) >= 50


@pytest.mark.parametrize(("sentence", "expected"), TABLE, ids=[sentence for sentence, _ in TABLE])
def test_a_sentence_makes_exactly_the_claims_of_the_table(sentence: str, expected: str) -> None:
    assert " ; ".join(written(one) for one in statements(sentence, "ana")) == expected


def claim(**fields: str) -> Claim:
    """A claim that a caller gives: Ana lives in Porto, unless `fields` say otherwise."""
    return Claim(**{"subject": "Ana", "attribute": "lives in", "value": "Porto"} | fields)


def test_a_claim_that_is_given_wins_over_the_text() -> None:
    said = memory("Ana lives in Porto", claims=(claim(value="Braga"),))
    assert with_claims(said) == said
    assert [written(one) for one in statements_of(said)] == ["ana | residence | Braga"]


def test_without_one_the_text_is_read() -> None:
    assert with_claims(memory("I moved to Faro. Bob no longer works at Acme.")).claims == (
        claim(subject="ana", attribute="residence", value="Faro"),
    )


def test_what_is_taken_back_is_still_known_once_the_claims_are_stored() -> None:
    said = memory("I switched from MySQL to Postgres")
    assert [one.negated for one in statements_of(with_claims(said))] == [False, True]


def test_claims_that_were_found_follow_the_text_and_those_that_were_given_do_not() -> None:
    found = with_claims(memory("I moved to Faro"))
    assert with_claims(found.model_copy(update={"content": "I moved to Tavira"})).claims == (
        claim(subject="ana", attribute="residence", value="Tavira"),
    )
    assert with_claims(found.model_copy(update={"content": "It rains"})).claims == ()
    given = memory("I moved to Faro", claims=(claim(),))
    assert with_claims(given.model_copy(update={"content": "It rains"})).claims == (claim(),)


def test_claims_that_rules_of_before_found_give_way_to_what_the_text_says() -> None:
    stored = memory("Ana lives in Porto", claims=(claim(attribute="home", value="Braga"),), claims_found=True)
    assert [written(one) for one in statements_of(stored)] == ["ana | residence | Porto"]


def test_a_claim_that_the_edited_text_no_longer_says_does_not_count() -> None:
    edited = memory("Ana lives in Braga", claims=(claim(),), edited_at=NOW)
    assert [written(one) for one in statements_of(edited)] == ["ana | residence | Braga"]


@pytest.mark.parametrize(
    ("speaker", "author"), [(None, "u7"), ("user", "u7"), ("Ana", "ana"), ("assistant", "assistant")], ids=str
)
def test_the_first_person_is_who_speaks(speaker: str | None, author: str) -> None:
    said = memory("I live in Porto", user_id="u7", origin=Origin(speaker=speaker))
    assert [one.subject for one in statements_of(said)] == [author]


@pytest.mark.parametrize(
    ("one", "other", "kind", "conflict"),
    [
        ("Porto", "Braga", Kind.PLACE, True),
        ("Porto", "Porto, Portugal", Kind.PLACE, False),
        ("PORTO", "Porto", Kind.PLACE, False),
        ("May 3", "3 May", Kind.DATE, False),
        ("May 3", "3. Mai 2026", Kind.DATE, False),
        ("May 3", "May 4", Kind.DATE, True),
        ("May 3 at 3 PM", "May 3, 15:00", Kind.DATE, False),
        ("May 3 at 3 PM", "May 3 at 4 PM", Kind.DATE, True),
        ("May 3 at 3 p.m.", "May 3 at 4 pm", Kind.DATE, True),
        ("3 de mayo de 2026", "3 mai 2026", Kind.DATE, False),
        ("2026-05-03", "5月3日", Kind.DATE, False),
        ("$1,200", "1200 USD", Kind.AMOUNT, False),
        ("$1,200", "$1.3k", Kind.AMOUNT, True),
        ("12 hours", "15 problems", Kind.AMOUNT, False),
        ("78%", "65 percent", Kind.AMOUNT, True),
        ("+351 912 345 678", "+351912345678", Kind.CONTACT, False),
        ("a@example.org", "b@example.org", Kind.CONTACT, True),
    ],
    ids=str,
)
def test_values_conflict_where_both_cannot_be_true(one: str, other: str, kind: Kind, conflict: bool) -> None:
    left, right = value_of(one, kind), value_of(other, kind)
    assert left is not None
    assert right is not None
    assert (left.conflicts(right), right.conflicts(left)) == (conflict, conflict)


@pytest.mark.parametrize("name", ["K7pmeq", "B5h30x", "Zyx8amo", "Porto"])
def test_no_time_is_read_into_a_name(name: str) -> None:
    (made,) = statements(f"Ana moved to {name}", "ana")
    assert (made.subject, made.value.text, made.value.kind) == ("ana", name, Kind.PLACE)


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for one in statements(text, "ana"):
        assert one.value.text
        assert 0 <= one.begin <= one.end <= len(text)
