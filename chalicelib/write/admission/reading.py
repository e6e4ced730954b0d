"""What can be read off a text alone, in any script: sentences, questions, names, numbers, and the cues of `wording`."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.domain.text.stopwords import STOPWORDS
from chalicelib.domain.text.terms import index_terms
from chalicelib.write.admission.wording import QUESTION_MARKS, count, plain, without

MOST_CHARACTERS = 4000  # a text says what it is about by then, and reading stays bounded
_SENTENCE = re.compile(r"(?:(?![.!?…;;]+\s)[^\n。！？؟।])+(?:[.!?…;;]+(?=\s|$)|[。！？؟।]+)?")
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019\-][^\W_]+)*")
_KATAKANA_NAME = re.compile("[\u30a1-\u30fa\u30fc]{3,}")  # foreign names, in a script that has no capitals
_QUOTED = re.compile('[\u00ab\u300c\u300e\u201c"][^\u00bb\u300d\u300f\u201d"\\n]{2,80}[\u00bb\u300d\u300f\u201d"]')
_ADDRESS = re.compile(r"\S+@\S+\.\w+|https?://\S+")
_COURTESY_NAMES = 1  # "thanks, Ana"
_FUNCTION_WORDS = frozenset(word for words in STOPWORDS.values() for word in words)


@dataclass(frozen=True)
class Reading:
    """One text as admission reads it. `terms` are those of its statements: the sentences that ask nothing."""

    terms: tuple[str, ...]
    stated: int
    words: int
    sentences: int
    questions: int
    names: int
    numbers: int
    dates: int
    first_person: int
    second_person: int
    hedges: int
    courtesy: bool
    corrects: bool


def read(text: str) -> Reading:
    """The reading of `text`, of its first 4,000 characters where it is longer."""
    text = text[:MOST_CHARACTERS]
    sentences = [found.group().strip() for found in _SENTENCE.finditer(text) if found.group().strip()]
    statements = [sentence for sentence in sentences if sentence[-1] not in QUESTION_MARKS]
    whole, cues = index_terms(text), plain(text)
    said = whole if len(statements) == len(sentences) else index_terms(" ".join(statements))
    return Reading(
        terms=tuple(said.counts),
        stated=said.length or int(any(c.isalnum() for sentence in statements for c in sentence)),
        words=whole.length,
        sentences=len(sentences),
        questions=len(sentences) - len(statements),
        names=_names(sentences),
        numbers=sum(any(c.isdigit() for c in token) for token in _TOKEN.findall(text)),
        dates=count("times", cues),
        first_person=count("first_person", cues),
        second_person=count("second_person", cues),
        hedges=count("hedges", cues),
        courtesy=_is_courtesy(text, cues),
        corrects=count("corrections", cues) > 0,
    )


def _names(sentences: Iterable[str]) -> int:
    """Capitalised words inside a sentence, and what stands for them elsewhere: katakana, quotation marks, addresses."""
    found = 0
    for sentence in sentences:
        tokens = _TOKEN.findall(sentence)
        found += sum(_is_capitalised(token) for token in tokens[1:])
        found += sum(1 for pattern in (_KATAKANA_NAME, _QUOTED, _ADDRESS) for _ in pattern.finditer(sentence))
    return found


def _is_capitalised(token: str) -> bool:
    return token[0].isupper() and token[1:2].isalpha()


def _is_courtesy(text: str, cues: str) -> bool:
    """Whether nothing is left of `text` once greetings, thanks, function words, pictographs and a name are out."""
    if not cues:
        return True
    rest = without("courtesies", cues)
    if rest == cues:
        return False
    left = [word for word in rest.split() if word not in _FUNCTION_WORDS and not _is_pictograph(word)]
    named = [token for token in _TOKEN.findall(text) if _is_capitalised(token) and plain(token) in left]
    return len(left) <= len(named) <= _COURTESY_NAMES


def _is_pictograph(word: str) -> bool:
    return all(unicodedata.category(c) in {"So", "Sk", "Mn", "Cf"} for c in word)
