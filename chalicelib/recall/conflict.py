"""What holds for one reader where hits claim different things of the same subject and attribute.

Policy first, the broadest of several; else the narrowest scope; within one scope the later event time, of preferences not,
then the higher importance, then the later id. It is a function of the hits alone: whoever sees other hits has other winners,
and no row is changed.

A hit that says nothing but what another one holds over is left out; one that says more stays behind it, and both say so.
Where it is not sure which holds (two spaces beside one another, rows that are linked as contradicting) nothing is left out.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from chalicelib.domain.claims.extraction import Statement
from chalicelib.domain.claims.of_memory import attribute_named, claimed, statements_of
from chalicelib.domain.claims.values import words_of
from chalicelib.domain.claims.words import MANY
from chalicelib.domain.conflicts import Override, OverrideRule
from chalicelib.domain.memory import LinkKind, Memory, MemoryType, Status
from chalicelib.domain.query import Hit

MOST_WORDS_BESIDE = 3  # a hit that says more than this besides its claims is not left out over them
_MOMENTARY = frozenset({MemoryType.EVENT, MemoryType.OBSERVATION, MemoryType.CONVERSATION})
"""What was so at its time and stays true of it, whatever is so at another."""
Topic = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True)
class _Claimed:
    """A hit and what it says of one topic."""

    memory: Memory
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class _Lost:
    """One memory overridden on one topic. `sure`: it may be left out over it."""

    loser: Memory
    winner: Memory
    topic: Topic
    rule: OverrideRule
    sure: bool


@dataclass(frozen=True)
class Resolved:
    """The hits that hold, in order, and those that were left out, with what holds over them."""

    hits: tuple[Hit, ...]
    left_out: tuple[Hit, ...] = ()


def resolve(hits: Sequence[Hit]) -> Resolved:
    """The hits as they hold for their reader. Which they are depends on no order; they keep theirs, but that what holds
    takes the place of what it holds over, where that was better."""
    topics = _topics(hits)
    lost = [one for topic in sorted(topics) for one in _losses(topic, topics[topic])]
    if not lost:
        return Resolved(tuple(hits))
    gone = {one.loser.id for one in lost if _says_nothing_else(one.loser, lost)}
    told = [_told(hit, lost) for hit in hits]
    for one in sorted(lost, key=lambda one: (one.rule is OverrideRule.POLICY, one.topic, one.loser.id)):
        told = _in_place_of(told, one.winner.id, one.loser.id)
    kept = tuple(hit for hit in told if hit.memory.id not in gone)
    return Resolved(kept, tuple(hit for hit in told if hit.memory.id in gone))


def _topics(hits: Sequence[Hit]) -> dict[Topic, list[_Claimed]]:
    """Who claims what of which topic. What is archived was asked for beside what holds, and competes with nothing."""
    found: dict[Topic, dict[str, _Claimed]] = defaultdict(dict)
    for memory in sorted((hit.memory for hit in hits), key=lambda one: one.id):
        if not memory.claims or memory.status is not Status.ACTIVE:
            continue
        for statement in _single(memory):
            topic = _topic(statement)
            before = found[topic].get(memory.id)
            together = (*before.statements, statement) if before else (statement,)
            found[topic][memory.id] = _Claimed(memory, together)
    return {topic: list(members.values()) for topic, members in found.items() if len(members) > 1}


def _single(memory: Memory) -> list[Statement]:
    """What it claims, of attributes that have one value at a time."""
    return [one for one in claimed(memory) if one.attribute.name not in MANY]


def _topic(statement: Statement) -> Topic:
    attribute = attribute_named(statement.attribute_text)
    return statement.subject, attribute.name, tuple(sorted(attribute.modifiers))


def _losses(topic: Topic, members: Sequence[_Claimed]) -> list[_Lost]:
    winner = _winner(members)
    return [
        _Lost(
            one.memory,
            winner.memory,
            topic,
            _rule(winner.memory, one.memory, members),
            _is_sure(winner.memory, one.memory),
        )
        for one in members
        if one is not winner and _disagree(winner, one) and _of_the_same_time(winner.memory, one.memory)
    ]


def _winner(members: Sequence[_Claimed]) -> _Claimed:
    policies = [one for one in members if not one.memory.overridable]
    pool = policies or members
    breadths = [one.memory.scope.breadth for one in pool]
    level = min(breadths) if policies else max(breadths)
    best = [one for one in pool if one.memory.scope.breadth == level]
    return max(best, key=partial(_precedence, timed=_is_timed([one.memory for one in best])))


def _precedence(one: _Claimed, *, timed: bool) -> tuple[datetime | int, float, str]:
    memory = one.memory
    return (memory.event_time if timed else 0, memory.importance, memory.id)


def _is_timed(level: Sequence[Memory]) -> bool:
    """Whether the later event time decides: not between preferences."""
    return all(memory.type is not MemoryType.PREFERENCE for memory in level)


def _rule(winner: Memory, loser: Memory, members: Sequence[_Claimed]) -> OverrideRule:
    """By which rule the winner holds over this one."""
    if not winner.overridable and loser.overridable:
        return OverrideRule.POLICY
    if winner.scope is not loser.scope:
        return OverrideRule.BROADEST_POLICY if not winner.overridable else OverrideRule.NARROWEST_SCOPE
    level = [
        one.memory
        for one in members
        if one.memory.scope is winner.scope and one.memory.overridable == winner.overridable
    ]
    if _is_timed(level) and winner.event_time != loser.event_time:
        return OverrideRule.LATER
    return OverrideRule.IMPORTANCE if winner.importance != loser.importance else OverrideRule.ID


def _disagree(a: _Claimed, b: _Claimed) -> bool:
    """Whether nothing that one says can be true beside anything that the other says."""
    return all(mine.value.conflicts(other.value) for mine in a.statements for other in b.statements)


def _of_the_same_time(a: Memory, b: Memory) -> bool:
    return a.event_time == b.event_time or not {a.type, b.type} & _MOMENTARY


def _is_sure(winner: Memory, loser: Memory) -> bool:
    """Whether the rules say which of the two holds: not of scopes that stand beside one another, nor where consolidation has
    linked two of one scope because it was not sure."""
    if winner.scope is not loser.scope or (not winner.overridable and loser.overridable):
        return True
    return winner.scope_id == loser.scope_id and not are_linked(winner, loser, LinkKind.CONTRADICTS)


def are_linked(a: Memory, b: Memory, kind: LinkKind) -> bool:
    """Whether one of the two has a link of that kind to the other."""
    return any(link.kind is kind and link.target == other.id for one, other in ((a, b), (b, a)) for link in one.links)


def _says_nothing_else(loser: Memory, lost: Sequence[_Lost]) -> bool:
    """Whether all that it claims is overridden for sure, and its text says little besides."""
    overridden = {one.topic for one in lost if one.loser.id == loser.id and one.sure}
    if not overridden or any(_topic(one) not in overridden for one in claimed(loser)):
        return False
    said = statements_of(loser)
    if any(_topic(one) not in overridden for one in said):
        return False
    spans = [(one.begin, one.end) for one in said]
    beside = "".join(
        character for i, character in enumerate(loser.content) if not any(begin <= i < end for begin, end in spans)
    )
    return len(words_of(beside)) <= MOST_WORDS_BESIDE


def _told(hit: Hit, lost: Sequence[_Lost]) -> Hit:
    overrode = tuple(_override(one, one.loser) for one in lost if one.winner.id == hit.memory.id)
    overridden = tuple(_override(one, one.winner) for one in lost if one.loser.id == hit.memory.id)
    update = {name: value for name, value in (("overrode", overrode), ("overridden_by", overridden)) if value}
    return hit.model_copy(update=update) if update else hit


_WHY = {
    OverrideRule.POLICY: "a policy holds over what is none",
    OverrideRule.BROADEST_POLICY: "of several policies the broadest holds",
    OverrideRule.NARROWEST_SCOPE: "the narrowest scope holds",
    OverrideRule.LATER: "within one scope the later holds",
    OverrideRule.IMPORTANCE: "of the same time, the more important holds",
    OverrideRule.ID: "of the same time and importance, the one stored later holds",
}


def _override(one: _Lost, other: Memory) -> Override:
    subject, attribute, modifiers = one.topic
    named = " ".join([*(word for word in modifiers if word != attribute), attribute])
    return Override(
        id=other.id,
        scope=other.scope,
        scope_id=other.scope_id,
        subject=subject,
        attribute=named,
        rule=one.rule,
        why=f"{named} of {subject}: {_WHY[one.rule]} ({one.winner.scope} over {one.loser.scope})",
    )


def _in_place_of(hits: list[Hit], winner: str, loser: str) -> list[Hit]:
    """With the winner right before the loser, where it stood after it: whoever would have read the one reads the other."""
    places = {hit.memory.id: i for i, hit in enumerate(hits)}
    if places[winner] < places[loser]:
        return hits
    moved = hits[places[winner]]
    rest = [hit for hit in hits if hit is not moved]
    return [*rest[: places[loser]], moved, *rest[places[loser] :]]
