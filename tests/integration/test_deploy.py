"""`scripts/deploy`, `vitto admin --stage` and `scripts/destroy`, from end to end: against doubles of AWS on loopback, the
packaged code behind them, over real stores."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from chalicelib.domain.keys import new_id
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.tasks import IndexRows, to_text
from tests.integration.aws_double import AwsDouble, Gateway, Translator, served
from tests.integration.lambda_runtime import Runtime
from tests.integration.polling import Poller
from tests.service import member_keys, service_environment
from tests.sqs_server import CREDENTIALS, REGION
from vitto_tools.cli.__main__ import app as vitto
from vitto_tools.deploying.__main__ import app as deploying
from vitto_tools.deploying.smoke import ORGANIZATION
from vitto_tools.local.servers import ROOT
from vitto_tools.packaging.build import Built
from vitto_tools.packaging.dependencies import UV

pytestmark = pytest.mark.timeout(400)  # the package is built once for all: with the machine to itself in half a minute
STAGE = "it"
STACK = f"vitto-memory-{STAGE}"
SECRET = {"mongoUri": "mongodb://m", "redisUrl": "redis://r", "embeddingApiKey": "e"}
SCHEDULES = {
    "Sweep": "cron(0 3 1 * ? *)",
    "Backfill": "cron(0 2 * * ? *)",
    "Purge": "cron(0 4 * * ? *)",
    "RetryPending": "rate(1 minute)",
}
FUNCTIONS = {"APIHandler", "WorkQueue", "Admin", *SCHEDULES}


@dataclass
class Aws:
    """The doubles, and how to speak to them."""

    double: AwsDouble
    url: str
    package: Path
    gateway: str
    clients: dict[str, Any] = field(default_factory=dict)

    def client(self, service: str) -> Any:
        """A client of boto3."""
        from boto3.session import Session

        if service not in self.clients:
            keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
            self.clients[service] = Session(region_name=REGION, **keys).client(service, endpoint_url=self.url)
        return self.clients[service]

    @property
    def environment(self) -> dict[str, str]:
        """What makes boto3 speak to the doubles."""
        return {"AWS_ENDPOINT_URL": self.url, **CREDENTIALS}

    def run(self, app: typer.Typer, *command: str, code: int = 0, typed: str = "") -> str:
        """What a command prints on both streams."""
        done = CliRunner().invoke(app, command, input=typed, env=self.environment)
        assert done.exit_code == code, done.output
        return done.output

    def deploy(self, *options: str, stage: str = STAGE, code: int = 0) -> str:
        """What scripts/deploy prints."""
        return self.run(deploying, *self.deployment(stage), *options, code=code)

    def deployment(self, stage: str) -> tuple[str, ...]:
        """The command that deploys a stage."""
        return ("deploy", stage, "--package", str(self.package), "--url", self.gateway)

    def admin(self, *command: str) -> list[dict[str, Any]]:
        """The lines that `vitto admin` prints for the stage."""
        said = self.run(vitto, "admin", *command, "--stage", STAGE)
        return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """AWS's library, as requirements-sam.txt pins it."""
    folder = tmp_path_factory.mktemp("sam")
    options = ("--quiet", "--python", sys.executable, "--require-hashes", "--target", str(folder))
    subprocess.run((str(UV), "pip", "install", *options, "-r", str(ROOT / "requirements-sam.txt")), check=True)
    return Translator(folder)


@pytest.fixture(scope="module")
def environment(mongo_url: str, redis_url: str) -> Iterator[dict[str, str]]:
    """The settings, for real servers."""
    with service_environment(mongo_url, redis_url, "deployed") as made:
        yield made


@pytest.fixture(scope="module")
def aws(
    package: Built,
    unpacked: Path,
    bare_python: str,
    translator: Translator,
    environment: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Aws]:
    """The doubles, with the packaged functions running behind them."""
    runtime = Runtime(bare_python, unpacked, tmp_path_factory.mktemp("functions") / "log", environment)
    double = AwsDouble(translator, runtime)
    with served(double) as url, served(Gateway(runtime)) as gateway:
        made = Aws(double, url, package.archive.parent, gateway)
        double.s3 = made.client("s3")
        yield made
    runtime.stop()


@pytest.fixture(scope="module")
def deployed(aws: Aws) -> str:
    """What scripts/deploy says of the first deployment of a stage."""
    aws.client("secretsmanager").create_secret(Name="vitto-memory", SecretString=json.dumps(SECRET))
    command = (*aws.deployment(STAGE), "--parameter", "AllowedOrigin=https://chat.example")
    shell = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}",
    }
    done = subprocess.run(
        (sys.executable, "-m", "vitto_tools.deploying", *command),
        cwd=ROOT,
        env=shell | aws.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


def physical(aws: Aws, name: str) -> str:
    """The id of what the stack made."""
    found = aws.client("cloudformation").describe_stack_resource(StackName=STACK, LogicalResourceId=name)
    return str(found["StackResourceDetail"]["PhysicalResourceId"])


def test_without_its_secret_nothing_is_made_and_the_command_that_makes_it_is_told(aws: Aws) -> None:
    said = aws.deploy("--parameter", "Secret=absent", stage="none", code=1)
    assert "aws secretsmanager create-secret --name absent" in said
    assert all(key in said for key in SECRET)
    aws.client("secretsmanager").create_secret(Name="half", SecretString=json.dumps({**SECRET, "redisUrl": ""}))
    assert "secret half lacks redisUrl" in aws.deploy("--parameter", "Secret=half", stage="none", code=1)
    model = ("--parameter", "Secret=half", "--parameter", "LanguageModel=small")
    assert "llmApiKey, redisUrl" in aws.deploy(*model, stage="none", code=1)
    assert "has no parameter Sceret" in aws.deploy("--parameter", "Sceret=half", stage="none", code=1)
    assert aws.client("cloudformation").list_stacks()["StackSummaries"] == []


def test_a_stage_is_deployed_by_one_command_that_says_what_it_made(aws: Aws, deployed: str) -> None:
    assert "secret vitto-memory (embeddingApiKey, mongoUri, redisUrl)" in deployed
    assert f"{STACK} CREATE_COMPLETE" in deployed
    assert "indexes are there" in deployed
    assert "0 rows of before were migrated" in deployed
    assert "health: mongo up, redis up" in deployed
    assert "remembered, recalled and forgot a memory" in deployed
    for name in FUNCTIONS:
        assert f"function {name:<16} {physical(aws, name)}" in deployed
    assert "2 SQS::Queue" in deployed


def test_a_second_run_changes_nothing_and_keeps_the_parameters_of_the_first(aws: Aws, deployed: str) -> None:
    again = aws.deploy()
    assert f"{STACK}: no changes" in again
    assert "remembered, recalled and forgot a memory" in again
    changed = aws.deploy("--parameter", "LanguageModelUrl=https://llm.example/v1")
    assert f"{STACK} UPDATE_COMPLETE" in changed
    (stack,) = aws.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    held = {one["ParameterKey"]: one["ParameterValue"] for one in stack["Parameters"]}
    assert (held["AllowedOrigin"], held["LanguageModelUrl"]) == ("https://chat.example", "https://llm.example/v1")


@pytest.mark.usefixtures("deployed")
def test_the_package_lies_in_a_private_bucket_once(aws: Aws) -> None:
    s3, bucket = aws.client("s3"), f"vitto-memory-123456789012-{REGION}"
    closed = s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
    assert set(closed.values()) == {True}
    (rule,) = s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
    assert rule["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    packages = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket)["Contents"] if one["Key"].endswith(".zip")]
    assert len(packages) == 1


@pytest.mark.usefixtures("deployed")
def test_the_smoke_test_leaves_nothing_and_its_keys_are_revoked(aws: Aws) -> None:
    *keys, counted = aws.admin("keys-list", "--organization", ORGANIZATION)
    assert counted["listed"] == len(keys) > 0
    assert all(key["revokedAt"] for key in keys)
    given = [event["arguments"] for _, event in aws.double.invocations if event["command"] == "keys-create"]
    assert {one["organization"] for one in given} == {ORGANIZATION}


@pytest.mark.usefixtures("deployed")
def test_every_function_has_the_role_that_was_made_for_it(aws: Aws) -> None:
    iam, functions = aws.client("iam"), aws.client("lambda")
    roles = set()
    for name in FUNCTIONS:
        said = functions.get_function_configuration(FunctionName=physical(aws, name))
        role = said["Role"].rpartition("/")[2]
        (policy,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
        document = iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]
        statements = ast.literal_eval(str(document))["Statement"]  # moto keeps it as Python writes it
        log = next(one["Resource"] for one in statements if one["Sid"] == "Log")
        assert f"/aws/lambda/{STACK}-{name}-*" in log
        trusted = iam.get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]
        assert trusted == {"Service": "lambda.amazonaws.com"}
        roles.add(role)
        assert said["Environment"]["Variables"]["VITTO_QUEUE_SQS_URL"] == physical(aws, "Work")
    assert len(roles) == len(FUNCTIONS)


@pytest.mark.usefixtures("deployed")
@pytest.mark.parametrize(("name", "expression"), SCHEDULES.items())
def test_a_schedule_starts_its_function_and_may(aws: Aws, name: str, expression: str) -> None:
    events, function = aws.client("events"), physical(aws, name)
    rules = [one for one in events.list_rules()["Rules"] if one["Name"].startswith(f"{STACK}-{name}")]
    (rule,) = rules
    assert (rule["ScheduleExpression"], rule.get("State", "ENABLED")) == (expression, "ENABLED")
    (target,) = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
    assert target["Arn"].rpartition(":")[2] == function
    policy = json.loads(aws.client("lambda").get_policy(FunctionName=function)["Policy"])
    principals = [one["Principal"] for one in policy["Statement"]]
    assert {"Service": "events.amazonaws.com"} in principals


@pytest.mark.usefixtures("deployed")
def test_the_queue_starts_its_function_reports_failures_by_message_and_has_dead_letters(aws: Aws) -> None:
    work, dead = physical(aws, "Work"), physical(aws, "WorkDeadLetters")
    sqs = aws.client("sqs")
    (mapping,) = aws.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    assert mapping["FunctionArn"].rpartition(":")[2] == physical(aws, "WorkQueue")
    said = sqs.get_queue_attributes(QueueUrl=work, AttributeNames=["All"])["Attributes"]
    assert mapping["EventSourceArn"] == said["QueueArn"]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    policy = json.loads(said["RedrivePolicy"])
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    assert (policy["deadLetterTargetArn"], int(policy["maxReceiveCount"])) == (arn, 5)


@pytest.mark.usefixtures("deployed")
def test_of_the_messages_on_the_queue_those_that_are_done_leave_it_and_the_one_that_fails_stays(
    aws: Aws, environment: dict[str, str]
) -> None:
    org, work = new_id("org"), physical(aws, "Work")
    member_keys(environment, org, "ana")
    poller = Poller(aws.client("sqs"), work, aws.double.runtime)
    poller.drop()
    good = [to_text(IndexRows(scope_key=ScopeRef(org, Scope.USER, "ana").key, ids=(f"mem_{n}",))) for n in range(3)]
    for body in (*good, '{"kind": "unheard of"}'):
        aws.client("sqs").send_message(QueueUrl=work, MessageBody=body)
    batch = poller.poll()
    assert sorted(batch.done) == sorted(good)
    assert batch.failed == ['{"kind": "unheard of"}']
    assert poller.left() == ['{"kind": "unheard of"}']


@pytest.mark.usefixtures("deployed")
def test_a_command_runs_on_the_stage_by_invocation(aws: Aws) -> None:
    org = new_id("org")
    made, _ = aws.admin("keys-create", "--organization", org, "--user", "ana", "--role", "admin")
    listed, _ = aws.admin("keys-list", "--organization", org)
    assert listed["id"] == made["id"]
    assert aws.admin("keys-list", "--organization", f"{org}-other") == [{"listed": 0}]
    assert aws.admin("purge")[-1]["purged"] == 0
    assert {name for name, _ in aws.double.invocations} == {physical(aws, "Admin")}
    refused = aws.run(vitto, "admin", "keys-revoke", "--organization", org, "--id", "x", "--stage", STAGE, code=1)
    assert "no such key in this organization" in refused
    nowhere = aws.run(vitto, "admin", "purge", "--stage", "nowhere", code=1)
    assert "vitto-memory-nowhere does not exist" in nowhere


@pytest.mark.usefixtures("deployed")
def test_a_stage_is_destroyed_once_its_name_is_typed_and_what_stays_is_told(aws: Aws) -> None:
    work = physical(aws, "Work")
    refused = aws.run(deploying, "destroy", STAGE, typed="other\n", code=1)
    assert "nothing was deleted" in refused
    assert physical(aws, "Work") == work
    said = aws.run(deploying, "destroy", STAGE, typed=f"{STAGE}\n")
    assert f"{STACK} is gone" in said
    assert f"Work: aws sqs delete-queue --queue-url {work}" in said
    left = {url.rpartition("/")[2] for url in aws.client("sqs").list_queues()["QueueUrls"]}
    assert work.rpartition("/")[2] in left
    assert aws.client("lambda").list_functions()["Functions"] == []
    assert f"there is no {STACK}" in aws.run(deploying, "destroy", STAGE, "--yes")
