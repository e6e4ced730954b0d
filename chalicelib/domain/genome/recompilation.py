"""A genome with what a language model made of it: no entry that is not faithful to those it replaces, no limit exceeded.

What the model names wrongly, or not at all, stays as the heuristics left it; the worst answer changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import reduce
from typing import Any

from chalicelib.domain.genome import bounding, user
from chalicelib.domain.genome.compiled import CompiledEntry, CompiledGenome, CompiledTopic, Numbered, numbered
from chalicelib.domain.genome.entries import ABOUT_THE_SAME, share
from chalicelib.domain.genome.faithfulness import adds_nothing, faithful, one_line
from chalicelib.domain.genome.hydration import rendered
from chalicelib.domain.genome.model import (
    ACTION_CHARACTERS,
    DECISION_CHARACTERS,
    FACT_CHARACTERS,
    KEY_POINT_CHARACTERS,
    MAX_KEY_POINTS,
    NAME_CHARACTERS,
    ConversationGenome,
    Decision,
    Fact,
    Topic,
    TopicStatus,
)
from chalicelib.domain.genome.reading import sentence_of
from chalicelib.domain.genome.topics import merged_topic, terms_of
from chalicelib.domain.genome.user import user_text
from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.domain.text.cleaning import carries_recall
from chalicelib.domain.text.injection import found_in, found_in_any

EVERY_VERSIONS, EVERY_MERGES = 10, 5  # spec/context.md: of a session's genome, of a user's


class Refused(Exception):
    """Nothing of what the model said is taken; `reason` may be logged."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def recompiled_session(genome: ConversationGenome, answer: CompiledGenome) -> ConversationGenome:
    """`genome` as `answer` says, one version on and within its limits. Pure. Refused where the answer tries to instruct
    somebody, or changes nothing."""
    return _unharmed(genome, bounding.bounded(_changed(genome, answer)), rendered)


def recompiled_user(genome: UserGenome, answer: CompiledGenome, now: datetime) -> UserGenome:
    """The same of a user's genome."""
    return _unharmed(genome, user.bounded(_changed(genome, answer), now), user_text)


def _changed[G: (ConversationGenome, UserGenome)](genome: G, answer: CompiledGenome) -> G:
    if found_in_any(answer.texts()) or any(map(carries_recall, answer.texts())):
        raise Refused("the answer would instruct the assistant")
    entries, outdated = numbered(genome), frozenset(answer.outdated)
    changes: dict[str, Any] = {
        "topics": _topics(entries, answer.topics, outdated),
        "decisions": _decisions(entries, answer.decisions, outdated),
        "facts": _facts(entries, answer.facts, outdated),
        "action_items": _tasks(entries, answer.action_items, outdated),
    }
    if all(getattr(genome, name) == value for name, value in changes.items()):
        raise Refused("the answer changes nothing")
    return genome.model_copy(update=changes | {"version": genome.version + 1, "recompiled": genome.version})


def _unharmed[G: (ConversationGenome, UserGenome)](before: G, after: G, text: Callable[[G], str]) -> G:
    """`after`, unless its entries read together would instruct somebody and did not before."""
    if set(found_in(text(after))) - set(found_in(text(before))):
        raise Refused("the answer would instruct the assistant")
    return after


def _topics(entries: Numbered, said: Iterable[CompiledTopic], outdated: frozenset[int]) -> tuple[Topic, ...]:
    kept, made = dict(entries.topics), set[int]()
    for topic in said:
        sources = _usable(topic.sources, kept, made)
        if sources and (joined := _topic(entries, topic, sources)):
            _replace(kept, made, sources, joined)
    finished = {n for n in outdated & kept.keys() if kept[n].status is not TopicStatus.ACTIVE}
    return tuple(topic for number, topic in kept.items() if number not in finished)


def _topic(entries: Numbered, said: CompiledTopic, sources: Sequence[int]) -> Topic | None:
    """The topics of those numbers as one; None where they are not all about what its name says."""
    topics = [entries.topics[number] for number in sources]
    joined = reduce(merged_topic, topics)
    texts = [text for topic in topics for text in (topic.name, *topic.key_points)]
    name = one_line(said.name) or ""
    if len(name) > NAME_CHARACTERS or not adds_nothing(name, texts):
        name = joined.name
    if any(sentence_of(name).terms.isdisjoint(terms_of(topic)) for topic in topics[1:]):
        return None
    own = {number: text for number, (of, text) in entries.points.items() if of in sources}
    points = _entries(own, said.key_points, str, lambda text, _: text, KEY_POINT_CHARACTERS, only_said=True)
    changes = {"name": name, "key_points": tuple(dict.fromkeys(points))[:MAX_KEY_POINTS] or joined.key_points}
    return joined.model_copy(update=changes)


def _decisions(entries: Numbered, said: Iterable[CompiledEntry], outdated: frozenset[int]) -> tuple[Decision, ...]:
    def made(text: str, sources: Sequence[Decision]) -> Decision:
        return Decision(description=text, made_at=max(source.made_at for source in sources))

    found = _entries(entries.decisions, said, lambda one: one.description, made, DECISION_CHARACTERS, outdated=outdated)
    return tuple(found)


def _facts(entries: Numbered, said: Iterable[CompiledEntry], outdated: frozenset[int]) -> tuple[Fact, ...]:
    def made(text: str, sources: Sequence[Fact]) -> Fact:
        return Fact(content=text, established_at=max(source.established_at for source in sources))

    return tuple(_entries(entries.facts, said, lambda one: one.content, made, FACT_CHARACTERS, outdated=outdated))


def _tasks(entries: Numbered, said: Iterable[CompiledEntry], outdated: frozenset[int]) -> tuple[str, ...]:
    open_ = {number: task for number, task in entries.tasks.items() if number not in outdated}
    return tuple(_entries(open_, said, str, lambda text, _: text, ACTION_CHARACTERS))


def _entries[T](
    known: Mapping[int, T],
    said: Iterable[CompiledEntry],
    text: Callable[[T], str],
    make: Callable[[str, Sequence[T]], T],
    characters: int,
    *,
    outdated: frozenset[int] = frozenset(),
    only_said: bool = False,
) -> list[T]:
    """The entries with those of the answer in place of their sources; with `only_said` no others. An outdated one goes
    where an entry that stays, and stands later in the list, is about the same."""
    kept, made = dict(known), set[int]()
    for entry in said:
        sources = _usable(entry.sources, kept, made)
        line = faithful(entry.text, [text(known[n]) for n in sources], characters) if sources else None
        if line is not None:
            _replace(kept, made, sources, make(line, [known[n] for n in sources]))
    for number in sorted(outdated & kept.keys()):
        later = [other for n, other in kept.items() if n > number]
        if any(_about_the_same(text(kept[number]), text(other)) for other in later):
            del kept[number]
    return [entry for number, entry in kept.items() if not only_said or number in made]


def _usable(sources: Iterable[int], kept: Mapping[int, object], made: set[int]) -> list[int]:
    """The numbers, each once and in order, where all are of entries that nothing took the place of yet; else none."""
    numbers = sorted(set(sources))
    return numbers if all(n in kept and n not in made for n in numbers) else []


def _replace[T](kept: dict[int, T], made: set[int], sources: Sequence[int], entry: T) -> None:
    """Put `entry` where the first of its sources stood, and note under which number."""
    for number in sources[1:]:
        del kept[number]
    kept[sources[0]] = entry
    made.add(sources[0])


def _about_the_same(one: str, other: str) -> bool:
    return share(sentence_of(one).terms, sentence_of(other).terms) >= ABOUT_THE_SAME
