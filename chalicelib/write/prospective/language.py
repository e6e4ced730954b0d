"""Which language a text is in, as far as its script, its letters and its function words show; None where they do not.

A question in the wrong language is worse than none, so a guess needs evidence: of scripts that several languages share,
function words of one and no letter that it does not have.
"""

import re
from collections.abc import Sequence

from chalicelib.domain.text.stopwords import STOPWORDS
from chalicelib.write.prospective.phrases import HINDI_STOPWORDS, PHRASES

FEWEST_FUNCTION_WORDS = 2  # one is in every language's list by chance
FEWEST_SHARE = 0.12  # of the words; in running text of its language a third or more are
_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_SPACED = {
    "russian": re.compile("[\u0400-\u04ff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "hindi": re.compile("[\u0900-\u097f]"),
}
_NOT_ARABIC = re.compile("[پچژگکیےۓٹڈڑںھہ]")  # Persian and Urdu
_NOT_RUSSIAN = re.compile("[іїєґўјљњћђџѓќѕәғқңөұүһӣӯҳҷ]", re.IGNORECASE)
_ENOUGH = 0.5
LATIN = tuple(name for name in STOPWORDS if name not in _SPACED)


def language_of(text: str, words: Sequence[str]) -> str | None:
    """The language of `text`, whose words are `words`, by its name in `phrases.PHRASES`."""
    letters = [c for c in text if c.isalpha()]
    if not letters:
        return None
    if len(_HANGUL.findall(text)) > _ENOUGH * len(letters):
        return "korean"
    kana, han = len(_KANA.findall(text)), len(_HAN.findall(text))
    if kana + han > _ENOUGH * len(letters):
        return "japanese" if kana else "chinese"
    folded = [word.casefold() for word in words]
    for name, script in _SPACED.items():
        if len(script.findall(text)) > _ENOUGH * len(letters):
            return name if _has_function_words(name, folded) and not _is_a_sister(name, text) else None
    return _latin(folded)


def _has_function_words(name: str, words: Sequence[str]) -> bool:
    stops = HINDI_STOPWORDS if name == "hindi" else STOPWORDS[name]
    return any(word in stops for word in words)


def _is_a_sister(name: str, text: str) -> bool:
    """Whether a text has letters of another language of the same script."""
    sister = {"arabic": _NOT_ARABIC, "russian": _NOT_RUSSIAN}.get(name)
    return sister is not None and sister.search(text) is not None


def _latin(words: Sequence[str]) -> str | None:
    plain = [word for word in words if word]
    votes = {name: sum(word in STOPWORDS[name] for word in plain) for name in LATIN}
    first, second = sorted(LATIN, key=lambda name: -votes[name])[:2]
    if votes[first] == votes[second] or votes[first] < max(FEWEST_FUNCTION_WORDS, FEWEST_SHARE * len(plain)):
        return None
    return first if _writes(first, plain) else None


def _writes(name: str, words: Sequence[str]) -> bool:
    """Whether the language has the letters of nearly all words: names come from anywhere."""
    letters = set(PHRASES[name].letters)
    foreign = sum(any(c.isalpha() and not c.isascii() and c not in letters for c in word) for word in words)
    return foreign <= len(words) // 10
