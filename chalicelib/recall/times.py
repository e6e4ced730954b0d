"""Times that a question names, against the event times of candidates: a date, a month, a year, or a word such as yesterday.

A memory's text has its date in one spelling of one language; what a question names is compared as a date, in any of those
that `domain.claims.values` reads, and softly: what happened at another time is still found.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

from chalicelib.domain.claims.values import Kind, folded, value_of
from chalicelib.domain.query import Candidate

NAMED_TIME = 1.0  # in units of a signal's deviation; docs/retrieval.md
NAMED_DAY = 2.0  # more, where it is the very day
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")

_DAYS_AGO: dict[tuple[int, int], str] = {
    (0, 0): "today heute aujourd'hui hoy oggi hoje vandaag сегодня 今日 今天 오늘",
    (1, 1): "yesterday gestern ayer ieri ontem gisteren вчера 昨日 昨天 어제",
    (2, 2): "vorgestern avant-hier anteayer eergisteren позавчера 一昨日 前天 그저께",
}
"""First and last day, counted back from today, by words that stand alone and mean nothing else in another of
these languages (the French for yesterday is the German for here)."""

_PERIODS_AGO = {
    "week": "last week|letzte woche|vorige woche|la semaine derniere|la semana pasada|la settimana scorsa|na semana passada|"
    "vorige week|на прошлой неделе|先週|上周|上週|지난주",
    "month": "last month|letzten monat|vorigen monat|le mois dernier|el mes pasado|il mese scorso|no mes passado|"
    "vorige maand|в прошлом месяце|先月|上个月|上個月|지난달",
    "year": "last year|letztes jahr|voriges jahr|l'annee derniere|el ano pasado|l'anno scorso|no ano passado|vorig jaar|"
    "в прошлом году|去年|작년",
}


class NamedTime:
    """When a question asks about. `is_named` is False where it names no time."""

    def __init__(self, question: str, now: datetime) -> None:
        self._parts = _date(question)
        self._between = None if self._parts else _relative(folded(question), now)

    @property
    def is_named(self) -> bool:
        """Whether it names any."""
        return bool(self._parts or self._between)

    def bonus(self, at: datetime) -> float:
        """What is added for having happened at `at`."""
        if self._between:
            return NAMED_TIME if self._between[0] <= at < self._between[1] else 0.0
        own = {"year": f"{at:%Y}", "month": f"{at:%m}", "day": f"{at:%d}"}
        if any(own[name] != value for name, value in self._parts.items() if name != "day"):
            return 0.0
        return NAMED_TIME + (NAMED_DAY if self._parts.get("day") == own["day"] else 0.0)


def at_the_named(candidates: Sequence[Candidate], question: str, now: datetime) -> list[float]:
    """What is added for having happened when `question`, asked at `now`, asks about; nothing where it names no time."""
    named = NamedTime(question, now)
    if not named.is_named:
        return [0.0] * len(candidates)
    return [named.bonus(_event_time(c)) if c.situation else 0.0 for c in candidates]


def _event_time(candidate: Candidate) -> datetime:
    assert candidate.situation is not None
    return datetime.fromtimestamp(candidate.situation.event_ms / 1000, UTC)


def _date(question: str) -> dict[str, str]:
    """Year, month and day as far as they are named; a month alone may be another word (may, mars) and does not count."""
    value = value_of(question, Kind.DATE)
    parts = {name: part for name, part in value.parts if name in {"year", "month", "day"}} if value else {}
    if value is not None and value.definite and "month" in parts:
        return parts
    year = _YEAR.search(question)
    return {"year": year.group()} if year else {}


def _relative(plain: str, now: datetime) -> tuple[datetime, datetime] | None:
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for kind, pattern in _patterns().items():
        if pattern.search(plain):
            return _period(kind, midnight)
    return None


def _period(kind: str | tuple[int, int], midnight: datetime) -> tuple[datetime, datetime]:
    if isinstance(kind, tuple):
        first, last = kind
        return midnight - timedelta(days=first), midnight - timedelta(days=last - 1)
    if kind == "week":
        monday = midnight - timedelta(days=midnight.weekday())
        return monday - timedelta(days=7), monday
    if kind == "month":
        end = midnight.replace(day=1)
        return (end - timedelta(days=1)).replace(day=1), end
    end = midnight.replace(month=1, day=1)
    return end.replace(year=end.year - 1), end


@cache
def _patterns() -> dict[str | tuple[int, int], re.Pattern[str]]:
    words: dict[str | tuple[int, int], str] = {
        days: "|".join(text.split()) for days, text in reversed(_DAYS_AGO.items())
    }
    return {kind: re.compile(_bounded(folded(text))) for kind, text in (words | _PERIODS_AGO).items()}


def _bounded(alternatives: str) -> str:
    """Whole words, where a script separates them."""
    return "|".join(rf"(?<!\w){one}(?!\w)" if re.match(r"[a-zа-я]", one) else one for one in alternatives.split("|"))
