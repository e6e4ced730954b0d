"""A sentence in as few words as carry its meaning: a key point that is a note, not prose.

Scripts without blanks are left as they are, and so is a sentence that would lose most of itself.
"""

import re

from chalicelib.domain.genome.reading import Sentence
from chalicelib.domain.genome.wording import FILLERS, NEGATIONS
from chalicelib.domain.text.cues import plain

FEWEST_WORDS = 3
_PART = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_EDGES = ".,;:!?\"'()[]…“”„«»‘’-–—"


def compact(sentence: Sentence) -> str:
    """Its words without function words and fillers, in their order and spelling."""
    kept_words = {word for word, _ in sentence.words} - FILLERS
    words = [word for word in sentence.text.split() if _carries(plain(word.strip(_EDGES)), kept_words)]
    if len(words) < FEWEST_WORDS or not words_apart(sentence):
        return sentence.text
    return " ".join(word.strip(_EDGES) for word in words)


def _carries(word: str, kept: set[str]) -> bool:
    return word in NEGATIONS or any(part in kept for part in _PART.findall(word))


def words_apart(sentence: Sentence) -> bool:
    """Whether its script writes blanks between words, so that its terms do not overlap."""
    return sum(len(word) for word, _ in sentence.words) <= len(sentence.text)
