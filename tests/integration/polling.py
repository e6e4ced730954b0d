"""Lambda's event source on SQS: takes messages from a queue, gives them to the handler as an event, and deletes those that
it does not report as failed."""

from dataclasses import dataclass, field
from typing import Any

from tests.integration.lambda_runtime import Runtime
from tests.sqs_server import REGION

BATCH = 10


@dataclass
class Batch:
    """The bodies of a batch's messages, by what became of them."""

    done: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class Poller:
    """Of one queue, for one function."""

    def __init__(self, sqs: Any, url: str, runtime: Runtime) -> None:
        self._sqs = sqs
        self._url = url
        self._runtime = runtime

    def poll(self) -> Batch:
        """Work on one batch."""
        arn = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        messages = self._received()
        event = {"Records": [_record(message, arn) for message in messages]}
        answer = self._runtime.given("app.work_queue", event)
        failed = {one["itemIdentifier"] for one in answer["batchItemFailures"]}
        batch = Batch()
        for message in messages:
            if message["MessageId"] in failed:
                self._sqs.change_message_visibility(
                    QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
                )
                batch.failed.append(message["Body"])
            else:
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
                batch.done.append(message["Body"])
        return batch

    def left(self) -> list[str]:
        """The bodies that are still on the queue, which are taken from it."""
        return [message["Body"] for message in self._received()]

    def drop(self) -> None:
        """Take everything off the queue."""
        self._sqs.purge_queue(QueueUrl=self._url)

    def _received(self) -> list[dict[str, Any]]:
        reply = self._sqs.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=BATCH,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return list(reply.get("Messages", []))


def _record(message: dict[str, Any], arn: str) -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": arn,
        "awsRegion": REGION,
    }
