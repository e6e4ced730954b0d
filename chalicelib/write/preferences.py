"""What a conversation shows of how its user wants answers: corrections that the user speaks out, and habits that show.

Pure. A wish is found by the words of a dozen languages (`preference_wording`); a habit by who said how much and whether it
took up what was said before, in any language. What is not plainly a wish about answers to this user is left alone.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from chalicelib.domain.conversation import Message
from chalicelib.domain.text.terms import TermCounts, index_terms
from chalicelib.domain.tone import Mood, mood_of
from chalicelib.write.preference_languages import IN_LANGUAGE
from chalicelib.write.preference_wording import DIRECT, SHORT, SUMMARIES, WORDINGS, Value, Wording

SPOKEN_IMPORTANCE, SHOWN_IMPORTANCE = 0.9, 0.8
SPOKEN_CONFIDENCE, SHOWN_CONFIDENCE = 0.9, 0.6
MAX_MESSAGE, MAX_SENTENCE = 2000, 300  # what is longer is pasted, or tells a story
FEW_WORDS, FEW_CHARACTERS = 6, 14  # a correction that says no more than itself
LONG_ANSWER, SHORT_REPLY = 100, 8  # in terms, which scripts without spaces have about as many of
IGNORED_ANSWERS = 3
REASKS, REASKED_AFTER, SAME_QUESTION = 2, 3, 0.6  # how often, within so many messages of the user, shared part of terms
_SENTENCE = re.compile(r"[^.!?。！？\n;]+[.!?。！？]*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_LETTERS = "a-z\u00df-\u024f\u0430-\u045f"


@dataclass(frozen=True)
class Preference:
    """What a user wants of answers: `attribute` and `value`, in the user's words where it was said, and what proves it.

    `content` is never just those words: the message itself may be a memory of the same scope."""

    attribute: str
    value: str
    content: str
    summary: str
    evidence: tuple[str, ...]
    at: datetime
    spoken: bool

    @property
    def importance(self) -> float:
        """0 to 1: what was spoken out counts more than what showed."""
        return SPOKEN_IMPORTANCE if self.spoken else SHOWN_IMPORTANCE

    @property
    def confidence(self) -> float:
        """0 to 1."""
        return SPOKEN_CONFIDENCE if self.spoken else SHOWN_CONFIDENCE


def learn(messages: Sequence[Message]) -> list[Preference]:
    """The preferences of the user in a conversation, the oldest message first; at most one an attribute.

    The latest wish counts, with every message that speaks for it, and a wish more than a habit."""
    once = list({message.id: message for message in messages}.values())
    found: dict[str, Preference] = {}
    for preference in [*_shown(once), *_spoken(once)]:
        before = found.get(preference.attribute)
        earlier = before.evidence if before and before.value == preference.value else ()
        evidence = tuple(dict.fromkeys((*earlier, *preference.evidence)))
        found[preference.attribute] = replace(preference, evidence=evidence)
    return list(found.values())


def _spoken(messages: Sequence[Message]) -> Iterator[Preference]:
    for message in messages:
        if message.speaker != "user" or len(message.text) > MAX_MESSAGE:
            continue
        for sentence in _SENTENCE.findall(message.text):
            if value := wish(sentence):
                yield _preference(value, f"“{sentence.strip()}”", (message.id,), message.at, spoken=True)


def _preference(value: Value, content: str, evidence: tuple[str, ...], at: datetime, *, spoken: bool) -> Preference:
    summary = SUMMARIES.get(value) or f"Wants answers in {value[1]}."
    return Preference(*value, f"{summary.removesuffix('.')}: {content}", summary, evidence, at, spoken)


def wish(sentence: str) -> Value | None:
    """What a sentence asks of answers; None where it asks nothing of them."""
    text = _folded(sentence)
    if not text or len(text) > MAX_SENTENCE:
        return None
    if not _is_bare(text) and not _about_answers().search(text):
        return None
    is_question = text.endswith(("?", "？"))
    return next((value for wording in WORDINGS if (value := _wish_in(wording, text, is_question=is_question))), None)


def _wish_in(wording: Wording, text: str, *, is_question: bool) -> Value | None:
    if is_question and not _has(wording, wording.asking_politely, text):
        return None
    if _has(wording, wording.others, text):
        return None
    own = next((value for value, expression in wording.own if _has(wording, expression, text)), None)
    if own:
        return own
    is_about_yours = _has(wording, wording.yours, text)
    if not is_about_yours and _has(wording, wording.objects, text):
        return None
    if is_about_yours and not is_question:
        wrong = next((value for value, expression in wording.complaints if _has(wording, expression, text)), None)
        if wrong:
            return wrong
    return _asked_for(wording, text)


def _asked_for(wording: Wording, text: str) -> Value | None:
    if not _has(wording, wording.asks, text):
        return None
    is_about_answers = _has(wording, wording.answers, text)
    if not is_about_answers and not _is_bare(text):
        return None
    value = next((value for value, expression in wording.values if _has(wording, expression, text)), None)
    return value or (_language(text) if is_about_answers else None)


def _is_bare(text: str) -> bool:
    """Whether a sentence is so short that it says what it asks for and nothing else: "shorter, please"."""
    if not _UNSPACED.search(text):
        return len(text.split()) <= FEW_WORDS
    return len(text) <= FEW_CHARACTERS


@functools.cache
def _about_answers() -> re.Pattern[str]:
    """What a sentence of any language has that is about answers: most have none of it, and are done with by one search."""
    expressions: dict[bool, list[str]] = {True: [], False: []}
    for wording in WORDINGS:
        own = [expression for _, expression in wording.own]
        expressions[wording.has_words] += [wording.answers, wording.yours, *own]
    words, parts = ("|".join(each) for each in expressions.values())
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)|{parts}")


def _language(text: str) -> Value | None:
    named = (name for name, expression in IN_LANGUAGE if _alphabetic(expression).search(text))
    language = next(named, None)
    return ("language", language) if language else None


@functools.cache
def _alphabetic(expression: str) -> re.Pattern[str]:
    """Whole words of alphabets, and runs of Han or kana wherever they stand."""
    return re.compile(rf"(?<![{_LETTERS}])(?:{expression})(?![{_LETTERS}])")


def _has(wording: Wording, expression: str, text: str) -> bool:
    return bool(_pattern(expression, has_words=wording.has_words).search(text))


@functools.cache
def _pattern(expression: str, *, has_words: bool) -> re.Pattern[str]:
    """Compiled at first use, see `text.terms`."""
    return re.compile(rf"(?<!\w)(?:{expression})(?!\w)" if has_words else expression)


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("i\u0307", "i")
    return " ".join(folded.split())


def _shown(messages: Sequence[Message]) -> Iterator[Preference]:
    if all(message.speaker != "assistant" for message in messages):
        return
    terms = {message.id: index_terms(message.text) for message in messages}
    if ignored := _ignored(messages, terms):
        content = "keeps passing over long ones."
        yield _preference(SHORT, content, tuple(m.id for m in ignored), ignored[-1].at, spoken=False)
    if reasked := _reasked(messages, terms):
        content = "keeps asking again what was answered."
        yield _preference(DIRECT, content, tuple(m.id for m in reasked), reasked[-1].at, spoken=False)


def _ignored(messages: Sequence[Message], terms: dict[str, TermCounts]) -> list[Message]:
    """The latest replies of the user that passed over a long answer, each of them, and at least three in a row."""
    row: list[Message] = []
    for answer, reply in pairwise(messages):
        if (answer.speaker, reply.speaker) != ("assistant", "user") or terms[answer.id].length < LONG_ANSWER:
            continue
        row = [*row, reply] if _passes_over(terms[answer.id], terms[reply.id], reply) else []
    return row if len(row) >= IGNORED_ANSWERS else []


def _passes_over(answer: TermCounts, reply: TermCounts, message: Message) -> bool:
    takes_up = {term for term in answer.counts.keys() & reply.counts.keys() if len(term) > 1}  # one Han sign is chance
    thanks = mood_of(message.text) in {Mood.GRATEFUL, Mood.JOYFUL}
    return 0 < reply.length <= SHORT_REPLY and not takes_up and not thanks


def _reasked(messages: Sequence[Message], terms: dict[str, TermCounts]) -> list[Message]:
    """The user's messages that ask again what an answer was given to, where there are at least two."""
    again: list[Message] = []
    asked: list[tuple[int, Message]] = []
    for place, message in enumerate(messages):
        if message.speaker != "user":
            continue
        earlier = (a for i, a in asked[-REASKED_AFTER:] if any(m.speaker == "assistant" for m in messages[i:place]))
        again += [message] if any(_is_same(terms[a.id], terms[message.id]) for a in earlier) else []
        asked.append((place, message))
    return again if len(again) >= REASKS else []


def _is_same(one: TermCounts, other: TermCounts) -> bool:
    shared, either = one.counts.keys() & other.counts.keys(), one.counts.keys() | other.counts.keys()
    return len(shared) > 1 and len(shared) >= SAME_QUESTION * len(either)
