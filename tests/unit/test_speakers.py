"""Whom a question names: their words count more, softly, and their name stays out of what is embedded."""

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.domain.place import Place, Situation, asks
from chalicelib.domain.query import Candidate, RecallQuery
from chalicelib.domain.routing.route import RouteName
from chalicelib.domain.text.names import name_words, possible_names, without_names
from chalicelib.domain.vector import Vector
from chalicelib.recall.speakers import ASSISTANT, NAMED, of_assistants, of_the_named
from tests.building import caller, container
from tests.unit.test_recall import ANA, indexed, remembered


def by(*speakers: str | None) -> list[Candidate]:
    """A candidate of each speaker."""
    return [
        Candidate(f"mem_{i}", "acme/user/ana", situation=Situation(Place(None, speaker), None, 5, 0))
        for i, speaker in enumerate(speakers)
    ]


@pytest.mark.parametrize(
    ("question", "raised"),
    [
        ("What did Caroline paint?", [True, False]),
        ("what is caroline's plan", [True, False]),
        ("What is Caroline’s plan?", [True, False]),
        ("What did Mélanie see?", [False, True]),
        ("What did Melanie see?", [False, True]),
        ("Did Caroline and Melanie meet?", [False, False]),
        ("What did anybody paint?", [False, False]),
        ("What are carolines?", [False, False]),
    ],
)
def test_the_words_of_the_one_who_is_named_count_more(question: str, raised: list[bool]) -> None:
    assert of_the_named(by("Caroline", "Mélanie"), question) == [NAMED if one else 0.0 for one in raised]


def test_one_word_of_a_longer_name_is_enough_unless_several_have_it() -> None:
    assert of_the_named(by("Ana Lopez", "Bob Silva"), "Where does Ana live?") == [NAMED, 0.0]
    assert of_the_named(by("Ana Lopez", "Ana Silva"), "Where does Ana live?") == [0.0, 0.0]


def test_names_in_scripts_without_spaces_are_found_inside_words() -> None:
    assert of_the_named(by("田中", "鈴木"), "田中は何を描きましたか") == [NAMED, 0.0]


@pytest.mark.parametrize("role", ["user", "assistant", "User", "AI", "system"])
def test_a_role_is_nobodys_name(role: str) -> None:
    assert name_words(role) == ()
    assert of_the_named(by(role, "Ana"), f"What did the {role} say?") == [0.0, 0.0]


def test_function_words_are_no_names() -> None:
    assert name_words("Will") == ()
    assert possible_names("Where will Ana be?") == ("ana",)


def test_what_an_assistant_said_counts_less_than_what_others_said() -> None:
    assert of_assistants([*by("user", "assistant", "Bot", "Ana", None), Candidate("mem_x", "s")]) == [
        0.0,
        ASSISTANT,
        ASSISTANT,
        0.0,
        0.0,
        0.0,
    ]


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What did Caroline paint?", "What did paint?"),
        ("What is caroline's favourite bread?", "What is favourite bread?"),
        ("What is Caroline’s favourite bread?", "What is favourite bread?"),
        ("Who is Caroline?", "Who is Caroline?"),
        ("What do carolines eat?", "What do carolines eat?"),
        ("Was malt Caroline, und wann?", "Was malt, und wann?"),
    ],
)
def test_a_question_without_names_keeps_the_rest(question: str, left: str) -> None:
    assert without_names(question, ("caroline",)) == left


def test_without_names_that_are_known_a_question_is_left_alone() -> None:
    assert without_names("What  did Caroline paint ?", ()) == "What  did Caroline paint ?"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Is it?", True),
        ("Is it? ", True),
        ("“Is it?”", True),
        ("何ですか？", True),
        ("ماذا؟", True),
        ("It is.", False),
        ("", False),
    ],
)
def test_a_question_is_known_by_its_mark_in_any_script(text: str, asked: bool) -> None:
    assert asks(text) is asked


class Listening(TermEmbedder):
    """An embedder that remembers the questions that it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def embed_query(self, text: str) -> Vector:
        """As ever."""
        self.heard += [text] if text.endswith("?") else []
        return super().embed_query(text)


def test_the_names_of_a_readers_speakers_stay_out_of_the_dense_query_and_no_others_do() -> None:
    heard = Listening()
    made = container(embedder=heard)
    bob = caller("acme", "bob")
    remembered(made, "I paint lakes", origin={"speaker": "Caroline"})
    remembered(made, "I paint boats", who=bob, origin={"speaker": "Melanie"})
    asked = RecallQuery(query="What does Caroline paint, and what Melanie?", route=RouteName.STANDARD)
    made.recall.recall(ANA, asked)
    made.recall.recall(bob, asked)
    assert heard.heard == ["What does paint, and what Melanie?", "What does Caroline paint, and what?"]


def test_the_parts_of_a_query_are_embedded_without_names_too() -> None:
    heard = Listening()
    made = container(embedder=heard)
    remembered(made, "I paint lakes", origin={"speaker": "Caroline"})
    made.recall.recall(ANA, RecallQuery(query="What does Caroline paint? And where is Caroline's boat?"))
    assert heard.heard == ["What does paint? And where is boat?", "What does paint?", "And where is boat?"]


def test_a_vector_is_cached_by_what_was_embedded() -> None:
    heard = Listening()
    made = container(embedder=heard)
    asked = RecallQuery(query="What does Caroline paint?")
    made.recall.recall(ANA, asked)
    remembered(made, "I paint lakes", origin={"speaker": "Caroline"})
    made.recall.recall(ANA, asked)
    remembered(made, "I paint boats")
    made.recall.recall(ANA, asked)
    assert heard.heard == ["What does Caroline paint?", "What does paint?"]


def test_a_hit_says_that_it_was_said_by_whom_the_query_names() -> None:
    made = container()
    for speaker in ("Caroline", "Melanie"):
        remembered(made, f"I painted a lake at sunrise, for {speaker}'s wall", origin={"speaker": speaker})
    indexed(made)
    hits = made.recall.recall(ANA, RecallQuery(query="Which lake did Caroline paint at sunrise?"))["hits"]
    assert [hit["memory"]["origin"]["speaker"] for hit in hits] == ["Caroline", "Melanie"]
    assert ["said by whom the query names" in hit["why"] for hit in hits] == [True, False]
