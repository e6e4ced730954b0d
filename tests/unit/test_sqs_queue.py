"""What SQS answers on a bad day: parts of a batch refused, messages no longer held, errors by name, no boto3."""

import sys
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from chalicelib.adapters.sqs_queue import SqsTaskQueue
from chalicelib.domain.tasks import RebuildScope
from chalicelib.errors import Misconfigured, StoreUnavailable
from chalicelib.ports import Delivery
from chalicelib.settings import QueueSettings
from tests.building import NOW, TestClock

URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/tasks"
TASKS = [RebuildScope(scope_key=f"acme/user/{number}") for number in range(3)]
HELD = [Delivery("1", "{}", 1, False, f"{NOW.timestamp() + 60} handle")]


class Client:
    """An SQS client that answers each call with the next of `replies`, and keeps what it was asked."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(**arguments: Any) -> Any:
            self.asked.append((name, arguments))
            reply = self.replies.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return reply

        return call


def over(*replies: Any) -> tuple[SqsTaskQueue, Client]:
    """A queue over such a client."""
    queue, client = SqsTaskQueue(QueueSettings(sqs_url=URL), TestClock()), Client(*replies)
    queue._clients = {0: client, 1: client}
    return queue, client


def refused(*ids: str, code: str = "InternalError") -> dict[str, Any]:
    """A reply in which these entries failed."""
    return {"Failed": [{"Id": id_, "Code": code, "SenderFault": False} for id_ in ids]}


def test_what_a_batch_did_not_take_is_sent_again_and_nothing_else() -> None:
    queue, client = over(refused("1", "2"), refused("2"), {})
    queue.send(TASKS, delay_seconds=4.2)
    assert [[entry["Id"] for entry in asked["Entries"]] for _, asked in client.asked] == [
        ["0", "1", "2"],
        ["1", "2"],
        ["2"],
    ]
    assert {entry["DelaySeconds"] for _, asked in client.asked for entry in asked["Entries"]} == {5}


def test_what_is_refused_again_and_again_is_said() -> None:
    queue, client = over(*[refused("1", code="ServiceUnavailable")] * 3)
    with pytest.raises(StoreUnavailable, match="1 messages were not taken: ServiceUnavailable"):
        queue.send(TASKS)
    assert len(client.asked) == 3


def test_no_delay_is_longer_than_sqs_takes() -> None:
    queue, client = over({}, {})
    queue.send(TASKS, delay_seconds=100_000)
    queue.retry(HELD, 100_000)
    assert client.asked[0][1]["Entries"][0]["DelaySeconds"] == 900
    assert client.asked[1][1]["Entries"][0]["VisibilityTimeout"] == 43_200


def test_a_message_that_is_no_longer_held_is_nothing_and_another_failure_is_said() -> None:
    queue, _ = over(refused("0", code="ReceiptHandleIsInvalid"), refused("0", code="InternalError"))
    queue.done(HELD)
    with pytest.raises(StoreUnavailable, match="InternalError"):
        queue.done(HELD)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ClientError({"Error": {"Code": "AccessDenied", "Message": "arn:aws:iam::1:user/x"}}, "x"), "AccessDenied"),
        (NoCredentialsError(), "NoCredentialsError"),
    ],
)
def test_an_error_is_said_by_its_name_alone(error: Exception, said: str) -> None:
    queue, _ = over(error)
    with pytest.raises(StoreUnavailable) as raised:
        queue.send(TASKS)
    assert raised.value.message == f"sqs is unavailable: {said}"


def test_without_boto3_the_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.exceptions", None)
    with pytest.raises(Misconfigured, match="VITTO_QUEUE_SQS_URL needs boto3"):
        over({})[0].send(TASKS)


@pytest.mark.parametrize(
    ("url", "region"),
    [
        (URL, "eu-west-1"),
        ("https://sqs.us-gov-west-1.amazonaws.com/1/tasks", "us-gov-west-1"),
        ("https://vpce-1-a.sqs.ap-southeast-2.vpce.amazonaws.com/1/tasks", "ap-southeast-2"),
        ("http://127.0.0.1:9/1/tasks", "sa-east-1"),
    ],
)
def test_the_region_is_the_queues_own_else_the_environments(
    monkeypatch: pytest.MonkeyPatch, url: str, region: str
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "sa-east-1")
    client = SqsTaskQueue(QueueSettings(sqs_url=url), TestClock())._client(0)
    assert client.meta.region_name == region
    assert url.startswith(client.meta.endpoint_url)
