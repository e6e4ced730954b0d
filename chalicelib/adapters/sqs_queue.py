"""The task queue on SQS, a standard queue. Dead letters are the work of the queue's own redrive policy."""

import json
import math
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import batched
from typing import Any
from urllib.parse import urlsplit

from chalicelib.adapters.breaker import Breaker
from chalicelib.domain.tasks import MAX_TEXT_BYTES, Task, to_text
from chalicelib.errors import Misconfigured, StoreUnavailable
from chalicelib.ports import Clock, DeadLetter, Delivery
from chalicelib.settings import QueueSettings

BATCH = 10  # what SQS takes and gives at once
SEND_ATTEMPTS = 3  # of what a batch did not take
LONGEST_DELAY = 900  # seconds; SQS takes no longer delay of a message
LONGEST_VISIBILITY = 43200
LOOK_SECONDS = 30  # how long a look hides dead letters from another one
NO_LONGER_HELD = {"ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight"}
_REGION = re.compile(r"(?:^|\.)sqs\.([a-z]{2}(?:-[a-z]+)+-\d)\.")


@dataclass(frozen=True)
class _DeadLetterQueue:
    """Where the redrive policy puts messages, and after how many attempts."""

    url: str
    attempts: int


class SqsTaskQueue:
    """`ports.TaskQueue`. boto3 is imported and the client made at first use; a call is tried once, within its limit."""

    def __init__(self, settings: QueueSettings, clock: Clock, breaker: Breaker | None = None) -> None:
        if settings.sqs_url.endswith(".fifo"):
            raise Misconfigured("VITTO_QUEUE_SQS_URL names a FIFO queue; a standard queue is needed")
        self._settings = settings
        self._clock = clock
        self._url = settings.sqs_url
        self._lock = threading.Lock()
        self._breaker = breaker or Breaker("sqs")
        self._clients: dict[int, Any] = {}

    def probe(self) -> dict[str, Any]:
        said = self._attributes(self._url, "All")
        waiting = int(said["ApproximateNumberOfMessages"]) + int(said.get("ApproximateNumberOfMessagesDelayed", 0))
        taken = int(said.get("ApproximateNumberOfMessagesNotVisible", 0))
        return {"driver": "sqs", "waiting": waiting, "taken": taken, "dead": self._count_dead()}

    def _count_dead(self) -> int | None:
        """None where the queue has no redrive policy: its messages are given out until their retention ends."""
        dead = self._dead
        if dead is None:
            return None
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return sum(int(count) for count in self._attributes(dead.url, *names).values())

    def send(self, tasks: Sequence[Task], delay_seconds: float = 0) -> None:
        self.put([to_text(task) for task in tasks], delay_seconds)

    def put(self, texts: Sequence[str], delay_seconds: float = 0) -> None:
        """Queue texts as they are, be they no tasks."""
        delay = min(math.ceil(delay_seconds), LONGEST_DELAY)
        for batch in _batches(texts):
            entries = [
                {"Id": str(number), "MessageBody": text, "DelaySeconds": delay} for number, text in enumerate(batch)
            ]
            self._send_all(entries)

    def _send_all(self, entries: list[dict[str, Any]]) -> None:
        failed: list[dict[str, Any]] = []
        for _ in range(SEND_ATTEMPTS):
            reply = self._call("send_message_batch", QueueUrl=self._url, Entries=entries)
            failed = reply.get("Failed", [])
            entries = [entry for entry in entries if entry["Id"] in {one["Id"] for one in failed}]
            if not entries:
                return
        raise StoreUnavailable("sqs", f"{len(entries)} messages were not taken: {failed[0].get('Code')}")

    def receive(self, limit: int) -> list[Delivery]:
        until = self._clock().timestamp() + self._settings.visibility_seconds
        attempts = self._dead.attempts if self._dead else math.inf
        return [
            _delivery(message, until, attempts)
            for message in self._receive(self._url, limit, self._settings.visibility_seconds)
        ]

    def _receive(self, url: str, limit: int, hidden: int) -> list[dict[str, Any]]:
        reply = self._call(
            "receive_message",
            WaitTimeSeconds=self._settings.sqs_wait_seconds,
            QueueUrl=url,
            MaxNumberOfMessages=min(limit, BATCH),
            VisibilityTimeout=hidden,
            MessageSystemAttributeNames=["ApproximateReceiveCount"],
        )
        return list(reply.get("Messages", []))

    def done(self, deliveries: Sequence[Delivery]) -> None:
        self._settle("delete_message_batch", deliveries)

    def retry(self, deliveries: Sequence[Delivery], delay_seconds: float) -> None:
        hidden = min(math.ceil(delay_seconds), LONGEST_VISIBILITY)
        self._settle("change_message_visibility_batch", deliveries, VisibilityTimeout=hidden)

    def _settle(self, call: str, deliveries: Sequence[Delivery], **fields: Any) -> None:
        """SQS promises nothing firm of an outdated handle: where the visibility time is over, it is not asked at all."""
        now = self._clock().timestamp()
        handles = [handle for until, handle in map(_held, deliveries) if now < until]
        for batch in batched(handles, BATCH, strict=False):
            self._settle_batch(call, self._url, batch, **fields)

    def _settle_batch(self, call: str, url: str, handles: Sequence[str], **fields: Any) -> None:
        entries = [{"Id": str(number), "ReceiptHandle": handle} | fields for number, handle in enumerate(handles)]
        reply = self._call(call, QueueUrl=url, Entries=entries)
        codes = [one.get("Code") for one in reply.get("Failed", [])]
        if wrong := [code for code in codes if code not in NO_LONGER_HELD]:
            raise StoreUnavailable("sqs", f"{len(wrong)} messages were not settled: {wrong[0]}")

    def dead_letters(self, limit: int) -> list[DeadLetter]:
        dead, found = self._dead, dict[str, dict[str, Any]]()
        if dead is None:
            return []
        while len(found) < limit and (messages := self._receive(dead.url, limit - len(found), LOOK_SECONDS)):
            found |= {message["MessageId"]: message for message in messages}
        for message in found.values():
            handle = message["ReceiptHandle"]
            self._call("change_message_visibility", QueueUrl=dead.url, ReceiptHandle=handle, VisibilityTimeout=0)
        return [DeadLetter(id_, message["Body"], dead.attempts) for id_, message in found.items()]

    def redrive(self) -> int:
        dead, moved = self._dead, 0
        while dead and (messages := self._receive(dead.url, BATCH, LOOK_SECONDS)):
            self.put([message["Body"] for message in messages])
            self._settle_batch("delete_message_batch", dead.url, [message["ReceiptHandle"] for message in messages])
            moved += len(messages)
        return moved

    @property
    def _dead(self) -> _DeadLetterQueue | None:
        return self._policy[0]

    @cached_property
    def _policy(self) -> tuple[_DeadLetterQueue | None]:
        """Asked once a process; in a tuple, so that "none" is an answer too."""
        text = self._attributes(self._url, "RedrivePolicy").get("RedrivePolicy")
        if not text:
            return (None,)
        policy = json.loads(text)
        _, _, _, _, account, name = policy["deadLetterTargetArn"].split(":", 5)
        found = self._call("get_queue_url", QueueName=name, QueueOwnerAWSAccountId=account)
        return (_DeadLetterQueue(found["QueueUrl"], int(policy["maxReceiveCount"])),)

    def _attributes(self, url: str, *names: str) -> dict[str, str]:
        reply = self._call("get_queue_attributes", QueueUrl=url, AttributeNames=list(names))
        return dict(reply.get("Attributes", {}))

    def _call(self, name: str, **arguments: Any) -> Any:
        wait = arguments.get("WaitTimeSeconds", 0)
        seconds = 2 * self._settings.sqs_seconds + wait  # to connect, and to answer
        with self._breaker.call(seconds), self._mapped():
            return getattr(self._client(wait), name)(**arguments)

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see the class
        except ImportError:
            raise Misconfigured("VITTO_QUEUE_SQS_URL needs boto3, which is not installed") from None
        try:
            yield
        except ClientError as error:
            raise StoreUnavailable("sqs", str(error.response.get("Error", {}).get("Code", "ClientError"))) from error
        except BotoCoreError as error:
            raise StoreUnavailable("sqs", type(error).__name__) from error

    def _client(self, wait: int) -> Any:
        """A client whose limit leaves SQS the time that it is asked to wait."""
        with self._lock:
            if wait not in self._clients:
                self._clients[wait] = self._made(wait)
            return self._clients[wait]

    def _made(self, wait: int) -> Any:
        from boto3.session import Session  # noqa: PLC0415 - see the class
        from botocore.config import Config  # noqa: PLC0415 - see the class

        parts, seconds = urlsplit(self._url), self._settings.sqs_seconds
        region = _REGION.search(parts.netloc)
        return Session().client(
            "sqs",
            region_name=region.group(1) if region else None,
            endpoint_url=f"{parts.scheme}://{parts.netloc}",
            config=Config(connect_timeout=seconds, read_timeout=seconds + wait, retries={"total_max_attempts": 1}),
        )


def _delivery(message: dict[str, Any], until: float, attempts: float) -> Delivery:
    attempt = int(message["Attributes"]["ApproximateReceiveCount"])
    receipt = f"{until:.3f} {message['ReceiptHandle']}"
    return Delivery(message["MessageId"], message["Body"], attempt, attempt >= attempts, receipt)


def _held(delivery: Delivery) -> tuple[float, str]:
    """Until when the consumer holds the message, in seconds since 1970, and SQS's own handle."""
    until, _, handle = delivery.receipt.partition(" ")
    return float(until), handle


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Groups that one call may carry: ten messages, and 256 KB of them all."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == BATCH or size + length > MAX_TEXT_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch
