"""The heuristic's questions: in the memory's own language, about its own words, and none rather than nonsense."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.memory import Origin
from chalicelib.domain.questions import MOST_QUESTIONS
from chalicelib.domain.text.secrets import placeholder
from chalicelib.write.prospective.heuristic import heuristic_questions
from chalicelib.write.prospective.phrases import PHRASES
from tests.building import memory

LABELLED = {
    "english": ("My sister moved to Lisbon last year to work in a hospital.", ("Lisbon", "hospital")),
    "german": (
        "Meine Schwester ist im März nach Hamburg gezogen und arbeitet dort in einer Klinik.",
        ("Hamburg", "Klinik"),
    ),
    "french": ("Ma sœur a acheté un appartement à Lyon pour son travail dans un hôpital.", ("Lyon", "appartement")),
    "spanish": ("Mi hermana vive en Sevilla desde enero y trabaja en un hospital.", ("Sevilla", "hospital")),
    "italian": ("Mia sorella si è trasferita a Torino per lavorare alla Fiat.", ("Torino", "Fiat")),
    "portuguese": ("Minha irmã comprou um apartamento em Lisboa no ano passado.", ("Lisboa", "apartamento")),
    "dutch": ("Mijn broer werkt sinds vorig jaar bij een bakkerij in Utrecht.", ("Utrecht", "bakkerij")),
    "swedish": ("Min syster flyttade till Göteborg i mars för att studera medicin.", ("Göteborg", "medicin")),
    "turkish": ("Kız kardeşim ve ben geçen yıl bir fırın için dükkan açtık.", ("dükkan", "fırın")),
    "russian": ("В прошлом году мы с Олегом купили дачу в Комарове.", ("дачу", "Комарове")),
    "arabic": ("انتقلت أختي إلى الدار البيضاء في مارس للعمل في مستشفى.", ("الدار البيضاء",)),
    "hindi": ("मेरी बहन ने पिछले साल जयपुर में एक घर खरीदा।", ("जयपुर", "घर")),
    "chinese": ("我妹妹去年在上海买了一套公寓。", ("公寓", "上海")),
    "japanese": ("妹は去年大阪でパン屋を開きました。", ("大阪", "パン屋")),
    "korean": ("제 동생은 작년에 부산에서 빵집을 열었습니다.", ("부산", "빵집")),
}
ASKING = {
    "english": "What", "german": "Was", "french": "Que", "spanish": "¿Qué", "italian": "Che cosa", "portuguese": "O que",
    "dutch": "Wat", "swedish": "Vad", "turkish": "ne biliyoruz", "russian": "Что", "arabic": "ماذا", "hindi": "क्या",
    "chinese": "什么", "japanese": "何", "korean": "무엇",
}  # fmt: skip


def questions(text: str, speaker: str | None = None, **fields: Any) -> tuple[str, ...]:
    """The questions of a memory that says `text`."""
    return heuristic_questions(memory(text, origin=Origin(speaker=speaker) if speaker else None, **fields))


def test_every_language_with_phrases_is_labelled() -> None:
    assert LABELLED.keys() == ASKING.keys() == PHRASES.keys()


@pytest.mark.parametrize("language", LABELLED)
def test_questions_are_in_the_language_of_the_memory_and_about_its_words(language: str) -> None:
    text, topics = LABELLED[language]
    asked = questions(text)
    assert 3 <= len(asked) <= MOST_QUESTIONS
    assert any(ASKING[language] in question for question in asked)
    assert all(any(topic in question for question in asked) for topic in topics), asked


@pytest.mark.parametrize("language", LABELLED)
def test_a_speaker_is_asked_about_by_name(language: str) -> None:
    asked = questions(LABELLED[language][0], speaker="Zoë")
    assert any("Zoë" in question for question in asked)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Hi!",
            "Thanks so much!",
            "Haha, yes, that sounds great!",
            "Good morning 😀",
            "ok",
            "👍👍",
            "...",
            "See you soon!",
        ),
        *("Danke, gut!", "Merci, bonne soirée !", "Hola, buenos días", "Grazie, ciao!", "Obrigado!", "Tack, bra!"),
        *(
            "Спасибо, хорошо!",
            "مرحبا، شكرا",
            "नमस्ते, धन्यवाद",
            "你好，谢谢！",
            "おはようございます",
            "안녕하세요",
            "Teşekkürler!",
        ),
    ],
)
def test_nothing_is_asked_about_small_talk(text: str) -> None:
    assert questions(text, speaker="Zoë") == ()


@pytest.mark.parametrize(
    "text",
    [
        *("What did you paint last week?", "Wann fährst du in die Stadt?", "¿Qué comiste en la fiesta?"),
        *(
            "你昨天在上海买了什么？",
            "昨日は何を食べましたか？",
            "Что вы купили в магазине?",
            "ماذا فعلت في الدار البيضاء؟",
        ),
    ],
)
def test_a_text_that_only_asks_answers_nothing(text: str) -> None:
    assert questions(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Moja siostra kupiła w zeszłym roku mieszkanie w Krakowie.",
        "Em gái tôi đã mua một căn hộ ở Đà Nẵng năm ngoái.",
        "Siskoni osti viime vuonna asunnon Tampereelta.",
        "Моя сестра торік купила квартиру у Львові.",
        "خواهرم پارسال در شیراز خانه خرید.",
        "Kakak saya membeli rumah di Bandung tahun lalu.",
        "Dada yangu alinunua nyumba Mombasa mwaka jana.",
        "Η αδελφή μου μετακόμισε στη Θεσσαλονίκη πέρυσι.",
        "אחותי עברה לחיפה בשנה שעברה.",
        "น้องสาวของฉันซื้อบ้านที่เชียงใหม่เมื่อปีที่แล้ว",
        "4711 0815 2024-05-01",
        "https://example.com/a/b?c=d",
        "Porto",
    ],
)
def test_of_a_language_that_is_not_known_nothing_is_asked(text: str) -> None:
    assert questions(text) == ()


def test_a_time_is_asked_for_where_the_text_has_one() -> None:
    when = PHRASES["english"].when.split(":")[0]
    assert any(q.startswith(when) for q in questions("We signed the lease of the office on 3 May."))
    assert not any(q.startswith(when) for q in questions("We like the view from the office and the kitchen."))


def test_of_statements_and_questions_only_what_is_stated_is_asked_about() -> None:
    asked = questions("I adopted a greyhound from the shelter. Do you like skiing in the mountains?")
    assert any("greyhound" in question for question in asked)
    assert not any("skiing" in question or "mountains" in question for question in asked)


def test_a_placeholder_of_a_secret_is_no_topic() -> None:
    asked = questions(f"The password of the staging database is {placeholder('assigned_secret')} and it is shared.")
    assert asked
    assert not any("REDACTED" in question or "assigned_secret" in question for question in asked)


@given(st.text(max_size=400), st.none() | st.text(min_size=1, max_size=40))
def test_any_text_gives_at_most_five_distinct_questions_and_the_same_again(text: str, speaker: str | None) -> None:
    asked = questions(text, speaker)
    assert len(asked) == len(set(asked)) <= MOST_QUESTIONS
    assert asked == questions(text, speaker)
