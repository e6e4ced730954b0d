"""Policies against deeds: each function runs over a real SQS, a real store of secrets and twins of the rest, and its policy
allows what it was seen to ask of AWS, and nothing else."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

import app
from chalicelib import bootstrap
from chalicelib.adapters import aws_secrets
from chalicelib.adapters.sqs_queue import SqsTaskQueue
from chalicelib.bootstrap import Container, settings_of
from chalicelib.domain.memory import ArchivedReason, Status
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.session_input import AppendRequest
from chalicelib.domain.tasks import RebuildScope, SettleSession, Task, to_text
from chalicelib.errors import StoreUnavailable
from tests.building import TestClock, caller, in_memory_ports, row
from tests.cloudformation import Stack
from tests.contract.retention_steps import admitted, days_ago, held
from tests.lambda_context import LambdaContext, proxy_event, scheduled_event, sqs_event
from tests.sqs_server import CREDENTIALS, Wsgi, make_queue, sqs_server
from vitto_tools.local.servers import ROOT
from vitto_tools.packaging import extras

ANA = caller("acme", "ana")
QUEUE, SECRET = "least-work", "vitto-memory"
KNOWN = {"AmazonSQS": "sqs", "secretsmanager": "secretsmanager", "AmazonSSM": "ssm"}
RESOURCES = {
    QUEUE: "${Work.Arn}",
    f"{QUEUE}-dead": "${WorkDeadLetters.Arn}",
    SECRET: "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:vitto-memory-??????",
    f"/{SECRET}": "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/vitto-memory/*",
}
"""What was asked for, as policies name it."""
POLLER = {(f"sqs:{name}", "${Work.Arn}") for name in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")}
"""What Lambda itself does by the role of the function that a queue starts, as its documents say."""
DEAD = to_text(RebuildScope(scope_key="acme/user/ana"))
QUICK = {"VITTO_QUEUE_SQS_WAIT_SECONDS": "0"}
RUNTIME = {"Log", "Trace"}
"""What Lambda's runtime does, or asks no API of: the statements of logs and traces."""
TEMPLATE = extras.merged(ROOT / "infra")
Asked = set[tuple[str, str]]


class Recorder:
    """Notes what is asked of the server behind it: the action as policies name it, and of what."""

    def __init__(self, application: Wsgi) -> None:
        self._application = application
        self.asked: Asked = set()

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        service, _, action = environ.get("HTTP_X_AMZ_TARGET", "").partition(".")
        if service in KNOWN:
            said = json.loads(body or "{}")
            # a batch takes the permission of its single call
            self.asked.add((f"{KNOWN[service]}:{action.removesuffix('Batch')}", _named(said)))
        return self._application({**environ, "wsgi.input": io.BytesIO(body)}, start)


def _named(said: dict[str, Any]) -> str:
    """What is asked for; something else than there is here under its own name."""
    path = str(said.get("Name", "")).rpartition("/")[0]
    name = path or said.get("SecretId") or said.get("QueueName") or str(said.get("QueueUrl", "")).rpartition("/")[2]
    return RESOURCES.get(name, name)


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Recorder]]:
    """The endpoint of AWS, and who notes what it is asked."""
    made: list[Recorder] = []

    def around(application: Wsgi) -> Wsgi:
        made.append(Recorder(application))
        return made[0]

    with sqs_server(around) as endpoint:
        yield endpoint, made[0]


@pytest.fixture
def store() -> str:
    """Where secrets are, unless a test says otherwise."""
    return "secretsmanager"


@pytest.fixture
def asked(
    server: tuple[str, Recorder], store: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Callable[[Container], Any]], Asked]]:
    """What a function asks of AWS from its start on."""
    endpoint, recorder = server
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": endpoint}.items():
        monkeypatch.setenv(name, value)
    aws_secrets._providers.cache_clear()
    queue_url = make_queue(endpoint, QUEUE, attempts=5)
    references = kept_secrets(store)
    boto3.client("sqs").send_message(QueueUrl=f"{queue_url}-dead", MessageBody=DEAD)
    recorder.asked.clear()

    def run(function: Callable[[Container], Any]) -> Asked:
        services = started({**references, "VITTO_QUEUE_SQS_URL": queue_url, "VITTO_LLM_MODEL": "small", **QUICK})
        bootstrap.use(services)
        function(services)
        return set(recorder.asked)

    yield run
    bootstrap.use(None)
    aws_secrets._providers.cache_clear()


def kept_secrets(store: str) -> dict[str, str]:
    """The variables of a function, as the template sets them for that store, and what they refer to."""
    secrets = {"mongoUri": "mongodb://m", "redisUrl": "redis://r", "embeddingApiKey": "e", "llmApiKey": "l"}
    if store == "secretsmanager":
        client: Any = boto3.client("secretsmanager")
        try:
            client.create_secret(Name=SECRET, SecretString=json.dumps(secrets))
        except client.exceptions.ResourceExistsException:  # of another test: the double keeps it for the process
            client.put_secret_value(SecretId=SECRET, SecretString=json.dumps(secrets))
    else:
        client = boto3.client("ssm")
        for name, value in secrets.items():
            client.put_parameter(Name=f"/{SECRET}/{name}", Value=value, Type="SecureString", Overwrite=True)
    shared = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    resolved = Stack(TEMPLATE, SecretStore=store, LanguageModel="small").resolved(shared)
    return {name: said for name, said in resolved.items() if said.startswith(("secretsmanager:", "ssm:"))}


def started(environment: dict[str, str]) -> Container:
    """The services of a function, its settings read as at its start."""
    settings = settings_of(environment)
    assert settings.language_model.api_key == "l"
    clock = TestClock()
    return Container(settings, in_memory_ports(clock=clock, queue=SqsTaskQueue(settings.queue, clock)))


def allowed(function: str, store: str) -> Asked:
    """What a function's policy allows, logs and traces aside."""
    said = json.loads((ROOT / ".chalice" / "config.json").read_text())["stages"]["dev"]["lambda_functions"][function]
    policy = json.loads((ROOT / ".chalice" / said["iam_policy_file"]).read_text())
    statements = Stack(TEMPLATE, SecretStore=store).resolved(policy)["Statement"]
    return {(action, one["Resource"]) for one in statements if one["Sid"] not in RUNTIME for action in one["Action"]}


def serve(services: Container) -> None:
    """A question after the health, and a memory that has to wait for its vectors."""
    embedder: Any = services.ports.embedder
    embedder.fail = True
    assert app.app(proxy_event("GET", "/health"), LambdaContext())["statusCode"] == 200
    services.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)


def work(services: Container) -> None:
    """Messages of a session, which become memories, whose questions are to be written."""
    message = {"id": "m1", "role": "user", "text": "I live in Porto and I have two daughters"}
    sent = AppendRequest.model_validate({"messages": [message]})
    session = services.conversation.sessions.append(ANA, "s1", sent).session
    scope_key = ScopeRef("acme", Scope.ORGANIZATION, "acme").key
    task: Task = SettleSession(scope_key=scope_key, session_key=session.key, ids=("m1",))
    answer = app.work_queue(sqs_event(a=to_text(task)), LambdaContext(remaining_ms=120_000))
    assert answer == {"batchItemFailures": []}


def retry(services: Container) -> None:
    """Rows that lack vectors, whose questions lack them too."""
    services.ports.store.insert([row(vectors=False)])
    app.retry_pending(scheduled_event(), LambdaContext(remaining_ms=300_000))


def backfill(services: Container) -> None:
    """The same by the daily run."""
    services.ports.store.insert([row(vectors=False)])
    assert app.backfill(scheduled_event(), LambdaContext(remaining_ms=300_000)) == {"done": 1}


def sweep(services: Container) -> None:
    """A memory that is promoted, whose questions are to be written."""
    services.ports.store.insert([held("acme", 40), admitted("acme", 10)])
    assert app.sweep(scheduled_event(), LambdaContext(remaining_ms=300_000))["promoted"] == 1


def purge(services: Container) -> None:
    """A memory that is removed while the index cannot be reached, so that its scope is to be built anew."""
    fields: dict[str, Any] = {"archived_reason": ArchivedReason.FORGOTTEN, "archived_at": days_ago(8)}
    services.ports.store.insert([row(status=Status.ARCHIVED, **fields)])
    hot: Any = services.ports.hot

    def unreachable(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable("redis", "no answer")

    hot.apply = unreachable
    assert app.purge(scheduled_event(), LambdaContext(remaining_ms=300_000))["purged"] == 1


def admin(services: Container) -> None:
    """What is done with the queue by hand."""
    for command in ("queue", "queue-dead", "queue-redrive"):
        assert app.admin({"command": command}, LambdaContext(remaining_ms=900_000))["failed"] == 0
    assert services.settings.queue.sqs_url


DEEDS: dict[str, Callable[[Container], None]] = {
    "api_handler": serve,
    "work_queue": work,
    "retry_pending": retry,
    "backfill": backfill,
    "sweep": sweep,
    "purge": purge,
    "admin": admin,
}


@pytest.mark.parametrize(
    ("function", "store"),
    [*((name, "secretsmanager") for name in DEEDS), ("api_handler", "parameterstore")],
)
def test_a_policy_allows_what_its_function_asks_and_nothing_else(
    asked: Callable[[Callable[[Container], Any]], Asked], store: str, function: str
) -> None:
    seen = asked(DEEDS[function]) | (POLLER if function == "work_queue" else set())
    assert seen == allowed(function, store)


def test_every_function_is_run_here() -> None:
    stages = json.loads((ROOT / ".chalice" / "config.json").read_text())["stages"]
    for said in stages.values():
        assert said["lambda_functions"].keys() == DEEDS.keys()


def test_what_is_asked_beyond_the_policy_is_seen(
    asked: Callable[[Callable[[Container], Any]], Asked], store: str
) -> None:
    def strays(services: Container) -> None:
        assert services.ports.queue
        services.ports.queue.receive(1)
        services.ports.queue.send([RebuildScope(scope_key="acme/user/ana")])

    assert ("sqs:ReceiveMessage", "${Work.Arn}") in asked(strays) - allowed("api_handler", store)
