"""BM25 in the two halves that an index needs: an impact fixed when a row is written, a weight known when it is asked.

The impact measures a row's length against a fixed pivot, not against today's mean, so that no posting goes stale when
other rows come and go, and a rebuilt index holds the same bytes. `docs/decisions/0003-text-tier.md` has the measurements.
"""

import math
from collections.abc import Mapping

K1 = 0.9  # data/README.md: the reference BM25 of both data sets
B = 0.4
QUESTION_SHARE = 0.5  # a word that was foreseen says less than one that was said
LENGTH_PIVOT = 24.0  # terms in a usual chat turn once stop words are out


def impact(frequency: int, length: int) -> float:
    """How much `frequency` occurrences in a row of `length` terms say: 0 to K1 + 1, rounded so that tiers agree."""
    saturation = K1 * (1 - B + B * length / LENGTH_PIVOT)
    return round(frequency * (K1 + 1) / (frequency + saturation), 4)


def weight(rows: int, frequency: int) -> float:
    """The inverse document frequency of a term that `frequency` of `rows` rows hold; never negative."""
    return math.log(1 + (max(rows, frequency) - frequency + 0.5) / (frequency + 0.5))


def score(counts: Mapping[str, int], length: int, weights: Mapping[str, float]) -> float:
    """The BM25 score of a row for a query whose terms weigh `weights`."""
    return sum(value * impact(counts[term], length) for term, value in weights.items() if term in counts)


def question_impact(length: int) -> float:
    """How much a term says that stands in none of a row's `length` terms and in a question that the row answers."""
    return round(QUESTION_SHARE * impact(1, length), 4)
