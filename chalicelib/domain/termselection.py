"""Which words of a query a store without a ranking index is asked for: the rare ones, as many as the limit bears."""

from collections.abc import Sequence

from chalicelib.domain.query import TermStatistics

MIN_WORDS = 3
UNKNOWN_FREQUENCY = 20  # a term that no snapshot lists stands in fewer rows than the snapshot's floor
COMMON_SHARE = 0.01  # a term of this share of the rows is worth listing in a snapshot
MAX_LISTED = 2000


def first_share(limit: int) -> int:
    """How many of `limit` rows the scopes are asked for together. Where that cuts, it is one scope that took them; the rest
    is for those that came away with nothing."""
    return limit * 2 // 3


def rare_terms(words: Sequence[tuple[str, ...]], statistics: TermStatistics, limit: int) -> tuple[str, ...]:
    """The terms of the rarest words whose rows together stay about within `limit`; of three words at least."""

    def rows(word: tuple[str, ...]) -> int:
        return sum(statistics.frequencies.get(term, 0) for term in word) or UNKNOWN_FREQUENCY

    chosen: list[tuple[str, ...]] = []
    total = 0
    for word in sorted(words, key=rows):
        total += rows(word)
        if len(chosen) >= MIN_WORDS and total > limit:
            break
        chosen.append(word)
    return tuple(dict.fromkeys(term for word in chosen for term in word))


def frequent_terms(frequencies: dict[str, int], rows: int) -> dict[str, int]:
    """What a snapshot keeps of a scope's term frequencies: the terms that are not rare."""
    floor = max(UNKNOWN_FREQUENCY, int(rows * COMMON_SHARE))
    common = sorted(((n, term) for term, n in frequencies.items() if n >= floor), reverse=True)
    return {term: n for n, term in common[:MAX_LISTED]}
