"""The short lists of a genome: decisions, facts and tasks, each bounded by leaving out what is worth least."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from chalicelib.domain.claims.extraction import Statement, statements
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome import wording
from chalicelib.domain.genome.model import (
    ACTION_CHARACTERS,
    DECISION_CHARACTERS,
    FACT_CHARACTERS,
    MAX_ACTIONS,
    MAX_DECISIONS,
    MAX_FACTS,
    ConversationGenome,
    Decision,
    Fact,
)
from chalicelib.domain.genome.reading import Reading, Sentence, sentence_of
from chalicelib.domain.text.cues import plain
from chalicelib.domain.text.sentences import shortened

SAME = 0.75  # shared part of all terms of two texts
ABOUT_THE_SAME = 0.5  # of those of the shorter one
LEAST_SHARED = 2  # terms that a reversal shares with what it reverses, or all that this has
LABEL_SHARE = 3  # a speaker's name takes at most such a part of an entry


@dataclass(frozen=True)
class Kept[T]:
    """A list after an update, and how many entries had to go for want of room."""

    entries: tuple[T, ...]
    dropped: int


def quoted(message: SessionMessage, text: str, owner: str, characters: int) -> str:
    """`text` as an entry: who said it where it was not `owner`, and the date where it counts from then."""
    speaker = shortened(_label(message, owner), characters // LABEL_SHARE)
    date = f" ({message.at:%-d %b %Y})" if wording.RELATIVE_TIME.search(plain(text)) else ""
    return f"{speaker}{shortened(text, characters - len(speaker) - len(date))}{date}"


def _label(message: SessionMessage, owner: str) -> str:
    return "" if message.author == owner and message.name in {None, owner} else f"{' '.join(message.said_by.split())}: "


def share(one: frozenset[str], other: frozenset[str]) -> float:
    """The shared part of the terms of the shorter text; 0 where one has none."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def with_decisions(genome: ConversationGenome, reading: Reading) -> Kept[Decision]:
    """The decisions with those of a message: one that reverses an earlier one takes its place."""
    decisions = list(genome.decisions)
    for sentence in reading.sentences:
        if not _decides(sentence, reading.message) or not sentence.terms:
            continue
        text = quoted(reading.message, sentence.text, genome.user_id, DECISION_CHARACTERS)
        made = Decision(description=text, made_at=reading.message.at)
        if any(says(known.description, made.description) for known in decisions):
            continue
        if (reversed_ := _reversed(sentence, decisions)) is not None:
            del decisions[reversed_]
        decisions.append(made)
    return _within(decisions, MAX_DECISIONS, lambda one: _worth(one.description))


def with_facts(genome: ConversationGenome, reading: Reading) -> Kept[Fact]:
    """The facts with those of a message of a user: a later value takes the place of an earlier one."""
    facts = list(genome.facts)
    for sentence in reading.sentences if reading.message.role == "user" else ():
        if sentence.is_question or not sentence.terms or not (sentence.is_personal or _claims(sentence.text)):
            continue
        text = quoted(reading.message, sentence.text, genome.user_id, FACT_CHARACTERS)
        if any(says(known.content, text) for known in facts):
            continue
        label = shortened(_label(reading.message, genome.user_id), FACT_CHARACTERS // LABEL_SHARE)
        facts = [known for known in facts if not _updates(sentence.text, known.content, label)]
        facts.append(Fact(content=text, established_at=reading.message.at))
    return _within(facts, MAX_FACTS, lambda one: _worth(one.content))


def latest_facts(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Facts of one person in order: what says what another says is left out, and of two values the later stays."""
    kept: list[Fact] = []
    for fact in sorted(facts, key=lambda one: one.established_at):
        if not any(says(known.content, fact.content) for known in kept):
            kept = [known for known in kept if not _updates(fact.content, known.content, "")]
            kept.append(fact)
    return tuple(kept)


def with_tasks(genome: ConversationGenome, reading: Reading) -> Kept[str]:
    """The open tasks with those of a message, without those that it says are done."""
    tasks = list(genome.action_items)
    for sentence in reading.sentences:
        if sentence.settles:
            tasks = [task for task in tasks if not share(sentence.terms, _terms(task)) >= ABOUT_THE_SAME]
        elif sentence.says_something and wording.TASK.search(sentence.plain):
            text = quoted(reading.message, sentence.text, genome.user_id, ACTION_CHARACTERS)
            if not any(says(task, text) for task in tasks):
                tasks.append(text)
    return _within(tasks, MAX_ACTIONS, _worth)


def _decides(sentence: Sentence, message: SessionMessage) -> bool:
    """An assistant only proposes: what it says counts where it tells of a decision, which its users' words decide."""
    return message.role == "user" and not sentence.is_question and wording.DECIDED.search(sentence.plain) is not None


def _reversed(sentence: Sentence, decisions: Sequence[Decision]) -> int | None:
    """Which decision the sentence takes back or changes."""
    own = _matter(sentence)
    shared = [len(own & _matter(sentence_of(known.description))) for known in decisions]
    best = max(range(len(shared)), key=lambda i: (shared[i], i), default=None)
    if best is None or not shared[best]:
        return None
    is_reversal = wording.REVERSED.search(sentence.plain) is not None
    near = share(own, _matter(sentence_of(decisions[best].description))) >= ABOUT_THE_SAME
    return best if is_reversal or (near and shared[best] >= LEAST_SHARED) else None


def _matter(sentence: Sentence) -> frozenset[str]:
    """The terms of a decision besides those that say that it is one."""
    cue = wording.DECIDED.search(sentence.plain)
    return sentence.terms - sentence_of(cue.group()).terms if cue else sentence.terms


def _updates(text: str, known: str, label: str) -> bool:
    """Whether `text` gives another value to what `known` claims, said by the same speaker, whom `label` names."""
    return known.startswith(label) and any(
        new.subject == old.subject
        and new.attribute == old.attribute
        and new.is_single
        and new.value.conflicts(old.value)
        for new in _claims(text)
        for old in _claims(known.removeprefix(label))
    )


@lru_cache(maxsize=1024)
def _claims(text: str) -> tuple[Statement, ...]:
    return tuple(one for one in statements(text, "user") if one.sure)


def _terms(text: str) -> frozenset[str]:
    return sentence_of(text).terms


def says(known: str, text: str) -> bool:
    """Whether `known` says already what `text` does: all of it, or nearly and nothing else."""
    one, other = _terms(known), _terms(text)
    if known == text or (other <= one and other):
        return True
    return len(one & other) >= SAME * len(one | other) and _numbers(known) == _numbers(text)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(term for term in _terms(text) if any(c.isdigit() for c in term))


def _worth(text: str) -> float:
    return sentence_of(text).worth


def _within[T](entries: Sequence[T], most: int, worth: Callable[[T], float]) -> Kept[T]:
    """The `most` entries of the highest worth in their order; of equals the earlier stay."""
    ranked = sorted(range(len(entries)), key=lambda i: (-worth(entries[i]), i))[:most]
    return Kept(tuple(entries[i] for i in sorted(ranked)), max(0, len(entries) - most))
