"""Work beside a request: within its budget, its errors its own, and over when the request is."""

import threading

import pytest

from chalicelib.context.beside import Beside
from chalicelib.domain.budget import budget, failure_of, note_failure, time_left
from chalicelib.errors import StoreUnavailable


def test_it_has_the_budget_of_the_request_and_tells_it_what_failed() -> None:
    def asks() -> float:
        note_failure("redis", "gone")
        return time_left()

    with budget(5), Beside() as beside:
        assert 0 < beside.begin(asks).result() <= 5
        assert failure_of("redis") == "gone"


def test_its_error_is_raised_where_it_is_asked_for() -> None:
    def fails() -> None:
        raise StoreUnavailable("mongo", "gone")

    with Beside() as beside, pytest.raises(StoreUnavailable):
        beside.begin(fails).result()


def test_two_go_on_at_once_and_leaving_waits_for_both() -> None:
    met, done = threading.Barrier(2), list[int]()

    def work(number: int) -> None:
        met.wait(5)
        done.append(number)

    def leave() -> None:
        with Beside() as beside:
            beside.begin(lambda: work(1))
            beside.begin(lambda: work(2))
            raise RuntimeError("the request failed meanwhile")

    with pytest.raises(RuntimeError):
        leave()
    assert sorted(done) == [1, 2]
