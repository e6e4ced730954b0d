"""What language a text can be of, and whether two are surely of different ones."""

import itertools

import pytest

from chalicelib.domain.text.languages import differ, shown

TEXTS = {
    "english": "Where is it that she lives now?",
    "german": "Wo wohnt sie denn jetzt, und warum?",
    "french": "Où est-ce qu'elle habite, et pourquoi ?",
    "spanish": "¿Dónde está ella y por qué?",
    "russian": "Где она живёт сейчас?",
}


@pytest.mark.parametrize("name", TEXTS)
def test_function_words_and_script_show_it(name: str) -> None:
    assert shown(TEXTS[name]).languages == {name}


def test_two_of_different_languages_differ_and_two_of_one_do_not() -> None:
    for one, other in itertools.product(TEXTS.values(), repeat=2):
        assert differ(shown(one), shown(other)) is (one != other)
    assert not differ(shown(TEXTS["english"]), shown("We are by the sea"))


@pytest.mark.parametrize("text", ["kubernetes ingress timeout", "Acme: Porto", "42", "…", ""])
def test_what_shows_none_differs_from_no_text_of_its_script(text: str) -> None:
    assert not differ(shown(text), shown(TEXTS["german"]))
    assert not differ(shown(TEXTS["german"]), shown(text))


def test_another_script_is_another_language_without_a_function_word() -> None:
    assert differ(shown("東京"), shown("Acme: Porto"))
    assert differ(shown("Acme: Porto"), shown("Москва"))
