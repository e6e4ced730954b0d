"""From a candidate, the messages around it and its scope to the signals that the factors weigh."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.admission import Signals
from chalicelib.domain.input import SaidMessage
from chalicelib.domain.memory import Memory, MemoryType
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.text.terms import index_terms
from chalicelib.write.admission.cues import ASSISTANTS
from chalicelib.write.admission.reading import read
from chalicelib.write.admission.scope_view import Surroundings

SMALLEST_SCOPE = 50  # in a scope of few rows every word is rare; it is judged as if it had this many
GROUNDED_BY_ASSISTANT, GROUNDED_BY_USER = (
    0.5,
    0.25,
)  # shares of what is stated, from which and under which it is not theirs
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Incoming:
    """A candidate as it would be stored, and the messages that were given with it, the latest last."""

    row: StoredMemory
    messages: tuple[SaidMessage, ...] = ()


def signals_of(incoming: Incoming, seen: Surroundings, now: datetime) -> Signals:
    """What the factors weigh, at `now`."""
    memory = incoming.row.memory
    reading = read(memory.content)
    last = read(incoming.messages[-1].text) if incoming.messages else None
    pictured = _pictured(memory)
    grounded, by_assistant = _grounding(memory, reading.terms, incoming.messages)
    return Signals(
        type=memory.type,
        importance=memory.importance,
        confidence=memory.confidence,
        age_days=round((now - memory.event_time) / _DAY, 3),
        stated=reading.stated,
        information=round(sum(_rarity(seen, term) for term in reading.terms), 4),
        fresh=sum(not seen.frequencies.get(term) for term in reading.terms),
        questions=_share(reading.questions, reading.sentences),
        names=reading.names,
        numbers=reading.numbers,
        dates=reading.dates,
        first_person=reading.first_person,
        second_person=reading.second_person,
        hedges=reading.hedges,
        pictured=pictured,
        courtesy=reading.courtesy and not pictured,
        corrects=(memory.type is MemoryType.CORRECTION or reading.corrects) and not reading.courtesy,
        asked_before=last is not None and last.questions > 0,
        words_before=last.words if last else 0,
        by_assistant=by_assistant,
        grounded=grounded,
        similarity=None if seen.similarity is None else round(seen.similarity, 4),
        overlap=round(seen.overlap, 4),
        missing=seen.missing,
    )


def _rarity(seen: Surroundings, term: str) -> float:
    """1 for a term that the scope has not seen, towards 0 for one that every row holds."""
    rows = max(seen.rows, SMALLEST_SCOPE)
    return math.log((rows + 1) / (seen.frequencies.get(term, 0) + 1)) / math.log(rows + 1)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _pictured(memory: Memory) -> int:
    return sum(index_terms(each.description).length for each in memory.attachments if each.description)


def _grounding(memory: Memory, terms: Sequence[str], messages: Sequence[SaidMessage]) -> tuple[float | None, bool]:
    """The share of `terms` that the messages hold, and whether they are the assistant's rather than the user's.

    What was said in a conversation is itself the evidence; the messages before it prove nothing."""
    speaker = memory.origin.speaker if memory.origin else None
    by_assistant = is_assistant(speaker)
    if memory.type is MemoryType.CONVERSATION or not messages or not terms:
        return None, by_assistant
    said: dict[bool, set[str]] = {True: set(), False: set()}
    for message in messages:
        said[is_assistant(message.speaker)].update(index_terms(message.text).counts)
    users = sum(term in said[False] for term in terms) / len(terms)
    assistants = sum(term in said[True] for term in terms) / len(terms)
    theirs = assistants >= GROUNDED_BY_ASSISTANT and users < GROUNDED_BY_USER
    held = sum(term in said[True] | said[False] for term in terms) / len(terms)
    return round(held, 4), by_assistant or theirs


def is_assistant(speaker: str | None) -> bool:
    """Whether a speaker's name stands for the assistant."""
    return speaker is not None and speaker.strip().casefold() in ASSISTANTS
