"""More requests at once than connections wait for their turn: a store that is well is not taken for one that fails."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.turns import Turns
from chalicelib.domain.budget import budget
from chalicelib.errors import StoreUnavailable
from chalicelib.settings import MongoSettings, RedisSettings
from vitto_tools.local.trouble import Trouble, TroubledServer

CALLERS = 12
CALL_SECONDS = 0.15
LIMIT_SECONDS = 1.2  # of one call; twelve one behind another take longer


def test_a_burst_at_redis_over_one_connection_fails_nobody(redis_url: str) -> None:
    connection = RedisConnection(RedisSettings(url=redis_url, pool_size=1, seconds=LIMIT_SECONDS))
    with ThreadPoolExecutor(CALLERS) as pool:
        waits = [pool.submit(connection.command, "BLPOP", "turns:none", str(CALL_SECONDS)) for _ in range(CALLERS)]
        assert [one.result() for one in waits] == [None] * CALLERS
    assert connection.breaker.state == "closed"


def test_a_burst_at_mongodb_over_one_connection_fails_nobody(mongo_url: str) -> None:
    server = TroubledServer(int(mongo_url.rpartition(":")[2].partition("/")[0]), slow_seconds=CALL_SECONDS)
    settings = MongoSettings(
        uri=f"mongodb://127.0.0.1:{server.port}/?directConnection=true", pool_size=1, read_seconds=LIMIT_SECONDS
    )
    connection = MongoConnection(settings)

    def read() -> int:
        with connection.reading():
            return connection.database["turns"].count_documents({})

    try:
        read()
        server.trouble = Trouble.SLOW
        with ThreadPoolExecutor(CALLERS) as pool:
            assert list(pool.map(lambda _: read(), range(CALLERS))) == [0] * CALLERS
        assert connection.breaker.state == "closed"
    finally:
        connection.client.close()
        server.close()


def test_a_turn_that_does_not_come_in_time_is_said_and_is_no_failure_of_the_store() -> None:
    turns, taken, done = Turns("redis", 1), threading.Event(), threading.Event()

    def hold() -> None:
        with turns.taken():
            taken.set()
            done.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait(10)
    with pytest.raises(StoreUnavailable, match="every connection"), budget(0.05), turns.taken():
        pass
    done.set()
    holder.join()
    with budget(5), turns.taken(), turns.taken():  # it came back, and a call inside a call does not wait for itself
        pass
    with budget(5), turns.taken():
        pass
