"""On-demand recall: when earlier messages are called back, and which of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.context.recalling import BEST, Candidate, Trigger, choose, is_explicit, lend, trigger
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.text.tokens import estimate
from chalicelib.prompt import lines
from tests.conversing import empty, genome_of, said, talk

EXPLICIT = {
    "english": ("As we discussed, which database was it?", "Remember when I told you about Porto?"),
    "german": ("Wie besprochen, welche Datenbank war das?", "Erinnerst du dich an Porto?"),
    "french": ("Comme on a dit, quelle base était-ce ?", "Tu te souviens de Porto ?"),
    "spanish": ("¿Te acuerdas de Oporto?", "Como dijimos, ¿qué base era?"),
    "italian": ("Ti ricordi di Porto?",),
    "portuguese": ("Você lembra do Porto?",),
    "dutch": ("Weet je nog wat Porto was?",),
    "russian": ("Помнишь, что я говорил про Порту?",),
    "turkish": ("Porto'yu hatırlıyor musun?",),
    "arabic": ("هل تتذكر ما قلته عن بورتو؟",),
    "chinese": ("你之前说的是哪个数据库？", "还记得波尔图吗？"),
    "japanese": ("さっき話したデータベースはどれ？",),
    "korean": ("아까 말했던 데이터베이스가 뭐였지?",),
    "hindi": ("क्या तुम्हें याद है मैंने पोर्टो के बारे में क्या बताया?",),
}
OTHERS = (
    "Which database is fastest?",
    "Wie wird das Wetter?",
    "今天天气怎么样？",
    "ما هو الطقس اليوم؟",
    "Привет, как дела?",
)


@pytest.mark.parametrize("query", [query for queries in EXPLICIT.values() for query in queries])
def test_referring_back_is_explicit_in_many_languages(query: str) -> None:
    assert is_explicit(query)
    assert trigger(query, empty(), ()) is Trigger.EXPLICIT


@pytest.mark.parametrize("query", OTHERS)
def test_other_questions_are_not(query: str) -> None:
    assert not is_explicit(query)


def test_a_topic_that_left_the_window_is_called_back_and_one_that_is_in_it_is_not() -> None:
    genome = genome_of(talk("The Postgres migration of the billing service starts in May."))
    active = talk("The garden fence needs paint.", start=10)
    assert trigger("When does the migration start?", genome, active) is Trigger.IMPLICIT
    assert trigger("Which paint for the fence?", genome, active) is None
    assert trigger("Thanks!", genome, active) is None


def test_what_only_the_search_knows_calls_back_too() -> None:
    lighthouse = Candidate(said("The lighthouse is in Porto.", 3), 0.2)
    assert trigger("Where is the lighthouse?", empty(), (), [lighthouse]) is Trigger.IMPLICIT
    assert trigger("Where is the castle?", empty(), (), [lighthouse]) is None


def test_what_is_nearest_calls_back_where_it_is_not_active_whatever_its_words() -> None:
    tower, fence = said("O farol fica no Porto.", 3), said("The house has a fence.", 50)
    query = "Where is the house of light?"
    assert trigger(query, empty(), [fence], [Candidate(tower, 0.6), Candidate(fence, 0.4)]) is Trigger.IMPLICIT
    assert trigger("Where is the house?", empty(), [fence], [Candidate(fence, 0.6), Candidate(tower, 0.4)]) is None


def session(count: int) -> dict[int, SessionMessage]:
    """Messages by position, every tenth a question."""
    return {
        i: said(f"Is part {i} ready?" if i % 10 == 0 else f"The orchard has part {i} now.", i) for i in range(count)
    }


def candidates(*positions: int, score: float = 0.6, of: int = 100) -> list[Candidate]:
    """Candidates, best first."""
    messages = session(of)
    return [Candidate(messages[position], score) for position in positions]


def test_the_best_come_back_in_order_of_time() -> None:
    found = choose(candidates(42, 7, 33), session(100), active=set(), budget=500)
    assert [one.position for one in found.messages] == [7, 33, 42]
    assert found.ranked == (42, 7, 33)


def test_five_come_back_whatever_they_score_and_further_ones_where_they_are_near() -> None:
    positions = (3, 13, 23, 33, 43, 53, 63)
    far = choose(candidates(*positions, score=0.01), session(100), active=set(), budget=2000)
    near = choose(candidates(*positions), session(100), active=set(), budget=2000)
    assert len(far.ranked) == BEST
    assert far.left_out == 2
    assert len(near.ranked) == 7


def test_active_messages_do_not_come_twice() -> None:
    found = choose(candidates(42, 7), session(100), active={42}, budget=500)
    assert [one.position for one in found.messages] == [7]


def test_an_answer_brings_its_question_and_a_question_its_answer() -> None:
    answer = choose(candidates(21), session(100), active=set(), budget=500)
    question = choose(candidates(20), session(100), active=set(), budget=500)
    assert [one.position for one in answer.messages] == [20, 21]
    assert answer.neighbours == {20}
    assert [one.position for one in question.messages] == [20, 21]
    assert question.neighbours == {21}


@given(st.lists(st.integers(0, 99), unique=True, max_size=40), st.integers(0, 600), st.sets(st.integers(0, 99)))
def test_the_budget_holds_and_nothing_active_comes_back(positions: list[int], budget: int, active: set[int]) -> None:
    found = choose(candidates(*positions), session(100), active, budget)
    assert found.tokens <= budget
    assert estimate(lines.lines(found.messages)) <= budget
    assert active.isdisjoint(one.position for one in found.messages)
    assert [one.position for one in found.messages] == sorted(one.position for one in found.messages)


def test_a_hit_lends_to_its_neighbours() -> None:
    assert lend({5: 1.0}) == {3: 0.15, 4: 0.3, 5: 1.0, 6: 0.3, 7: 0.15}
    assert lend({}) == {}


@given(st.dictionaries(st.integers(0, 50), st.floats(-3, 3)))
def test_lending_never_lowers_a_score(scores: dict[int, float]) -> None:
    lent = lend(scores)
    assert all(lent[at] >= score for at, score in scores.items())
