"""A time that a question names is compared with event times, in any language where that is plain."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.place import NOWHERE, Situation
from chalicelib.domain.query import Candidate, RecallQuery
from chalicelib.domain.wire import epoch_ms
from chalicelib.recall.times import NAMED_DAY, NAMED_TIME, at_the_named
from tests.building import container
from tests.unit.test_recall import ANA, indexed, remembered

NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)  # a Wednesday
TIMES = {
    "may 23": datetime(2023, 5, 8, 13, tzinfo=UTC),
    "june 23": datetime(2023, 6, 8, tzinfo=UTC),
    "may 24": datetime(2024, 5, 20, tzinfo=UTC),
    "last year": datetime(2025, 7, 1, tzinfo=UTC),
    "last month": datetime(2026, 2, 3, tzinfo=UTC),
    "last week": datetime(2026, 2, 26, tzinfo=UTC),
    "yesterday": datetime(2026, 3, 3, 23, 59, tzinfo=UTC),
    "today": datetime(2026, 3, 4, 0, 0, tzinfo=UTC),
}


def raised(question: str) -> dict[str, float]:
    """What each time gets that gets anything."""
    candidates = [
        Candidate(name, "s", situation=Situation(NOWHERE, None, 5, epoch_ms(at))) for name, at in TIMES.items()
    ]
    got = at_the_named([*candidates, Candidate("unknown", "s")], question, NOW)
    return {name: value for name, value in zip([*TIMES, "unknown"], got, strict=True) if value}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Ana do in May 2023?", {"may 23"}),
        ("Was geschah im Mai 2023?", {"may 23"}),
        ("Qu'a-t-on fait en mai 2023 ?", {"may 23"}),
        ("What happened in 2023?", {"may 23", "june 23"}),
        ("What did Ana do yesterday?", {"yesterday"}),
        ("Was hat Ana gestern gemacht?", {"yesterday"}),
        ("昨日は何をしましたか", {"yesterday"}),
        ("¿Qué pasó la semana pasada?", {"last week"}),
        ("What happened last month?", {"last month", "last week"}),
        ("Qu'est-il arrivé l'année dernière ?", {"last year"}),
        ("What may Ana eat?", set()),
        ("What does Ana eat?", set()),
        ("Is room 20234 free?", set()),
        ("Was steht hier von yesterdays?", set()),
    ],
)
def test_what_happened_then_counts_more(question: str, names: set[str]) -> None:
    assert raised(question) == dict.fromkeys(names, NAMED_TIME)


@pytest.mark.parametrize(
    "question",
    ["What happened on 8 May 2023?", "What was on 2023-05-08?", "Was geschah am 8. Mai 2023?", "Что было 8 мая 2023?"],
)
def test_the_very_day_counts_most(question: str) -> None:
    assert raised(question) == {"may 23": NAMED_TIME + NAMED_DAY}


def test_a_hit_says_that_it_is_of_the_time_that_was_asked_about() -> None:
    made = container()
    for month in ("03", "05"):
        remembered(
            made, f"Ana repaired the harbour crane with Bob, bill {month}", eventTime=f"2023-{month}-08T10:00:00Z"
        )
    indexed(made)
    hits = made.recall.recall(ANA, RecallQuery(query="Welche crane des harbour repaired Ana am 8. Mai 2023?"))["hits"]
    assert {hit["memory"]["content"][-2:]: "of the time that the query names" in hit["why"] for hit in hits} == {
        "05": True,
        "03": False,
    }
