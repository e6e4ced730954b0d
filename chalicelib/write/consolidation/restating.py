"""Whether a new memory gives another value to something that an old one gave a value to, in passing and in other words.

That is never sure, so nothing is retired over it: the two are linked, and the newer comes first. Weights and threshold are
fitted on the first ten BEAM chats; `docs/consolidation.md` has what came out on the other ten.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chalicelib.domain.claims.stated import Measure, Stated, terms_around
from chalicelib.domain.claims.words import is_attribute
from chalicelib.domain.memory import Memory
from chalicelib.domain.query import StoredMemory, TermStatistics
from chalicelib.write.consolidation.conflicts import MOMENTARY
from chalicelib.write.consolidation.reading import Reading

LOOKED_AT = (
    2  # memories that share most with them; the statement that is updated is among the first two or not found at all
)
LEAST_SHARED = 2  # words: a budget is not the same for being one
NEAR = 6  # words within which what is shared counts once more
LONGEST_RATIO = 0.8  # of the logarithms: a value that changes seldom doubles twice
LONGEST_DAYS = 21
SURE_ENOUGH = 4.2
FEW_ROWS = (
    30  # in a scope of fewer a word is taken to be as rare as in one of so many: what is new there is not common yet
)
_SHARED, _NEAR, _CHANGE, _ATTRIBUTE = 1.0, 0.5, 1.3, 0.9
_RATIO, _OTHER_UNIT, _WHEN, _RESTATED = -0.8, -0.5, -0.3, -0.8

Weight = Callable[[str], float]
"""How rare a term is in the scope."""


def weights(statistics: TermStatistics, further: Callable[[str], int], rows: int) -> Weight:
    """The weight of terms in a scope, with so many rows of a batch that are about to join it; `further` says in how many of
    those a term stands."""
    everything = max(statistics.rows + rows, FEW_ROWS)

    def weight(term: str) -> float:
        return math.log((everything + 1.5) / (statistics.frequencies.get(term, 0) + further(term) + 0.5))

    return weight


def most_like(row: StoredMemory, others: Sequence[StoredMemory], weight: Weight) -> list[StoredMemory]:
    """The two of `others` that have most of the words around the row's values, for their length."""
    terms = terms_around(row.memory.content)
    mean = sum(other.length for other in others) / len(others) if others else 0

    def shared(other: StoredMemory) -> float:
        share = sum(weight(term) for term in terms if term in other.counts)
        return share / (0.6 + 0.4 * other.length / mean) if mean else share

    scored = sorted(
        ((shared(other), other.memory.id, other) for other in others), key=lambda one: one[:2], reverse=True
    )
    return [other for score, _, other in scored[:LOOKED_AT] if score > 0]


@dataclass(frozen=True)
class Restated:
    """An old value and the new one in its place."""

    score: float
    old: Stated
    new: Stated

    @property
    def reason(self) -> str:
        """What it is told by."""
        return f"it states “{self.new.said}” where that states “{self.old.said}”"


def restated(new: Reading, old: Reading, weight: Weight) -> Restated | None:
    """The pair of values that most looks like one thing with another value, where that is likely enough."""
    if not _may_restate(new.memory, old.memory):
        return None
    before = {one.key for one in old.stated}
    now = {one.key for one in new.stated}
    pairs = (
        Restated(_score(b, a, weight) + (_RESTATED if a.key in now else 0), a, b)
        for b in new.stated
        if not b.outgoing and b.key not in before
        for a in old.stated
        if _may_be_of_one_thing(a, b)
    )
    best = max(pairs, key=lambda pair: pair.score, default=None)
    return best if best and best.score >= SURE_ENOUGH else None


def _may_restate(new: Memory, old: Memory) -> bool:
    """Whether both were said by one, and the new one not before the old."""
    speakers = [memory.origin.speaker if memory.origin else None for memory in (new, old)]
    if speakers[0] != speakers[1] or new.user_id != old.user_id or new.event_time < old.event_time:
        return False
    return new.event_time == old.event_time or not {new.type, old.type} & MOMENTARY


def _may_be_of_one_thing(a: Stated, b: Stated) -> bool:
    if a.measure is not b.measure or a.value == b.value or _distance(a, b) is None:
        return False
    if a.measure is not Measure.AMOUNT or set(a.units) & set(b.units):
        return a.measure is Measure.AMOUNT or a.units == b.units
    if a.units and b.units:
        return False
    counted = (a.units or b.units)[:1]
    return bool(counted) and counted[0] in (b.words if a.units else a.words)


def _distance(a: Stated, b: Stated) -> float | None:
    """How far the new value is from the old, on a scale of its own; None where it is too far to be of one thing."""
    if a.measure is Measure.TIME:
        return 0.0
    if a.measure is Measure.DATE:
        return 0.25 if abs(a.value - b.value) <= LONGEST_DAYS else None
    if min(a.value, b.value) <= 0:
        return None
    ratio = abs(math.log(b.value / a.value))
    return ratio if ratio <= LONGEST_RATIO else None


def _score(new: Stated, old: Stated, weight: Weight) -> float:
    shared = [term for term in new.words if term in old.words]
    near = [term for term in shared if new.words[term] <= NEAR and old.words[term] <= NEAR]
    same_unit = new.measure is not Measure.AMOUNT or bool(set(new.units) & set(old.units))
    if len(shared) < LEAST_SHARED:
        return 0.0
    return (
        _SHARED * math.log1p(sum(map(weight, shared)))
        + _NEAR * math.log1p(sum(map(weight, near)))
        + _CHANGE * new.change
        + _ATTRIBUTE * any(map(is_attribute, shared))
        + _RATIO * (_distance(old, new) or 0.0)
        + _OTHER_UNIT * (not same_unit)
        + _WHEN * (new.measure in {Measure.DATE, Measure.TIME})
    )
