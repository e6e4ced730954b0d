"""What an answer says of itself: the score of each hit and why it is there, or which kind of empty it is."""

import math
from collections.abc import Mapping, Sequence

from chalicelib.domain import bm25
from chalicelib.domain.query import Candidate, Empty, EmptyReason, Scores, TermStatistics
from chalicelib.domain.text.languages import differ, shown

# The odds of a hit being of use, fitted on LoCoMo and on questions of other subjects, rounded (docs/retrieval.md). How near
# it is counts against how near the nearest of so many unrelated rows comes by chance.
MEANING, LEAST, MOST = 0.5, -7.5, 1.5
WORDS, AGAINST = 9.0, 1.25
ALONE = 1.0  # asked beyond chance of what shares no word
ACROSS = 3.5  # cosines between languages are lower
FORESEEN = 0.5  # that the memory answers a question near this one
UNHEARD = 0.5  # with fewer words that stand nowhere, the query is of the language of the rows
_SURE = 1e-9
FEWEST_ROWS = 100
"""Fewer count as so many: without an index, rows that were not read are not counted."""


class Coverage:
    """What the words of one query weigh, rare ones more, and how much of that weight a memory covers; `rows` is how many
    memories there are in the scopes.

    A word that stands nowhere in the scopes weighs like the mean of the others: its rarity says nothing of any row. One is
    added to every weight, so that in a small store, where every term is common, most of the words are most of the query."""

    def __init__(self, query: str, words: Sequence[tuple[str, ...]], statistics: TermStatistics) -> None:
        weights = [_weight(word, statistics) for word in words]
        known = [weight for weight in weights if weight]
        unheard = sum(known) / len(known) if known else 0.0
        self._words = [(word, weight or unheard) for word, weight in zip(words, weights, strict=True)]
        self._total = sum(weight for _, weight in self._words)
        self.rows = statistics.rows
        share = 1 - sum(weights) / self._total if self._total else 1.0
        self._language = shown(query) if share >= UNHEARD else None

    def of(self, terms: Mapping[str, int]) -> float:
        """The share of the query's words that a row of `terms` holds, 0 to 1."""
        if not self._total:
            return 0.0
        return sum(weight for word, weight in self._words if any(term in terms for term in word)) / self._total

    def is_foreign(self, text: str) -> bool:
        """Whether a memory's text is of another language than the query: only where most words of that stand nowhere."""
        return self._language is not None and differ(self._language, shown(text))


def _weight(word: tuple[str, ...], statistics: TermStatistics) -> float:
    """0 where the word stands nowhere."""
    frequency = max((statistics.frequencies.get(term, 0) for term in word), default=0)
    return 1 + bm25.weight(statistics.rows, frequency) if frequency else 0.0


def scores(candidate: Candidate, similarity: float | None, covered: float, fused: float) -> Scores:
    """The parts of a candidate's score."""
    raised = candidate.question is not None and (candidate.cosine is None or candidate.question > candidate.cosine)
    return Scores(
        question=round(candidate.question, 4) if raised and candidate.question is not None else None,
        cosine=None if candidate.cosine is None else round(candidate.cosine, 4),
        similarity=None if similarity is None else round(similarity, 4),
        bm25=round(candidate.bm25 or 0.0, 4),
        coverage=round(covered, 4),
        fused=round(fused, 4),
    )


def calibrated(parts: Scores, similarity: float | None, rows: int, *, foreign: bool) -> float:
    """The score of 0 to 1 that the caller sees, of a hit among so many `rows`: meaning and words together, since an
    embedding finds anything near that is said in the same tone; by words alone where there is no vector. `foreign` where the
    hit is of another language than the query, so that it can share no word."""
    if similarity is None:
        return parts.coverage
    sure = min(max(similarity, _SURE), 1 - _SURE)
    beyond_chance = math.log(sure / (1 - sure)) - math.log(max(rows, FEWEST_ROWS))
    together = MEANING * min(max(beyond_chance, LEAST), MOST) + WORDS * parts.coverage - AGAINST
    odds = max(together, beyond_chance + (ACROSS if foreign else -ALONE))
    odds += FORESEEN if parts.question is not None else 0.0
    return round(1 / (1 + math.exp(-odds)), 4)


def why(parts: Scores, words: Sequence[tuple[str, ...]], terms: Mapping[str, int], moved_by: Sequence[str] = ()) -> str:
    """One line for a person: how near in meaning, whether for a question that was foreseen, which words are shared, and what
    else raised it."""
    reasons = []
    if parts.similarity is None:
        reasons.append("no vector to compare yet")
    else:
        reasons.append(f"similar in meaning ({parts.similarity:.2f})")
    if parts.question is not None:
        reasons.append(f"nearer still is a question that it answers ({parts.question:.2f})")
    if shared := [
        next(term for term in word if term in terms) for word in words if any(term in terms for term in word)
    ]:
        reasons.append("shares " + ", ".join(f"“{term}”" for term in shared[:8]))
    return "; ".join((*reasons, *moved_by))


def empty(reason: EmptyReason) -> Empty:
    """The explanation of an empty answer."""
    message, following = _EXPLANATIONS[reason]
    return Empty(reason=reason, message=message, next=following)


_EXPLANATIONS = {
    EmptyReason.NOTHING_STORED: (
        "Nothing is stored in the scopes that were asked.",
        "POST /engine/memories to remember something.",
    ),
    EmptyReason.NOTHING_SIMILAR: (
        "Memories are stored here, and none is near enough to the query.",
        "Ask in other words, or GET /engine/memories to see what is stored.",
    ),
    EmptyReason.ALL_FILTERED: (
        "Memories match the query, and every one of them was left out by types, tags, since, before or minScore.",
        "Ask again with fewer filters.",
    ),
    EmptyReason.NOT_INDEXED_YET: (
        "Memories are stored here and their index is still being built; their text did not match.",
        "Ask again in a few seconds; GET /health says how many rows are pending.",
    ),
    EmptyReason.STORE_DOWN: (
        "A store that would have been searched is down; the text that could be searched did not match.",
        "Ask again later; GET /health says which store.",
    ),
}
