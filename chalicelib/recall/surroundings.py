"""Evidence around a hit: what was said just before and after a message that matches is likely to belong to the answer.

A candidate that matches better than the mean lends part of its score to the candidates near it in the same session of the
same scope. A short message lives off what stands around it, a long one speaks for itself, so both what is lent and what is
taken shrink with the length.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from chalicelib.domain.bm25 import LENGTH_PIVOT
from chalicelib.domain.query import Candidate

SHARES = (0.5, 0.4, 0.3, 0.2)  # at one to four messages away; docs/retrieval.md
ANSWER_SHARE = 0.5  # more, to what follows a question

_Where = tuple[str, str, int]
"""A scope, a session in it, and a position in that."""


def lent(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[float]:
    """What is added to the score of each candidate for those around it."""
    places = {where: i for i, candidate in enumerate(candidates) if (where := _where(candidate))}
    taken: list[list[float]] = [[] for _ in candidates]
    for where, giver in places.items():
        if scores[giver] > 0:
            given = scores[giver] * _brevity(candidates[giver])
            for taker, share in _takers(where, candidates[giver], places):
                taken[taker].append(share * given)
    return [math.fsum(values) * _brevity(one) for values, one in zip(taken, candidates, strict=True)]


def _takers(where: _Where, giver: Candidate, places: Mapping[_Where, int]) -> Iterator[tuple[int, float]]:
    scope, session, position = where
    for distance, share in enumerate(SHARES, 1):
        for near in (position - distance, position + distance):
            if (taker := places.get((scope, session, near))) is not None:
                yield taker, share
    following = places.get((scope, session, position + 1))
    if following is not None and giver.situation and giver.situation.place.asks:
        yield following, ANSWER_SHARE


def _where(candidate: Candidate) -> _Where | None:
    situation = candidate.situation
    if situation is None or situation.position is None or situation.place.session is None:
        return None
    return candidate.scope_key, situation.place.session, situation.position


def _brevity(candidate: Candidate) -> float:
    length = candidate.situation.length if candidate.situation else 0
    return min(1.0, LENGTH_PIVOT / length) if length else 1.0
