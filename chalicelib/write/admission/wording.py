"""Finding cues in a text: one pattern a list, over one plain form of the text."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

from chalicelib.write.admission import cues

QUESTION_MARKS = "?？؟;՞⁇"
_WORD = re.compile(r"[^\W_]+(?:['\-][^\W_]+)*")
_LISTS: Mapping[str, Mapping[str, str]] = {
    "first_person": cues.FIRST_PERSON,
    "second_person": cues.SECOND_PERSON,
    "times": cues.TIMES,
    "hedges": cues.HEDGES,
    "courtesies": cues.COURTESIES,
    "corrections": cues.CORRECTIONS,
}


def plain(text: str) -> str:
    """`text` in the form that cues are looked for in: folded, its words with a blank between them, and nothing else."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("\u02bc", "'")
    marked = folded if folded.isascii() else "".join(_letter(c) for c in folded)
    return " ".join(folded[found.start() : found.end()] for found in _WORD.finditer(marked))


def _letter(character: str) -> str:
    """A combining mark counts as a letter, or words of half the world's scripts would fall apart."""
    return "a" if unicodedata.category(character)[0] == "M" else character


def count(name: str, words: str) -> int:
    """How many cues of a list are in what `plain` made."""
    return sum(1 for _ in _pattern(name).finditer(words))


def without(name: str, words: str) -> str:
    """What is left of what `plain` made once the cues of a list are out."""
    return " ".join(_pattern(name).sub(" ", words).split())


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Compiled at first use, the longest phrases first."""
    phrases = _LISTS[name]
    spaced = {plain(p) for language, joined in phrases.items() if language != cues.ANYWHERE for p in _split(joined)}
    anywhere = _split(phrases[cues.ANYWHERE])
    words, parts = ("|".join(map(re.escape, sorted(some, key=len, reverse=True))) for some in (spaced, anywhere))
    return re.compile(rf"(?<!\S)(?:{words})(?!\S)|(?:{parts})")


def _split(joined: str) -> set[str]:
    return {" ".join(phrase.split()) for phrase in joined.split("|")}
