"""Whether a new memory says something else than an old one of the same scope, and whether it is sure enough to retire it.

Only claims about the same subject and attribute are compared, only attributes with one value at a time can contradict one
another, and what is taken back is taken back of the very value. What is only likely becomes a link, and both stay.
"""

from dataclasses import dataclass

from chalicelib.domain.claims.extraction import Statement
from chalicelib.domain.memory import Memory, MemoryType
from chalicelib.write.consolidation.reading import Reading

MOST_WORDS_BESIDE = 3  # an old row that says more than this besides the claim is not retired over it
MOMENTARY = frozenset({MemoryType.EVENT, MemoryType.OBSERVATION})
"""What was so at its time and stays true of it, whatever is so at another."""


@dataclass(frozen=True)
class Conflict:
    """The new memory says something else than the old. Where it is `sure`, the old one is superseded, else both are
    linked."""

    sure: bool
    reason: str


def conflict(new: Reading, old: Reading) -> Conflict | None:
    """How `new` conflicts with `old`, which it comes after; None where it does not."""
    pairs = [
        (a, b)
        for a in new.statements
        for b in old.statements
        if _disagree(a, b) and _of_the_same_time(a, new.memory, old.memory)
    ]
    if not pairs:
        return None
    outdated = {id(b) for _, b in pairs}
    sure = (
        all(_is_sure(a, b) for a, b in pairs)
        and all(_is_later(a, new.memory, old.memory) for a, _ in pairs)
        and all(id(b) in outdated for b in old.statements)
        and len(old.words_beside) <= MOST_WORDS_BESIDE
    )
    a, b = pairs[0]
    return Conflict(sure, _reason(a, b))


def _reason(a: Statement, b: Statement) -> str:
    of = f"{b.attribute_text} of {b.subject}" if b.subject else b.attribute_text
    if a.negated:
        return f"{of} is no longer “{b.value.text}”"
    return f"{of} is “{a.value.text}”, not “{b.value.text}”" if not b.negated else f"{of} is “{a.value.text}” again"


def _disagree(a: Statement, b: Statement) -> bool:
    if a.subject != b.subject or not _same_attribute(a, b):
        return False
    if a.negated != b.negated:
        return a.value.kind == b.value.kind and not a.value.conflicts(b.value)
    return not a.negated and a.is_single and a.value.conflicts(b.value)


def _same_attribute(a: Statement, b: Statement) -> bool:
    """The same by name, and qualified alike; where one is qualified further ("budget", "travel budget") it may be."""
    mine, others = a.attribute.modifiers, b.attribute.modifiers
    if a.attribute.name != b.attribute.name:
        return False
    if a.attribute.name in {"favourite", "preference"} or not a.is_single:
        return mine == others
    return mine == others or (bool(mine and others) and (mine < others or others < mine))


def _is_sure(a: Statement, b: Statement) -> bool:
    return a.sure and b.sure and a.attribute.modifiers == b.attribute.modifiers


def _of_the_same_time(a: Statement, new: Memory, old: Memory) -> bool:
    """Whether one has to do with the other: what happened at another time is no contradiction, but news of a change is."""
    if new.event_time == old.event_time:
        return True
    if old.type in MOMENTARY:
        return False
    return new.type not in MOMENTARY or a.change or a.negated


def _is_later(a: Statement, new: Memory, old: Memory) -> bool:
    if new.event_time == old.event_time:  # only what the text calls a change comes after what it was said together with
        return a.change or a.negated or new.type is MemoryType.CORRECTION
    return new.event_time > old.event_time
