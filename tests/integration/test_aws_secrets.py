"""Settings by reference, against a server that speaks the APIs of Secrets Manager and Parameter Store."""

import sys
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from chalicelib.adapters import aws_secrets
from chalicelib.adapters.aws_secrets import with_secrets
from chalicelib.bootstrap import settings_of
from chalicelib.errors import Misconfigured
from chalicelib.settings import Settings
from vitto_tools.local.servers import HOST, free_port

VALUE = "mongodb://svc:hunter22@db.example"
SECRET = Settings.secret_variables()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The server."""
    port = free_port()
    server = ThreadedMotoServer(HOST, port, verbose=False)
    server.start()
    yield f"http://{HOST}:{port}"
    server.stop()


@pytest.fixture
def aws(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The account, as the environment names it."""
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }.items():
        monkeypatch.setenv(name, value)
    aws_secrets._providers.cache_clear()
    yield
    aws_secrets._providers.cache_clear()


@pytest.fixture
def kept(aws: None) -> Iterator[None]:
    """What the account keeps."""
    secrets: Any = boto3.client("secretsmanager")
    parameters: Any = boto3.client("ssm")
    arn = secrets.create_secret(Name="vitto/mongo", SecretString=VALUE)["ARN"]
    secrets.create_secret(Name="vitto/keys", SecretString='{"openai": "sk-1", "number": 5, "empty": ""}')
    secrets.create_secret(Name="vitto/bytes", SecretBinary=b"\xff\x00")
    parameters.put_parameter(Name="/vitto/redis", Value="rediss://cache:6379", Type="SecureString")
    yield
    for name in (arn, "vitto/keys", "vitto/bytes"):
        secrets.delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True)
    parameters.delete_parameter(Name="/vitto/redis")


def test_the_secrets_are_those_that_open_a_door() -> None:
    assert {"VITTO_MONGO_URI", "VITTO_REDIS_URL", "VITTO_EMBEDDING_API_KEY"} <= SECRET
    assert {"VITTO_MONGO_DATABASE", "VITTO_AUTH_ISSUERS", "VITTO_EMBEDDING_MODEL"} & SECRET == set()


def test_references_become_what_they_refer_to(kept: None) -> None:
    settings = settings_of(
        {
            "VITTO_MONGO_URI": "secretsmanager:vitto/mongo",
            "VITTO_REDIS_URL": "ssm:/vitto/redis",
            "VITTO_EMBEDDING_API_KEY": "secretsmanager:vitto/keys#openai",
            "VITTO_MONGO_DATABASE": "plain",
        }
    )
    assert settings.mongo.uri == VALUE
    assert settings.redis.url == "rediss://cache:6379"
    assert settings.embedding.api_key == "sk-1"
    assert settings.mongo.database == "plain"


def test_a_secret_can_be_named_in_full(kept: None) -> None:
    secrets: Any = boto3.client("secretsmanager")
    arn = secrets.describe_secret(SecretId="vitto/keys")["ARN"]
    read = with_secrets({"VITTO_EMBEDDING_API_KEY": f"secretsmanager:{arn}#openai"}, SECRET)
    assert read == {"VITTO_EMBEDDING_API_KEY": "sk-1"}


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("secretsmanager:vitto/unknown", "ResourceNotFoundException"),
        ("ssm:/vitto/unknown", "ParameterNotFound"),
        ("secretsmanager:vitto/keys#unknown", "no text under that key"),
        ("secretsmanager:vitto/keys#number", "no text under that key"),
        ("secretsmanager:vitto/keys#empty", "no text under that key"),
        ("secretsmanager:vitto/mongo#key", "not the JSON object"),
        ("secretsmanager:vitto/bytes", "holds no text"),
        ("secretsmanager:", "names nothing"),
        ("ssm:", "names nothing"),
    ],
)
def test_a_reference_that_leads_nowhere_is_told_by_its_variable_alone(kept: None, reference: str, reason: str) -> None:
    with pytest.raises(Misconfigured, match=reason) as refused:
        settings_of({"VITTO_MONGO_URI": reference})
    assert refused.value.message.startswith("VITTO_MONGO_URI: ")
    assert "hunter22" not in refused.value.message
    assert "sk-1" not in refused.value.message


@pytest.mark.parametrize("reference", ["secretsmanager:vitto/mongo", "ssm:/vitto/redis"])
def test_a_reference_in_a_setting_that_carries_no_secret_is_an_error(kept: None, reference: str) -> None:
    with pytest.raises(Misconfigured, match="VITTO_EMBEDDING_MODEL: carries no secret"):
        settings_of({"VITTO_EMBEDDING_MODEL": reference})


def test_a_variable_of_others_is_left_alone() -> None:
    assert with_secrets({"OTHER": "ssm:/x"}, SECRET) == {"OTHER": "ssm:/x"}


def test_without_credentials_the_variable_is_named(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    with pytest.raises(Misconfigured, match=r"VITTO_MONGO_URI: .*NoCredentialsError"):
        settings_of({"VITTO_MONGO_URI": "ssm:/x"})


def test_without_boto3_the_variable_is_named(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.config", None)
    with pytest.raises(Misconfigured, match=r"VITTO_MONGO_URI: .*botocore.* is not installed"):
        settings_of({"VITTO_MONGO_URI": "ssm:/x"})
