"""What an answer says of itself: the score of each hit and why it is there, or which kind of empty it is."""

import math
from collections.abc import Mapping, Sequence

from chalicelib.domain import bm25
from chalicelib.domain.query import Candidate, Empty, EmptyReason, Scores

BM25_SHARE = 0.5  # how much the words alone can close of the gap that meaning leaves


def best_bm25(words: Sequence[tuple[str, ...]], weights: Mapping[str, float], rows: int) -> float:
    """The most that a row could score for these words. A word that stands nowhere counts as the rarest there is."""
    unheard = bm25.weight(rows, 0)
    best = (max((weights[term] for term in word if term in weights), default=unheard) for word in words)
    return sum(best) * (bm25.K1 + 1)


def scores(candidate: Candidate, similarity: float | None, best: float, fused: float) -> Scores:
    """The parts of a candidate's score."""
    found = candidate.bm25 or 0.0
    coverage = min(1.0, found / best) if best else 0.0
    return Scores(
        cosine=None if candidate.cosine is None else round(candidate.cosine, 4),
        similarity=None if similarity is None else round(similarity, 4),
        bm25=round(found, 4),
        coverage=round(coverage, 4),
        fused=round(fused, 4),
    )


def calibrated(parts: Scores) -> float:
    """The score of 0 to 1 that the caller sees: meaning, helped by words; by words alone where there is no vector."""
    if parts.similarity is None:
        return round(math.sqrt(parts.coverage), 4)
    return round(1 - (1 - parts.similarity) * (1 - BM25_SHARE * parts.coverage), 4)


def why(parts: Scores, words: Sequence[tuple[str, ...]], terms: Mapping[str, int]) -> str:
    """One line for a person: how near in meaning, and which words are shared."""
    reasons = []
    if parts.similarity is None:
        reasons.append("no vector to compare yet")
    else:
        reasons.append(f"similar in meaning ({parts.similarity:.2f})")
    if shared := [
        next(term for term in word if term in terms) for word in words if any(term in terms for term in word)
    ]:
        reasons.append("shares " + ", ".join(f"“{term}”" for term in shared[:8]))
    return "; ".join(reasons)


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
