"""On-demand recall, as far as it is pure: whether a question calls for earlier messages, and which of the candidates come
back, with which neighbours, within what budget. Who ranks the candidates is not known here.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from chalicelib.context.recall_wording import REFERS_BACK
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.genome.reading import sentence_of
from chalicelib.domain.genome.relevance import genome_terms
from chalicelib.domain.text.cues import plain
from chalicelib.domain.text.terms import query_words
from chalicelib.prompt import lines

BEST = 5  # spec/context.md: the three to five best, whatever room there is
NEAR = 0.02  # the least score of those that come besides, on the calibrated scale of recall
SURE = 0.35  # the score from which recall answers at all
FEW_TERMS = 3  # a message with fewer does not say what it is about
LENT = (0.3, 0.15)  # of a score, to the messages one and two places away: shared facts, +5 points on LoCoMo
_ASKS = ("?", "？", "؟")


class Trigger(StrEnum):
    """Why earlier messages are called back."""

    EXPLICIT = "explicit"
    IMPLICIT = "implicit"


@dataclass(frozen=True)
class Candidate:
    """A message of the session that a search found; `score` is on the calibrated scale, 0 to 1."""

    message: SessionMessage
    score: float


@dataclass(frozen=True)
class Recalled:
    """What comes back, in order of time, the best first in `ranked`; `left_out` had no room or were not near enough."""

    messages: tuple[SessionMessage, ...] = ()
    ranked: tuple[int, ...] = ()
    neighbours: frozenset[int] = frozenset()
    left_out: int = 0
    tokens: int = 0

    @property
    def by_worth(self) -> tuple[SessionMessage, ...]:
        """The messages, the best first, each with its neighbours after it: what to drop last."""
        rank = {position: i for i, position in enumerate(self.ranked)}
        nearest = {message.position: _nearest(message.position, rank) for message in self.messages}
        return tuple(
            sorted(self.messages, key=lambda one: (nearest[one.position][1], nearest[one.position][0], one.position))
        )


def _nearest(position: int, rank: Mapping[int, int]) -> tuple[int, int]:
    """How far the nearest of the ranked positions is, and its rank; of two as near the better."""
    for distance in itertools.count():
        if found := [rank[at] for at in (position - distance, position + distance) if at in rank]:
            return distance, min(found)
    raise AssertionError("a message comes back for one that was ranked")


def is_explicit(query: str) -> bool:
    """Whether the user refers to something said before, in words of many languages."""
    return plain(query) in REFERS_BACK


def trigger(
    query: str,
    genome: ConversationGenome,
    active: Sequence[SessionMessage],
    candidates: Sequence[Candidate] = (),
) -> Trigger | None:
    """Why the query calls for earlier messages; None where it does not.

    Implicit: what is nearest to it, of all that was said, is not active; or it has a word that the genome or one of the best
    candidates knows and no active message says."""
    if is_explicit(query):
        return Trigger.EXPLICIT
    positions = {message.position for message in active}
    best = [candidate for candidate in candidates[:BEST] if candidate.message.position not in positions]
    if best and best[0] is candidates[0] and best[0].score >= SURE:
        return Trigger.IMPLICIT
    known = genome_terms(genome).union(*(sentence_of(candidate.message.text).terms for candidate in best))
    said = frozenset().union(*(sentence_of(message.text).terms for message in active))
    touched = (word for word in query_words(query) if not known.isdisjoint(word))
    return Trigger.IMPLICIT if any(said.isdisjoint(word) for word in touched) else None


def lend(scores: Mapping[int, float]) -> dict[int, float]:
    """Scores by position, each message with a part of the best of its neighbours': an answer is ranked by its question."""
    lent: dict[int, float] = {}  # the largest part that a neighbour lends; of negative scores none
    for at, score in scores.items():
        for distance, part in enumerate(LENT, 1):
            for near in (at - distance, at + distance):
                lent[near] = max(lent.get(near, 0.0), part * score)
    return {at: scores.get(at, 0.0) + lent.get(at, 0.0) for at in sorted(scores.keys() | lent) if at >= 0}


def choose(
    candidates: Sequence[Candidate],
    session: Mapping[int, SessionMessage],
    active: Collection[int],
    budget: int,
) -> Recalled:
    """The candidates, best first, that come back: the five best, more while they are near enough, none that is active, all
    within `budget` tokens. `session` has the messages by position from which neighbours are taken."""
    chosen = _Chosen(budget, frozenset(active))
    left_out = 0
    for rank, candidate in enumerate(one for one in candidates if one.message.position not in active):
        if rank >= BEST and candidate.score < NEAR:
            left_out += 1
        elif chosen.take(candidate.message, ranked=True):
            _take_neighbours(chosen, candidate.message, session)
        else:
            left_out += candidate.message.position not in chosen.messages
    return chosen.result(left_out)


class _Chosen:
    """What was chosen so far and what it costs, with the headings of the days."""

    def __init__(self, budget: int, active: frozenset[int]) -> None:
        self._left = budget
        self._budget = budget
        self._active = active
        self.messages: dict[int, SessionMessage] = {}
        self._ranked: list[int] = []
        self._days: set[date] = set()

    def take(self, message: SessionMessage, *, ranked: bool) -> bool:
        """Take a message where it is not there yet and has room."""
        position = message.position
        if position in self._active:
            return False
        if position not in self.messages:
            day = message.at.date()
            cost = lines.cost(message) + (0 if day in self._days else lines.heading_cost(day))
            if cost > self._left:
                return False
            self._days.add(day)
            self._left -= cost
            self.messages[position] = message
        if ranked and position not in self._ranked:
            self._ranked.append(position)
        return True

    def result(self, left_out: int) -> Recalled:
        """What was chosen, in order of time."""
        ordered = tuple(self.messages[at] for at in sorted(self.messages))
        neighbours = frozenset(self.messages) - frozenset(self._ranked)
        return Recalled(ordered, tuple(self._ranked), neighbours, left_out, self._budget - self._left)


def _take_neighbours(chosen: _Chosen, message: SessionMessage, session: Mapping[int, SessionMessage]) -> None:
    """Of a message that does not say what it is about the one before it, of a question the answer."""
    before, after = session.get(message.position - 1), session.get(message.position + 1)
    is_question = message.text.rstrip().endswith(_ASKS)
    is_answer = before is not None and before.text.rstrip().endswith(_ASKS)
    if before and (is_answer or len(sentence_of(message.text).terms) < FEW_TERMS):
        chosen.take(before, ranked=False)
    if after and is_question:
        chosen.take(after, ranked=False)
