"""The words that a session comes back to: a bounded count of the most frequent ones (the space-saving algorithm).

A word that finds no room takes the place of the rarest and inherits its count, so that what is frequent stays, however
late it came up, and the list never grows.
"""

from collections import Counter
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from chalicelib.domain.genome.model import MAX_KEYWORDS, WORD_CHARACTERS, Keyword
from chalicelib.domain.genome.wording import FILLERS

SHORTEST = 2


def counted(keywords: Iterable[Keyword], words: Iterable[tuple[str, str]]) -> tuple[Keyword, ...]:
    """`keywords` with further `words`, pairs of a word and its term, the most frequent first."""
    counting = _Counting(keywords)
    spoken = [(word, term) for word, term in words if _is_worth_it(word)]
    shown = dict(reversed([(term, word) for word, term in spoken]))
    for term, times in Counter(term for _, term in spoken).items():
        counting.add(shown[term], term, times)
    return counting.result()


def _is_worth_it(word: str) -> bool:
    """Whether a word tells something where it stands alone; a contraction, such as it'll, does not."""
    return SHORTEST <= len(word) <= WORD_CHARACTERS and "'" not in word and word not in FILLERS


class _Counting:
    """Counts by term, and which is the rarest; an entry of the heap whose count has risen since is put back."""

    def __init__(self, keywords: Iterable[Keyword]) -> None:
        self._known = {keyword.term: keyword for keyword in keywords}
        self._counts = {term: keyword.count for term, keyword in self._known.items()}
        self._words: dict[str, str] = {}
        self._rarest = [(count, term) for term, count in self._counts.items()]
        heapify(self._rarest)

    def add(self, word: str, term: str, times: int) -> None:
        """Count a term that was said `times` times."""
        if term not in self._counts:
            times += self._make_room()
            self._words[term] = word
            heappush(self._rarest, (times, term))
        self._counts[term] = self._counts.get(term, 0) + times

    def result(self) -> tuple[Keyword, ...]:
        """The keywords, the most frequent first."""
        order = sorted(self._counts, key=lambda term: (-self._counts[term], term))
        return tuple(map(self._keyword, order))

    def _make_room(self) -> int:
        """The count of the rarest, which leaves where the list is full."""
        while len(self._counts) >= MAX_KEYWORDS:
            count, term = heappop(self._rarest)
            if self._counts.get(term) == count:
                del self._counts[term]
                return count
            if term in self._counts:
                heappush(self._rarest, (self._counts[term], term))
        return 0

    def _keyword(self, term: str) -> Keyword:
        known, count = self._known.get(term), self._counts[term]
        if known and known.count == count and term not in self._words:
            return known
        word = self._words.get(term) or (known.word if known else term)
        return Keyword.model_construct(word=word, term=term, count=count)
