"""The genome of a user: what their own words in all their sessions come to, in at most 1,000 tokens.

It is made from the user's own messages and no others: of a session it takes those that they wrote, whoever else is in it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.bounding import size_of
from chalicelib.domain.genome.entries import latest_facts, says
from chalicelib.domain.genome.hydration import dated, topic_line
from chalicelib.domain.genome.model import ConversationGenome, Topic, TopicStatus
from chalicelib.domain.genome.reading import sentence_of
from chalicelib.domain.genome.topics import merged_topic, share_of_topics, terms_of
from chalicelib.domain.genome.update import incremental_update
from chalicelib.domain.genome.user_model import MAX_ENTRIES, MAX_SESSIONS, MAX_TOPICS, MergedSession, UserGenome

MAX_TOKENS = 1000  # spec/context.md "User genome"
UNTOUCHED = timedelta(days=7)
SAME_TOPIC = 0.5
HALF_LIFE_DAYS = 3.0
_TEXTS: dict[str, Callable[[Any], str]] = {
    "facts": lambda one: one.content,
    "decisions": lambda one: one.description,
    "action_items": str,
}


def merge_session(genome: UserGenome, session_id: str, messages: Sequence[SessionMessage], now: datetime) -> UserGenome:
    """`genome` with what its user wrote in a session since it was last merged; itself where that is nothing. Pure.

    Messages of others and of the assistant are left out here, so that a caller cannot forget it."""
    since = genome.merged_to(session_id)
    own = [message for message in messages if _is_by(genome.user_id, message) and message.position >= since]
    if not own:
        return genome
    empty = ConversationGenome(session_id=session_id, user_id=genome.user_id)
    renumbered = [message.model_copy(update={"position": i, "name": None}) for i, message in enumerate(_ordered(own))]
    told = incremental_update(empty, renumbered)
    to = max(message.position for message in own) + 1
    others = [one for one in genome.sessions if one.session_id != session_id]
    sessions = (*others, MergedSession(session_id=session_id, to=to))[-MAX_SESSIONS:]
    return bounded(_merged(genome, told).model_copy(update={"sessions": sessions}), now)


def current(genome: UserGenome, now: datetime) -> UserGenome:
    """`genome` without the topics that nobody touched for seven days."""
    kept = tuple(topic for topic in genome.topics if now - topic.last_mentioned < UNTOUCHED)
    return genome if kept == genome.topics else _counted(genome.model_copy(update={"topics": kept}))


def user_text(genome: UserGenome) -> str:
    """It as prompt text: empty where there is nothing to tell."""
    return "\n".join(_lines(genome))


def _is_by(user_id: str, message: SessionMessage) -> bool:
    """Whether the user themselves said it."""
    return message.role == "user" and message.author == user_id


def _ordered(messages: Iterable[SessionMessage]) -> list[SessionMessage]:
    return sorted({message.position: message for message in messages}.values(), key=lambda one: one.position)


def _merged(genome: UserGenome, told: ConversationGenome) -> UserGenome:
    changes = {
        "topics": _topics(genome.topics, told.topics),
        "decisions": _entries(genome.decisions, told.decisions, lambda one: one.description),
        "facts": latest_facts((*genome.facts, *told.facts)),
        "action_items": _entries(genome.action_items, told.action_items, str),
        "last_updated": max(filter(None, (genome.last_updated, told.last_updated))),
        "merges": genome.merges + 1,
        "version": genome.version + 1,
    }
    return genome.model_copy(update=changes)


def _topics(known: Sequence[Topic], told: Sequence[Topic]) -> tuple[Topic, ...]:
    """The topics of both, those about the same made one."""
    topics = list(known)
    for topic in told:
        shares = [share_of_topics(topic, one) for one in topics]
        best = max(range(len(shares)), key=lambda i: shares[i], default=None)
        if best is not None and shares[best] >= SAME_TOPIC:
            topics[best] = merged_topic(topics[best], topic)
        elif terms_of(topic):
            topics.append(topic)
    return tuple(topics)


def _entries[T](known: Sequence[T], told: Sequence[T], text: Callable[[T], str]) -> tuple[T, ...]:
    entries = list(known)
    entries += [one for one in told if not any(says(text(entry), text(one)) for entry in entries)]
    return tuple(entries)


def bounded(genome: UserGenome, now: datetime) -> UserGenome:
    """Within its limits: old topics leave, then what is worth least, until all of it has at most 1,000 tokens."""
    genome = current(genome, now)
    topics = sorted(genome.topics, key=lambda topic: _topic_worth(topic, now), reverse=True)[:MAX_TOPICS]
    genome = genome.model_copy(
        update={
            "topics": tuple(topics),
            "decisions": _best(genome.decisions, lambda one: one.description, MAX_ENTRIES),
            "facts": _best(genome.facts, lambda one: one.content, MAX_ENTRIES),
            "action_items": _best(genome.action_items, str, MAX_ENTRIES),
        }
    )
    while size_of(user_text(genome)) > MAX_TOKENS:
        genome = _smaller(genome)
    return _counted(genome)


def _smaller(genome: UserGenome) -> UserGenome:
    """Without the topic that is worth least; when none is left, without what is worth least of the longest list."""
    if genome.topics:
        return genome.model_copy(update={"topics": genome.topics[:-1]})
    lists = {"facts": len(genome.facts), "decisions": len(genome.decisions), "action_items": len(genome.action_items)}
    longest = max(lists, key=lambda name: lists[name])
    kept = _best(getattr(genome, longest), _TEXTS[longest], lists[longest] - 1)
    return genome.model_copy(update={longest: kept})


def _best[T](entries: Sequence[T], text: Callable[[T], str], most: int) -> tuple[T, ...]:
    ranked = sorted(range(len(entries)), key=lambda i: (-sentence_of(text(entries[i])).worth, i))[:most]
    return tuple(entries[i] for i in sorted(ranked))


def _topic_worth(topic: Topic, now: datetime) -> tuple[bool, float, str]:
    days = max(0.0, (now - topic.last_mentioned) / timedelta(days=1))
    fresh = math.exp2(-days / HALF_LIFE_DAYS)
    return topic.status is TopicStatus.ACTIVE, math.log2(1 + topic.mentions) + 2 * fresh, topic.name


def _counted(genome: UserGenome) -> UserGenome:
    return genome.model_copy(update={"token_count": size_of(user_text(genome))})


def _lines(genome: UserGenome) -> Iterable[str]:
    sections = (
        ("Facts", [dated(one.content, f"{one.established_at:%-d %b %Y}") for one in genome.facts]),
        ("Decisions", [dated(one.description, f"{one.made_at:%-d %b %Y}") for one in genome.decisions]),
        ("Pending", list(genome.action_items)),
        ("Topics of the last days", [topic_line(topic) for topic in genome.topics]),
    )
    for heading, entries in sections:
        if entries:
            yield f"{heading}:"
            yield from (f"- {entry}" for entry in entries)
