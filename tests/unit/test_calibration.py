"""Scores mean the same with every model: a cosine reads on a scale of 0 to 1, and a model without a curve is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.calibration import CALIBRATIONS, Calibration, calibration_of
from chalicelib.errors import Misconfigured

COSINES = st.floats(-1, 1)
CURVES = st.tuples(st.floats(-0.5, 0.95), st.floats(0.001, 0.5)).map(
    lambda curve: Calibration(middle=curve[0], width=curve[1], chunk_characters=800)
)


@given(CURVES, COSINES)
def test_every_cosine_reads_on_a_scale_of_0_to_1(curve: Calibration, cosine: float) -> None:
    assert 0 <= curve.similarity(cosine) <= 1


@given(st.sampled_from(sorted(CALIBRATIONS)), COSINES, COSINES)
def test_a_higher_cosine_never_reads_lower(model: str, left: float, right: float) -> None:
    similarity = calibration_of(model, {}).similarity
    assert (left <= right) <= (similarity(left) <= similarity(right))


@pytest.mark.parametrize("model", sorted(CALIBRATIONS))
def test_the_middle_of_every_curve_is_one_half(model: str) -> None:
    curve = calibration_of(model, {})
    assert curve.similarity(curve.middle) == pytest.approx(0.5)
    assert curve.similarity(1.0) > 0.9
    assert curve.similarity(0.0) < 0.1
    assert curve.chunk_characters > 0


def test_a_model_without_a_calibration_is_refused_with_the_command_that_makes_one() -> None:
    with pytest.raises(Misconfigured, match="vitto calibrate unheard-of"):
        calibration_of("unheard-of", {})


def test_a_calibration_that_was_made_is_used_before_the_built_in_one() -> None:
    own = Calibration(middle=0.5, width=0.1, chunk_characters=100)
    assert calibration_of("e5-passage", {"e5-passage": own}) is own
    assert calibration_of("mine", {"mine": own}) is own
    assert calibration_of("e5-passage", {"mine": own}) == calibration_of("e5-passage", {})
