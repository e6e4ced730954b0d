"""The task queue: nothing is lost, nothing is held by two at once, and what cannot be done ends as a dead letter."""

from collections import Counter

import pytest

from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.queue import DEAD_LETTER_DAYS, RedisTaskQueue
from chalicelib.adapters.sqs_queue import SqsTaskQueue
from chalicelib.bootstrap import system_clock
from chalicelib.domain.tasks import MAX_TEXT_BYTES, IndexRows, RebuildScope, Task, from_text
from chalicelib.errors import Misconfigured, StoreUnavailable
from chalicelib.ports import Delivery, TaskQueue
from chalicelib.settings import QueueSettings
from tests.contract.queues import ATTEMPTS, KINDS, SETTINGS, VISIBILITY, QueueUnderTest, age, queue_under_test
from tests.contract.racing import at_once
from tests.sqs_server import CREDENTIALS, make_queue

TASK = IndexRows(scope_key="acme/user/ana", ids=("mem_1", "mem_2"))


@pytest.fixture(params=KINDS)
def under_test(request: pytest.FixtureRequest) -> QueueUnderTest:
    """Every queue, empty."""
    return queue_under_test(request)


@pytest.fixture
def queue(under_test: QueueUnderTest) -> TaskQueue:
    """The queue alone."""
    return under_test.queue


def numbered(count: int) -> list[Task]:
    """So many tasks, each its own."""
    return [RebuildScope(scope_key=f"acme/user/{number}") for number in range(count)]


def everything(queue: TaskQueue) -> list[Delivery]:
    """All that the queue gives out now."""
    found: list[Delivery] = []
    while given := queue.receive(10):
        found += given
    return found


def counts(queue: TaskQueue) -> tuple[int, int, int]:
    """How many messages wait, are taken and are dead."""
    said = queue.probe()
    return said["waiting"], said["taken"], said["dead"]


def exhausted(under_test: QueueUnderTest) -> None:
    """Fail everything as often as it is given out."""
    for _ in range(ATTEMPTS):
        for delivery in everything(under_test.queue):
            under_test.queue.retry([delivery], 0)
    assert everything(under_test.queue) == []


def test_an_empty_queue_gives_nothing(queue: TaskQueue) -> None:
    assert queue.receive(10) == []
    assert counts(queue) == (0, 0, 0)
    queue.send([])
    queue.done([])
    queue.retry([], 5)
    assert queue.redrive() == 0
    assert queue.dead_letters(10) == []


def test_a_task_comes_as_it_was_sent(queue: TaskQueue) -> None:
    sent: list[Task] = [TASK, RebuildScope(scope_key="acme/universe/%E5%90%8D%E5%89%8D%2F%20%F0%9F%98%80")]
    queue.send(sent)
    given = everything(queue)
    assert sorted(map(str, (from_text(one.text) for one in given))) == sorted(map(str, sent))
    assert {(one.attempt, one.last) for one in given} == {(1, False)}
    assert len({one.id for one in given}) == 2


def test_what_is_taken_is_hidden_and_what_is_done_is_gone(queue: TaskQueue) -> None:
    queue.send([TASK])
    assert counts(queue) == (1, 0, 0)
    given = queue.receive(1)
    assert len(given) == 1
    assert queue.receive(10) == []
    assert counts(queue) == (0, 1, 0)
    queue.done(given)
    assert counts(queue) == (0, 0, 0)
    queue.done(given)  # a repeat


def test_no_more_is_given_than_asked_for(queue: TaskQueue) -> None:
    queue.send(numbered(25))
    assert len(queue.receive(3)) == 3
    assert len(queue.receive(10)) <= 10
    assert len(everything(queue)) >= 12


def test_many_tasks_at_once_all_arrive(queue: TaskQueue) -> None:
    queue.send(numbered(45))
    given = everything(queue)
    assert sorted(one.text for one in given) == sorted({one.text for one in given})
    assert len(given) == 45
    for start in range(0, len(given), 20):
        queue.done(given[start : start + 20])
    assert counts(queue) == (0, 0, 0)


def test_large_tasks_arrive_too(under_test: QueueUnderTest) -> None:
    texts = [letter * (MAX_TEXT_BYTES - 10) for letter in "abc"]
    under_test.put(texts)
    assert sorted(one.text for one in everything(under_test.queue)) == texts


def test_a_delayed_task_waits(under_test: QueueUnderTest) -> None:
    under_test.queue.send([TASK], delay_seconds=30)
    assert under_test.queue.receive(1) == []
    assert counts(under_test.queue) == (1, 0, 0)
    under_test.lapse(31)
    assert len(under_test.queue.receive(1)) == 1


def test_what_a_dead_consumer_held_comes_back(under_test: QueueUnderTest) -> None:
    queue = under_test.queue
    queue.send(numbered(12))
    first = everything(queue)
    under_test.lapse(VISIBILITY - 60)
    assert queue.receive(10) == []
    under_test.lapse(61)
    assert counts(queue) == (12, 0, 0)
    again = everything(queue)
    assert {one.id for one in again} == {one.id for one in first}
    assert {one.attempt for one in again} == {2}


def test_an_outdated_receipt_takes_nothing_from_who_holds_it_now(under_test: QueueUnderTest) -> None:
    queue = under_test.queue
    queue.send([TASK])
    outdated = queue.receive(1)
    under_test.lapse(VISIBILITY + 1)
    (now,) = queue.receive(1)
    queue.done(outdated)
    queue.retry(outdated, 0)
    assert counts(queue) == (0, 1, 0)
    assert queue.receive(1) == []
    under_test.lapse(VISIBILITY + 1)
    (back,) = queue.receive(1)
    assert (back.id, back.attempt) == (now.id, 3)


def test_a_failed_task_comes_again_after_its_delay(under_test: QueueUnderTest) -> None:
    queue = under_test.queue
    queue.send([TASK])
    given = queue.receive(1)
    queue.retry(given, 40)
    assert queue.receive(1) == []
    under_test.lapse(41)
    (again,) = queue.receive(1)
    assert (again.id, again.attempt, again.last) == (given[0].id, 2, False)
    queue.retry([again], 0)
    (last,) = queue.receive(1)
    assert (last.attempt, last.last) == (3, True)
    queue.done([last])
    assert counts(queue) == (0, 0, 0)


def test_what_fails_every_time_ends_as_a_dead_letter(under_test: QueueUnderTest) -> None:
    queue = under_test.queue
    queue.send([TASK])
    exhausted(under_test)
    assert counts(queue) == (0, 0, 1)
    for _ in range(2):  # a look changes nothing
        (dead,) = queue.dead_letters(10)
        assert from_text(dead.text) == TASK
        assert dead.attempts == ATTEMPTS
    under_test.lapse(VISIBILITY + 1)
    assert queue.receive(1) == []


def test_what_ends_every_consumer_ends_as_a_dead_letter(under_test: QueueUnderTest) -> None:
    queue = under_test.queue
    queue.send([TASK])
    for attempt in range(ATTEMPTS):
        (given,) = queue.receive(1)
        assert given.attempt == attempt + 1
        under_test.lapse(VISIBILITY + 1)
    assert queue.receive(1) == []
    assert counts(queue) == (0, 0, 1)


def test_redriven_dead_letters_have_all_their_attempts_again(under_test: QueueUnderTest) -> None:
    queue = under_test.queue
    queue.send(numbered(13))
    exhausted(under_test)
    assert len(queue.dead_letters(5)) == 5
    assert queue.redrive() == 13
    assert counts(queue) == (13, 0, 0)
    given = everything(queue)
    assert {(one.attempt, one.last) for one in given} == {(1, False)}
    assert len({one.text for one in given}) == 13
    queue.done(given)
    assert counts(queue) == (0, 0, 0)


def test_what_cannot_be_read_dies_alone(under_test: QueueUnderTest) -> None:
    queue, bad = under_test.queue, ["{", "ünlesbar 😀", '{"kind":"no such kind"}']
    under_test.put(bad)
    queue.send(numbered(3))
    done = 0
    for _ in range(ATTEMPTS + 1):
        for delivery in everything(queue):
            if delivery.text in bad:
                queue.retry([delivery], 0)
            else:
                queue.done([delivery])
                done += 1
    assert done == 3
    assert counts(queue) == (0, 0, 3)
    assert sorted(dead.text for dead in queue.dead_letters(10)) == sorted(bad)


def test_no_message_is_held_by_two_consumers_at_once(queue: TaskQueue) -> None:
    queue.send(numbered(60))
    held = at_once(*[lambda: everything(queue)] * 6)
    assert Counter(one.id for part in held for one in part).most_common(1)[0][1] == 1
    assert sum(map(len, held)) == 60


def test_a_full_redis_queue_takes_nothing_more_and_says_so(redis: RedisConnection) -> None:
    redis.command("FLUSHDB")
    small = RedisTaskQueue(redis, SETTINGS, most=3)
    small.send(numbered(2))
    with pytest.raises(StoreUnavailable, match="full"):
        small.send(numbered(2))
    assert counts(small) == (2, 0, 0)
    small.done(small.receive(1))
    small.send(numbered(2))


@pytest.mark.parametrize("name", ["redis", "valkey"])
def test_nothing_of_a_message_stays_in_redis_once_it_is_done(request: pytest.FixtureRequest, name: str) -> None:
    connection: RedisConnection = request.getfixturevalue(name)
    connection.command("FLUSHDB")
    queue = RedisTaskQueue(connection, SETTINGS)
    queue.send(numbered(3))
    queue.retry(queue.receive(1), 0)
    queue.done(everything(queue))
    assert connection.command("DBSIZE") == 0


@pytest.mark.parametrize("name", ["redis", "valkey"])
def test_dead_letters_in_redis_go_after_14_days(request: pytest.FixtureRequest, name: str) -> None:
    connection: RedisConnection = request.getfixturevalue(name)
    connection.command("FLUSHDB")
    queue = RedisTaskQueue(connection, SETTINGS.model_copy(update={"attempts": 1}))
    queue.send(numbered(2))
    queue.retry(everything(queue), 0)
    age(connection, DEAD_LETTER_DAYS * 86400 - 60)
    assert (queue.receive(1), counts(queue)) == ([], (0, 0, 2))
    age(connection, 61)
    assert (queue.receive(1), counts(queue)) == ([], (0, 0, 0))
    assert connection.command("DBSIZE") == 0


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials of nobody."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("credentials")
def test_an_sqs_queue_that_does_not_exist_is_unavailable(sqs_endpoint: str) -> None:
    url = f"{sqs_endpoint}/123456789012/no-such-queue"
    with pytest.raises(StoreUnavailable, match="NonExistentQueue"):
        SqsTaskQueue(QueueSettings(sqs_url=url, sqs_seconds=10, sqs_wait_seconds=0), system_clock).send([TASK])


@pytest.mark.usefixtures("credentials")
def test_an_sqs_queue_without_a_redrive_policy_says_that_it_has_no_dead_letters(sqs_endpoint: str) -> None:
    url = make_queue(sqs_endpoint, "no-policy", None)
    queue = SqsTaskQueue(QueueSettings(sqs_url=url, sqs_seconds=10, sqs_wait_seconds=0), system_clock)
    queue.send([TASK])
    assert queue.probe() == {"driver": "sqs", "waiting": 1, "taken": 0, "dead": None}
    assert [one.last for one in queue.receive(1)] == [False]
    assert (queue.redrive(), queue.dead_letters(10)) == (0, [])


def test_a_fifo_queue_is_refused() -> None:
    with pytest.raises(Misconfigured, match="VITTO_QUEUE_SQS_URL"):
        SqsTaskQueue(QueueSettings(sqs_url="https://sqs.eu-west-1.amazonaws.com/1/a.fifo"), system_clock)
