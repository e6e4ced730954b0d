"""Questions without a language model: what, when, where and who, about the words that a memory itself stresses.

Pure, and in the memory's own language where that is known; none where it is not, and none for small talk or for a text that
only asks. The words of the topics are the memory's own, unchanged: what is made up here is only the frame around them.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.memory import Memory
from chalicelib.domain.questions import MOST_QUESTIONS
from chalicelib.domain.text.stopwords import STOPWORDS
from chalicelib.write.prospective.language import language_of
from chalicelib.write.prospective.phrases import (
    CHINESE_STOPS,
    CHIT_CHAT,
    HINDI_STOPWORDS,
    KOREAN_ENDINGS,
    KOREAN_PARTICLES,
    PHRASES,
    TIMES,
    UNSPACED_TIMES,
    Phrases,
)

MOST_TOPICS = 3
MOST_TOPIC_WORDS = 4
MOST_TOPIC_CHARACTERS = 60
MOST_CLAUSE_CHARACTERS = 120
SHORTEST_WORD = 5  # of a topic of one word that is no name; shorter ones are verbs and fillers as a rule
MOST_CHARACTERS_READ = 2000  # what is asked later is most often in the beginning, and the work is bounded
_SENTENCE = re.compile(r"[^.!?。！？؟।\n]+(?:[.!?](?=\w)[^.!?。！？؟।\n]+)*[.!?。！？؟।]*")
_WORD = re.compile(r"[^\W_]+(?:['’.\-&/][^\W_]+)*")
_KANJI_OR_KATAKANA = re.compile("[\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff0-9A-Za-z]{2,}")
_HAN_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff0-9A-Za-z]+")
_BREAK = re.compile(r"[,;:()\[\]\"“”«»„—–|/]")
_REDACTED = re.compile(r"\[REDACTED:\w+\]?")
_UNSPACED = frozenset({"chinese", "japanese", "korean"})
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True)
class _Topic:
    """Words of the memory, how much they stand out, and the sentence they are from."""

    text: str
    weight: float
    sentence: str


def heuristic_questions(memory: Memory) -> tuple[str, ...]:
    """At most 5 questions that `memory` answers, in its language; none where none would make sense."""
    content = _REDACTED.sub(" ", memory.content[:MOST_CHARACTERS_READ])
    statements = [s for s in _sentences(content) if not s.endswith(_QUESTION_MARKS)]
    text = " ".join(statements)
    language = language_of(text, _words(text))
    if language is None:
        return ()
    topics = _best([topic for sentence in statements for topic in _topics(sentence, language)])
    asked = _asked(PHRASES[language], topics, memory.origin.speaker if memory.origin else None)
    return tuple(dict.fromkeys(asked))[:MOST_QUESTIONS]


def _sentences(text: str) -> list[str]:
    return [found.group().strip() for found in _SENTENCE.finditer(text) if found.group().strip()]


def _words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(_marks_joined(text))]


def _marks_joined(text: str) -> str:
    """`text` composed, so that vowel signs of Indic scripts, which are no letters, do not split words."""
    return unicodedata.normalize("NFC", text)


def _asked(phrases: Phrases, topics: Sequence[_Topic], speaker: str | None) -> Iterator[str]:
    patterns = phrases.said if speaker else phrases.known
    for topic in topics[:1]:
        yield from (pattern.format(who=speaker, topic=topic.text) for pattern in patterns)
    for topic in topics:
        if _has_time(topic.sentence):
            yield phrases.when.format(topic=_clause(topic.sentence))
            break
    for topic in topics[1:]:
        yield patterns[0].format(who=speaker, topic=topic.text)


def _clause(sentence: str) -> str:
    """The sentence without its end, cut at a word."""
    bare = sentence.rstrip(".!?。！？؟।… ")
    return bare if len(bare) <= MOST_CLAUSE_CHARACTERS else bare[:MOST_CLAUSE_CHARACTERS].rsplit(" ", 1)[0]


def _has_time(sentence: str) -> bool:
    return any(word.casefold() in TIMES or word[:1].isdigit() for word in _words(sentence)) or any(
        mark in sentence for mark in UNSPACED_TIMES
    )


def _best(topics: Sequence[_Topic]) -> list[_Topic]:
    ordered = sorted(topics, key=lambda topic: -topic.weight)
    kept: list[_Topic] = []
    for topic in ordered:
        folded = topic.text.casefold()
        if not any(folded in other.text.casefold() or other.text.casefold() in folded for other in kept):
            kept.append(topic)
    return kept[:MOST_TOPICS]


def _topics(sentence: str, language: str) -> Iterator[_Topic]:
    for text in _runs(sentence, language):
        if 1 < len(text) <= MOST_TOPIC_CHARACTERS and _says_something(text, language):
            yield _Topic(text, _weight(text, sentence, language), sentence)


def _says_something(text: str, language: str) -> bool:
    if " " in text or language in _UNSPACED:
        return True
    return len(text) >= SHORTEST_WORD or (text[0].isupper() and len(text) > 1) or any(c.isdigit() for c in text)


def _runs(sentence: str, language: str) -> Iterator[str]:
    """The longest runs of content words."""
    if language == "chinese":
        stops = str.maketrans(dict.fromkeys(CHINESE_STOPS, " "))
        yield from (r for r in _HAN_RUN.findall(sentence.translate(stops)) if len(r) > 1 and r not in CHIT_CHAT)
        return
    if language == "japanese":
        yield from _KANJI_OR_KATAKANA.findall(sentence)
        return
    for part in _BREAK.split(sentence):
        run: list[str] = []
        for word in [*_split(part), ""]:
            if word and _is_content(word, language):
                run.append(_bare(word, language))
            elif run:
                yield " ".join(run[-MOST_TOPIC_WORDS:])
                run = []


def _split(part: str) -> list[str]:
    words = (word.strip("'\"’.!?…*~।") for word in part.split())
    return [word.replace("’", "'") for word in words if word]


def _is_content(word: str, language: str) -> bool:
    folded = word.casefold()
    stops = HINDI_STOPWORDS if language == "hindi" else STOPWORDS.get(language, frozenset())
    if (
        (len(word) == 1 and word.isascii() and word.isalpha())
        or folded in stops
        or folded in CHIT_CHAT
        or folded in TIMES
        or not any(c.isalnum() for c in word)
    ):
        return False
    return not (language == "korean" and word.endswith(KOREAN_ENDINGS))


def _bare(word: str, language: str) -> str:
    if language != "korean":
        return word
    return next(
        (word[: -len(end)] for end in KOREAN_PARTICLES if word.endswith(end) and len(word) > len(end) + 1), word
    )


def _weight(text: str, sentence: str, language: str) -> float:
    """Names, numbers and long words stand out; a word that opens its sentence is no name for that."""
    words = text.split()
    weight = 0.0
    for word in words:
        inside = not sentence.startswith(word) or len(words) > 1
        weight += min(len(word), 10) / 5 + (1.0 if inside and word[:1].isupper() and language != "german" else 0.0)
    return weight
