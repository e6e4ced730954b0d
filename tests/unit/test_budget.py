"""Budgets nest, end with what they are around, and belong to one piece of work."""

import math
import threading

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.budget import aside, budget, failure_of, note_failure, time_left


def test_outside_of_any_there_is_no_limit_and_nothing_is_remembered() -> None:
    assert time_left() == math.inf
    note_failure("redis", "gone")
    assert failure_of("redis") is None


@given(outer=st.floats(1, 1000), inner=st.floats(1, 1000))
def test_an_inner_one_never_reaches_beyond_the_outer(outer: float, inner: float) -> None:
    with budget(outer):
        with budget(inner):
            assert time_left() <= min(outer, inner)
        assert min(outer, inner) - 0.9 < time_left() <= outer
    assert time_left() == math.inf


def test_a_failure_is_remembered_for_the_whole_work_and_no_longer() -> None:
    with budget(10):
        with budget(5):
            note_failure("redis", "gone")
        assert failure_of("redis") == "gone"
    with budget(10):
        assert failure_of("redis") is None


def test_what_fails_aside_has_not_failed_the_work_around_it() -> None:
    with budget(10):
        note_failure("redis", "gone")
        with aside(5):
            assert failure_of("redis") == "gone"
            assert time_left() <= 5
            note_failure("mongo", "slow")
        assert failure_of("mongo") is None
        assert failure_of("redis") == "gone"


def test_two_threads_have_nothing_of_each_other() -> None:
    seen = []
    with budget(10):
        note_failure("redis", "gone")
        thread = threading.Thread(target=lambda: seen.append((failure_of("redis"), time_left())))
        thread.start()
        thread.join()
    assert seen == [(None, math.inf)]
