"""What a language model is shown of a genome, and the form in which it says what to make of it.

Every entry has a number. The model names the entries that it makes one, so that times, counts and speakers follow from
those and never from what it writes.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from pydantic import Field

from chalicelib.domain.genome.model import ConversationGenome, Decision, Fact, Topic
from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.domain.wire import Wire

MAX_TEXT, MAX_ENTRIES, MAX_SOURCES = 400, 40, 60  # of an answer: more than any genome has room for

type Genome = ConversationGenome | UserGenome


class CompiledEntry(Wire):
    """One decision, fact, task or key point, in place of those whose numbers are its sources."""

    text: str = Field(max_length=MAX_TEXT)
    sources: tuple[int, ...] = Field(max_length=MAX_SOURCES)


class CompiledTopic(Wire):
    """One topic in place of those whose numbers are its sources; its key points have key points of these as sources."""

    name: str = Field(max_length=MAX_TEXT)
    sources: tuple[int, ...] = Field(max_length=MAX_SOURCES)
    key_points: tuple[CompiledEntry, ...] = Field(max_length=MAX_ENTRIES)


class CompiledGenome(Wire):
    """The form that the language model fills in. What it does not name stays as it is."""

    topics: tuple[CompiledTopic, ...] = Field(max_length=MAX_ENTRIES)
    decisions: tuple[CompiledEntry, ...] = Field(max_length=MAX_ENTRIES)
    facts: tuple[CompiledEntry, ...] = Field(max_length=MAX_ENTRIES)
    action_items: tuple[CompiledEntry, ...] = Field(max_length=MAX_ENTRIES)
    outdated: tuple[int, ...] = Field(max_length=MAX_SOURCES)

    def texts(self) -> Iterator[str]:
        """Everything that the model wrote."""
        for topic in self.topics:
            yield topic.name
            yield from (point.text for point in topic.key_points)
        yield from (entry.text for entry in (*self.decisions, *self.facts, *self.action_items))


@dataclass(frozen=True)
class Numbered:
    """The entries of a genome by their numbers; `points` are key points, each with the number of its topic."""

    topics: Mapping[int, Topic]
    points: Mapping[int, tuple[int, str]]
    decisions: Mapping[int, Decision]
    facts: Mapping[int, Fact]
    tasks: Mapping[int, str]


def numbered(genome: Genome) -> Numbered:
    """The entries of `genome`, numbered from 1 in the same way each time."""
    numbers = count(1)
    topics = {next(numbers): topic for topic in genome.topics}
    points = {next(numbers): (number, point) for number, topic in topics.items() for point in topic.key_points}
    decisions = {next(numbers): decision for decision in genome.decisions}
    facts = {next(numbers): fact for fact in genome.facts}
    return Numbered(topics, points, decisions, facts, {next(numbers): task for task in genome.action_items})


def as_data(genome: Genome) -> str:
    """The entries of `genome`, a JSON object a line, for the language model."""
    return "\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in _rows(numbered(genome)))


def _rows(entries: Numbered) -> Iterator[dict[str, Any]]:
    for number, topic in entries.topics.items():
        last = f"{topic.last_mentioned:%Y-%m-%d}"
        yield {"number": number, "kind": "topic", "name": topic.name, "status": topic.status.value, "last": last}
        yield from (
            {"number": n, "kind": "keyPoint", "topic": of, "text": text}
            for n, (of, text) in entries.points.items()
            if of == number
        )
    for number, decision in entries.decisions.items():
        date = f"{decision.made_at:%Y-%m-%d}"
        yield {"number": number, "kind": "decision", "date": date, "text": decision.description}
    for number, fact in entries.facts.items():
        yield {"number": number, "kind": "fact", "date": f"{fact.established_at:%Y-%m-%d}", "text": fact.content}
    for number, task in entries.tasks.items():
        yield {"number": number, "kind": "actionItem", "text": task}
