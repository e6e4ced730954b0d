"""The tone of the latest messages is told in many languages, and is never more than a hint."""

from datetime import timedelta

import pytest

from chalicelib.domain.conversation import Message, Speaker
from chalicelib.domain.tone import Mood, Tone, hint, tone
from tests.building import NOW

LABELLED: dict[Mood, tuple[str, ...]] = {
    Mood.FRUSTRATED: (
        "ugh, this still doesn't work",
        "WHY DOES THIS NOT WORK?! it is useless!!",
        "Das funktioniert nicht, das nervt!!",
        "ça ne marche toujours pas, j'en ai marre",
        "no funciona, estoy harto",
        "non funziona, che rabbia",
        "isso não funciona, que raiva",
        "het werkt niet, verdomme",
        "опять не работает, бесит",
        "çalışmıyor, bıktım artık",
        "还是不行，烦死了",
        "また間違ってる、イライラする",
        "짜증나, 안 돼",
        "😡😡",
        "that is not great",
    ),
    Mood.JOYFUL: (
        "this is awesome!!!",
        "YES THAT IS PERFECT!!!",
        "Das ist ja toll, ich freue mich 😀",
        "c'est génial, j'adore",
        "¡excelente, me encanta!",
        "che bello, ottimo",
        "ótimo, adorei",
        "geweldig!",
        "ура, отлично!",
        "harika, mükemmel",
        "太棒了！！",
        "最高！嬉しい",
        "최고 👏",
        "رائع",
        "🎉🎉",
    ),
    Mood.GRATEFUL: (
        "thank you so much",
        "Vielen Dank",
        "merci",
        "gracias",
        "grazie",
        "obrigada",
        "спасибо",
        "谢谢",
        "ありがとう",
        "🙏",
    ),
    Mood.SAD: (
        "I feel down today 😢",
        "ich bin so traurig",
        "je suis triste",
        "estoy triste",
        "мне грустно",
        "我很难过",
        "悲しい",
        "💔",
    ),
    Mood.URGENT: ("this is urgent, asap", "dringend bitte", "urgente", "срочно", "紧急", "至急お願い", "🚨"),
    Mood.AGITATED: ("What???", "IS ANYBODY THERE TODAY", "¿¿Hola?? ???"),
    Mood.NEUTRAL: (
        "Where does Ana live?",
        "We deploy on Fridays.",
        "Wo wohnt Ana?",
        "Ana habite à Porto",
        "安娜住在哪里？",
        "アナはどこに住んでいますか",
        "The API of AWS and the SDK of NASA",
        "Hi!",
        "the superman of the greater area",
        "",
        "   ",
        "> this is useless, ugh\nSee the quote above.",
        "```\nraise Useless('ugh!!!')\n```",
        "https://example.org/ugh!!",
    ),
}


def said(*texts: str, speaker: Speaker = "user") -> list[Message]:
    """Messages, a minute each."""
    return [Message(id=f"m{i}", speaker=speaker, text=t, at=NOW + timedelta(minutes=i)) for i, t in enumerate(texts)]


@pytest.mark.parametrize(("mood", "text"), [(mood, text) for mood, texts in LABELLED.items() for text in texts])
def test_a_mood_is_told_in_many_languages(mood: Mood, text: str) -> None:
    assert tone(said(text)).mood is mood


def test_only_what_the_user_wrote_has_a_tone() -> None:
    assert tone(said("ugh, useless!!", speaker="assistant")) == Tone()
    assert tone(said("ugh, useless!!", speaker="other")) == Tone()
    assert tone([]) == Tone()


def test_later_messages_weigh_more_and_old_ones_fade_away() -> None:
    assert tone(said("ugh, useless", "thank you, perfect, awesome")).mood is Mood.JOYFUL
    assert tone(said("thank you, perfect, awesome", "ugh, useless, doesn't work")).mood is Mood.FRUSTRATED
    assert tone(said("ugh, useless", *["Where is the file?"] * 4)) == Tone()


def test_what_is_repeated_is_plainer() -> None:
    once, twice = tone(said("ugh")), tone(said("ugh", "ugh"))
    assert once.mood is twice.mood is Mood.FRUSTRATED
    assert 0.5 <= once.strength < twice.strength <= 1


def test_a_pasted_text_has_no_tone_of_the_user() -> None:
    assert tone(said("ugh, useless!! " * 60)) == Tone()


def test_the_signs_are_kinds_and_never_what_was_written() -> None:
    found = tone(said("UGH THIS IS USELESS!!! my pin is 4921 😡"))
    assert set(found.signs) <= {"words", "emoji", "marks", "capitals"}
    assert "4921" not in (hint(found) or "")


@pytest.mark.parametrize("mood", Mood)
def test_every_mood_has_a_hint_but_the_neutral_one(mood: Mood) -> None:
    found = hint(Tone(mood=mood, strength=1.0))
    assert (found is None) == (mood is Mood.NEUTRAL)
    assert found is None or "no fact about the user" in found


@pytest.mark.parametrize(
    "text", ["!" * 100_000, "A" * 100_000, "😡" * 100_000, "a! " * 30_000, "`" * 5000, "\ud800", "\u0000"]
)
def test_any_text_has_some_tone(text: str) -> None:
    assert isinstance(tone(said(text)), Tone)
