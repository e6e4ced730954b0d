"""`ports.QuestionStore`: one set a memory and revision whoever writes, nothing of another scope, and gone when told."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.adapters.memory.questions import InMemoryQuestionStore
from chalicelib.adapters.mongo.questions import MongoQuestionStore
from chalicelib.domain.questions import Question, QuestionAuthor, QuestionSet
from chalicelib.domain.scope import Chain
from chalicelib.ports import QuestionStore
from tests.building import AWKWARD_IDS, EMBEDDER, caller, chain

TEXTS = ("Where does Ana live?", "Wer wohnt in Porto? 😀", "寿司が好きなのは誰ですか？")


@pytest.fixture(params=["twin", "mongo"])
def questions(request: pytest.FixtureRequest) -> QuestionStore:
    """Every store of questions. MongoDB's is shared, so a test writes under its own organization."""
    if request.param == "twin":
        return InMemoryQuestionStore()
    return MongoQuestionStore(request.getfixturevalue("mongo"))


def made(org: str, id_: str = "mem_1", user: str = "ana", **fields: Any) -> QuestionSet:
    """A set for a memory in the user's scope."""
    values: dict[str, Any] = {
        "org_id": org,
        "scope_key": caller(org, user).chain.keys[-1],
        "memory_id": id_,
        "revision": 1,
        "text_hash": "ab",
        "author": QuestionAuthor.HEURISTIC,
        "model": EMBEDDER.passage_model,
        "questions": tuple(Question(text, EMBEDDER.embed_query(text)) for text in TEXTS),
        "terms": ("porto", "寿司"),
    }
    return QuestionSet(**values | fields)


def test_a_set_is_read_as_it_was_put(questions: QuestionStore, org: str) -> None:
    one, none = made(org), made(org, "mem_2", questions=(), terms=(), author=QuestionAuthor.LANGUAGE_MODEL)
    assert [questions.put(one), questions.put(none)] == [one, none]
    assert questions.of(chain(org), ["mem_1", "mem_2", "mem_3"]) == {"mem_1": one, "mem_2": none}
    assert questions.of(chain(org), []) == {}


def test_the_first_set_of_a_revision_stands(questions: QuestionStore, org: str) -> None:
    first, second = made(org), made(org, questions=(Question("Who?", EMBEDDER.embed_query("who")),))
    questions.put(first)
    assert questions.put(second) == first
    assert questions.of(chain(org), ["mem_1"]) == {"mem_1": first}


def test_a_later_revision_and_another_model_replace_the_set_whole(questions: QuestionStore, org: str) -> None:
    questions.put(made(org, revision=2))
    for later in (made(org, revision=2, model="other@8", terms=()), made(org, revision=3, questions=())):
        assert questions.put(later) == later
        assert questions.of(chain(org), ["mem_1"]) == {"mem_1": later}
    assert questions.put(made(org, revision=2, model="third@8")) == later


def test_of_many_writers_at_once_all_learn_of_the_one_set_that_stands(questions: QuestionStore, org: str) -> None:
    sets = [made(org, terms=(f"term{n}",)) for n in range(16)]
    with ThreadPoolExecutor(16) as pool:
        stood = list(pool.map(questions.put, sets))
    (standing,) = questions.of(chain(org), ["mem_1"]).values()
    assert {one.terms for one in stood} == {standing.terms}
    assert questions.of_scope(standing.scope_key) == ["mem_1"]


@pytest.mark.parametrize("name", AWKWARD_IDS)
def test_nothing_of_another_scope_is_read_or_removed(questions: QuestionStore, org: str, name: str) -> None:
    mine, foreign, stranger = made(org, "mem_a"), made(org, name, user=name), made(f"{org}x", "mem_a")
    for one in (mine, foreign, stranger):
        questions.put(one)
    assert questions.of(chain(org), ["mem_a", name]) == {"mem_a": mine}
    assert questions.of(chain(org, name), ["mem_a", name]) == {name: foreign}
    assert questions.remove(chain(org), [name]) == 0
    assert questions.remove(chain(org), ["mem_a", name]) == 1
    assert questions.of(chain(org, name), [name]) == {name: foreign}
    assert questions.of(chain(f"{org}x"), ["mem_a"]) == {"mem_a": stranger}
    assert questions.of(Chain(org, ()), ["mem_a", name]) == {}


def test_removing_spares_a_later_revision_where_told_to(questions: QuestionStore, org: str) -> None:
    questions.put(made(org, revision=3))
    assert questions.remove(chain(org), ["mem_1"], up_to=2) == 0
    assert questions.remove(chain(org), ["mem_1"], up_to=3) == 1
    assert questions.remove(chain(org), ["mem_1"]) == 0


def test_a_scope_is_paged_and_erased_alone(questions: QuestionStore, org: str) -> None:
    ids = [f"mem_{n}" for n in range(5)]
    for id_ in reversed(ids):
        questions.put(made(org, id_))
    bobs = made(org, "mem_bob", user="bob")
    questions.put(bobs)
    scope_key = made(org).scope_key
    assert questions.of_scope(scope_key, limit=3) == ids[:3]
    assert questions.of_scope(scope_key, after=ids[2]) == ids[3:]
    assert (questions.erase(scope_key), questions.erase(scope_key)) == (5, 0)
    assert questions.of_scope(bobs.scope_key) == ["mem_bob"]
