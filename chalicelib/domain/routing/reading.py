"""What a query is made of, in any script: its words with where they stand, its length, its language."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from chalicelib.domain.routing.words import AND, AND_ANYWHERE, OR, OR_ANYWHERE, PREFIXED_AND, QUESTION, word_set
from chalicelib.domain.text.terms import latin_language

_IDEOGRAPHIC = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
CHARACTERS_A_WORD = {_IDEOGRAPHIC: 2, _UNSPACED: 4}
"""How many characters make a word, about, in scripts that write no spaces: kana and Han; Thai, Lao, Burmese, Khmer."""
QUESTION_MARKS = "?？؟⁇"


@dataclass(frozen=True)
class Word:
    """One word: as written, casefolded, and where it begins and ends."""

    text: str
    plain: str
    begin: int
    end: int

    @property
    def is_capitalised(self) -> bool:
        """Whether it begins as names do in scripts that have capitals."""
        return self.text[0].isupper()

    @property
    def is_marked(self) -> bool:
        """Whether its form alone says that it is a name: digits among letters, capitals inside, several capitals."""
        inside = self.text[1:]
        if inside != inside.lower():
            return True
        return not self.text.isalpha() and any(c.isdigit() for c in self.text) and any(c.isalpha() for c in self.text)


@dataclass(frozen=True)
class Reading:
    """A query in its normal form. What is asked of it is worked out once."""

    text: str

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The words of scripts with spaces, in order; runs of other scripts are no words."""
        found = _words().finditer(self.text)
        return tuple(Word(m.group(), m.group().casefold().replace("’", "'"), m.start(), m.end()) for m in found)

    @cached_property
    def unspaced(self) -> str:
        """The characters of scripts without spaces, everything else as a blank."""
        return _no_unspaced().sub(" ", self.text)

    @cached_property
    def length(self) -> float:
        """How many words it has, those of scripts without spaces by their characters."""
        counted = (
            len(re.findall(f"[{script}]", self.text)) / characters for script, characters in CHARACTERS_A_WORD.items()
        )
        return len(self.words) + sum(counted)

    @cached_property
    def language(self) -> str:
        """The language of its words in Latin script, by its function words."""
        return latin_language(self.text)

    @property
    def asks(self) -> bool:
        """Whether a question mark or a question word stands in it."""
        return any(mark in self.text for mark in QUESTION_MARKS) or bool(self.question_words)

    @cached_property
    def question_words(self) -> tuple[int, ...]:
        """Which of its words ask, by their places. A word that Arabic's "and" is written onto counts."""
        return tuple(i for i, word in enumerate(self.words) if is_question_word(word.plain))

    def is_and(self, word: Word) -> bool:
        """Whether the word joins."""
        return word.plain in word_set(AND.get(self.language, "")) | word_set(AND_ANYWHERE)

    def is_or(self, word: Word) -> bool:
        """Whether the word parts alternatives."""
        return word.plain in word_set(OR.get(self.language, "")) | word_set(OR_ANYWHERE)

    def gap(self, left: Word, right: Word) -> str:
        """What stands between two words."""
        return self.text[left.end : right.begin]


def read(text: str) -> Reading:
    """The reading of a query."""
    return Reading(unicodedata.normalize("NFKC", text).strip())


def is_question_word(plain: str) -> bool:
    """Whether a casefolded word asks."""
    return plain in word_set(QUESTION) or without_and(plain) in word_set(QUESTION)


def without_and(plain: str) -> str:
    """An Arabic word without the "and" that is written onto it; any other word as it is."""
    is_joined = plain.startswith(PREFIXED_AND) and len(plain) > len(PREFIXED_AND) + 1
    return plain.removeprefix(PREFIXED_AND) if is_joined else plain


def phrases_in(text: str, phrases: str) -> Sequence[str]:
    """Which phrases of a list, of scripts without spaces, stand in the text."""
    return [phrase for phrase in sorted(word_set(phrases)) if phrase in text]


@cache
def _words() -> re.Pattern[str]:
    letter = rf"[^\W_{_IDEOGRAPHIC}{_UNSPACED}]"
    mark = "[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f]"
    return re.compile(rf"&|{letter}(?:{letter}|{mark})*(?:['’-](?:{letter}|{mark})+)*")


@cache
def _no_unspaced() -> re.Pattern[str]:
    return re.compile(rf"[^{_IDEOGRAPHIC}{_UNSPACED}]+")
