"""The names of speakers in a question: which of its words may be one, whom it names, and what is left without them."""

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from chalicelib.domain.conversation import is_role
from chalicelib.domain.text.stopwords import STOPWORDS

MOST_NAME_WORDS = 4
MOST_QUESTION_WORDS = 64
_WORD = re.compile(r"[^\W\d_]+")
_POSSESSIVE = "(?:['\u2019]s?(?!\\w))?"
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2}")
_NO_NAMES = frozenset(word for words in STOPWORDS.values() for word in words)


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[str, ...]:
    """The folded words of a speaker's name that a question can be told to mean them by: no function words (May, Will), no
    single letters, and none of a part such as user or assistant."""
    return () if is_role(name) else possible_names(name)[:MOST_NAME_WORDS]


def possible_names(text: str) -> tuple[str, ...]:
    """The distinct folded words of a text that could be part of a name, at most 64."""
    words = dict.fromkeys(_folded(found) for found in _WORD.findall(text))
    return tuple(word for word in words if len(word) > 1 and word not in _NO_NAMES)[:MOST_QUESTION_WORDS]


def without_names(text: str, names: Collection[str]) -> str:
    """`text` without the words of `names`, their possessive endings included; `text` itself where
    little else would be left."""
    if not names:
        return text
    kept = re.sub(rf"[^\W\d_]+{_POSSESSIVE}", lambda m: "" if _stripped(m.group()) in names else m.group(), text)
    kept = re.sub(r"\s+([?!.,;:])", r"\1", re.sub(r"\s+", " ", kept)).strip()
    return kept if possible_names(kept) else text


def names_one(text_words: Collection[str], name: Collection[str]) -> bool:
    """Whether a question of those folded words names the speaker of those. In scripts written without spaces, and with
    endings attached, the name is looked for inside the words."""
    return any(
        word in text_words or (bool(_UNSPACED.match(word)) and any(word in longer for longer in text_words))
        for word in name
    )


def _stripped(word: str) -> str:
    return _folded(re.split("['\u2019]", word, maxsplit=1)[0])


def _folded(word: str) -> str:
    bare = unicodedata.normalize("NFKD", word.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in bare if not unicodedata.combining(c))) or word
