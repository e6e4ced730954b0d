"""The difference of two texts is made of parts that give both back, by word, in any script, however long they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.difference import Part, PartKind, tags_difference, text_difference
from chalicelib.domain.memory import Revision
from tests.building import NOW

TEXTS = st.text(alphabet=st.sampled_from("ab é\n.,名前"), max_size=60)


def said(parts: tuple[Part, ...]) -> list[str]:
    """Parts as a reader would mark them."""
    marks = {PartKind.SAME: "", PartKind.REMOVED: "-", PartKind.ADDED: "+"}
    return [marks[part.kind] + part.text for part in parts]


def without(parts: tuple[Part, ...], kind: PartKind) -> str:
    """The text of all other parts."""
    return "".join(part.text for part in parts if part.kind is not kind)


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("Ana lives in Porto", "Ana lives in Lisbon", ["Ana lives in ", "-Porto", "+Lisbon"]),
        ("Ana lives in Porto.", "Ana lives in Porto, still.", ["Ana lives in Porto", "+, still", "."]),
        ("tea", "tea", ["tea"]),
        ("", "", []),
        ("", "tea", ["+tea"]),
        ("tea", "", ["-tea"]),
        ("東京に住む", "京都に住む", ["-東", "京", "+都", "に住む"]),
        ("one\ntwo\n", "one\nthree\n", ["one\n", "-two", "+three", "\n"]),
    ],
)
def test_what_changed_is_marked_by_word(before: str, after: str, parts: list[str]) -> None:
    found = text_difference(before, after)
    assert said(found.parts) == parts
    assert found.changed == (before != after)


@given(TEXTS, TEXTS)
def test_the_parts_give_both_texts_back(before: str, after: str) -> None:
    found = text_difference(before, after)
    assert without(found.parts, PartKind.ADDED) == before
    assert without(found.parts, PartKind.REMOVED) == after
    assert all(part.text for part in found.parts)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * 8000, "a b " * 4000),
        ("ab" * 8000, "ba" * 8000),
        ("\n" * 16000, " \n" * 8000),
        ("名" * 5000, "前" * 5000),
    ],
    ids=["words", "one word", "blank lines", "signs"],
)
def test_the_longest_texts_are_compared_too(before: str, after: str) -> None:
    found = text_difference(before, after)
    assert without(found.parts, PartKind.ADDED) == before
    assert without(found.parts, PartKind.REMOVED) == after


@pytest.mark.parametrize(("before", "after"), [(None, "a home"), ("a home", None), (None, None)])
def test_a_text_that_was_not_there_is_no_empty_one(before: str | None, after: str | None) -> None:
    found = text_difference(before, after)
    assert (found.before, found.after, found.changed) == (before, after, before != after)


def test_tags_that_came_and_went() -> None:
    before, after = (
        Revision(revision=1, content="x", tags=tags, edited_by="ana", edited_at=NOW)
        for tags in (("home", "old"), ("new", "home"))
    )
    found = tags_difference(before, after)
    assert (found.added, found.removed, found.changed) == (("new",), ("old",), True)
    assert not tags_difference(before, before).changed
