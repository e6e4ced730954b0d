"""Vectors without numpy: packed as float32, cut and scaled, and never not finite."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.vector import best_cosine, cosine, dimensions, mean, pack, unit, unpack

VALUES = st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=32).filter(lambda values: math.hypot(*values) > 1e-3)
PAIRS = st.integers(2, 16).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.floats(-1, 1, width=32), min_size=n, max_size=n).filter(lambda v: math.hypot(*v) > 1e-3)] * 2
    )
)


@given(st.lists(st.floats(width=32, allow_nan=False), max_size=20))
def test_packed_values_come_back_as_they_were(values: list[float]) -> None:
    assert list(unpack(pack(values))) == values
    assert dimensions(pack(values)) == len(values)


def test_a_vector_is_little_endian_float32() -> None:
    assert pack([1.0, -2.0]).hex() == "0000803f000000c0"


@given(VALUES)
def test_a_unit_vector_has_length_one(values: list[float]) -> None:
    assert math.hypot(*unpack(unit(values))) == pytest.approx(1, abs=1e-5)


@given(VALUES)
def test_a_cut_vector_has_its_length_restored(values: list[float]) -> None:
    if math.hypot(*values[:4]) > 1e-3:
        cut = unit(values, 4)
        assert dimensions(cut) == 4
        assert math.hypot(*unpack(cut)) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [-math.inf, math.inf]], ids=str)
def test_a_vector_without_a_direction_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="zero or not finite"):
        unit(values)


def test_a_vector_of_too_few_values_is_refused_rather_than_filled_up() -> None:
    with pytest.raises(ValueError, match="2 dimensions, 3 wanted"):
        unit([1.0, 0.0], 3)


def test_a_vector_that_cutting_leaves_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="zero"):
        unit([0.0, 0.0, 1.0], 2)


@given(PAIRS)
def test_a_cosine_is_symmetric_and_within_its_bounds(pair: tuple[list[float], list[float]]) -> None:
    left, right = (unit(values) for values in pair)
    assert cosine(left, right) == cosine(right, left)
    assert -1 - 1e-5 <= cosine(left, right) <= 1 + 1e-5
    assert cosine(left, left) == pytest.approx(1, abs=1e-5)


@given(PAIRS)
def test_the_best_cosine_is_that_of_the_nearest_chunk(pair: tuple[list[float], list[float]]) -> None:
    left, right = (unit(values) for values in pair)
    assert best_cosine(left, [right, left]) == max(cosine(left, right), cosine(left, left))


def test_vectors_of_two_sizes_are_not_compared() -> None:
    with pytest.raises(ValueError, match=r"."):
        cosine(unit([1.0, 0.0]), unit([1.0, 0.0, 0.0]))


def test_the_mean_of_vectors_is_a_unit_vector_between_them() -> None:
    assert list(unpack(mean([unit([1.0, 0.0]), unit([0.0, 1.0])]))) == pytest.approx([math.sqrt(0.5)] * 2)
    assert mean([unit([1.0, 2.0])]) == unit([1.0, 2.0])
