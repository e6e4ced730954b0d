"""Whether a query compares: by words that say so, or by the form of a comparative."""

import re
from itertools import pairwise

from chalicelib.domain.routing.reading import Reading, Word, phrases_in
from chalicelib.domain.routing.words import (
    AFTER_COMPARATIVE,
    ARABIC_MORE,
    ARABIC_THAN,
    COMPARISON,
    COMPARISON_UNSPACED,
    MORE,
    THAN,
    THAN_ALONE,
    word_set,
)

_MOST_BETWEEN = 3  # words between "more" and "than"
_CHINESE_THAN = re.compile("比(?![如例赛賽分方])[^，。,?？]{1,12}(?:更|还|還|好|多|少|快|慢|大|小|高|低|贵|贵|便宜)")


def compares(reading: Reading) -> bool:
    """Whether it sets one thing against another."""
    words = reading.words
    return (
        any(word.plain in word_set(COMPARISON) for word in words)
        or bool(phrases_in(reading.unspaced, COMPARISON_UNSPACED))
        or bool(_CHINESE_THAN.search(reading.text))
        or _has_than(words)
        or _has_more_than(words)
    )


def _has_than(words: tuple[Word, ...]) -> bool:
    for i, (before, word) in enumerate(pairwise(words)):
        if _is_amount(words, i + 2):
            continue
        if word.plain in word_set(THAN_ALONE) and before.plain != "other":
            return True
        ending = AFTER_COMPARATIVE.get(word.plain)
        if ending and before.plain.endswith(ending) and len(before.plain) > len(ending) + 2:
            return True
    return False


def _has_more_than(words: tuple[Word, ...]) -> bool:
    """ "More … than", in languages whose "than" means much else; and Arabic's, which follows at once."""
    for i, word in enumerate(words):
        if word.plain in word_set(MORE):
            ahead = words[i + 1 : i + 2 + _MOST_BETWEEN]
            than = next((j for j, one in enumerate(ahead, i + 1) if one.plain in word_set(THAN)), None)
            if than is not None and than > i + 1 and not _is_amount(words, than + 1):
                return True
        is_than = i + 1 < len(words) and words[i + 1].plain == ARABIC_THAN
        if word.plain in word_set(ARABIC_MORE) and is_than and not _is_amount(words, i + 2):
            return True
    return False


def _is_amount(words: tuple[Word, ...], i: int) -> bool:
    """Whether a number stands there: "more than 3 days" compares nothing."""
    return i < len(words) and words[i].text[0].isdigit()
