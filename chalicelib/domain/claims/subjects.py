"""Whom or what a claim is about, under one name whatever the sentence calls it; and which attribute it is of."""

import re
from dataclasses import dataclass

from chalicelib.domain.claims.values import folded
from chalicelib.domain.claims.words import (
    FIRST_PERSON,
    FIRST_PLURAL,
    MODIFIERS_THAT_SAY_NEW,
    MODIFIERS_THAT_SAY_NOTHING,
    MY,
    NOBODY,
    OUR,
    PARTICLES,
    THE,
    THE_USER,
    one_value_nouns,
    word_set,
)

TEAM = "we"
MOST_WORDS = 4
_SPECIFIC = {"email", "phone"}  # a phone number is no number, an e-mail address no address
_OF_WHAT = frozenset(["of", "for", "from", "with", "in", "at", "on", "von", "für", "de", "du", "di", "do", "van"])
_CONTRACTED = ("'s", "'d", "'m", "'re", "'ll", "'ve")  # "it's like", "I'd like": a verb is in it
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True)
class Subject:
    """`name` is folded. One that is only described ("the meeting") is not `definite`: there may be several."""

    name: str
    definite: bool = True


@dataclass(frozen=True)
class Attribute:
    """`name` is what it is of those with one value at a time, else the noun itself; `modifiers` qualify it (release, of the
    deadline); `new` where the sentence calls the value new."""

    name: str
    modifiers: frozenset[str] = frozenset()
    new: bool = False


def subject_of(text: str, author: str) -> Subject | None:
    """Who `text` is, said by `author`; None where it names nobody that could be known again."""
    words = text.split()
    if len(words) == 1 and (person := _person(words[0], author)):
        return person
    if _UNSPACED.search(text):
        return _unspaced(text, author)
    first = folded(words[0]) if words else ""
    if first in word_set(MY) | word_set(OUR):
        return _owned(folded(author) if first in word_set(MY) else TEAM, words[1:])
    if first in word_set(THE) and len(words) > 1:
        return _described(words[1:], author)
    owner, _, owned = text.partition("'s ")
    if owned:
        by = subject_of(owner, author)
        return _owned(by.name, owned.split()) if by and by.definite else None
    return _named(words)


def _person(word: str, author: str) -> Subject | None:
    """Who is meant by a pronoun of the first person, and by "user"."""
    plain = folded(word)
    if plain in word_set(FIRST_PLURAL):
        return Subject(TEAM)
    is_author = plain.removesuffix("'") in word_set(FIRST_PERSON) | word_set(THE_USER) | {"j"}
    return Subject(folded(author)) if is_author else None


def _unspaced(text: str, author: str) -> Subject | None:
    if folded(text) in word_set(FIRST_PERSON):
        return Subject(folded(author))
    for my in (*MY.split(), *OUR.split()):
        if _UNSPACED.search(my) and text.startswith(my):
            return _owned(folded(author) if my in MY.split() else TEAM, [text.removeprefix(my)])
    return None if any(text.startswith(word) for word in NOBODY if _UNSPACED.search(word)) else Subject(folded(text))


def _described(words: list[str], author: str) -> Subject | None:
    if len(words) == 1 and folded(words[0]) in word_set(THE_USER):
        return Subject(folded(author))
    if len(words) > MOST_WORDS or any(folded(word) in NOBODY | _OF_WHAT for word in words):
        return None
    if len(words) > 1 and all(word[0].isupper() for word in words[1:]) and not words[0][0].isupper():
        words = words[1:]  # "the project Apollo" is Apollo
    return Subject(folded(" ".join(words)), definite=any(word[0].isupper() for word in words))


def _owned(owner: str, words: list[str]) -> Subject | None:
    if not words or len(words) > MOST_WORDS or any(folded(word) in NOBODY for word in words):
        return None
    return Subject(f"{owner}'s {folded(' '.join(words))}")


def _named(words: list[str]) -> Subject | None:
    if len(words) > 1 and words[0].islower() and all(word[0].isupper() for word in words[1:]):
        words = words[1:] if folded(words[0]) in {"project", "projekt", "projet", "proyecto"} else []
    if not words or len(words) > MOST_WORDS or any(folded(word) in NOBODY for word in words):
        return None
    if all(_is_part_of_a_name(word) for word in words) and (words[0][0].isupper() or not words[0].isascii()):
        name = " ".join(words[1:] if len(words) > 1 and folded(words[0]) in {"project", "projekt"} else words)
        return Subject(folded(name))
    return None


def _is_part_of_a_name(word: str) -> bool:
    if folded(word).endswith(_CONTRACTED):
        return False
    return word[0].isupper() or word[0].isdigit() or folded(word) in PARTICLES or not _has_case(word)


def _has_case(word: str) -> bool:
    return word.casefold() != word.upper()


def attribute_of(words: list[str]) -> Attribute | None:
    """The attribute that a noun phrase names, or None where it is none that has one value at a time."""
    plain = [folded(word) for word in words]
    new = any(word in MODIFIERS_THAT_SAY_NEW for word in plain)
    plain = [word for word in plain if word not in MODIFIERS_THAT_SAY_NEW | MODIFIERS_THAT_SAY_NOTHING]
    if not plain or len(plain) > MOST_WORDS:
        return None
    favourite = re.compile(r"favou?rite|lieblings?.*|favori[td]?[oae]?|preferee?|prefere?r?it[oa]|lievelings.*")
    if any(favourite.fullmatch(word) for word in plain):
        rest = {word for word in plain if not favourite.fullmatch(word)} or {plain[0]}
        return Attribute("favourite", frozenset(rest), new)
    nouns = one_value_nouns()
    for word in plain:
        if nouns.get(word) in _SPECIFIC:
            return Attribute(nouns[word], frozenset(), new)
    for head in (plain[-1], plain[0]):
        if head in nouns:
            return Attribute(nouns[head], frozenset(plain) - {head} | _kept(head), new)
    return None


def _kept(head: str) -> frozenset[str]:
    """The noun itself where its attribute covers several things: a salary is no rent, a port no version."""
    broad = {"date", "meeting", "price", "number", "manager", "place"}
    return frozenset({head}) if one_value_nouns()[head] in broad else frozenset()
