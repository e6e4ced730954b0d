"""Names in a query, as far as its form shows them, and whether several stand side by side.

Capitals show names where a script has them, and not even there everywhere: German writes all nouns so, and each language its
first word. Where there are none, quotes, digits, letters of another script, and what stands beside "and" have to do.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from chalicelib.domain.routing.reading import Reading, Word, is_question_word, without_and
from chalicelib.domain.routing.words import AND_UNSPACED, CJK_SURNAMES, DETERMINERS, OR_UNSPACED, word_set
from chalicelib.domain.text.stopwords import STOPWORDS

_END_OF_SENTENCE = re.compile(r"[.!?？؟:;\n¿¡。！]|^$")
_BETWEEN = re.compile(r"\s*[,،、/]?\s*")
_QUOTED = re.compile(r"[\"“„«「『《](?P<quoted>[^\"”“»」』》]{2,60})[\"”“»」』》]")
_ARTICLE = "ال"


@dataclass(frozen=True)
class Entity:
    """A name: the words that it has, by the places of the first and the last."""

    first: int
    last: int
    name: str


@lru_cache(maxsize=64)
def entities(reading: Reading) -> tuple[Entity, ...]:
    """The names in scripts with spaces, in order; words in a row are one name."""
    found: list[Entity] = []
    for i, word in enumerate(reading.words):
        if not _is_name(reading, i):
            continue
        if found and found[-1].last == i - 1 and reading.gap(reading.words[i - 1], word).strip(" ") == "":
            before = found.pop()
            found.append(Entity(before.first, i, f"{before.name} {word.plain}"))
        else:
            found.append(Entity(i, i, word.plain))
    return tuple(found)


def count(reading: Reading) -> int:
    """How many different names there are, quoted ones too; a capital at the beginning of a sentence shows none."""
    named = {one.name for one in entities(reading) if not _begins_sentence(reading, one.first)}
    quoted = {found["quoted"].casefold() for found in _QUOTED.finditer(reading.text)}
    return len(named | quoted)


def side_by_side(reading: Reading) -> bool:
    """Whether two names are joined by "and", "or" or a comma."""
    named = entities(reading)
    pairs = pairwise(named)
    return any(_are_joined(reading, a, b) for a, b in pairs) or _joined_arabic(reading) or _joined_unspaced(reading)


def _is_name(reading: Reading, i: int) -> bool:
    word = reading.words[i]
    if word.plain == "i" or is_question_word(word.plain) or _is_function_word(word.plain):
        return False
    if reading.text.isupper():
        return False
    if word.is_marked:
        return True
    if not word.is_capitalised:
        return False
    before = reading.words[i - 1] if i else None
    return reading.language != "german" or before is None or before.plain not in word_set(DETERMINERS)


@cache
def _function_words() -> frozenset[str]:
    return frozenset().union(*STOPWORDS.values())


def _is_function_word(plain: str) -> bool:
    return plain in _function_words()


def _begins_sentence(reading: Reading, i: int) -> bool:
    word = reading.words[i]
    before = reading.text[reading.words[i - 1].end : word.begin] if i else ""
    return i == 0 or (bool(_END_OF_SENTENCE.search(before.strip(" "))) and bool(before.strip()))


def _are_joined(reading: Reading, a: Entity, b: Entity) -> bool:
    left, right = reading.words[a.last], reading.words[b.first]
    between = reading.words[a.last + 1 : b.first]
    if not between:
        gap = reading.gap(left, right)
        return bool(_BETWEEN.fullmatch(gap)) and gap.strip() != ""
    return len(between) == 1 and (reading.is_and(between[0]) or reading.is_or(between[0]))


def _joined_arabic(reading: Reading) -> bool:
    """A bare word with another one joined to it: names have no article."""
    pairs = pairwise(reading.words)
    return any(_is_bare(a.plain) and _is_bare(without_and(b.plain)) and _is_prefixed(b) for a, b in pairs)


def _is_prefixed(word: Word) -> bool:
    rest = without_and(word.plain)
    return rest != word.plain and len(rest) > 2 and not _is_function_word(word.plain)  # noqa: PLR2004 - a name is longer


def _is_bare(plain: str) -> bool:
    return (
        not (plain.startswith(_ARTICLE) or _is_function_word(plain) or is_question_word(plain)) and not plain.isascii()
    )


def _joined_unspaced(reading: Reading) -> bool:
    return bool(_two_people().search(reading.unspaced)) or bool(_two_foreign().search(reading.text))


@cache
def _joints() -> str:
    return "|".join(sorted((*word_set(AND_UNSPACED), *word_set(OR_UNSPACED)), key=len, reverse=True))


@cache
def _two_people() -> re.Pattern[str]:
    person = f"[{CJK_SURNAMES}][\u4e00-\u9fff]{{1,2}}?"
    addressed = "[\u30a0-\u30ff\u4e00-\u9fff]{1,6}(?:さん|氏|様|君|ちゃん|先生|小姐|女士)"
    return re.compile(f"{person}(?:{_joints()}){person}|{addressed}(?:{_joints()}|、){addressed}")


@cache
def _two_foreign() -> re.Pattern[str]:
    """Names in letters, or in katakana, beside one another among other scripts."""
    name = "(?:[A-Za-z][A-Za-z0-9.-]+|[\u30a0-\u30ff]{2,})"
    return re.compile(rf"{name}(?:さん|氏)?\s?(?:{_joints()}|、)\s?{name}")
