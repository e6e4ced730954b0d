"""What a context costs: round trips and messages read, however long the session is."""

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container
from chalicelib.domain.keys import new_id
from chalicelib.domain.session import Session
from chalicelib.domain.session_input import AppendRequest, ContextRequest
from tests.building import caller
from tests.integration.arrangements import CommandCounter, CountedRedis, services

pytestmark = pytest.mark.timeout(240)
SIZES = (200, 2_000)
BATCH = 100
MOST_COMMANDS = 8  # of the session four, of the recall two, of writes none
MOST_TRIPS = 4
MOST_READ = 400
MOST_GROWTH = 1.5  # of ten times the messages; of 200, most are in the window or found
FEWEST_READ = 250  # without Redis, the words of the query are asked for every time
WRITES = {"insert", "update", "delete", "findAndModify"}
WORDS = ("harbour", "garden", "museum", "train", "ticket", "kitchen", "river", "violin", "winter", "letter")


def filled(made: Container, org: str, size: int) -> Session:
    """A session of so many messages that the worker has compressed."""
    ana, name = caller(org), f"of {size}"
    for start in range(0, size, BATCH):
        said = [
            {
                "id": f"m{n}",
                "role": "user" if n % 2 else "assistant",
                "text": f"In the {WORDS[n % 10]} near the {WORDS[n // 10 % 10]} we saw the plan {n} for the harbour",
            }
            for n in range(start, start + BATCH)
        ]
        request = AppendRequest.model_validate({"messages": said, "extract": "off"})
        session = made.conversation.sessions.append(ana, name, request).session
    made.conversation.settler.compress(session)
    return session


@pytest.fixture(scope="module")
def sessions(mongo: MongoConnection, redis: RedisConnection) -> str:
    """The organization of a session of each size."""
    made, org = services(mongo, redis), new_id("org")
    for size in SIZES:
        filled(made, org, size)
    return org


@pytest.mark.parametrize("redis_is_there", [True, False], ids=["redis", "no redis"])
def test_what_a_context_reads_grows_with_the_window_and_not_with_the_session(
    counter: CommandCounter, counted: MongoConnection, hot: CountedRedis, sessions: str, redis_is_there: bool
) -> None:
    made = services(counted, hot if redis_is_there else None)
    asked = ContextRequest(query="Which plan did we see for the harbour near the museum?", total_budget=4000)
    read: dict[int, int] = {}
    for size in SIZES:
        services(counted, hot if redis_is_there else None).conversation.context.assemble(  # what stores learn once
            caller(sessions), f"of {size}", asked
        )
        counter.reset()
        hot.trips = 0
        found = made.conversation.context.assemble(caller(sessions), f"of {size}", asked)
        read[size] = counter.documents
        if redis_is_there:
            assert not WRITES & set(counter.names)
            assert len(counter.names) <= MOST_COMMANDS, counter.names
        else:  # the audit of the recall rides in no cache
            assert [name for name in counter.names if name in WRITES] == ["update"]
        assert hot.trips <= MOST_TRIPS
        assert found.composed.prompt.tokens <= 4000
        assert found.composed.recalled.messages
    assert read[2_000] <= read[200] * MOST_GROWTH, read
    assert read[2_000] <= MOST_READ, read
    counter.reset()
    made.conversation.context.assemble(caller(sessions), f"of {SIZES[-1]}", asked)
    assert counter.documents <= FEWEST_READ, "what was said is read again"
