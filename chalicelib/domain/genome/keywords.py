"""The words that a session comes back to: a bounded count of the most frequent ones (the space-saving algorithm).

A word that finds no room takes the place of the rarest and inherits its count, so that what is frequent stays, however
late it came up, and the list never grows.
"""

from collections import Counter
from collections.abc import Iterable

from chalicelib.domain.genome.model import MAX_KEYWORDS, WORD_CHARACTERS, Keyword
from chalicelib.domain.genome.wording import FILLERS

SHORTEST = 2


def counted(keywords: Iterable[Keyword], words: Iterable[tuple[str, str]]) -> tuple[Keyword, ...]:
    """`keywords` with further `words`, pairs of a word and its term, the most frequent first."""
    kept = {keyword.term: keyword for keyword in keywords}
    spoken = [(w, term) for w, term in words if SHORTEST <= len(w) <= WORD_CHARACTERS and w not in FILLERS]
    shown = dict(reversed([(term, word) for word, term in spoken]))
    for term, times in Counter(term for _, term in spoken).items():
        _count(kept, shown[term], term, times)
    return tuple(sorted(kept.values(), key=lambda keyword: (-keyword.count, keyword.term)))


def _count(kept: dict[str, Keyword], word: str, term: str, times: int) -> None:
    known = kept.get(term)
    if known is None and len(kept) >= MAX_KEYWORDS:
        rarest = min(kept.values(), key=lambda keyword: (keyword.count, keyword.term))
        del kept[rarest.term]
        times += rarest.count
    kept[term] = known.model_copy(update={"count": known.count + times}) if known else _new(word, term, times)


def _new(word: str, term: str, count: int) -> Keyword:
    return Keyword(word=word, term=term, count=count)
