"""The breaker: a store that fails costs a piece of work one timeout, and nothing while it rests; it comes back by itself."""

import contextlib
import threading
import time

import pytest

from chalicelib.adapters.breaker import Breaker
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.domain.budget import budget, failure_of, time_left
from chalicelib.errors import StoreUnavailable
from chalicelib.settings import BreakerSettings

SETTINGS = BreakerSettings(failures=3, seconds=1, most_seconds=4)


class Seconds:
    """A monotonic clock that stands until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Store:
    """A store behind a breaker, that is up or down."""

    def __init__(self) -> None:
        self.clock, self.telemetry = Seconds(), RecordedTelemetry()
        self.breaker = Breaker("redis", SETTINGS, self.telemetry, self.clock)
        self.up, self.calls = True, 0

    def ask(self, *, probing: bool = False) -> None:
        with self.breaker.call(5, probing=probing):
            self.calls += 1
            if not self.up:
                raise StoreUnavailable("redis", "gone")

    def fails(self, times: int = 1) -> str:
        reason = ""
        for _ in range(times):
            with pytest.raises(StoreUnavailable) as raised:
                self.ask()
            reason = raised.value.reason
        return reason


@pytest.fixture
def store() -> Store:
    return Store()


def test_a_few_failures_in_a_row_open_it_and_then_nothing_is_asked(store: Store) -> None:
    store.up = False
    assert store.fails(3) == "gone"
    assert store.breaker.state == "open"
    assert "rests" in store.fails(10)
    assert store.calls == 3


def test_failures_with_a_success_between_them_do_not_open_it(store: Store) -> None:
    for _ in range(5):
        store.up = False
        store.fails(2)
        store.up = True
        store.ask()
    assert store.breaker.state == "closed"


def test_after_its_rest_one_call_finds_out_and_the_others_wait_for_it(store: Store) -> None:
    store.up = False
    store.fails(3)
    store.clock.now += 1
    assert store.breaker.state == "half_open"
    with store.breaker.call(5), pytest.raises(StoreUnavailable, match="rests"), store.breaker.call(5):
        """The outer call is the trial."""
    assert store.breaker.state == "closed"
    store.up = True
    store.ask()
    assert store.calls == 4


def test_a_trial_that_fails_doubles_the_rest_up_to_the_longest(store: Store) -> None:
    store.up = False
    store.fails(3)
    for rest in (1, 2, 4, 4):
        store.clock.now += rest - 0.1
        assert "rests" in store.fails()
        store.clock.now += 0.1
        assert store.fails() == "gone"
    store.clock.now += 4
    store.up = True
    store.ask()
    store.up = False
    store.fails(3)
    store.clock.now += 1
    assert store.fails() == "gone"  # its rests begin anew


def test_calls_that_were_under_way_when_it_opened_lengthen_no_rest(store: Store) -> None:
    begun, go = threading.Barrier(11), threading.Event()

    def call() -> None:
        with contextlib.suppress(StoreUnavailable), store.breaker.call(5):
            begun.wait()
            go.wait()
            raise StoreUnavailable("redis", "gone")

    threads = [threading.Thread(target=call) for _ in range(10)]
    for thread in threads:
        thread.start()
    begun.wait()
    go.set()
    for thread in threads:
        thread.join()
    store.clock.now += 1
    assert store.breaker.state == "half_open"


def test_a_probe_is_made_while_it_rests_and_closes_it(store: Store) -> None:
    store.up = False
    store.fails(3)
    with pytest.raises(StoreUnavailable, match="gone"):
        store.ask(probing=True)
    store.up = True
    store.ask(probing=True)
    store.ask()
    assert store.breaker.state == "closed"


def test_opening_and_closing_are_said_once_with_the_store(store: Store) -> None:
    store.up = False
    store.fails(5)
    store.clock.now += 1
    store.fails()
    store.clock.now += 2
    store.up = True
    store.ask()
    assert [(name, fields["store"]) for name, fields in store.telemetry.events] == [
        ("breaker_opened", "redis"),
        ("breaker_closed", "redis"),
    ]
    assert store.telemetry.events[0][1]["reason"] == "gone"


def test_a_store_that_failed_a_piece_of_work_is_not_asked_again_for_it(store: Store) -> None:
    store.up = False
    with budget(60):
        store.fails()
        with budget(30):
            assert store.fails() == "gone, and it is not asked twice for one request"
        assert failure_of("redis") == "gone"
        assert failure_of("mongo") is None
    assert store.calls == 1
    store.up = True
    with budget(60):
        store.ask()


def test_a_call_whose_time_the_budget_cut_short_is_not_held_against_the_store(store: Store) -> None:
    def cut_short() -> None:
        with store.breaker.call(5):
            time.sleep(0.02)
            raise StoreUnavailable("redis", "TimeoutError")

    for _ in range(5):
        with budget(0.01), pytest.raises(StoreUnavailable, match="the time of the request is up"):
            cut_short()
    assert store.breaker.state == "closed"


def test_no_call_begins_after_the_budget_is_spent(store: Store) -> None:
    with budget(0.001):
        time.sleep(0.002)
        assert store.fails() == "the time of the request is up"
    assert store.calls == 0


def test_a_call_sees_its_own_limit_or_what_is_left_where_that_is_less(store: Store) -> None:
    with store.breaker.call(5):
        assert 4 < time_left() <= 5
    with budget(2), store.breaker.call(5):
        assert 1 < time_left() <= 2


def test_an_error_that_is_an_answer_is_no_failure_of_the_store(store: Store) -> None:
    for _ in range(5):
        with pytest.raises(KeyError), store.breaker.call(5):
            raise KeyError("duplicate")
    assert store.breaker.state == "closed"
