"""`ports.HotIndex.search_many`: every question is answered as if it had been asked alone, in the round trips of one."""

from collections.abc import Sequence
from typing import Any

import pytest

from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.domain.query import Filter, IndexAnswer, IndexQuery
from chalicelib.domain.scope import Chain
from tests.building import chain, index_query, row
from tests.conftest import SEARCH_MODULE
from tests.contract.conftest import IndexUnderTest, emptied
from tests.contract.index_steps import axis, put, scope_of, with_vectors

MANY = 40  # more than are asked with the patience of a single call


def questions(org: str) -> list[tuple[Chain, IndexQuery]]:
    """Of two users and of nobody: by both signals, by one, by neither, narrowed, and short of rows."""
    ana, bob, eve = (chain(org, user) for user in ("ana", "bob", "eve"))
    return [
        (ana, index_query("figs and pears")),
        (bob, index_query("figs and pears")),
        (ana, index_query("plums", vector=None)),
        (ana, index_query("figs", terms=())),
        (ana, index_query("", vector=None, terms=())),
        (bob, index_query("figs", filter=Filter(tags=("fruit",)))),
        (ana, index_query("figs and pears", limit=2)),
        (eve, index_query("figs and pears")),
        (ana.only(()), index_query("figs")),
    ]


def filled(index: IndexUnderTest, org: str) -> None:
    """Rows of ana and of bob, those of ana complete."""
    mine = [row(f"{fruit}, number {n}", org_id=org) for n in range(6) for fruit in ("figs", "pears", "plums")]
    mine.append(with_vectors(row("figs that have no vector", org_id=org)))
    his = [row(f"figs of bob, number {n}", org_id=org, scope_id="bob", tags=("fruit",)) for n in range(4)]
    put(index.index, *mine, *his)
    index.index.complete(scope_of(mine[0]))


def shown(answer: IndexAnswer) -> tuple[Any, ...]:
    """An answer, its candidates in a fixed order."""
    found = sorted((c.id, c.scope_key, c.cosine, c.bm25, c.question) for c in answer.candidates)
    return found, answer.statistics, answer.incomplete, answer.mismatched, answer.vectors_searched


def test_each_question_is_answered_as_if_it_was_asked_alone(text_index: IndexUnderTest, org: str) -> None:
    filled(text_index, org)
    asked = questions(org)
    together = text_index.index.search_many(asked)
    alone = [text_index.index.search(reader, query) for reader, query in asked]
    assert [shown(answer) for answer in together] == [shown(answer) for answer in alone]
    assert all(answer.candidates for answer in together[:3])


def test_no_question_sees_what_another_reader_may_see(vector_index: IndexUnderTest, org: str) -> None:
    filled(vector_index, org)
    for (reader, _), answer in zip(questions(org), vector_index.index.search_many(questions(org)), strict=True):
        assert {candidate.scope_key for candidate in answer.candidates} <= set(reader.keys)
        assert answer.incomplete <= set(reader.keys)


def test_no_questions_have_no_answers(text_index: IndexUnderTest) -> None:
    assert text_index.index.search_many([]) == []


@pytest.mark.parametrize("server", ["redis", "valkey", *SEARCH_MODULE])
def test_many_questions_take_the_round_trips_of_one(request: pytest.FixtureRequest, org: str, server: str) -> None:
    connection = emptied(request, server)
    index = RedisHotIndex(connection)
    put(index, *(row(f"figs, number {n}", org_id=org) for n in range(6)))
    index.search(chain(org), index_query("figs"))
    sent: list[int] = []
    run = connection.run

    def counted(calls: Sequence[Any], *, bulk: bool = False) -> list[Any]:
        sent.append(len(calls))
        return run(calls, bulk=bulk)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connection, "run", counted)
        index.search(chain(org), index_query("figs"))
        alone = len(sent)
        answers = index.search_many([(chain(org), index_query(f"figs, number {n % 6}")) for n in range(MANY)])
    assert len(answers) == MANY
    assert all(len(answer.candidates) == 6 for answer in answers)
    assert len(sent) == 2 * alone
    assert alone <= 2


def test_a_search_that_need_not_be_exact_finds_the_nearest_of_its_own_scope(
    vector_index: IndexUnderTest, org: str
) -> None:
    mine = [with_vectors(row(f"row {n}", org_id=org), axis(n, 64)) for n in range(64)]
    his = [with_vectors(row(f"row {n}", org_id=org, scope_id="bob"), axis(n, 64)) for n in range(64)]
    put(vector_index.index, *mine, *his)
    for number in (0, 31, 63):
        query = index_query("", vector=axis(number, 64), terms=(), limit=1, exact_rows=0)
        (near,) = vector_index.index.search(chain(org), query).candidates
        assert near.id == mine[number].memory.id
        assert near.cosine == pytest.approx(1.0, abs=0.02)
