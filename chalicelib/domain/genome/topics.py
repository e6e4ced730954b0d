"""The topics of a genome: a message touches the topic that it shares words with, or opens one; settled and long untouched
ones make room first."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.genome.compaction import compact, words_apart
from chalicelib.domain.genome.entries import quoted, share
from chalicelib.domain.genome.model import (
    KEY_POINT_CHARACTERS,
    MAX_KEY_POINTS,
    MAX_TOPICS,
    NAME_CHARACTERS,
    ConversationGenome,
    Keyword,
    Topic,
    TopicStatus,
)
from chalicelib.domain.genome.reading import Reading, sentence_of
from chalicelib.domain.genome.wording import FILLERS
from chalicelib.domain.text.sentences import shortened

SAME_TOPIC = 0.25  # shared part of the message's terms
SAME_POINT = 0.7
TERMS_OF_A_TOPIC = 2  # a message with fewer goes on with what was talked about
JUST_NOW = 6  # messages after which "it works now" is no longer about the last topic
ABANDONED_AFTER = 40  # messages without a mention
RECENT = 20.0  # messages in which a topic's freshness falls to a third
FRESHNESS = 3.0
NAME_WORDS, MANY_MENTIONS = 2, 4


@dataclass(frozen=True)
class Topics:
    """The topics after a message, and how many topics and key points had to go."""

    topics: tuple[Topic, ...]
    dropped: int = 0
    points_dropped: int = 0


def with_topics(genome: ConversationGenome, reading: Reading) -> Topics:
    """The topics of `genome` with what a message says of them."""
    topics = list(genome.topics)
    place = _place(topics, reading)
    points_dropped = 0
    if place is not None:
        topics[place], points_dropped = _touched(topics[place], reading, genome.user_id)
    elif topic := _opened(reading, genome):
        topics.append(topic)
    topics = [_aged(topic, reading.message.position) for topic in topics]
    kept = _within(topics, reading.message.position)
    return Topics(kept, len(topics) - len(kept), points_dropped)


def terms_of(topic: Topic) -> frozenset[str]:
    """The terms of its name and of its key points."""
    return frozenset().union(*(sentence_of(text).terms for text in (topic.name, *topic.key_points)))


def share_of_topics(one: Topic, other: Topic) -> float:
    """The shared part of the terms of the topic that has fewer."""
    return share(terms_of(one), terms_of(other))


def merged_topic(known: Topic, later: Topic) -> Topic:
    """Two topics about the same as one, under the first one's name."""
    changes = {
        "first_mentioned": min(known.first_mentioned, later.first_mentioned),
        "last_mentioned": max(known.last_mentioned, later.last_mentioned),
        "status": later.status if later.last_mentioned >= known.last_mentioned else known.status,
        "key_points": _best([*known.key_points, *later.key_points]),
        "mentions": known.mentions + later.mentions,
        "position": max(known.position, later.position),
    }
    return known.model_copy(update=changes)


def topic_worth(topic: Topic, position: int) -> tuple[bool, float]:
    """What a topic is worth at a place of the session: active ones first, then by mentions, content and freshness."""
    points = sum(sentence_of(point).worth for point in topic.key_points)
    fresh = FRESHNESS * math.exp(-max(0, position - topic.position) / RECENT)
    return topic.status is TopicStatus.ACTIVE, math.log2(1 + topic.mentions) + points / MAX_KEY_POINTS / 2 + fresh


def _place(topics: Sequence[Topic], reading: Reading) -> int | None:
    """The topic that a message is about: the one it shares most terms with, or, where it says too little, the last one."""
    if not topics:
        return None
    if len(reading.terms) < TERMS_OF_A_TOPIC:
        return max(range(len(topics)), key=lambda i: topics[i].position)
    shares = [len(reading.terms & terms_of(topic)) / len(reading.terms) for topic in topics]
    best = max(range(len(topics)), key=lambda i: (shares[i], topics[i].position))
    if shares[best] >= SAME_TOPIC:
        return best
    last = max(range(len(topics)), key=lambda i: topics[i].position)
    just = reading.message.position - topics[last].position <= JUST_NOW
    return last if just and any(sentence.settles for sentence in reading.sentences) else None


def _touched(topic: Topic, reading: Reading, owner: str) -> tuple[Topic, int]:
    points = [*topic.key_points, *_points(reading, owner)]
    kept = _best(points)
    settled = any(sentence.settles for sentence in reading.sentences)
    status = TopicStatus.RESOLVED if settled else TopicStatus.ACTIVE
    if topic.status is TopicStatus.RESOLVED and len(reading.terms) < TERMS_OF_A_TOPIC:
        status = topic.status
    changes = {
        "key_points": kept,
        "status": status,
        "mentions": topic.mentions + 1,
        "last_mentioned": max(topic.last_mentioned, reading.message.at),
        "position": reading.message.position,
    }
    return topic.model_copy(update=changes), len(points) - len(kept)


def _opened(reading: Reading, genome: ConversationGenome) -> Topic | None:
    """A topic that begins with the message; None where it says too little."""
    points, at = _best(_points(reading, genome.user_id)), reading.message.at
    name = _name(reading, genome.keywords)
    if not name or len(reading.terms) < TERMS_OF_A_TOPIC:
        return None
    settled = any(sentence.settles for sentence in reading.sentences)
    return Topic(
        name=name,
        first_mentioned=at,
        last_mentioned=at,
        key_points=points,
        status=TopicStatus.RESOLVED if settled else TopicStatus.ACTIVE,
        position=reading.message.position,
    )


def _points(reading: Reading, owner: str) -> list[str]:
    said = sorted((one for one in reading.sentences if one.says_something), key=lambda one: -one.worth)
    return [quoted(reading.message, compact(one), owner, KEY_POINT_CHARACTERS) for one in said[:MAX_KEY_POINTS]]


def _best(points: Sequence[str]) -> tuple[str, ...]:
    """The key points of the highest worth, none that says what another says, in their order."""
    kept: list[int] = []
    for i in sorted(range(len(points)), key=lambda i: (-sentence_of(points[i]).worth, i)):
        terms = sentence_of(points[i]).terms
        if not any(share(terms, sentence_of(points[j]).terms) >= SAME_POINT for j in kept):
            kept.append(i)
    return tuple(points[i] for i in sorted(kept[:MAX_KEY_POINTS]))


def _name(reading: Reading, keywords: Sequence[Keyword]) -> str:
    """What the message is about in a word or two: those of its best sentence that the session comes back to."""
    best = max(reading.sentences, key=lambda one: (not one.is_question, one.worth), default=None)
    if best is None:
        return ""
    if not words_apart(best):
        return shortened(best.text, NAME_CHARACTERS // 4)
    counts = {keyword.term: keyword.count for keyword in keywords}
    words = {word: term for word, term in best.words if word not in FILLERS and "'" not in word}
    ranked = sorted(words, key=lambda word: (-min(counts.get(words[word], 0), MANY_MENTIONS), -len(word)))
    return shortened(" ".join(word for word in words if word in ranked[:NAME_WORDS]), NAME_CHARACTERS)


def _aged(topic: Topic, position: int) -> Topic:
    if topic.status is TopicStatus.ACTIVE and position - topic.position >= ABANDONED_AFTER:
        return topic.model_copy(update={"status": TopicStatus.ABANDONED})
    return topic


def _within(topics: Sequence[Topic], position: int) -> tuple[Topic, ...]:
    ranked = sorted(range(len(topics)), key=lambda i: (topic_worth(topics[i], position), -i), reverse=True)[:MAX_TOPICS]
    return tuple(topics[i] for i in sorted(ranked))
