"""What a message says, sentence by sentence: which kind each is of, and how much it is worth keeping."""

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from chalicelib.domain.claims.extraction import statements
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome import wording
from chalicelib.domain.text.cues import plain
from chalicelib.domain.text.injection import found_in
from chalicelib.domain.text.sentences import sentences
from chalicelib.domain.text.terms import content_words

MOST_CHARACTERS = 4000  # of a message that are read: the rest is a pasted page
MOST_SENTENCES = 40
SHORTEST = 5  # characters; a note in Chinese may be as short
FEWEST_TERMS = 3  # with fewer, a sentence says nothing by itself
NAME_WORTH, NUMBER_WORTH, CLAIM_WORTH, QUESTION_COST = 1.5, 1.5, 3.0, 4.0
_QUESTION = ("?", "？", "؟", ";")
_NAME = re.compile(r"(?<=[^\W\d_]\s)[A-ZÀ-ÖØ-ÞΑ-ΩА-Я][\w'’-]+")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Sentence:
    """`words` are pairs of a word and its term, `worth` grows with names, numbers and plain claims in it."""

    text: str
    plain: str
    words: tuple[tuple[str, str], ...]
    terms: frozenset[str]
    is_question: bool
    worth: float

    @property
    def says_something(self) -> bool:
        """Whether it can stand alone."""
        return not self.is_question and len(self.terms) >= FEWEST_TERMS and len(self.text) >= SHORTEST

    @property
    def is_personal(self) -> bool:
        """Whether its speaker says something of themselves, or something plain enough to be claimed."""
        return self.plain in wording.PERSONAL

    @property
    def settles(self) -> bool:
        """Whether it says that something is done."""
        return not self.is_question and self.plain in wording.SETTLED and self.plain not in wording.NOT_SETTLED


@dataclass(frozen=True)
class Reading:
    """A message with its sentences, and the terms of all of them."""

    message: SessionMessage
    sentences: tuple[Sentence, ...]
    terms: frozenset[str]


def read(message: SessionMessage) -> Reading:
    """What `message` says. Of text that tries to instruct the assistant nothing is kept."""
    text = _CODE.sub("\n", message.text)[:MOST_CHARACTERS]
    whole = [] if found_in(text) else sentences(text)[:MOST_SENTENCES]
    found = tuple(sentence for sentence in map(sentence_of, whole) if _LETTERS.search(sentence.text))
    return Reading(message, found, frozenset().union(*(sentence.terms for sentence in found)))


@lru_cache(maxsize=2048)
def sentence_of(text: str) -> Sentence:
    """One sentence, read."""
    words = tuple(content_words(text))
    terms = frozenset(term for word, term in words if word not in wording.FILLERS)
    is_question = text.rstrip(" \"'”’)」』").endswith(_QUESTION)
    return Sentence(text, plain(text), words, terms, is_question, _worth(text, terms, is_question=is_question))


def _worth(text: str, terms: frozenset[str], *, is_question: bool) -> float:
    names = min(3, len(_NAME.findall(text)))
    numbers = min(2, len(re.findall(r"\d+", text)))
    claims = bool(numbers or names) and any(one.sure for one in statements(text, "user"))
    worth = math.sqrt(len(terms)) + NAME_WORTH * names + NUMBER_WORTH * numbers + CLAIM_WORTH * claims
    return worth - QUESTION_COST * is_question
