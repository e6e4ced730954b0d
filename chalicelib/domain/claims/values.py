"""Values of claims in a form that can be compared: dates by their parts, amounts by number and unit, the rest by words."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

MAX_WORDS = 8


class Kind(StrEnum):
    """How a value is read. `name` and `place` are text that begins as names do."""

    NAME = "name"
    PLACE = "place"
    TEXT = "text"
    DATE = "date"
    AMOUNT = "amount"
    CONTACT = "contact"


@dataclass(frozen=True)
class Value:
    """A value: `text` is its normal form, `parts` what two values of a kind are compared by. A value that names its day only
    relative to when it was said (a weekday) is not `definite`."""

    text: str
    kind: Kind
    parts: tuple[tuple[str, str], ...]
    definite: bool = True

    def conflicts(self, other: "Value") -> bool:
        """Whether both cannot be true of the same thing: they differ in what both say. One that only says more does not."""
        mine, others = dict(self.parts), dict(other.parts)
        if _family(self.kind) != _family(other.kind):
            return False
        if self.kind is Kind.AMOUNT and mine.get("unit") != others.get("unit"):
            return False
        if _family(self.kind) == "words":
            words, further = set(mine.values()), set(others.values())
            return not (words <= further or further <= words)
        return any(mine[name] != others[name] for name in mine.keys() & others.keys())

    def equals(self, other: "Value") -> bool:
        """Whether both say the same, no more and no less."""
        return _family(self.kind) == _family(other.kind) and self.parts == other.parts


def _family(kind: Kind) -> str:
    return "words" if kind in {Kind.NAME, Kind.PLACE, Kind.TEXT} else kind.value


def folded(text: str) -> str:
    """`text` with case, accents and forms of apostrophes gone, so that spellings of one word are one."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    return unicodedata.normalize("NFC", bare if bare.isascii() or not _has_marks_that_matter(text) else text)


def _has_marks_that_matter(text: str) -> bool:
    """Kana and Indic scripts spell with marks; the accents of Latin, Greek, Cyrillic, Arabic and Hebrew are optional."""
    return any("\u0900" <= c <= "\u0eff" or "\u3040" <= c <= "\u30ff" for c in text)


def words_of(text: str) -> list[str]:
    """The folded words of a text; of scripts without spaces, its characters."""
    return _words().findall(folded(text))


@cache
def _words() -> re.Pattern[str]:
    return re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


def value_of(text: str, kind: Kind) -> Value | None:
    """The value that `text` gives, or None where it is none of that kind."""
    text = text.strip(" \t'\"“”«».,;:!?()。、，")
    if kind is Kind.DATE:
        return _date(text)
    if kind is Kind.AMOUNT:
        return _amount(text)
    if kind is Kind.CONTACT:
        return _contact(text)
    words = words_of(text)
    if not words or len(words) > MAX_WORDS * (1 if folded(text).isascii() else 3):
        return None
    if kind is not Kind.TEXT and not _looks_like_a_name(text):
        return None
    return Value(" ".join(text.split()), kind, tuple((str(i), word) for i, word in enumerate(words)))


def _looks_like_a_name(text: str) -> bool:
    """Names begin with a capital where the script has any."""
    first = text[0]
    return first.isupper() or first.isdigit() or unicodedata.category(first) == "Lo"


def _contact(text: str) -> Value | None:
    if found := re.search(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}", text):
        return Value(found.group(), Kind.CONTACT, (("email", found.group().casefold()),))
    if found := re.search(r"\+?\d[\d ()/.-]{5,20}\d", text):
        digits = "".join(c for c in found.group() if c.isdigit() or c == "+")
        return Value(found.group(), Kind.CONTACT, (("phone", digits),))
    return None


CURRENCIES = {"$": "usd", "us$": "usd", "usd": "usd", "dollars": "usd", "dollar": "usd", "€": "eur", "eur": "eur"}
CURRENCIES |= {"euro": "eur", "euros": "eur", "£": "gbp", "gbp": "gbp", "pounds": "gbp", "¥": "jpy", "円": "jpy"}
CURRENCIES |= {
    "yen": "jpy",
    "元": "cny",
    "tl": "try",
    "₺": "try",
    "lira": "try",
    "руб": "rub",
    "рублей": "rub",
    "chf": "chf",
}
_AMOUNT = (
    r"(?P<before>us\$|[$€£¥₺])?\s?(?P<number>\d[\d.,]*\d|\d)(?P<scale>\s?(?:k|m|million|thousand)(?![^\W\d_]))?"
    r"\s?(?P<unit>%|[€£¥₺円元]|[^\W\d_]+)?"
)


def _amount(text: str) -> Value | None:
    found = re.search(_AMOUNT, unicodedata.normalize("NFKC", text).casefold())
    if not found:
        return None
    number = _number(found["number"]) * {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}.get(
        (found["scale"] or "").strip(), 1
    )
    sign = found["before"] or found["unit"] or ""
    unit = CURRENCIES.get(sign, sign if not found["before"] else "")
    unit = "%" if unit in {"percent", "prozent", "pourcent"} else unit.removesuffix("s") if unit.isascii() else unit
    return Value(found.group().strip(), Kind.AMOUNT, (("number", f"{number:g}"), ("unit", unit)))


def _number(text: str) -> float:
    """A separator before exactly three digits parts thousands, any other is a decimal point."""
    text = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", text)
    return float(text.replace(",", ".")) if text.count(",") + text.count(".") <= 1 else 0.0


_MONTHS = (
    "january jan januar janvier enero gennaio janeiro januari ocak января январь يناير",
    "february feb februar fevrier febrero febbraio fevereiro februari subat февраля февраль فبراير",
    "march mar marz maerz mars marzo marco maart mart марта март مارس",
    "april apr avril abril aprile nisan апреля апрель أبريل ابريل",
    "may mai mayo maggio maio mei mayis мая май مايو",
    "june jun juni juin junio giugno junho haziran июня июнь يونيو",
    "july jul juli juillet julio luglio julho temmuz июля июль يوليو",
    "august aug aout agosto augustus agustos августа август أغسطس اغسطس",
    "september sep sept septembre septiembre settembre setembro eylul сентября сентябрь سبتمبر",
    "october oct oktober octobre octubre ottobre outubro ekim октября октябрь أكتوبر اكتوبر",
    "november nov novembre noviembre novembro kasim ноября ноябрь نوفمبر",
    "december dec dezember decembre diciembre dicembre dezembro aralik декабря декабрь ديسمبر",
)
_WEEKDAYS = (
    "monday montag lundi lunes lunedi segunda maandag pazartesi понедельник الاثنين 月曜日 周一 星期一",
    "tuesday dienstag mardi martes martedi terca dinsdag sali вторник الثلاثاء 火曜日 周二 星期二",
    "wednesday mittwoch mercredi miercoles mercoledi quarta woensdag carsamba среду среда الأربعاء 水曜日 周三 星期三",
    "thursday donnerstag jeudi jueves giovedi quinta donderdag persembe четверг الخميس 木曜日 周四 星期四",
    "friday freitag vendredi viernes venerdi sexta vrijdag cuma пятницу пятница الجمعة 金曜日 周五 星期五",
    "saturday samstag samedi sabado sabato zaterdag cumartesi субботу суббота السبت 土曜日 周六 星期六",
    "sunday sonntag dimanche domingo domenica zondag pazar воскресенье الأحد 日曜日 周日 星期日",
)


@cache
def _numbered(names: tuple[str, ...]) -> dict[str, str]:
    """The number, from 01, of each name."""
    return {folded(name): f"{number:02}" for number, line in enumerate(names, 1) for name in line.split()}


def month_number(word: str) -> int | None:
    """The number of the month that a folded word names."""
    found = _numbered(_MONTHS).get(word)
    return int(found) if found else None


def _date(text: str) -> Value | None:
    plain = folded(text)
    parts = dict(_day(plain) | _clock(plain))
    if parts:
        return Value(text, Kind.DATE, tuple(sorted(parts.items())), definite="day" in parts or "year" in parts)
    weekdays = _numbered(_WEEKDAYS)
    for word in re.findall(r"[^\W\d_]+", plain):
        if word in weekdays:
            return Value(text, Kind.DATE, (("weekday", weekdays[word]),), definite=False)
    return None


def _day(plain: str) -> dict[str, str]:
    if found := re.search(r"(\d{4})[-/.年]\s?(\d{1,2})[-/.月]\s?(\d{1,2})", plain):
        year, month, day = found.groups()
        return {"year": year, "month": f"{int(month):02}", "day": f"{int(day):02}"}
    if found := re.search(r"(\d{1,2})\s?月\s?(\d{1,2})\s?[日号號]", plain):
        return {"month": f"{int(found[1]):02}", "day": f"{int(found[2]):02}"}
    if found := re.search(r"(?<!\d)(\d{1,2})[./](\d{1,2})[./](\d{4})(?!\d)", plain):
        return {"numeric": ".".join(f"{int(part):02}" for part in found.groups()), "year": found[3]}
    months = _numbered(_MONTHS)
    for found in re.finditer(r"[^\W\d_]+", plain):
        if month := months.get(found.group()):
            return _around(plain, found, month)
    year = re.fullmatch(r"(?:in |im |en |nel |em )?((?:19|20)\d\d)", plain)
    return {"year": year[1]} if year else {}


def _around(plain: str, name: re.Match[str], month: str) -> dict[str, str]:
    """The day and year beside a month's name."""
    before = re.search(r"(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s*(?:de |d'|of )?$", plain[: name.start()])
    after = re.match(r"\.?\s*(\d{1,2})(?:st|nd|rd|th)?(?![\d:])", plain[name.end() :])
    year = re.search(r"(?:19|20)\d\d", plain[name.end() :])
    day = before or after
    found = {"month": month} | ({"day": f"{int(day[1]):02}"} if day else {}) | ({"year": year.group()} if year else {})
    return found if day or year else {}


_APART = r"(?<![a-z\d:])"  # of a word: no time is in a name such as "K7pm4"; scripts without spaces may stand before it


def _clock(plain: str) -> dict[str, str]:
    found = re.search(
        rf"{_APART}(\d{{1,2}})(?:[:h](\d{{2}}))?\s?(am|pm|a\.m\.?|p\.m\.?|uhr)(?![a-z])", plain
    ) or re.search(rf"{_APART}(\d{{1,2}})[:h](\d{{2}})(?![a-z\d])()", plain)
    if not found:
        return {}
    hour = int(found[1]) % 12 + 12 if found[3].startswith("p") else int(found[1])
    return {"time": f"{hour:02}:{found[2] or '00'}"}
