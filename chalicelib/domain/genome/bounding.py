"""Keeps a genome within its limits, whatever it was made by: lists, characters, and 800 tokens in all."""

from functools import lru_cache

from chalicelib.domain.genome.hydration import rendered, shown_keywords
from chalicelib.domain.genome.model import (
    ACTION_CHARACTERS,
    MAX_ACTIONS,
    MAX_TOKENS,
    ConversationGenome,
    Dropped,
    Topic,
)
from chalicelib.domain.genome.reading import sentence_of
from chalicelib.domain.genome.topics import topic_worth
from chalicelib.domain.text.sentences import shortened
from chalicelib.domain.text.tokens import estimate

KEYWORDS_AT_ONCE, FEWEST_KEYWORDS = (
    5,
    320,
)  # the rarest go first; so many cost half of the room and hold most of the terms


def bounded(genome: ConversationGenome) -> ConversationGenome:
    """`genome` within 800 tokens, with its count: what is worth least is dropped, and counted, until the rest fits."""
    tasks = tuple(shortened(task, ACTION_CHARACTERS) for task in genome.action_items[:MAX_ACTIONS])
    genome = genome.model_copy(update={"action_items": tasks, "keywords_told": len(genome.keywords)})
    while size(genome) > MAX_TOKENS:
        genome = _smaller(genome)
    return genome.model_copy(update={"token_count": size(genome)})


def size(genome: ConversationGenome) -> int:
    """Its tokens as it is rendered: at least as many as the estimate of the whole, since lines are counted one by one."""
    return size_of(rendered(genome))


def size_of(text: str) -> int:
    """The tokens of a text of many lines, of which most were counted before."""
    return sum(_of_line(line) for line in text.splitlines())


@lru_cache(maxsize=1024)
def _of_line(line: str) -> int:
    return estimate(f"{line}\n")


def _smaller(genome: ConversationGenome) -> ConversationGenome:
    """One step less: rare words, then points of finished topics, of active ones, then whole topics, then the rest."""
    told = len(shown_keywords(genome))
    if told > FEWEST_KEYWORDS:
        return _with_fewer_words(genome, told)
    if genome.topics:
        return (
            _without_a_point(genome) if any(topic.key_points for topic in genome.topics) else _without_a_topic(genome)
        )
    return _with_fewer_words(genome, told) if told else _without_an_entry(genome)


def _with_fewer_words(genome: ConversationGenome, told: int) -> ConversationGenome:
    return genome.model_copy(update={"keywords_told": max(0, told - KEYWORDS_AT_ONCE)})


def _without_a_point(genome: ConversationGenome) -> ConversationGenome:
    """Without the least key point of the least topic: of the finished ones first, then of those with the most points."""
    position = genome.message_range.to
    most = max(len(topic.key_points) for topic in genome.topics)
    finished = [topic for topic in genome.topics if topic.key_points and not topic_worth(topic, position)[0]]
    having = finished or [topic for topic in genome.topics if len(topic.key_points) == most]
    topic = min(having, key=lambda topic: topic_worth(topic, position))
    least = min(topic.key_points, key=lambda point: sentence_of(point).worth)
    points = list(topic.key_points)
    points.remove(least)
    topics = tuple(_with_points(one, points) if one is topic else one for one in genome.topics)
    return genome.model_copy(update={"topics": topics, "dropped": plus(genome.dropped, key_points=1)})


def _with_points(topic: Topic, points: list[str]) -> Topic:
    return topic.model_copy(update={"key_points": tuple(points)})


def _without_a_topic(genome: ConversationGenome) -> ConversationGenome:
    least = min(genome.topics, key=lambda topic: topic_worth(topic, genome.message_range.to))
    topics = tuple(topic for topic in genome.topics if topic is not least)
    return genome.model_copy(update={"topics": topics, "dropped": plus(genome.dropped, topics=1)})


def _without_an_entry(genome: ConversationGenome) -> ConversationGenome:
    """Without a task, else a fact, else a decision: five of each and a summary fit, unless their script is a rare one."""
    for field in ("action_items", "facts", "decisions"):
        if entries := getattr(genome, field):
            return genome.model_copy(update={field: entries[:-1], "dropped": plus(genome.dropped, **{field: 1})})
    return genome.model_copy(update={"summary": ""})


def plus(dropped: Dropped, **counts: int) -> Dropped:
    """`dropped` with more dropped."""
    return dropped.model_copy(update={name: getattr(dropped, name) + count for name, count in counts.items()})
