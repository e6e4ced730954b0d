"""Values that a text states in passing: amounts, shares, dates and times, each with the words around it that say what of.

Nothing is parsed: what two texts say of one thing shows in the words that they share near their values. So it works in any
language whose numbers are digits; lists of words only sharpen it.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from chalicelib.domain.claims.values import CURRENCIES, folded, month_number
from chalicelib.domain.claims.words import CHANGES, CHANGES_UNSPACED, COUNTED_OFF, FROM, PER_CENT, word_set
from chalicelib.domain.text.terms import language_of_words, terms_of_word

WINDOW = 18  # words on either side that say what a value is of; in one sentence
MOST_VALUES = 24
MOST_PIECES = 1500
MOST_TERMS = 32  # of the words around the values of a text, the nearest: what a scope is asked for
_CHANGE_BEFORE, _CHANGE_AFTER = 10, 6
_UNIT_WITHIN = 3
_UNITS = 2  # "15 classification problems": one of the two is what is counted
_DAYS_A_MONTH = 31
_LONGEST_DAY = 2  # digits


class Measure(StrEnum):
    """What values can be compared by. Money is told apart by currency, amounts by what is counted."""

    MONEY = "money"
    SHARE = "share"
    DATE = "date"
    TIME = "time"
    AMOUNT = "amount"


@dataclass(frozen=True)
class Stated:
    """A value in a text. `value` is a number, of a date the days and of a time the minutes; `units` say what of; `words` are
    the terms around it with their distance. `change`: words of change stand by it. `outgoing`: it is what was before."""

    measure: Measure
    value: float
    said: str
    units: tuple[str, ...]
    words: Mapping[str, int]
    change: bool = False
    outgoing: bool = False

    @property
    def key(self) -> tuple[Measure, float]:
        """What makes it the same value."""
        return self.measure, self.value


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.DOTALL)


_CODE = r"```.*?(?:```|\Z)|`[^`\n]*`"
_PIECE = (
    r"[$€£¥₺]?\d+(?:[.,:/]\d+)*(?:%|(?:st|nd|rd|th)\b|[kKmM]\b)?[€£¥₺%]?"
    r"|[^\W\d_]+(?:['’-][^\W_]+)*|[.!?;\n。！？；]|[^\w\s]"
)
_ENDS = frozenset(".!?;\n。！？；")


@lru_cache(maxsize=128)
def stated_values(text: str) -> tuple[Stated, ...]:
    """The values that `text` states, in its order, at most 24; code in it is passed over."""
    if not any(c.isdigit() for c in text):
        return ()
    plain = unicodedata.normalize("NFKC", _pattern(_CODE).sub(" . ", text))
    tokens = [found.group() for found in _pattern(_PIECE).finditer(plain)][:MOST_PIECES]
    words = [folded(token) or token for token in tokens]  # a mark alone folds to nothing
    reading = _Reading(tokens, words, language_of_words(words))
    return tuple(reading.values())[:MOST_VALUES]


def terms_around(text: str) -> tuple[str, ...]:
    """The terms by which a text that states the same things is found: those around its values, the nearest first."""
    nearest: dict[str, int] = {}
    for one in stated_values(text):
        for term, distance in one.words.items():
            nearest[term] = min(distance, nearest.get(term, distance))
    return tuple(sorted(nearest, key=lambda term: (nearest[term], term)))[:MOST_TERMS]


@dataclass(frozen=True)
class _Found:
    """A value and the tokens that it takes."""

    measure: Measure
    value: float
    begin: int
    end: int
    currency: str = ""


@dataclass(frozen=True)
class _Reading:
    tokens: Sequence[str]
    plain: Sequence[str]
    language: str

    def values(self) -> Iterator[Stated]:
        taken = -1
        for i, token in enumerate(self.plain):
            if i > taken and (token[0].isdigit() or token[0] in "$€£¥₺") and (found := self._found(i)):
                taken = found.end
                yield self._stated(found)

    def _found(self, i: int) -> _Found | None:
        token, after = self.plain[i], self._at(i + 1)
        digits = re.sub(r"[^\d.,:/]", "", token).strip(".,:/")
        if "/" in digits or digits.count(".") > 1:  # a fraction, a path, a version
            return None
        if ":" in digits or after in {"am", "pm", "uhr"}:
            return self._time(i, digits, after)
        return self._date(i, digits) or self._amount(i, digits)

    def _amount(self, i: int, digits: str) -> _Found | None:
        token, after = self.plain[i], self._at(i + 1)
        value, currency = _number(digits, token), self._currency(i)
        if value is None or (_is_a_year(digits) and not currency):
            return None
        if currency:
            return _Found(Measure.MONEY, value, i, i, currency)
        if "%" in token or after == "%" or after in word_set(PER_CENT):
            return _Found(Measure.SHARE, value, i, i)
        return None if self._names_something(i) else _Found(Measure.AMOUNT, value, i, i)

    def _at(self, i: int) -> str:
        return self.plain[i] if 0 <= i < len(self.plain) else ""

    def _currency(self, i: int) -> str:
        before, after = self._at(i - 1), self._at(i + 1)
        sign = _pattern(r"[\d.,:/%]").sub("", self.plain[i])[:1]
        for said in (sign, after, after[:1], before):
            if said in CURRENCIES:
                return CURRENCIES[said]
        return ""

    def _time(self, i: int, digits: str, after: str) -> _Found | None:
        hour, _, minute = digits.partition(":")
        if not (hour.isdigit() and (minute.isdigit() or not minute)):
            return None
        half = 12 if after == "pm" and int(hour) < 12 else 0  # noqa: PLR2004 - hours of half a day
        return _Found(Measure.TIME, (int(hour) + half) * 60 + int(minute or 0), i, i + (after in {"am", "pm", "uhr"}))

    def _date(self, i: int, digits: str) -> _Found | None:
        if not digits.isdigit() or len(digits) > _LONGEST_DAY:
            return None
        if month := month_number(self._at(i - 1)):
            end = i + next((n for n in (1, 2) if _is_a_year(self._at(i + n))), 0)
            return _Found(Measure.DATE, month * _DAYS_A_MONTH + int(digits), i - 1, end)
        if (month := month_number(self._at(i + 1))) and not self._at(i + 2)[:1].isdigit():
            return _Found(Measure.DATE, month * _DAYS_A_MONTH + int(digits), i, i + 1)
        return None

    def _names_something(self, i: int) -> bool:
        """A number that tells one thing from others counts nothing: "Python 3", "sprint 2", "#4", "x-1"."""
        before = self._at(i - 1)
        if not before or before in _ENDS:
            return False
        first = self.tokens[i - 1][0]
        is_name = first.isupper() and i > 1 and self._at(i - 2) not in _ENDS and self.tokens[i - 1] != "I"
        return is_name or before in word_set(COUNTED_OFF) or before in "#/-_.=(["

    def _stated(self, found: _Found) -> Stated:
        words: dict[str, int] = {}
        for step, start in ((-1, found.begin - 1), (1, found.end + 1)):
            for distance, term in self._around(start, step):
                words[term] = min(distance, words.get(term, WINDOW))
        units = tuple(term for d, term in self._around(found.end + 1, 1) if d <= _UNIT_WITHIN)[:_UNITS]
        said = " ".join(self.tokens[found.begin : found.end + 1])
        counted = found.measure is Measure.AMOUNT
        return Stated(
            found.measure,
            found.value,
            said,
            units if counted else (found.currency,) if found.currency else (),
            words,
            self._is_of_change(found),
            self._at(found.begin - 1) in word_set(FROM),
        )

    def _around(self, start: int, step: int) -> Iterator[tuple[int, str]]:
        for distance in range(1, WINDOW + 1):
            i = start + step * (distance - 1)
            if not 0 <= i < len(self.plain) or self.plain[i] in _ENDS:
                return
            if not self.plain[i][0].isdigit():
                yield from ((distance, term) for term in terms_of_word(self.tokens[i], self.language))

    def _is_of_change(self, found: _Found) -> bool:
        near = self.plain[max(0, found.begin - _CHANGE_BEFORE) : found.end + 1 + _CHANGE_AFTER]
        return not word_set(CHANGES).isdisjoint(near) or any(part in "".join(near) for part in CHANGES_UNSPACED)


def _is_a_year(digits: str) -> bool:
    return bool(_pattern(r"(?:19|20)\d\d").fullmatch(digits))


def _number(digits: str, token: str) -> float | None:
    """A separator before exactly three digits parts thousands, any other is a decimal point."""
    plain = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", digits).replace(",", ".")
    if plain.count(".") > 1 or not plain:
        return None
    scale = {"k": 1e3, "m": 1e6}.get(token[-1], 1)
    return float(plain) * scale
