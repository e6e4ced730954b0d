"""Values stated in passing, in any script: what they are, what they are of, and what is no value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.claims.stated import MOST_VALUES, Measure, stated_values


def read(text: str) -> list[tuple[Measure, float]]:
    """The values of a text."""
    return [one.key for one in stated_values(text)]


@pytest.mark.parametrize(
    ("text", "measure", "value"),
    [
        ("I raised the picnic budget to $55 today", Measure.MONEY, 55),
        ("the rent is 1,200 euros a month", Measure.MONEY, 1200),
        ("die Kaution liegt bei 1.100 € im Monat", Measure.MONEY, 1100),
        ("predpokládám 2.5k EUR", Measure.MONEY, 2500),
        ("预算增加到500元", Measure.MONEY, 500),
        ("予算は500円です", Measure.MONEY, 500),
        ("coverage has improved to 78%", Measure.SHARE, 78),
        ("die Quote liegt bei 12,5 Prozent", Measure.SHARE, 12.5),
        ("our deadline is April 5, 2024", Measure.DATE, 4 * 31 + 5),
        ("la date est le 5 avril", Measure.DATE, 4 * 31 + 5),
        ("the call is at 4:30 PM", Measure.TIME, 16 * 60 + 30),
        ("the call is at 11 am", Measure.TIME, 11 * 60),
        ("the library has 52 sources now", Measure.AMOUNT, 52),
        ("it takes 250ms to answer", Measure.AMOUNT, 250),
    ],
)
def test_a_value_is_read_with_what_it_is_measured_in(text: str, measure: Measure, value: float) -> None:
    assert read(text) == [(measure, value)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no number here",
        "we run Python 3 and Flask 2.3.1",
        "see sprint 2, step 4, #7 and x-1",
        "in 2024 and 1999",
        "```\nlimit = 500\n``` and `size = 3`",
        "open 1/2 of src/2/file",
    ],
)
def test_names_versions_years_and_code_state_nothing(text: str) -> None:
    assert read(text) == []


def test_a_value_knows_what_is_counted_what_stands_around_it_and_that_it_is_new() -> None:
    (old, new) = stated_values("My reading list grew from 45 sources to 52 sources. It rains.")
    assert (old.outgoing, new.outgoing) == (True, False)
    assert new.units == ("sourc",)
    assert new.change
    assert new.words["read"] > new.words["list"] > new.words["grew"]
    assert "rain" not in new.words
    (plain,) = stated_values("The room has 9 chairs")
    assert not plain.change


def test_only_so_many_values_of_a_text_are_read() -> None:
    assert len(stated_values(" ".join(f"{n + 5} apples and" for n in range(100)))) == MOST_VALUES


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for one in stated_values(f"{text} 12 {text}"):
        assert one.value >= 0
        assert one.said
