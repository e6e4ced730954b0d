"""The Soul in a prompt, and TOON."""

import json

import bpe_openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toon_format import loads

from chalicelib.domain.memory import Origin
from chalicelib.domain.soul import Soul
from chalicelib.domain.text.tokens import estimate
from chalicelib.prompt.soul import BRIEF_TOKENS, full_soul, needs_full_soul, soul_brief
from chalicelib.prompt.toon import MEMORY_FIELDS, memory_rows, toon
from tests.building import memory
from vitto_tools.bench.dialogues import DATA
from vitto_tools.bench.locomo import conversations

TOKENIZER = bpe_openai.get_encoding("o200k_base")
VITTO = Soul(
    name="Vitto",
    character="Warm, precise and calm. " * 20,
    values=("honesty before comfort", "the user's time is precious", "no guesses told as facts"),
    mood="serene",
    persona="Speaks as an experienced colleague who has seen many projects, and asks before assuming. " * 10,
)
ASKS = (
    "Who are you?",
    "What's your name?",
    "Tell me about your personality",
    "Are you human?",
    "Wer bist du?",
    "Qui es-tu ?",
    "¿Quién eres?",
    "Chi sei?",
    "Quem é você?",
    "Wie ben jij?",
    "Кто ты?",
    "Kimsin?",
    "من أنت؟",
    "你是谁？",
    "あなたは誰ですか？",
    "너는 누구야?",
    "तुम कौन हो?",
    "Kim jesteś?",
    "Vem är du?",
    "คุณเป็นใคร",
)
ASKS_OTHER = (
    "What is the capital of France?",
    "Who is Ana?",
    "Wie spät ist es?",
    "Quelle heure est-il ?",
    "¿Quién es Ana?",
    "今天几号？",
    "Кто такая Анна?",
    "كم الساعة؟",
    "Fix the login page",
    "What did you say about the budget?",
)
texts = st.text(max_size=200)
souls = st.builds(
    Soul,
    name=st.text(max_size=100),
    character=texts,
    values=st.lists(st.text(min_size=1, max_size=200), max_size=20).map(tuple),
    mood=texts,
    persona=texts,
)


@given(souls)
def test_a_brief_has_at_most_150_tokens(soul: Soul) -> None:
    assert estimate(soul_brief(soul)) <= BRIEF_TOKENS


def test_a_brief_says_the_main_things_and_the_full_soul_all() -> None:
    brief, full = soul_brief(VITTO), full_soul(VITTO)
    assert len(TOKENIZER.encode(brief)) <= 150
    for said in ("Vitto", "Warm, precise", "honesty before comfort", "serene", "experienced colleague"):
        assert said in brief
    assert loads(full) == VITTO.model_dump(mode="json")


def test_equal_souls_have_the_same_brief_and_an_empty_one_has_none() -> None:
    assert soul_brief(Soul(**VITTO.model_dump())) is soul_brief(VITTO)
    assert soul_brief(Soul()) == full_soul(Soul()) == ""


@pytest.mark.parametrize("query", ASKS)
def test_a_question_about_identity_needs_the_full_soul(query: str) -> None:
    assert needs_full_soul(query)


@pytest.mark.parametrize("query", ASKS_OTHER)
def test_other_questions_do_not(query: str) -> None:
    assert not needs_full_soul(query)


def test_memories_as_toon_come_back_as_they_were() -> None:
    rows = memory_rows(
        [memory('Ana said: "no, never",\nand left | 42'), memory("新しい家", origin=Origin(speaker="Bo"))]
    )
    assert [tuple(row) for row in rows] == [MEMORY_FIELDS, MEMORY_FIELDS]
    assert loads(toon({"memories": rows})) == {"memories": rows}


def said_memories() -> list[list[dict[str, object]]]:
    """Lists of ten memories, from LoCoMo where it is there."""
    if not DATA.exists():
        return [memory_rows(memory(f"Ana met Bob in town {i} and they talked for {i} hours") for i in range(10))]
    turns = conversations()[0].turns
    made = [memory(turn.text or "…", event_time=turn.at, origin=Origin(speaker=turn.speaker)) for turn in turns]
    return [memory_rows(made[start : start + 10]) for start in range(0, len(made), 10)]


def test_memory_lists_in_toon_take_40_percent_fewer_tokens_than_in_json() -> None:
    shares = [
        len(TOKENIZER.encode(toon({"memories": rows})))
        / len(TOKENIZER.encode(json.dumps({"memories": rows}, indent=2, ensure_ascii=False)))
        for rows in said_memories()
    ]
    assert 1 - sum(shares) / len(shares) >= 0.4
