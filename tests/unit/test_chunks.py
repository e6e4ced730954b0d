"""A long text is cut into pieces that a model takes whole, and nothing of it is lost (faults.md 15)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.text.chunks import chunks

TEXTS = st.text("ab .!?\n。東 \t", max_size=300) | st.text(st.characters(exclude_categories=["Cs"]), max_size=120)
LIMITS = st.integers(min_value=1, max_value=60)


@given(TEXTS, LIMITS)
def test_nothing_is_lost_but_white_space(text: str, limit: int) -> None:
    assert "".join("".join(chunks(text, limit)).split()) == "".join(text.split())


@given(TEXTS, LIMITS)
def test_no_piece_is_over_the_limit(text: str, limit: int) -> None:
    assert all(len(piece) <= limit for piece in chunks(text, limit))


@given(TEXTS, LIMITS)
def test_there_is_always_a_piece_and_none_is_empty_unless_the_text_is(text: str, limit: int) -> None:
    pieces = chunks(text, limit)
    assert pieces
    assert all(pieces) or pieces == [""]


@given(TEXTS)
def test_a_text_within_the_limit_is_its_own_only_piece(text: str) -> None:
    assert chunks(text, max(1, len(text))) == [text.strip()]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One two three.\n\nFour five. Six.", ["One two three.", "Four five. Six."]),
        ("One two three. Four five six.", ["One two three.", "Four five six."]),
        ("one two three four five six", ["one two three four", "five six"]),
        ("abcdefghijklmnopqrstuvwxyz", ["abcdefghijklmnopqrst", "uvwxyz"]),
        (
            "東京の近くに住んでいます。毎日電車で通っています。",
            ["東京の近くに住んでいます。", "毎日電車で通っています。"],
        ),
    ],
    ids=["paragraph", "sentence", "word", "anywhere", "no spaces"],
)
def test_a_cut_is_made_after_a_paragraph_else_a_sentence_else_a_word(text: str, pieces: list[str]) -> None:
    assert chunks(text, 20) == pieces


def test_a_very_long_text_is_cut_in_little_time() -> None:
    assert len(chunks("word and another. " * 20_000, 8000)) < 60
