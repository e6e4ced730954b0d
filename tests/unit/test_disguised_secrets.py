"""A secret that is split by what shows nothing, or written in lookalike letters, is a secret all the same."""

import unicodedata

import pytest

from chalicelib.domain.text.injection_views import UNSEEN
from chalicelib.domain.text.secrets import placeholder, redact
from tests.unit.fake_secrets import AWS_KEY, FAKES, secret_part

SPLIT = [(label, fake) for label, fake in FAKES if "\n" not in fake]
LOOKALIKES = str.maketrans({"A": "\u0391", "K": "\u039a", "I": "\u0406", "o": "\u043e", "a": "\u0430", "e": "\u0435"})


def read(text: str) -> str:
    """What a reader sees."""
    return unicodedata.normalize("NFKC", UNSEEN.sub("", text))


@pytest.mark.parametrize("between", ["\u200b", "\u2060", "\u00ad", "\u202e", "\ufe0f"], ids=ascii)
def test_a_secret_split_by_what_shows_nothing_is_replaced(between: str) -> None:
    for label, fake in SPLIT:
        text, labels = redact(f"日本 use {between.join(fake)} now")
        assert secret_part(fake) not in read(text), label
        assert labels, label
        assert text.startswith("日本 use ")
        assert text.endswith(" now")


def test_a_secret_in_fullwidth_letters_is_replaced() -> None:
    for label, fake in SPLIT:
        wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in fake)
        text, _ = redact(f"use {wide} now")
        assert secret_part(fake) not in read(text), label


def test_a_secret_in_lookalike_letters_is_replaced_and_its_surroundings_stay() -> None:
    text, labels = redact(f"пароль е́сть: {AWS_KEY.translate(LOOKALIKES)}, да")
    assert text == f"пароль е́сть: {placeholder('aws_access_key')}, да"
    assert labels == ("aws_access_key",)


WRITTEN = (
    "пароль забыт, ключ у Анны",
    "パスワード：忘れた",
    "\U0001f469\u200d\U0001f467 family",
    "می\u200cخواهم",
    "ﬁne ½ ｆｕｌｌ",
)


@pytest.mark.parametrize("text", WRITTEN, ids=ascii)
def test_text_without_secrets_is_left_as_it_was_written(text: str) -> None:
    assert redact(text) == (text, ())
