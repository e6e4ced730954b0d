"""An SQS that speaks the real protocol on loopback, one request at a time, with a queue and its dead-letter queue."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.sqs.models import sqs_backends
from werkzeug.serving import make_server

HOST, REGION = "127.0.0.1", "eu-west-1"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
}


Wsgi = Callable[..., Any]


@contextmanager
def sqs_server(around: Callable[[Wsgi], Wsgi] = lambda application: application) -> Iterator[str]:
    """The endpoint of a running one, which secrets are kept behind too; `around` may put something before it. It is not
    threaded: receiving is atomic on the real SQS and not in its double."""
    server = make_server(HOST, 0, around(DomainDispatcherApplication(create_backend_app)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://{HOST}:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def make_queue(endpoint: str, name: str, attempts: int | None) -> str:
    """The URL of a new queue whose messages have so many attempts; None gives it no redrive policy."""
    client = _client(endpoint)
    if attempts is None:
        return str(client.create_queue(QueueName=name)["QueueUrl"])
    dead = client.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    arn = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": attempts})
    return str(client.create_queue(QueueName=name, Attributes={"RedrivePolicy": policy})["QueueUrl"])


def let_time_pass(seconds: float) -> None:
    """Make every message of every queue as old as if so much time had passed."""
    for queue in sqs_backends[DEFAULT_ACCOUNT_ID][REGION].queues.values():
        for message in queue._messages:
            message.visible_at -= seconds * 1000
            message.delayed_until -= seconds * 1000


def _client(endpoint: str) -> Any:
    from boto3.session import Session

    return Session().client("sqs", endpoint_url=endpoint, region_name=REGION)
