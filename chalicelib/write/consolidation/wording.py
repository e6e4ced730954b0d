"""Whether one text says the same as another, the same and more, or less: by its words, where nothing that could change the
meaning differs.

Embeddings cannot tell: with e5, "Ana manages Bob" and "Bob manages Ana" have a cosine of 0.994, "Use tabs for
indentation" and "Use spaces for indentation" 0.967, and true paraphrases 0.95 to 0.99. So every word counts unless
it is known to change nothing (articles, the copula), and a number, a name or a word of negation or order on one side
alone always parts two texts.
"""

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from chalicelib.domain.claims.values import folded
from chalicelib.domain.claims.words import word_set

LEAST_SHARE = 0.5  # of the longer text that the shorter one covers
LEAST_WORDS = 2
TURNED_BLOCK = 2  # words on either side of where a text is turned: one alone may belong to the next ("2 cats 3 dogs")
SAME_ORDER = 0.7  # of the shared words stand in the same order; a clause that moved to the front keeps three quarters

_CHANGE_NOTHING = word_set(
    """
    a an the is are am be of in into on at to for that this by it its 's also please
    der die das den dem des ein eine einen einem einer ist sind bin im am zu dass
    le la les l un une des du de est sont suis que ce
    el los las una es son soy del al
    il lo gli i uno è sono di
    o os as um uma é são do da dos das
    het een zijn ben van dat
    """
)
_CHANGE_ALL = word_set(
    """
    not no never nor none nothing nobody without except only before after until till since unless if from off up down
    under over above below more less most least longer stopped quit former formerly was were had used almost nearly
    nicht kein keine keinen nie niemals ohne nur vor nach bis seit mehr weniger war waren aus ab
    pas ne jamais sans sauf avant après jusque depuis moins plus était
    nunca sin salvo solo antes después hasta menos era fue
    non mai senza tranne prima dopo fino meno
    não sem só depois até já
    niet geen nooit zonder alleen voor na tot sinds meer minder was
    не нет никогда без только до после больше меньше был была
    değil yok asla hariç önce sonra
    لا ليس لم لن بدون قبل بعد فقط
    不 没 未 非 无 無 別 别 只 前 後 后 ない なく ず
    """
)
_ALIKE = (
    "live lives living reside resides residing",
    "work works working employed",
    "use uses using utilise utilises utilize utilizes",
    "own owns have has",
    "buy buys purchase purchases",
    "begin begins start starts",
    "like likes enjoy enjoys",
    "prefer prefers",
    "need needs require requires",
    "every each",
    "wohne wohnt lebe lebt",
    "habite vis vit",
    "vivo vive",
)
"""Words that say the same of a fact, each group in one tense."""


class Relation(StrEnum):
    """What a text is to another."""

    SAME = "same"
    LESS = "less"
    MORE = "more"


@dataclass(frozen=True)
class Word:
    """A word in its normal form; `parts` where its being on one side alone forbids to merge."""

    text: str
    parts: bool


def relation(mine: list[Word], others: list[Word]) -> Relation | None:
    """What a text of these words is to another; None where each says what the other does not, or where that might be."""
    if min(len(mine), len(others)) < LEAST_WORDS:
        return None
    if min(len(mine), len(others)) < LEAST_SHARE * max(len(mine), len(others)):
        return None
    found = surplus(mine, others)
    if found is Relation.SAME and _turned(mine, others):
        return found
    return found if found and _in_the_same_order(mine, others) else None


def surplus(mine: list[Word], others: list[Word]) -> Relation | None:
    """Which side has more words, where one holds all of the other's and what it has beyond them changes nothing."""
    more = Counter(word.text for word in mine)
    less = Counter(word.text for word in others)
    if more == less:
        return Relation.SAME
    if less <= more:
        return None if _parts(mine, more - less) else Relation.MORE
    if more <= less:
        return None if _parts(others, less - more) else Relation.LESS
    return None


def _parts(words: list[Word], beyond: Counter[str]) -> bool:
    return any(word.parts for word in words if word.text in beyond)


def _in_the_same_order(mine: list[Word], others: list[Word]) -> bool:
    common = Counter(word.text for word in mine) & Counter(word.text for word in others)
    left, right = ([word for word in words if word.text in common] for words in (mine, others))
    named = {word.text for word in left if word.parts} & {word.text for word in right if word.parts}
    fixed = [[word.text for word in words if word.text in named] for words in (left, right)]
    shorter = min(len(left), len(right))
    return fixed[0] == fixed[1] and _longest_common(left, right) >= SAME_ORDER * shorter


def _turned(mine: list[Word], others: list[Word]) -> bool:
    """Whether one text is the other with its end put first: "on Fridays we deploy". Who does what to whom is turned by no
    such move, since the words stay in a circle: "Ana manages Bob" turns into "Bob, Ana manages" and never into "Bob
    manages Ana"."""
    left, right = ([word.text for word in words] for words in (mine, others))
    return any(left[i:] + left[:i] == right for i in range(TURNED_BLOCK, len(left) - TURNED_BLOCK + 1))


def _longest_common(left: list[Word], right: list[Word]) -> int:
    """The length of the longest common subsequence."""
    best = [0] * (len(right) + 1)
    for one in left:
        before = best[:]
        for i, other in enumerate(right):
            best[i + 1] = before[i] + 1 if one.text == other.text else max(before[i + 1], best[i])
    return best[-1]


@cache
def _token() -> re.Pattern[str]:
    return re.compile(
        r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]"
        r"|[$€£¥₺]?\d[\d.,:/]*\d|[$€£¥₺]?\d|[^\W_\u3040-\u30ff\u3400-\u9fff]+|[%$€£¥₺+#]"
    )


@cache
def _representatives() -> dict[str, str]:
    return {folded(word): group.split()[0] for group in _ALIKE for word in group.split()}


def weighty_words(text: str) -> list[Word]:
    """The words of a text, in order, without those that change nothing."""
    text = re.sub(r"n['’]t\b", " not", text.replace("can't", "can not"))
    found = []
    for match in _token().finditer(text):
        plain = folded(match.group())
        if plain not in _CHANGE_NOTHING:
            found.append(Word(_representatives().get(plain, plain), _may_part(match.group(), plain)))
    return found


def _may_part(written: str, plain: str) -> bool:
    """Names and numbers do, words of negation and order, and in scripts without capitals whatever may be a name."""
    first = written[0]
    caseless = first.isalpha() and first.lower() == first.upper()
    return plain in _CHANGE_ALL or first.isupper() or caseless or not first.isalpha() or plain in _NUMERALS


_NUMERALS = word_set(
    """
    two three four five six seven eight nine ten eleven twelve twenty hundred thousand first second third once twice
    zwei drei vier fünf sechs sieben acht neun zehn deux trois quatre cinq sept huit neuf dix dos tres cuatro cinco seis
    siete ocho nueve diez due tre quattro cinque sei sette otto nove dieci dois três quatro sete oito dez twee drie vijf
    zes zeven negen tien monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday
    """
)
