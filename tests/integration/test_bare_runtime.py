"""The package as Lambda runs it: unpacked into an empty folder, by a Python that has nothing else, against real servers."""

import base64
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.keys import new_id
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.tasks import IndexRows, to_text
from tests.integration.lambda_runtime import Runtime
from tests.lambda_context import proxy_event, scheduled_event, sqs_event
from tests.service import member_keys, service_environment
from vitto_tools.packaging.build import Built

pytestmark = pytest.mark.timeout(400)  # the package is built once for all: with the machine to itself in half a minute
SCHEDULED = ("app.sweep", "app.backfill", "app.purge", "app.retry_pending")
TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled="


@pytest.fixture(scope="module")
def environment(mongo_url: str, redis_url: str) -> Iterator[dict[str, str]]:
    """The settings, for real servers."""
    with service_environment(mongo_url, redis_url, "bare") as made:
        yield made


@pytest.fixture(scope="module")
def runtime(
    package: Built,
    unpacked: Path,
    bare_python: str,
    environment: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Runtime]:
    """A warm function, as Lambda names it to the process."""
    named = {"AWS_LAMBDA_FUNCTION_NAME": "vitto", "LAMBDA_TASK_ROOT": str(unpacked), "_X_AMZN_TRACE_ID": f"{TRACE}0"}
    started = Runtime(bare_python, unpacked, tmp_path_factory.mktemp("bare") / "log", {**environment, **named})
    yield started
    started.stop()


@pytest.fixture(scope="module")
def key(environment: dict[str, str]) -> tuple[str, str]:
    """A member's organization and key."""
    org = new_id("org")
    (made,) = member_keys(environment, org, "ana")
    return org, made


def posted(runtime: Runtime, path: str, body: Any, key: str) -> Any:
    """What the API answers to a POST."""
    answer = runtime.given("app.app", proxy_event("POST", path, body, Authorization=f"Bearer {key}"))
    assert answer["statusCode"] == 200, answer
    return json.loads(answer["body"])


def test_the_runtime_has_nothing_but_the_package(runtime: Runtime, unpacked: Path) -> None:
    loaded = set(runtime.start["loaded"])
    assert loaded & {"boto3", "botocore", "openai", "numpy", "redis", "aws_lambda_powertools", "pip"} == set()
    assert runtime.start["path"][0] == str(unpacked)
    assert not [place for place in runtime.start["path"] if "site-packages" in place or ".venv" in place]


def test_the_api_answers_what_the_gateway_sends(runtime: Runtime, key: tuple[str, str]) -> None:
    first = runtime.call("app.app", proxy_event("GET", "/health"))
    health = json.loads(first["given"]["body"])
    assert first["given"]["statusCode"] == 200
    assert {name: store["up"] for name, store in health["stores"].items()} == dict.fromkeys(health["stores"], True)
    print(f"import {runtime.start['importSeconds']:.2f} s, first request {first['seconds']:.2f} s")
    _, secret = key
    (receipt,) = posted(runtime, "/engine/memories", {"content": "Ana moved to Porto in May"}, secret)["receipts"]
    assert receipt["outcome"] == "stored"
    (hit,) = posted(runtime, "/engine/memories/recall", {"query": "where did Ana move to?"}, secret)["hits"]
    assert hit["memory"]["id"] == receipt["id"]


def test_without_a_key_nobody_is_let_in(runtime: Runtime) -> None:
    answer = runtime.given("app.app", proxy_event("POST", "/engine/memories/recall", {"query": "where?"}))
    assert answer["statusCode"] == 401


def test_of_two_messages_the_one_that_fails_goes_back_alone(runtime: Runtime, key: tuple[str, str]) -> None:
    org, secret = key
    (receipt,) = posted(runtime, "/engine/memories", {"content": "Ana has a dog"}, secret)["receipts"]
    good = to_text(IndexRows(scope_key=ScopeRef(org, Scope.USER, "ana").key, ids=(receipt["id"],)))
    answer = runtime.given("app.work_queue", sqs_event(good=good, bad='{"kind": "unheard of"}'))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "bad"}]}
    (said,) = runtime.said("work_failed")
    assert (said["message_id"], said["function_name"]) == ("bad", "vitto-work_queue")


@pytest.mark.parametrize("handler", SCHEDULED)
def test_every_schedule_runs(runtime: Runtime, handler: str) -> None:
    answer = runtime.given(handler, scheduled_event(handler))
    assert answer["done"] >= 0
    said = {"app.sweep": "sweep_finished", "app.purge": "purge_finished", "app.backfill": "backfilled"}
    if handler in said:
        assert runtime.said(said[handler])


def test_a_function_whose_time_is_up_leaves_its_work(runtime: Runtime) -> None:
    answer = runtime.call("app.work_queue", sqs_event(a="{}", b="{}"), remaining_ms=1000)
    assert [one["itemIdentifier"] for one in answer["given"]["batchItemFailures"]] == ["a", "b"]


def test_every_handler_of_the_template_was_called(package: Built) -> None:
    assert {one.handler for one in package.functions} == {"app.app", "app.work_queue", "app.admin", *SCHEDULED}


def test_a_sampled_request_is_traced_down_to_its_stores(
    unpacked: Path, bare_python: str, environment: dict[str, str], tmp_path: Path
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind(("127.0.0.1", 0))
        daemon.settimeout(20)
        named = {
            "AWS_LAMBDA_FUNCTION_NAME": "vitto",
            "LAMBDA_TASK_ROOT": str(unpacked),
            "_X_AMZN_TRACE_ID": f"{TRACE}1",
            "AWS_XRAY_DAEMON_ADDRESS": f"127.0.0.1:{daemon.getsockname()[1]}",
        }
        started = Runtime(bare_python, unpacked, tmp_path / "log", {**environment, **named})
        assert started.given("app.app", proxy_event("GET", "/health"))["statusCode"] == 200
        parts: dict[str, dict[str, Any]] = {}
        while "vitto-app" not in parts:
            part = json.loads(daemon.recv(65536).split(b"\n", 1)[1])
            parts[part["name"]] = part
        started.stop()
    assert parts["store.probe"]["parent_id"] == parts["vitto-app"]["id"]
    assert "hot.probe" in parts
    assert started.said("tracing_unavailable") == []


def test_a_secret_that_cannot_be_fetched_names_its_variable(
    unpacked: Path, bare_python: str, environment: dict[str, str], tmp_path: Path
) -> None:
    started = Runtime(bare_python, unpacked, tmp_path / "log", {**environment, "VITTO_MONGO_URI": "secretsmanager:x#y"})
    answer = started.call("app.sweep", scheduled_event())
    assert answer["failed"] == "Misconfigured"
    assert answer["message"].startswith("VITTO_MONGO_URI: ")
    assert "boto" in answer["message"]
    assert started.given("app.app", proxy_event("GET", "/health"))["statusCode"] == 500
    started.stop()


def test_a_body_in_base64_is_read_as_it_was_sent(runtime: Runtime, key: tuple[str, str]) -> None:
    _, secret = key
    text = json.dumps({"content": "Ana’s café is called “Açúcar” ☕"}).encode()
    event = proxy_event("POST", "/engine/memories", Authorization=f"Bearer {secret}")
    sent = {"body": base64.b64encode(text).decode(), "isBase64Encoded": True}
    answer = runtime.given("app.app", event | sent)
    (receipt,) = json.loads(answer["body"])["receipts"]
    assert receipt["outcome"] == "stored"
    event = proxy_event("GET", f"/engine/memories/{receipt['id']}", resource="/engine/memories/{id}")
    event["pathParameters"] = {"id": receipt["id"]}
    event["headers"] = event["headers"] | {"authorization": f"Bearer {secret}"}  # as HTTP/2 has it
    (read,) = [json.loads(runtime.given("app.app", event)["body"])]
    assert read["content"] == "Ana’s café is called “Açúcar” ☕"


def test_a_header_that_came_twice_and_a_parameter_that_came_once_are_read_as_the_gateway_gives_them(
    runtime: Runtime, key: tuple[str, str]
) -> None:
    _, secret = key
    event = proxy_event("GET", "/engine/memories", Authorization=f"Bearer {secret}", Accept="application/json")
    event["multiValueHeaders"]["Accept"] = ["text/html", "application/json"]
    event |= {"queryStringParameters": {"limit": "1"}, "multiValueQueryStringParameters": {"limit": ["1"]}}
    page = json.loads(runtime.given("app.app", event)["body"])
    assert len(page["memories"]) == 1
    assert page["cursor"]
    twice = event | {"multiValueQueryStringParameters": {"limit": ["1", "2"]}}
    refused = runtime.given("app.app", twice)
    assert refused["statusCode"] == 422
    assert json.loads(refused["body"])["error"]["details"]["field"] == "limit"


def test_the_admin_function_does_what_its_payload_says_and_names_what_is_wrong(runtime: Runtime) -> None:
    org = new_id("org")
    arguments = {"organization": org, "user": "ana", "role": ["member"]}
    made = runtime.given("app.admin", {"command": "keys-create", "arguments": arguments})
    (shown,) = made["output"]
    assert posted(runtime, "/engine/memories/recall", {"query": "where did Ana move to?"}, shown["key"])["hits"] == []
    for command in ("indexes", "migrate", "backfill", "sweep", "purge", "retry-pending", "reindex", "queue"):
        answer = runtime.given("app.admin", {"command": command})
        assert (answer.get("error"), answer.get("finished")) == (None, True), command
    refused = runtime.given("app.admin", {"command": "sweep", "arguments": {"dryrun": True}})
    assert refused["error"]["details"]["field"] == "arguments.dryrun"
    assert shown["key"] not in runtime.log.read_text()


def test_an_admin_function_whose_time_is_up_gives_a_cursor_that_goes_on(
    runtime: Runtime, environment: dict[str, str]
) -> None:
    org = new_id("org")
    for user, secret in zip(("ana", "bob"), member_keys(environment, org, "ana", "bob"), strict=True):
        posted(runtime, "/engine/memories", {"content": f"{user} plays the cello"}, secret)
    payload = {"command": "reindex", "arguments": {"organization": org}}
    first = runtime.call("app.admin", payload, remaining_ms=1000)["given"]
    assert (first["finished"], first["progress"]["scopes"], first["progress"]["ofScopes"]) == (False, 1, 2)
    last = runtime.given("app.admin", payload | {"cursor": first["cursor"]})
    assert (last["finished"], last["progress"]["rows"], last["progress"]["scopes"]) == (True, 2, 2)
