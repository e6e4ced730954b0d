"""The context of a turn from its parts: what left the window comes back when it is asked for, and nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.context.composing import Composed, SessionView, TurnRequest, compose, settle
from chalicelib.context.recalling import Candidate, Trigger
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.text.terms import index_terms, query_words
from chalicelib.prompt.blocks import BlockName
from tests.building import memory
from tests.conversing import empty, genome_of, said, talk

ORCHARD = "The orchard needs {} new apple trees behind the school."
BILLING = "The billing service sends invoice {} twice to customers."


def thirty_messages() -> list[SessionMessage]:
    """Ten messages on one topic, ten on another, ten on the first again."""
    texts = [template.format(i) for i, template in enumerate([ORCHARD] * 10 + [BILLING] * 10 + [ORCHARD] * 10)]
    return talk(*texts)


def found(query: str, messages: list[SessionMessage]) -> list[Candidate]:
    """Candidates by the share of the query's words that they hold."""
    words = query_words(query)
    scored = [
        (sum(bool(set(word) & set(index_terms(m.text).counts)) for word in words) / len(words), m) for m in messages
    ]
    return [Candidate(m, score) for score, m in sorted(scored, key=lambda one: (-one[0], one[1].position)) if score]


def asked(query: str, messages: list[SessionMessage], budget: int = 600) -> Composed:
    """The context of a question, once the worker has compressed what left the window."""
    around = {message.position: message for message in messages}
    genome = settle(SessionView(empty(), messages), budget).genome
    return compose(
        TurnRequest(query, budget, asked_by="ana"), SessionView(genome, messages, found(query, messages), around)
    )


def test_a_topic_switch_loses_nothing() -> None:
    messages = thirty_messages()
    made = asked("Which invoice number was the fifteenth, invoice 15?", messages)
    assert "invoice 15 " in made.prompt.text_of(BlockName.RECALLED)
    assert made.trigger is Trigger.IMPLICIT
    assert any("apple" in " ".join((topic.name, *topic.key_points)) for topic in made.genome.topics)


def test_a_message_far_back_comes_back_by_its_content() -> None:
    messages = [said("My cat Mia is allergic to peanuts.", 0), *talk(*(BILLING.format(i) for i in range(40)), start=1)]
    assert "Mia" in asked("What is my cat allergic to?", messages).prompt.text_of(BlockName.RECALLED)


def test_small_talk_recalls_nothing_and_leaves_the_room_to_the_window() -> None:
    messages = thirty_messages()
    made = asked("Thanks!", messages)
    assert made.trigger is None
    assert made.prompt.text_of(BlockName.RECALLED) == ""
    assert len(made.window) > len(asked("Which invoice was number 15?", messages).window)


def test_what_the_worker_has_not_reached_is_compressed_in_memory() -> None:
    messages = thirty_messages()
    view = SessionView(empty(), messages)
    made = compose(TurnRequest("Thanks!", 400), view)
    assert made.genome.message_range.to == len(messages) - len(made.window) > 0
    assert view.genome == empty()


def test_after_settling_a_turn_compresses_nothing() -> None:
    messages = thirty_messages()
    genome = settle(SessionView(empty(), messages), 600).genome
    view = SessionView(genome, messages, found("Which invoice was number 15?", messages), dict(enumerate(messages)))
    assert compose(TurnRequest("Which invoice was number 15?", 600), view).genome is genome


def test_after_settling_a_turn_compresses_nothing_for_its_memories_either() -> None:
    messages, told = (
        thirty_messages(),
        tuple(memory(f"Memory {i} tells of the harbour and its boats.") for i in range(60)),
    )
    genome = settle(SessionView(empty(), messages), 400).genome
    view = SessionView(genome, messages, found("Which invoice was number 15?", messages), dict(enumerate(messages)))
    assert compose(TurnRequest("Which invoice was number 15?", 400, memories=told), view).genome is genome


@pytest.mark.parametrize("budget", [300, 600, 1200, 4000])
def test_what_came_back_stands_in_the_recalled_block_and_nothing_else_does(budget: int) -> None:
    messages = thirty_messages()
    genome = settle(SessionView(empty(), messages), budget).genome
    query = "As we discussed, which invoice was number 15?"
    made = compose(
        TurnRequest(query, budget), SessionView(genome, messages, found(query, messages), dict(enumerate(messages)))
    )
    block = made.prompt.text_of(BlockName.RECALLED)
    back = {message.id for message in made.came_back}
    assert {message.id for message in messages if f": {message.text}" in block} == back
    assert back <= {message.id for message in made.recalled.messages}
    assert not back & {message.id for message in made.window}


def test_memories_take_at_most_their_share() -> None:
    told = tuple(memory(f"Memory {i} tells of the harbour and its boats.") for i in range(60))
    made = compose(TurnRequest("Thanks!", 2000, memories=told), SessionView(genome_of([]), thirty_messages()))
    assert made.prompt.tokens <= 2000
    assert len(made.window) >= 10
    assert "memories[" in made.prompt.text_of(BlockName.RECALLED)


@pytest.mark.parametrize(
    ("first", "question", "wanted"),
    [
        ("我的猫的名字叫小花。", "我的猫叫什么名字？", "小花"),
        ("اسم قطتي هو ميا.", "ما اسم قطتي؟", "ميا"),
        ("Meine Katze heißt Mia.", "Wie heißt meine Katze?", "Mia"),
    ],
)
def test_it_holds_in_other_languages(first: str, question: str, wanted: str) -> None:
    messages = [said(first, 0), *talk(*(BILLING.format(i) for i in range(40)), start=1)]
    assert wanted in asked(question, messages).prompt.text_of(BlockName.RECALLED)


@given(st.integers(0, 3000), st.integers(0, 800), st.text(max_size=100), st.integers(0, 30))
def test_any_budget_holds(budget: int, buffer: int, query: str, count: int) -> None:
    messages = thirty_messages()[:count]
    candidates = [Candidate(message, 0.5) for message in reversed(messages)]
    view = SessionView(empty(), messages, candidates, dict(enumerate(messages)))
    made = compose(TurnRequest(query, budget, buffer, "ana", "name: Vitto", "Help.", "Facts:\n- Ana"), view)
    assert made.prompt.tokens <= max(0, budget - buffer)
    covered = {message.position for message in made.window} | set(range(made.genome.message_range.to))
    assert covered == set(range(count))
