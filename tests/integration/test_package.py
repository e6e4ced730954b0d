"""The AWS package: what is in it, what its template declares, and what each function may do."""

import importlib.metadata
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from chalicelib.settings import LanguageModelSettings, Settings
from tests.cloudformation import Stack
from vitto_tools.local.servers import ROOT
from vitto_tools.packaging import template as templates
from vitto_tools.packaging.archive import sha256, write_archive
from vitto_tools.packaging.build import LIMIT_BYTES, Built, build
from vitto_tools.packaging.dependencies import install
from vitto_tools.packaging.errors import PackageRefused
from vitto_tools.packaging.licences import Licence, is_permissive, refuse_others

pytestmark = pytest.mark.timeout(400)  # the package is built once for all: with the machine to itself in half a minute
UNNEEDED = {
    "boto3",
    "botocore",
    "numpy",
    "pip",
    "setuptools",
    "tests",
    "pytest",
    "moto",
    "s3transfer",
    "docker",
    "gunicorn",
}
SCHEDULES = {
    "app.sweep": "cron(0 3 1 * ? *)",
    "app.backfill": "cron(0 2 * * ? *)",
    "app.purge": "cron(0 4 * * ? *)",
    "app.retry_pending": "rate(1 minute)",
}
OTHERS = ("app.app", "app.work_queue", "app.admin")
QUEUE_ACTIONS = {
    "app.app": {"sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"},
    "app.retry_pending": {"sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"},
    "app.backfill": {"sqs:SendMessage"},
    "app.work_queue": {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:SendMessage", "sqs:GetQueueAttributes"},
    "app.sweep": {"sqs:SendMessage"},
    "app.purge": {"sqs:SendMessage"},
    "app.admin": {
        "sqs:SendMessage",
        "sqs:GetQueueAttributes",
        "sqs:GetQueueUrl",
        "sqs:ReceiveMessage",
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
    },
}
FUNCTIONS = ("APIHandler", "WorkQueue", "RetryPending", "Sweep", "Backfill", "Purge")
EVERY_FUNCTION = {
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "xray:PutTraceSegments",
    "xray:PutTelemetryRecords",
    "secretsmanager:GetSecretValue",
}


@pytest.fixture(scope="session")
def names(package: Built) -> set[str]:
    """The files in the zip."""
    with zipfile.ZipFile(package.archive) as held:
        return set(held.namelist())


def named(sam: dict[str, Any], handler: str) -> dict[str, Any]:
    """The properties of a function."""
    (found,) = [
        one["Properties"]
        for one in sam["Resources"].values()
        if one["Type"] == "AWS::Serverless::Function" and one["Properties"]["Handler"] == handler
    ]
    return dict(found)


def statements(sam: dict[str, Any], handler: str) -> list[dict[str, Any]]:
    """What a function's role allows."""
    (policy,) = Stack(sam).properties(named(sam, handler)["Role"]["Fn::GetAtt"][0])["Policies"]
    return list(policy["PolicyDocument"]["Statement"])


def test_every_function_runs_through_app(package: Built) -> None:
    assert {one.handler for one in package.functions} == {*OTHERS, *SCHEDULES}


def test_no_two_functions_share_a_role(package: Built) -> None:
    assert len({one.role for one in package.functions}) == len(package.functions)


@pytest.mark.parametrize("handler", [*OTHERS, *SCHEDULES])
def test_a_function_may_do_what_it_needs_and_nothing_else(sam: dict[str, Any], handler: str) -> None:
    allowed = statements(sam, handler)
    actions = {action for one in allowed for action in one["Action"]}
    assert actions == EVERY_FUNCTION | QUEUE_ACTIONS.get(handler, set())
    open_ended = [one["Sid"] for one in allowed if one["Resource"] == "*"]
    assert open_ended == ["Trace"]  # X-Ray knows no resources
    assert all(one["Effect"] == "Allow" for one in allowed)


def test_a_function_writes_to_its_own_log_alone(sam: dict[str, Any]) -> None:
    functions = {n: one for n, one in sam["Resources"].items() if one["Type"] == "AWS::Serverless::Function"}
    for name, function in functions.items():
        (log,) = [one for one in statements(sam, function["Properties"]["Handler"]) if one["Sid"] == "Log"]
        assert log["Resource"].endswith(f":log-group:/aws/lambda/${{AWS::StackName}}-{name}-*")


@pytest.mark.parametrize(("handler", "expression"), SCHEDULES.items())
def test_schedules_are_those_of_the_spec(sam: dict[str, Any], handler: str, expression: str) -> None:
    (event,) = named(sam, handler)["Events"].values()
    assert (event["Type"], event["Properties"]["Schedule"]) == ("Schedule", expression)


def test_messages_that_fail_go_back_alone_and_in_the_end_to_the_dead_letters(sam: dict[str, Any]) -> None:
    function = named(sam, "app.work_queue")
    (event,) = function["Events"].values()
    assert event["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert event["Properties"]["Queue"] == {"Fn::GetAtt": ["Work", "Arn"]}
    queue = sam["Resources"]["Work"]["Properties"]
    assert queue["RedrivePolicy"]["deadLetterTargetArn"] == {"Fn::GetAtt": ["WorkDeadLetters", "Arn"]}
    assert queue["VisibilityTimeout"] >= 6 * function["Timeout"]  # what AWS asks for


def test_the_gateways_own_answers_look_like_the_services(sam: dict[str, Any]) -> None:
    said = sam["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["x-amazon-apigateway-gateway-responses"]
    documented = (ROOT / "docs" / "errors.md").read_text()
    for one in said.values():
        text = one["responseTemplates"]["application/json"].replace("$context.error.messageString", '"message"')
        error = json.loads(text)["error"]
        assert f"| `{error['code']}` |" in documented
        assert error.keys() == {"code", "message", "details"}
        assert one["responseParameters"]["Fn::If"][0] == "CallableByBrowsers"
    assert said["MISSING_AUTHENTICATION_TOKEN"]["statusCode"] == "404"  # the gateway's word for a path that is none


def test_settings_in_the_template_are_known_and_secrets_are_named_not_held(sam: dict[str, Any]) -> None:
    known = {variable for _, _, variable, _ in Settings.table()}
    for function in FUNCTIONS:
        variables = deployed(sam, function, LanguageModel="small", DocsUrl="https://docs.test")
        assert {name for name in variables if name.startswith("VITTO_")} <= known
        assert Settings.secret_variables() <= variables.keys()
        for name in Settings.secret_variables():
            assert re.fullmatch(r"secretsmanager:vitto-memory#\w+", variables[name])


def deployed(sam: dict[str, Any], function: str = "APIHandler", **parameters: str) -> dict[str, str]:
    """The variables of a function, with these parameters given and the others as they are by themselves."""
    return dict(Stack(sam, **parameters).properties(function)["Environment"]["Variables"])


def test_without_a_language_model_none_is_asked_and_no_key_of_one_is_looked_for(sam: dict[str, Any]) -> None:
    shared = deployed(sam)
    assert shared["VITTO_LLM_API_KEY"] == ""
    assert Settings.from_environment(shared).language_model == LanguageModelSettings()


def test_with_a_language_model_its_key_is_in_the_secret_like_the_others(sam: dict[str, Any]) -> None:
    shared = deployed(sam, Secret="mine", LanguageModel="small", LanguageModelUrl="https://llm.example/v1")
    assert shared["VITTO_LLM_API_KEY"] == "secretsmanager:mine#llmApiKey"
    secrets = {"mongoUri": "mongodb://m", "redisUrl": "redis://r", "embeddingApiKey": "e", "llmApiKey": "l"}
    held = {name: secrets[value.partition("#")[2]] for name, value in shared.items() if value.startswith("secretsm")}
    asked = Settings.from_environment(shared | held).language_model
    assert (asked.model, asked.base_url, asked.api_key) == ("small", "https://llm.example/v1", "l")
    documented = (ROOT / "docs" / "deploy.md").read_text()
    assert [name for name in secrets if name not in documented] == []


def test_a_docs_service_is_reached_with_a_token_of_the_secret_and_without_one_none_is_looked_for(
    sam: dict[str, Any],
) -> None:
    assert deployed(sam)["VITTO_DOCS_TOKEN"] == ""
    shared = deployed(sam, Secret="mine", DocsUrl="https://docs.example", DocsProject="memory")
    assert shared["VITTO_DOCS_TOKEN"] == "secretsmanager:mine#docsToken"
    assert (shared["VITTO_DOCS_URL"], shared["VITTO_DOCS_PROJECT"]) == ("https://docs.example", "memory")


def test_nothing_unneeded_is_in_the_zip(names: set[str]) -> None:
    top = {name.partition("/")[0] for name in names}
    assert top & UNNEEDED == set()
    assert {name for name in names if name.startswith("chalice/") and "__pycache__" not in name} == {
        "chalice/__init__.py",
        "chalice/app.py",
    }
    assert not [name for name in names if re.search(r"(^|/)tests?/", name)]
    assert not [name for name in names if name.startswith("chalicelib/") and ".vitto" in name]


def test_all_of_the_application_is_in_the_zip(names: set[str]) -> None:
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "chalicelib").rglob("*") if path.is_file()]
    assert {name for name in files if "__pycache__" not in name} | {"app.py"} <= names


def test_every_module_is_compiled_ahead(names: set[str]) -> None:
    modules = {name for name in names if name.startswith("chalicelib/") and name.endswith(".py")}
    compiled = {re.sub(r"([^/]+)\.py$", r"__pycache__/\1.cpython-313.pyc", name) for name in modules}
    assert compiled <= names


def test_what_a_distribution_needs_is_in_the_zip_or_in_lambdas_runtime(unpacked: Path) -> None:
    held = {_normal(one.metadata["Name"]) for one in importlib.metadata.distributions(path=[str(unpacked)])}
    in_lambda = _closure("boto3")
    for one in importlib.metadata.distributions(path=[str(unpacked)]):
        for requirement in one.requires or []:
            name, _, marker = requirement.partition(";")
            if "extra" not in marker and _applies(marker):
                assert _name(name) in held | in_lambda, (one.metadata["Name"], requirement)


def _closure(name: str) -> set[str]:
    """A distribution and all that it needs, as installed here."""
    needed = [_name(one) for one in importlib.metadata.requires(name) or [] if "extra" not in one]
    return {name}.union(*(_closure(one) for one in needed))


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement.strip())
    assert found
    return _normal(found[0])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _applies(marker: str) -> bool:
    from packaging.markers import Marker

    return not marker.strip() or Marker(marker).evaluate({"python_version": "3.13", "sys_platform": "linux"})


def test_it_is_small_enough_to_deploy(package: Built) -> None:
    assert package.zipped_bytes < LIMIT_BYTES
    assert package.unzipped_bytes < 250_000_000


def test_every_licence_may_ship(package: Built) -> None:
    assert {one.name.lower() for one in package.licences} >= {"pymongo", "redis", "openai", "chalice", "pydantic"}
    assert [one for one in package.licences if not is_permissive(one.licence)] == []


@pytest.mark.parametrize(
    "licence", ["GPL-3.0-only", "LGPL-2.1", "AGPL-3.0", "MIT AND GPL-2.0-only", "none named", "Custom"]
)
def test_a_licence_that_is_copyleft_or_unknown_refuses_the_build(licence: str) -> None:
    with pytest.raises(PackageRefused, match=r"thing \("):
        refuse_others([Licence("other", "1", "MIT"), Licence("thing", "1", licence)])


@pytest.mark.parametrize(
    "licence", ["MIT", "Apache-2.0 OR GPL-2.0-only", "(MIT AND BSD-3-Clause) OR GPL-3.0", "MPL-2.0"]
)
def test_of_alternatives_one_that_may_ship_suffices(licence: str) -> None:
    refuse_others([Licence("thing", "1", licence)])


def test_a_package_that_exists_as_source_alone_is_refused_by_its_name(tmp_path: Path) -> None:
    source = tmp_path / "onlysource-1.0.tar.gz"
    source.write_bytes(b"never read")
    wanted = tmp_path / "requirements.txt"
    wanted.write_text(f"onlysource==1.0 --hash=sha256:{sha256(source)}\n")
    with pytest.raises(PackageRefused, match="onlysource"):
        install(wanted, tmp_path / "out", "--offline", "--no-index", "--find-links", str(tmp_path))


def test_a_stage_that_is_not_declared_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(PackageRefused, match="stage prd is not in"):
        build(ROOT, "prd", tmp_path)


def test_the_same_files_make_the_same_bytes(unpacked: Path, package: Built, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    write_archive(unpacked, again)
    assert sha256(again) == package.sha256


def test_a_fault_in_the_template_is_found(sam: dict[str, Any], tmp_path: Path) -> None:
    queue = sam["Resources"]["WorkDeadLetters"]
    faulty = tmp_path / "sam.json"
    misspelt = queue | {"Properties": {"VisibilityTimout": 5}}
    faulty.write_text(json.dumps({"Resources": {"WorkDeadLetters": misspelt}}))
    with pytest.raises(PackageRefused, match="VisibilityTimout"):
        templates.lint(faulty)
