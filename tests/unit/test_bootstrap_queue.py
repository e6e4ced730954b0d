"""Which queue the settings give."""

import pytest

from chalicelib.adapters.memory.queue import InMemoryTaskQueue
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.adapters.sqs_queue import SqsTaskQueue
from chalicelib.bootstrap import Ports, build_ports
from chalicelib.errors import Misconfigured
from chalicelib.settings import Settings
from tests.building import TestClock, in_memory_ports

REDIS = {"VITTO_REDIS_URL": "redis://127.0.0.1:1/0"}
SQS = {"VITTO_QUEUE_SQS_URL": "https://sqs.eu-west-1.amazonaws.com/123456789012/tasks"}
FIFO = {"VITTO_QUEUE_SQS_URL": SQS["VITTO_QUEUE_SQS_URL"] + ".fifo"}


def built(environment: dict[str, str], **overrides: object) -> Ports:
    """The ports of an environment. Of MongoDB, which connects as soon as it is built, there is only the twin."""
    twins = in_memory_ports()
    stores = [
        "store",
        "keys",
        "receipts",
        "audit",
        "recalls",
        "switches",
        "backfills",
        "questions",
        "sessions",
        "genomes",
    ]
    given = {name: getattr(twins, name) for name in stores}
    return build_ports(Settings.from_environment(environment), **given | overrides)


@pytest.mark.parametrize(
    ("environment", "kind"),
    [({}, type(None)), (REDIS, RedisTaskQueue), (SQS, SqsTaskQueue), (REDIS | SQS, SqsTaskQueue)],
)
def test_the_queue_is_sqs_where_its_url_is_set_else_the_redis_else_none(
    environment: dict[str, str], kind: type[object]
) -> None:
    assert isinstance(built(environment).queue, kind)


def test_a_queue_that_is_given_is_used() -> None:
    given = InMemoryTaskQueue(TestClock())
    assert built(REDIS | SQS, queue=given).queue is given
    assert built(REDIS, queue=None).queue is None


def test_a_fifo_queue_stops_the_start() -> None:
    with pytest.raises(Misconfigured, match="VITTO_QUEUE_SQS_URL"):
        built(FIFO)
