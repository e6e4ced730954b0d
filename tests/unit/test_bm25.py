"""BM25 in two halves: what a row says is fixed when it is written, what a term weighs when it is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.bm25 import K1, LENGTH_PIVOT, impact, score, weight

COUNTS = st.integers(1, 500)


@given(COUNTS, COUNTS)
def test_an_impact_is_positive_and_bounded(frequency: int, more: int) -> None:
    assert 0 < impact(frequency, frequency + more) <= K1 + 1


@given(COUNTS, COUNTS)
def test_one_occurrence_more_never_says_less(frequency: int, length: int) -> None:
    assert impact(frequency + 1, length + 500) >= impact(frequency, length + 500)


@given(COUNTS)
def test_a_longer_row_says_less_by_the_same_occurrence(length: int) -> None:
    assert impact(1, length) >= impact(1, length + 50)


def test_an_impact_is_that_of_the_formula() -> None:
    assert impact(1, int(LENGTH_PIVOT)) == pytest.approx(1.0)
    assert impact(3, int(LENGTH_PIVOT)) == pytest.approx(round(3 * 1.9 / 3.9, 4))


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_weight_is_never_negative_whatever_statistics_say(rows: int, frequency: int) -> None:
    assert weight(rows, frequency) >= 0


@given(st.integers(1, 10_000).flatmap(lambda rows: st.tuples(st.just(rows), st.integers(0, rows - 1))))
def test_a_rarer_term_weighs_more(pair: tuple[int, int]) -> None:
    rows, frequency = pair
    assert weight(rows, frequency) > weight(rows, frequency + 1)


WEIGHTS = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 10), max_size=6)
ROWS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), max_size=6)


@given(ROWS, WEIGHTS)
def test_a_row_that_shares_no_term_scores_nothing(counts: dict[str, int], weights: dict[str, float]) -> None:
    only = {term: value for term, value in weights.items() if term not in counts}
    assert score(counts, sum(counts.values()), only) == 0


@given(ROWS, WEIGHTS)
def test_the_score_of_a_row_is_the_sum_of_its_terms(counts: dict[str, int], weights: dict[str, float]) -> None:
    length = sum(counts.values())
    parts = [score(counts, length, {term: value}) for term, value in weights.items()]
    assert score(counts, length, weights) == pytest.approx(sum(parts))
    assert all(part >= 0 for part in parts)
