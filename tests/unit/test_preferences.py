"""A wish about answers is found in many languages, and what is no wish, or not about answers to this user, is none."""

from datetime import timedelta

import pytest

from chalicelib.domain.conversation import Message, Speaker, speaker_of
from chalicelib.write.preferences import Preference, learn, wish
from tests.building import NOW

WISHES: dict[str, tuple[tuple[str, tuple[str, str]], ...]] = {
    "english": (
        ("no, shorter answers", ("length", "short")),
        ("Please always answer in German.", ("language", "German")),
        ("Could you keep your answers brief from now on?", ("length", "short")),
        ("Your answers are way too long.", ("length", "short")),
        ("I'd like more detailed explanations", ("length", "long")),
        ("Please stop using emojis in your replies", ("emoji", "none")),
        ("from now on answer with bullet points", ("format", "bullet points")),
        ("No bullet points in your answers, please", ("format", "prose")),
        ("Shorter, please!", ("length", "short")),
    ),
    "german": (
        ("Nein, kürzere Antworten", ("length", "short")),
        ("Bitte antworte immer auf Englisch.", ("language", "English")),
        ("Deine Antworten sind viel zu lang", ("length", "short")),
        ("Kannst du bitte ausführlicher antworten?", ("length", "long")),
        ("Antworte künftig ohne Emojis", ("emoji", "none")),
        ("Kürzer bitte", ("length", "short")),
        ("Du kannst mich gern duzen, sag du zu mir", ("formality", "informal")),
    ),
    "french": (
        ("non, des réponses plus courtes", ("length", "short")),
        ("Réponds toujours en espagnol s'il te plaît", ("language", "Spanish")),
        ("Tes réponses sont trop longues.", ("length", "short")),
        ("Peux-tu me donner des explications plus détaillées ?", ("length", "long")),
        ("Tutoie-moi", ("formality", "informal")),
    ),
    "spanish": (
        ("no, respuestas más cortas", ("length", "short")),
        ("Por favor, responde siempre en inglés", ("language", "English")),
        ("Tus respuestas son demasiado largas", ("length", "short")),
        ("Prefiero respuestas más detalladas", ("length", "long")),
        ("Tutéame", ("formality", "informal")),
    ),
    "italian": (
        ("no, risposte più brevi", ("length", "short")),
        ("Per favore rispondi sempre in tedesco", ("language", "German")),
        ("Le tue risposte sono troppo lunghe", ("length", "short")),
        ("Vorrei risposte più dettagliate", ("length", "long")),
    ),
    "portuguese": (
        ("não, respostas mais curtas", ("length", "short")),
        ("Por favor, responda sempre em inglês", ("language", "English")),
        ("As suas respostas são muito longas", ("length", "short")),
        ("Prefiro respostas sem emojis", ("emoji", "none")),
    ),
    "dutch": (
        ("nee, kortere antwoorden", ("length", "short")),
        ("Antwoord voortaan in het Engels, alsjeblieft", ("language", "English")),
        ("Je antwoorden zijn te lang", ("length", "short")),
    ),
    "russian": (
        ("нет, ответы короче", ("length", "short")),
        ("Пожалуйста, всегда отвечай по-английски", ("language", "English")),
        ("Твои ответы слишком длинные", ("length", "short")),
        ("Отвечайте, пожалуйста, подробнее", ("length", "long")),
        ("Давай на ты", ("formality", "informal")),
    ),
    "turkish": (
        ("hayır, daha kısa cevaplar", ("length", "short")),
        ("Lütfen her zaman Almanca cevap ver", ("language", "German")),
    ),
    "chinese": (
        ("请用英文回答", ("language", "English")),
        ("回答简短一点", ("length", "short")),
        ("你的回答太长了", ("length", "short")),
        ("以后请不要用表情回复", ("emoji", "none")),
        ("能不能解释得更详细一点？", ("length", "long")),
    ),
    "japanese": (
        ("もっと短く答えてください", ("length", "short")),
        ("英語で回答してください", ("language", "English")),
        ("回答が長すぎます", ("length", "short")),
        ("これからは箇条書きで返事をお願いします", ("format", "bullet points")),
    ),
}
NONE: dict[str, tuple[str, ...]] = {
    "english": (
        "I like short dresses",
        "Ana prefers short answers",
        "My boss always answers in German",
        "She said your answers are too long",
        "How do I write shorter answers?",
        "Are your answers always in English?",
        "Please translate this into German",
        "Please answer the email to John in German",
        "Reply to Maria in French, please",
        "Make the essay shorter please, the teacher wants it brief",
        "We deploy on Fridays",
        "In German the verb comes last",
        "I live in a short street",
        "no",
        "thanks, that answer helped",
        "Please always answer the phone in English",
        "The answers in the exam were too short",
        "A short walk, please",
    ),
    "german": (
        "Ana mag kurze Antworten",
        "Er antwortet immer auf Englisch",
        "Bitte übersetze das auf Englisch",
        "Wie schreibe ich kürzere Antworten?",
        "Bitte kürze den Aufsatz, er ist zu lang",
        "Antworte ihm auf Deutsch, bitte",
        "Ich habe kurze Haare",
    ),
    "french": (
        "Elle répond toujours en anglais",
        "Traduis ce texte en allemand s'il te plaît",
        "Je voudrais une robe plus courte",
        "Comment écrire des réponses plus courtes ?",
    ),
    "spanish": (
        "Ella siempre responde en inglés",
        "Traduce esto al inglés, por favor, en una lista",
        "Quiero el pelo más corto",
        "¿Cómo escribo respuestas más cortas?",
    ),
    "italian": (
        "Lui risponde sempre in inglese",
        "Traduci la lettera in tedesco per favore",
        "Vorrei i capelli più corti",
    ),
    "portuguese": ("Ela responde sempre em inglês", "Traduza esta carta, por favor, em inglês"),
    "dutch": ("Hij antwoordt altijd in het Engels", "Vertaal deze brief in het Engels alsjeblieft"),
    "russian": (
        "Она всегда отвечает по-английски",
        "Переведи письмо на английский, пожалуйста",
        "Как писать короткие ответы?",
    ),
    "turkish": ("Onun cevapları daha kısa", "Lütfen mektubu Almanca çevir"),
    "chinese": ("她总是用英文回答", "请把这封邮件翻译成英文", "这条裙子太短了", "怎么写简短的回答？"),
    "japanese": ("彼はいつも英語で答えます", "このメールを英語に翻訳してください", "短いスカートがほしい"),
}
LONG = " ".join(f"word{i} matter{i} thing{i}" for i in range(60))


def talk(*said: tuple[Speaker, str]) -> list[Message]:
    """A conversation, a minute a message."""
    return [
        Message(id=f"m{i}", speaker=speaker, text=text, at=NOW + timedelta(minutes=i))
        for i, (speaker, text) in enumerate(said)
    ]


def alternating(*pairs: tuple[str, str]) -> list[tuple[Speaker, str]]:
    """What the assistant and the user say, in turns."""
    said: list[tuple[Speaker, str]] = []
    for answer, reply in pairs:
        said += [("assistant", answer), ("user", reply)]
    return said


@pytest.mark.parametrize(("sentence", "expected"), [each for wishes in WISHES.values() for each in wishes])
def test_a_wish_is_found_in_many_languages(sentence: str, expected: tuple[str, str]) -> None:
    assert wish(sentence) == expected
    assert wish(f"  {sentence}  ") == expected


@pytest.mark.parametrize("sentence", [each for sentences in NONE.values() for each in sentences])
def test_what_is_no_wish_about_answers_to_this_user_is_none(sentence: str) -> None:
    assert wish(sentence) is None


def test_at_least_eight_languages_are_labelled_both_ways() -> None:
    assert WISHES.keys() == NONE.keys()
    assert len(WISHES) >= 8


def test_a_correction_becomes_a_preference_of_high_importance_in_the_users_words_with_its_message() -> None:
    (found,) = learn(talk(("user", "What is BM25?"), ("assistant", LONG), ("user", "No, shorter answers. What is it?")))
    assert found == Preference(
        attribute="length",
        value="short",
        content="Wants short answers: “No, shorter answers.”",
        summary="Wants short answers.",
        evidence=("m2",),
        at=NOW + timedelta(minutes=2),
        spoken=True,
    )
    assert found.importance >= 0.8


@pytest.mark.parametrize(
    "sentence", ["No, shorter answers", "Deine Antworten sind zu lang", "Réponds toujours en anglais"]
)
def test_capitals_and_width_change_nothing(sentence: str) -> None:
    assert wish(sentence.upper()) == wish(sentence)
    assert wish(sentence)


def test_what_others_say_is_no_wish_of_the_user() -> None:
    assert learn(talk(("assistant", "Please always answer in German."), ("other", "No, shorter answers"))) == []


def test_the_latest_wish_counts_and_keeps_all_that_speaks_for_it() -> None:
    found = learn(
        talk(
            ("user", "Shorter answers please"),
            ("user", "Please give me longer answers"),
            ("user", "Your answers are too short"),
            ("user", "Please answer in French"),
        )
    )
    assert [(each.attribute, each.value, each.evidence) for each in found] == [
        ("length", "long", ("m1", "m2")),
        ("language", "French", ("m3",)),
    ]


def test_passing_over_three_long_answers_in_a_row_shows_a_preference_for_short_ones() -> None:
    (found,) = learn(
        talk(
            ("user", "Tell me of the vault"),
            *(("assistant", LONG), ("user", "and the budget")),
            *(("assistant", LONG), ("user", "when is lunch")),
            *(("assistant", LONG), ("user", "next topic")),
        )
    )
    assert (found.attribute, found.value, found.spoken) == ("length", "short", False)
    assert found.evidence == ("m2", "m4", "m6")
    assert found.importance >= 0.8


@pytest.mark.parametrize(
    "last",
    ["thanks, great!", "what does thing17 mean?", "ok " + "and then tell me all of it in your own words " * 10, ""],
)
def test_a_reply_that_takes_the_answer_up_or_thanks_or_is_long_passes_over_nothing(last: str) -> None:
    row: list[tuple[Speaker, str]] = [("assistant", LONG), ("user", "and the budget")]
    assert learn(talk(*row, *row, ("assistant", LONG), ("user", last))) == []


def test_two_long_answers_or_short_ones_show_nothing() -> None:
    row: list[tuple[Speaker, str]] = [("assistant", LONG), ("user", "and the budget")]
    assert learn(talk(*row, *row)) == []
    assert learn(talk(*alternating(*[("It is at noon.", "and lunch")] * 5))) == []


def test_a_long_answer_in_a_script_without_spaces_counts_too() -> None:
    answer = "关于这个项目的预算和时间安排我们需要考虑很多方面的因素包括人员设备场地以及各种风险" * 4
    (found,) = learn(talk(*alternating(*[(answer, reply) for reply in ("午饭呢", "几点了", "下一个")])))
    assert (found.attribute, found.value) == ("length", "short")


def test_asking_again_what_was_answered_shows_a_preference_for_the_answer_first() -> None:
    question = "Which port does the vault server use?"
    (found,) = learn(
        talk(
            ("user", question),
            ("assistant", "Vaults are old."),
            ("user", "so which port does the vault server use"),
            ("assistant", "Servers have ports."),
            ("user", "which port does the vault server use??"),
        )
    )
    assert (found.attribute, found.value, found.evidence) == ("directness", "answer first", ("m2", "m4"))


def test_a_repeat_that_nobody_answered_in_between_or_of_another_question_shows_nothing() -> None:
    question = "Which port does the vault server use?"
    assert learn(talk(("user", question), ("user", question), ("user", question))) == []
    others = ("Which port does the vault use?", "Who owns the red team?", "When is the release?")
    assert learn(talk(*alternating(*[("It depends.", question) for question in others]))) == []


def test_a_wish_in_a_text_that_was_pasted_is_none_of_the_user() -> None:
    assert learn(talk(("user", "The vault opens at noon. " * 100 + "Please always answer in German."))) == []
    assert learn(talk(("user", "The vault opens at noon. " * 10 + "Please always answer in German.")))


def test_the_same_message_twice_counts_once() -> None:
    messages = talk(("assistant", LONG), ("user", "and the budget"))
    assert learn([*messages, *messages, *messages]) == []


def test_what_was_spoken_out_counts_more_than_what_showed() -> None:
    row: list[tuple[Speaker, str]] = [("assistant", LONG), ("user", "and the budget")]
    found = learn(talk(("user", "Please give me longer answers"), *row, *row, *row))
    assert [(each.value, each.spoken) for each in found] == [("long", True)]


def test_learning_again_from_the_same_conversation_finds_the_same() -> None:
    messages = talk(("user", "Shorter answers please"), ("user", "Please answer in French"))
    assert learn(messages) == learn(messages)
    assert learn([]) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("user", "user"),
        ("Human", "user"),
        ("ana", "user"),
        ("ANA", "user"),
        ("assistant", "assistant"),
        ("AI", "assistant"),
        ("bob", "other"),
        ("Anan", "other"),
    ],
)
def test_a_speaker_is_the_user_the_assistant_or_somebody_else(name: str, expected: str) -> None:
    assert speaker_of(name, "ana") == expected
