"""The parts of a query that asks for several things: its questions, or the sides of the choice that it names."""

import re
from collections.abc import Sequence

from chalicelib.domain.routing.reading import QUESTION_MARKS, Reading, is_question_word, phrases_in, without_and
from chalicelib.domain.routing.words import (
    NO_ALTERNATIVE,
    OR_UNSPACED,
    QUESTION_UNSPACED,
    word_set,
)
from chalicelib.domain.text.stopwords import STOPWORDS

MOST_PARTS = 4
_FEWEST_WORDS = 2
_MOST_BETWEEN = 2  # prepositions and the like between an "and" and its question word
_LISTED = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+", re.MULTILINE)
_CLAUSES = re.compile("[，,；;。！!\n]")


def questions(reading: Reading) -> tuple[str, ...]:
    """The questions that it asks, each on its own; the whole text where there is but one."""
    sentences = _sentences(reading.text)
    readings = [Reading(one) for one in sentences] if len(sentences) > 1 else [reading]
    found = [part for one in readings for part in _split(one)]
    return tuple(found)[:MOST_PARTS] if len(found) > 1 else (reading.text,)


def alternatives(reading: Reading) -> tuple[str, ...]:
    """The text with one side of its choice each; empty where it leaves no choice."""
    if not reading.asks:
        return ()
    for i, word in enumerate(reading.words[1:-1], 1):
        if reading.is_or(word) and reading.words[i + 1].plain not in word_set(NO_ALTERNATIVE):
            before, after = reading.words[i - 1], reading.words[i + 1]
            return (
                reading.text[: before.end] + reading.text[after.end :],
                reading.text[: before.begin] + reading.text[after.begin :],
            )
    return _unspaced_alternatives(reading.text)


def parts(reading: Reading) -> tuple[str, ...]:
    """What to search for one by one besides the whole; empty where it is of one piece."""
    asked = questions(reading)
    return asked if len(asked) > 1 else alternatives(reading)


def _sentences(text: str) -> Sequence[str]:
    """The text by its question marks, or by the items of a list; a sentence without one goes with the next that has one."""
    items = [item.strip() for item in _LISTED.split(text) if item.strip()]
    if len(_LISTED.findall(text)) > 1:
        return items if len(items) <= MOST_PARTS else items[:MOST_PARTS]
    pieces = re.findall(rf"[^{QUESTION_MARKS}]+[{QUESTION_MARKS}]+", text)
    asked = [piece.strip() for piece in pieces if Reading(piece).length >= _FEWEST_WORDS]
    return asked if len(asked) > 1 else [text]


def _split(reading: Reading) -> Sequence[str]:
    """One sentence where a second question is joined to the first."""
    for place in reading.question_words[1:]:
        begin = _joint(reading, place)
        if begin is not None and begin > reading.question_words[0] + 1:
            at = reading.words[begin].begin
            return [reading.text[:at].strip(), reading.text[at:].strip()]
    return _unspaced_questions(reading.text)


def _joint(reading: Reading, place: int) -> int | None:
    """Where the "and" before a question word stands; None where the word is not joined to what was asked before."""
    word = reading.words[place]
    if without_and(word.plain) != word.plain and is_question_word(without_and(word.plain)):
        return place
    for i in range(place - 1, max(place - 2 - _MOST_BETWEEN, -1), -1):
        if reading.is_and(reading.words[i]) or reading.is_or(reading.words[i]):
            return i
        if not _is_function_word(reading.words[i].plain):
            return None
    return None


def _is_function_word(plain: str) -> bool:
    return any(plain in words for words in STOPWORDS.values())


def _unspaced_questions(text: str) -> Sequence[str]:
    clauses = [clause.strip() for clause in _CLAUSES.split(text) if clause.strip()]
    asking = [clause for clause in clauses if phrases_in(clause, QUESTION_UNSPACED)]
    return asking if len(asking) > 1 else [text]


def _unspaced_alternatives(text: str) -> tuple[str, ...]:
    for phrase in sorted(word_set(OR_UNSPACED), key=len, reverse=True):
        left, found, right = text.partition(phrase)
        if found and left and right.strip(QUESTION_MARKS + " 呢吗"):
            return (left, right)
    return ()
