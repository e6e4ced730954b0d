"""The terms of a text: what the text tier indexes and what a query asks for.

Words are folded (NFKC, case, accents) and stemmed by the language that the text's function words show. Scripts written
without spaces give bigrams; of Han and Hangul, where one character can be a word, the single characters too. A query asks
for a word under every stem that some language would have given it, since a query of three words rarely shows its own
language; rows hold one stem a word.
"""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import Stemmer

from chalicelib.domain.text.stopwords import CJK_STOP_BIGRAMS, STOPWORDS

_WORD = r"[^\W_]+(?:'[^\W_]+)*|[\U0001f000-\U0001faff\u2600-\u27bf]"
_UNSPACED = (
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"  # kana, Han, Hangul
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff]+"  # Thai, Lao, Myanmar, Khmer, Han extensions
)
# Han and Hangul: one character can be a word
_SYLLABIC = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7af]"
_SCRIPTS = (
    ("russian", "[\u0400-\u04ff]"),
    ("arabic", "[\u0600-\u06ff]"),
    ("greek", "[\u0370-\u03ff]"),
    ("hindi", "[\u0900-\u097f]"),
    ("armenian", "[\u0530-\u058f]"),
    ("tamil", "[\u0b80-\u0bff]"),
)
_POINTED = "[\u0590-\u05ff\u0600-\u06ff]"  # Hebrew and Arabic, whose points are optional
_SAME = (("\u2019", "'"), ("\u02bc", "'"), ("i\u0307", "i"), ("\u0640", ""))  # apostrophes, dotted I, Arabic's tatweel
_FIRST_ACCENT = 10  # canonical combining classes below are nuktas, viramas and voicing marks: parts of letters
_LATIN = tuple(name for name in STOPWORDS if name not in {"russian", "arabic"})
_DEFAULT = "english"
MAX_TERM_LENGTH = 64  # a longer run is no word: a hash, a base64 block
MAX_QUERY_WORDS = 32  # a query has few; a pasted page is cut, and bounded work follows
TEXTS_KEPT = 256  # a write reads a text several times: to store it, to look for what is like it, and to judge it
_local = threading.local()
_NO_WORDS: frozenset[str] = frozenset()


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    """Compiled at first use: ranges of Unicode take long, and a process that starts need not wait for them."""
    return re.compile(expression)


@dataclass(frozen=True)
class TermCounts:
    """The terms of a text with their counts, and its length in terms, repeats included."""

    counts: dict[str, int]
    length: int


def index_terms(text: str) -> TermCounts:
    """The terms to store for a text. Empty only where the text has neither words, nor digits, nor pictographs."""
    found = _analysed(text)
    return TermCounts(found.counts.copy(), found.length)


@lru_cache(maxsize=TEXTS_KEPT)
def _analysed(text: str) -> TermCounts:
    words = folded_words(text)
    language = _latin_language(words)
    terms = [stem(token, _language_of(token, language)) for token in _without_stopwords(words, language)]
    singles = [
        character
        for term in terms
        if len(term) > 1 and not term.isascii()
        for character in term
        if _pattern(_SYLLABIC).match(character)
    ]
    return TermCounts({**Counter(singles), **Counter(terms)}, len(terms))


def content_words(text: str) -> list[tuple[str, str]]:
    """The words of `text` that carry meaning, folded, in order and with repeats, each with the term it is indexed under."""
    tokens = folded_words(text)
    language = _latin_language(tokens)
    return [
        (token, stem(token, _language_of(token, language))) for token in tokens if not _is_stopword(token, language)
    ]


def language_of_words(words: Sequence[str]) -> str:
    """The language that a text's folded words show, for `terms_of_word`."""
    return _latin_language(list(words))


@lru_cache(maxsize=16384)
def terms_of_word(word: str, language: str) -> tuple[str, ...]:
    """The terms of a word of a text in that language, as `index_terms` would store them; none for function words."""
    kept = (token for token in folded_words(word) if not _is_stopword(token, language))
    return tuple(stem(token, _language_of(token, language)) for token in kept)


def query_words(text: str) -> tuple[tuple[str, ...], ...]:
    """The distinct words of a query, at most 32, each as the terms it may stand under. Empty means: ask no text tier."""
    tokens = folded_words(text)
    kept = _without_stopwords(tokens, _latin_language(tokens))
    words = list(dict.fromkeys(kept))[:MAX_QUERY_WORDS]
    return tuple(_variants(word) for word in words)


def folded_words(text: str) -> list[str]:
    """Its words and numbers in order, casefolded; bigrams where words are not spaced."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    for written, plain in _SAME:
        folded = folded.replace(written, plain)
    tokens: list[str] = []
    for found in _pattern(_WORD).finditer(_marks_as_letters(folded)):
        word = folded[found.start() : found.end()]
        position = 0
        for run in _pattern(_UNSPACED).finditer(word):
            tokens += [part for part in (word[position : run.start()],) if part.strip("'")]
            tokens += _bigrams(run.group())
            position = run.end()
        if word[position:].strip("'"):
            tokens.append(word[position:])
    return [token for token in tokens if len(token) <= MAX_TERM_LENGTH]


def _marks_as_letters(text: str) -> str:
    """`text` with every combining mark as a letter, since `\\w` leaves out the vowel signs of half the world's scripts."""
    if text.isascii():
        return text
    return "".join("a" if unicodedata.category(c)[0] == "M" else c for c in text)


def _bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def latin_language(text: str) -> str:
    """The language that the function words of a text in Latin script show, English where they show none."""
    return _latin_language(folded_words(text))


def _latin_language(tokens: list[str]) -> str:
    votes = {name: sum(token in STOPWORDS[name] for token in tokens) for name in _LATIN}
    best = max(_LATIN, key=lambda name: votes[name])
    return best if votes[best] else _DEFAULT


def script_of(token: str) -> str:
    """The script of a folded word: `latin`, `unspaced`, or the name of a language that stands for its script; empty where it
    has no letter."""
    if token.isascii():
        return "latin" if token.strip("0123456789'") else ""
    if _pattern(_UNSPACED).search(token):
        return "unspaced"
    named = next((name for name, script in _SCRIPTS if _pattern(script).search(token)), "")
    return named or ("latin" if any(c.isalpha() for c in token) else "")


def _language_of(token: str, latin: str) -> str:
    if token.isascii():
        return latin
    return next((name for name, script in _SCRIPTS if _pattern(script).search(token)), latin)


def _without_stopwords(tokens: list[str], latin: str) -> list[str]:
    kept = [token for token in tokens if not _is_stopword(token, latin)]
    return kept or tokens


def _is_stopword(token: str, latin: str) -> bool:
    return token in STOPWORDS.get(_language_of(token, latin), _NO_WORDS) or token in CJK_STOP_BIGRAMS


def _variants(token: str) -> tuple[str, ...]:
    languages = [name for name, script in _SCRIPTS if _pattern(script).search(token)] or list(_LATIN)
    return tuple(dict.fromkeys(stem(token, name) for name in languages))


@lru_cache(maxsize=65536)
def stem(token: str, language: str) -> str:
    """The stem of a folded word, accents off. Words with digits, bigrams and pictographs stay as they are."""
    if _pattern(_UNSPACED).fullmatch(token):
        return token
    if _pattern(_POINTED).search(token):
        token = _without_accents(token)
    if any(c.isdigit() for c in token):
        return _without_accents(token)
    return _without_accents(_stemmer(language).stemWord(token)).strip("'") or token


def _without_accents(token: str) -> str:
    if token.isascii() or _pattern(_UNSPACED).search(token):
        return token
    bare = "".join(c for c in unicodedata.normalize("NFD", token) if unicodedata.combining(c) < _FIRST_ACCENT)
    return bare or token


def _stemmer(language: str) -> Stemmer.Stemmer:
    """A stemmer keeps its word in itself, so each thread has its own."""
    stemmers: dict[str, Stemmer.Stemmer] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language)
    return stemmers[language]
