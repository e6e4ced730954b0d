"""The conversation genome by heuristics: what leaves the window is taken into it, message by message."""

from collections.abc import Sequence
from functools import reduce

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.bounding import bounded, plus
from chalicelib.domain.genome.entries import with_decisions, with_facts, with_tasks
from chalicelib.domain.genome.keywords import counted
from chalicelib.domain.genome.model import SUMMARY_CHARACTERS, ConversationGenome, MessageRange
from chalicelib.domain.genome.reading import read
from chalicelib.domain.genome.topics import with_topics
from chalicelib.domain.text.sentences import shortened
from chalicelib.domain.text.tokens import estimate


def incremental_update(genome: ConversationGenome, evicted: Sequence[SessionMessage]) -> ConversationGenome:
    """`genome` with the messages that left the window, one version on; itself where it has taken all of them in before.

    Pure. Messages are known by their position in the session: those before `message_range.to` are in it already."""
    by_position = {message.position: message for message in evicted if message.position >= genome.message_range.to}
    if not by_position:
        return genome
    new = [by_position[position] for position in sorted(by_position)]
    taken = reduce(_with_message, new, genome)
    return bounded(taken.model_copy(update={"version": genome.version + 1, "summary": _summary(taken)}))


def _with_message(genome: ConversationGenome, message: SessionMessage) -> ConversationGenome:
    reading = read(message)
    topics = with_topics(genome, reading)
    decisions, facts, tasks = (with_(genome, reading) for with_ in (with_decisions, with_facts, with_tasks))
    words = [word for sentence in reading.sentences for word in sentence.words]
    changes = {
        "topics": topics.topics,
        "decisions": decisions.entries,
        "facts": facts.entries,
        "action_items": tasks.entries,
        "keywords": counted(genome.keywords, words),
        "message_range": _range(genome, message),
        "source_tokens": genome.source_tokens + estimate(message.text),
        "last_updated": max(filter(None, (genome.last_updated, message.at))),
        "dropped": plus(
            genome.dropped,
            topics=topics.dropped,
            key_points=topics.points_dropped,
            decisions=decisions.dropped,
            facts=facts.dropped,
            action_items=tasks.dropped,
        ),
    }
    return genome.model_copy(update=changes)


def _range(genome: ConversationGenome, message: SessionMessage) -> MessageRange:
    begin = genome.message_range.from_ if genome.version or genome.message_range.to else message.position
    return MessageRange.model_validate({"from": begin, "to": message.position + 1})


def _summary(genome: ConversationGenome) -> str:
    """How much was said until when; made afresh from the genome each time, never from an earlier summary."""
    messages = genome.message_range.to - genome.message_range.from_
    until = f" until {genome.last_updated:%-d %b %Y}" if genome.last_updated else ""
    lines = f"{messages} earlier messages{until}; what is not marked with a speaker was said by {genome.user_id}"
    return shortened(lines, SUMMARY_CHARACTERS)
