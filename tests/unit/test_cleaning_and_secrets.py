"""What comes in is cleaned, whichever field it came in: one Unicode form, nothing blank, no secrets."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from chalicelib.domain.incoming import cleaned
from chalicelib.domain.input import MemoryInput, MemoryPatch
from chalicelib.domain.memory import MAX_CONTENT_BYTES, Revision
from chalicelib.domain.text import secrets
from chalicelib.domain.text.cleaning import RECALL_FENCE, carries_recall, clean, is_blank, normal_form
from chalicelib.domain.text.secrets import placeholder, redact
from chalicelib.domain.validation import validated
from chalicelib.errors import InvalidInput
from chalicelib.write.cleaning import checked_content, checked_tags
from tests.building import NOW
from tests.unit.fake_secrets import AWS_KEY, FAKES, secret_part

UNICODE = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
PROSE = st.lists(
    st.sampled_from(
        [
            "the",
            "password",
            "policy",
            "of",
            "our",
            "secret",
            "garden",
            "token",
            "ring",
            "is",
            "basic",
            "bearer",
            "of",
            "news",
            "key",
            "to",
            "success,",
            "a,",
            "12",
            ":",
        ]
    ),
    max_size=20,
).map(" ".join)


def test_composed_and_decomposed_letters_become_one_form() -> None:
    assert clean("cafe\u0301") == clean("caf\u00e9") == "caf\u00e9"


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x00b\x07c\x1b[31m", "abc[31m"),
        ("a\tb", "a\tb"),
        (" a ", "a"),
        ("\x00 a", "a"),
        ("a\u0085b", "ab"),
    ],
)
def test_control_characters_go_and_lines_stay(given_text: str, kept: str) -> None:
    assert clean(given_text) == kept


@given(UNICODE)
def test_cleaning_what_is_clean_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(UNICODE)
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    assert normal_form(normal_form(text)) == normal_form(text)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800"])
def test_a_lone_surrogate_is_refused(text: str) -> None:
    with pytest.raises(UnicodeEncodeError):
        clean(text)


BLANKS = [
    "",
    " ",
    "\n\t",
    "\u200b",
    "\u200b\u2060\ufeff",
    "\u00ad",
    "\u00a0",
    "\u3000",
    "\u200d\u200e",
    "\x00",
    "\u180e",
]


@pytest.mark.parametrize("text", BLANKS, ids=ascii)
def test_a_text_of_which_nothing_is_seen_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " a ", "\u200ba", "。", "🎂", "猫", "0", "\u200b."])
def test_a_text_of_which_something_is_seen_is_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_white_space_and_invisible_characters_make_no_other_content() -> None:
    assert normal_form(" Ana\u200b lives\n\nin  Porto ") == normal_form("Ana lives in Porto")


def test_case_makes_another_content() -> None:
    assert normal_form("Polish") != normal_form("polish")


def test_a_recall_block_is_recognised() -> None:
    assert carries_recall(f"<{RECALL_FENCE}>Ana lives in Porto</{RECALL_FENCE}>")
    assert not carries_recall("Vitto recalled that Ana lives in Porto")


KINDS = sorted({label for label, _ in FAKES})


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_is_replaced_by_its_label(kind: str) -> None:
    for label, fake in FAKES:
        for frame in ("{}", "use {} for the deploy", "see ({}).", "“{}”", "密钥：{}。"):
            text, labels = redact(frame.format(fake))
            assert label != kind or (secret_part(fake) not in text and placeholder(kind) in text and kind in labels)


@pytest.mark.parametrize("frame", ["鍵は{}です", "密钥{}在这里", "키는{}입니다"], ids=["japanese", "chinese", "korean"])
def test_a_secret_that_touches_letters_of_a_script_without_spaces_is_replaced(frame: str) -> None:
    assert {label for label, fake in FAKES if secret_part(fake) in redact(frame.format(fake))[0]} == set()


def test_every_kind_of_secret_has_an_example() -> None:
    assert {label for label, _ in secrets._PATTERNS} == {label for label, _ in FAKES}


@given(st.lists(st.sampled_from([fake for _, fake in FAKES]) | PROSE, max_size=6).map(" ".join))
def test_redacting_what_is_redacted_changes_nothing(text: str) -> None:
    once, _ = redact(text)
    assert redact(once)[0] == once


@given(st.permutations(FAKES).map(lambda some: some[:5]))
def test_secrets_side_by_side_are_all_replaced(some: list[tuple[str, str]]) -> None:
    text, labels = redact("\n\n".join(fake for _, fake in some if not fake.startswith("-----BEGIN")))
    for label, fake in some:
        if not fake.startswith("-----BEGIN"):
            assert secret_part(fake) not in text
            assert label in labels


def test_what_stands_around_a_secret_stays() -> None:
    text, labels = redact(f"before {AWS_KEY} after")
    assert text == "before [REDACTED:aws_access_key] after"
    assert labels == ("aws_access_key",)


def test_of_an_address_with_a_password_only_the_password_goes() -> None:
    text, _ = redact("mongodb://ana:" + "hunter22" + "@db.example.com/app")
    assert text == "mongodb://ana:[REDACTED:url_password]@db.example.com/app"


def test_a_kind_found_twice_is_named_once() -> None:
    _, labels = redact(f"{AWS_KEY} and {AWS_KEY} again")
    assert labels == ("aws_access_key",)


@pytest.mark.parametrize(
    "text",
    [
        "The password policy is strict and the token ring was slow.",
        "Ana forgot her password again; the secret is patience.",
        "My password is important to me",
        "Bearer of bad news, he came with basic instincts.",
        "The key to success is practice. API keys rotate monthly.",
        "Meet at https://example.com:8443/path?a=b and mail ana@example.com",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "id 123e4567-e89b-12d3-a456-426614174000, order 4111-2222",
        "skating-is-a-sport-that-many-people-like, risk-management",
        "パスワードは忘れました。秘密は守る。",
        "token: none, password: (empty)",
        "secretary: Anastasia, tokenizer: sentencepiece",
    ],
)
def test_ordinary_prose_is_untouched(text: str) -> None:
    assert redact(text) == (text, ())


@given(PROSE)
def test_words_that_only_sound_secret_are_untouched(text: str) -> None:
    assert redact(text)[0] == text


FULL: dict[str, Any] = {
    "content": "Ana lives in Porto",
    "scope": "space",
    "scopeId": "red",
    "type": "fact",
    "summary": "a home",
    "tags": ["home"],
    "keyEntities": ["Ana"],
    "source": "chat",
    "origin": {"sessionId": "s1", "messageId": "m1", "speaker": "Ana"},
    "claims": [{"subject": "Ana", "attribute": "lives in", "value": "Porto"}],
    "links": [{"kind": "relates", "target": "mem_1"}],
    "outcome": "moved",
    "attachments": [{"type": "image", "url": "https://example.com/a.png", "description": "a house"}],
    "messages": [{"speaker": "Ana", "text": "I live in Porto"}],
}
CHOICES = {("scope",), ("type",), ("links", 0, "kind")}
IDS = {("scopeId",), ("origin", "sessionId"), ("origin", "messageId"), ("links", 0, "target")}


def paths(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The place of every string in a JSON value."""
    if isinstance(value, str):
        return [at]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for name, inner in items for place in paths(inner, (*at, name))]


def with_value(value: Any, place: tuple[str | int, ...], text: str) -> Any:
    """`value` with `text` at that place."""
    if not place:
        return text
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = with_value(value[place[0]], place[1:], text)
    return copy


TEXTS = [place for place in paths(FULL) if place not in CHOICES | IDS]


def test_the_full_memory_of_these_tests_has_every_field_that_takes_text() -> None:
    fields = {info.alias or name for name, info in MemoryInput.model_fields.items()}
    assert fields - FULL.keys() == {"importance", "overridable", "confidence", "eventTime", "expiresAt"}
    nested = {name: FULL[name][0] for name in ("claims", "attachments", "messages")} | {"origin": FULL["origin"]}
    for name, given_value in nested.items():
        assert {info.alias for info in _inner(name).model_fields.values()} == given_value.keys()


def _inner(field: str) -> type[BaseModel]:
    value = getattr(validated(MemoryInput, FULL), field)
    return type(value[0] if isinstance(value, tuple) else value)


@pytest.mark.parametrize("place", TEXTS, ids=str)
def test_a_secret_survives_in_no_field(place: tuple[str | int, ...]) -> None:
    kept, labels = cleaned(validated(MemoryInput, with_value(FULL, place, f"see {AWS_KEY}")))
    assert AWS_KEY not in kept.model_dump_json()
    assert labels == ("aws_access_key",)


@pytest.mark.parametrize("place", TEXTS, ids=str)
def test_every_field_has_one_unicode_form(place: tuple[str | int, ...]) -> None:
    kept, _ = cleaned(validated(MemoryInput, with_value(FULL, place, " cafe\u0301\x00 ")))
    assert "caf\u00e9" in kept.model_dump_json()
    assert not re.search(r"\\u0000|e\u0301|\" caf", kept.model_dump_json())


@pytest.mark.parametrize("place", [*TEXTS, *sorted(IDS, key=str)], ids=str)
def test_text_that_is_no_unicode_is_refused_by_its_field(place: tuple[str | int, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        cleaned(validated(MemoryInput, with_value(FULL, place, "a\ud800")))
    assert refused.value.field == wire(place)


@pytest.mark.parametrize("place", sorted(IDS, key=str), ids=str)
def test_an_id_that_looks_like_a_secret_is_refused_and_not_repeated(place: tuple[str | int, ...]) -> None:
    for fake in (fake for _, fake in FAKES if len(fake) <= 128):
        with pytest.raises(InvalidInput) as refused:
            cleaned(validated(MemoryInput, with_value(FULL, place, fake)))
        assert secret_part(fake) not in f"{refused.value.message} {refused.value.details}"


@pytest.mark.parametrize("place", sorted(IDS, key=str), ids=str)
@pytest.mark.parametrize("wrong", [AWS_KEY, "é" * 65, "  "], ids=["secret", "long", "blank"])
def test_a_refused_id_is_named_as_it_is_written_on_the_wire(place: tuple[str | int, ...], wrong: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        cleaned(validated(MemoryInput, with_value(FULL, place, wrong)))
    assert refused.value.field == wire(place)


@pytest.mark.parametrize("place", sorted(IDS, key=str), ids=str)
def test_an_id_over_128_bytes_is_refused(place: tuple[str | int, ...]) -> None:
    with pytest.raises(InvalidInput):
        cleaned(validated(MemoryInput, with_value(FULL, place, "é" * 65)))


def wire(place: tuple[str | int, ...]) -> str:
    """The path of a field as errors name it."""
    return ".".join(str(part) for part in place)


def test_what_is_clean_already_is_left_as_it_is() -> None:
    memory = validated(MemoryInput, FULL)
    assert cleaned(memory) == (memory, ())


def test_the_fields_that_were_given_are_still_known_after_cleaning() -> None:
    patch = validated(MemoryPatch, {"content": f"see {AWS_KEY}", "summary": None})
    assert cleaned(patch)[0].model_fields_set == {"content", "summary"}


def test_a_patch_and_an_earlier_revision_are_cleaned_too() -> None:
    patch, _ = cleaned(validated(MemoryPatch, {"content": AWS_KEY, "tags": [AWS_KEY], "outcome": AWS_KEY}))
    earlier, _ = cleaned(
        Revision(revision=1, content=AWS_KEY, summary=AWS_KEY, tags=(AWS_KEY,), edited_by="ana", edited_at=NOW)
    )
    assert AWS_KEY not in patch.model_dump_json()
    assert AWS_KEY not in earlier.model_dump_json()


def test_content_of_16_kilobytes_is_accepted_and_one_byte_more_is_not() -> None:
    assert checked_content("a" * MAX_CONTENT_BYTES, "content")
    with pytest.raises(InvalidInput) as refused:
        checked_content("é" * (MAX_CONTENT_BYTES // 2) + "a", "content")
    assert refused.value.field == "content"
    assert refused.value.details["limit"] == MAX_CONTENT_BYTES == 16384


def test_tags_are_kept_once_in_their_order_and_a_blank_one_is_named() -> None:
    assert checked_tags(("b", "a", "b"), "tags") == ("b", "a")
    with pytest.raises(InvalidInput) as refused:
        checked_tags(("a", "\u200b"), "tags")
    assert refused.value.field == "tags.1"
