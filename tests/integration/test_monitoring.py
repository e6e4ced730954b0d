"""Alarms and the dashboard: each watches a metric that somebody emits, reaches somebody, and is explained."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.adapters.telemetry import DIMENSIONS, NAMESPACE, SERVICE
from chalicelib.domain.query import MissingCode
from tests.cloudformation import Stack
from vitto_tools.local.servers import ROOT

pytestmark = pytest.mark.timeout(400)  # the package is built once for all: with the machine to itself in half a minute
FUNCTIONS = {"APIHandler", "WorkQueue", "RetryPending", "Sweep", "Backfill", "Purge", "Admin"}
OF_AWS = {
    ("AWS/ApiGateway", "Count"),
    ("AWS/ApiGateway", "4XXError"),
    ("AWS/ApiGateway", "5XXError"),
    ("AWS/ApiGateway", "Latency"),
    ("AWS/Lambda", "Errors"),
    ("AWS/Lambda", "Throttles"),
    ("AWS/Lambda", "Duration"),
    ("AWS/Lambda", "Invocations"),
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
    ("AWS/SQS", "ApproximateAgeOfOldestMessage"),
}
"""The metrics of AWS that are watched, as its documents name them."""
NAMES = {
    "AWS/ApiGateway": {"ApiName": {"${AWS::StackName}"}, "Stage": {"v1"}},
    "AWS/Lambda": {"FunctionName": {f"${{{name}}}" for name in FUNCTIONS}},
    "AWS/SQS": {"QueueName": {"${Work.QueueName}", "${WorkDeadLetters.QueueName}"}},
}
"""What they are counted by, and the things of the stack that are meant."""
Watched = tuple[str, str, dict[str, str]]


def emitted() -> dict[str, set[str]]:
    """Every event and gauge of the application by its name, and the fields that it carries."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "chalicelib").rglob("*.py"):
        tree = ast.parse(path.read_text())
        passed_on = dict(_passed_on(tree))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
                name, fields = call.args[0], {one.arg for one in call.keywords if one.arg}
                if call.func.attr in {"event", "gauge", *passed_on} and isinstance(name, ast.Constant):
                    found.setdefault(str(name.value), set()).update(fields | passed_on.get(call.func.attr, set()))
    return found


def _passed_on(tree: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Functions that say an event whose name they are given, and the fields that they add."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {one.arg for one in function.args.args}
        for call in ast.walk(function):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "event"):
                continue
            if call.args and isinstance(call.args[0], ast.Name) and call.args[0].id in given:
                yield function.name, {one.arg for one in call.keywords if one.arg}


def alarms(sam: dict[str, Any]) -> dict[str, Any]:
    """The alarms as the stack has them by default."""
    there = Stack(sam).resources
    return {name: one["Properties"] for name, one in there.items() if one["Type"] == "AWS::CloudWatch::Alarm"}


def watched_by_alarms(sam: dict[str, Any]) -> Iterator[Watched]:
    """The metrics of all alarms."""
    for said in alarms(sam).values():
        simple = [said] if "MetricName" in said else []
        for one in simple + [part["MetricStat"]["Metric"] for part in said.get("Metrics", []) if "MetricStat" in part]:
            yield one["Namespace"], one["MetricName"], {each["Name"]: each["Value"] for each in one["Dimensions"]}


def dashboard(sam: dict[str, Any]) -> list[dict[str, Any]]:
    """The dashboard's widgets."""
    body = json.loads(Stack(sam).properties("Dashboard")["DashboardBody"])
    return [one["properties"] for one in body["widgets"]]


def watched_by_the_dashboard(sam: dict[str, Any]) -> Iterator[Watched]:
    """The metrics of all its widgets."""
    for widget in dashboard(sam):
        for row in widget["metrics"]:
            if isinstance(row[0], dict):
                found = re.match(r"SEARCH\('\{(\w+),service,(\w+)\} MetricName=\"(\w+)\"", row[0]["expression"])
                assert found, row
                yield found[1], found[3], {"service": SERVICE, found[2]: ""}
            elif row[0] != "...":
                pairs = [one for one in row[2:] if isinstance(one, str)]
                yield row[0], row[1], dict(zip(pairs[::2], pairs[1::2], strict=True))


def watched(sam: dict[str, Any]) -> list[Watched]:
    """All of them."""
    return [*watched_by_alarms(sam), *watched_by_the_dashboard(sam)]


def test_every_metric_of_the_product_that_is_watched_is_emitted_with_what_it_is_counted_by(sam: dict[str, Any]) -> None:
    known = emitted()
    own = [(name, counted) for namespace, name, counted in watched(sam) if namespace == NAMESPACE]
    assert len(own) > 15
    for name, counted in own:
        assert counted.pop("service") == SERVICE
        assert len(counted) <= 1, "each metric is counted by the service, and by one field more"
        assert counted.keys() <= set(DIMENSIONS)
        assert counted.keys() <= known.get(name, {"nothing emits it"}), name
    codes = {counted["code"] for _, counted in own if counted.get("code")}
    assert codes <= set(MissingCode)


def test_every_metric_of_aws_that_is_watched_is_one_and_of_this_stack(sam: dict[str, Any]) -> None:
    assert NAMES["AWS/ApiGateway"]["Stage"] == {Stack(sam).properties("RestAPI")["StageName"]}
    others = [one for one in watched(sam) if one[0] != NAMESPACE]
    for namespace, name, counted in others:
        assert (namespace, name) in OF_AWS
        assert counted.keys() == NAMES[namespace].keys()
        assert all(value in NAMES[namespace][key] for key, value in counted.items()), counted


def test_what_is_emitted_is_found_where_it_stands() -> None:
    known = emitted()
    assert {"part", "code"} <= known["recall_degraded"]
    assert {"store", "reason"} <= known["breaker_opened"]
    assert "job" in known["job_failing"]
    assert "pending_rows" in known


def test_errors_of_every_function_raise_an_alarm(sam: dict[str, Any]) -> None:
    counted = [counted for _, name, counted in watched_by_alarms(sam) if name == "Errors"]
    assert {one["FunctionName"] for one in counted} == {f"${{{name}}}" for name in FUNCTIONS}


def test_every_function_of_the_template_is_watched(sam: dict[str, Any]) -> None:
    there = {name for name, one in sam["Resources"].items() if one["Type"] == "AWS::Serverless::Function"}
    assert there == FUNCTIONS


@pytest.mark.parametrize(("name", "function"), [("WorkSlow", "WorkQueue"), ("RetrySlow", "RetryPending")])
def test_a_function_is_called_slow_before_its_time_is_up(sam: dict[str, Any], name: str, function: str) -> None:
    assert alarms(sam)[name]["Threshold"] == 0.8 * 1000 * Stack(sam).properties(function)["Timeout"]
    assert alarms(sam)[name]["ExtendedStatistic"] == "p95"


def test_alarms_go_to_the_topic_and_from_there_to_the_address_that_was_given(sam: dict[str, Any]) -> None:
    for said in alarms(sam).values():
        assert said["AlarmActions"] == said["OKActions"] == ["${AlarmTopic}"]
        assert said["AlarmDescription"]
    assert "AlarmSubscription" not in Stack(sam).resources
    subscription = Stack(sam, AlarmEmail="ops@example.org").properties("AlarmSubscription")
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "ops@example.org")


def test_where_nothing_is_to_be_watched_nothing_of_it_is_there(sam: dict[str, Any]) -> None:
    stack = Stack(sam, Monitoring="off", AlarmEmail="ops@example.org")
    services = {one["Type"].split("::")[1] for one in stack.resources.values()}
    assert services & {"CloudWatch", "SNS"} == set()
    assert "AlarmTopicArn" not in stack.outputs


def test_only_a_schedule_that_stands_still_is_told_by_silence(sam: dict[str, Any]) -> None:
    by_silence = [name for name, said in alarms(sam).items() if said["TreatMissingData"] == "breaching"]
    assert by_silence == ["RetryStopped"]


def test_every_alarm_is_explained_with_what_to_do(sam: dict[str, Any]) -> None:
    told = (ROOT / "docs" / "operations.md").read_text()
    rows = {
        line.split("|")[1].strip(" `"): line.split("|")[2:4] for line in told.splitlines() if line.startswith("| `")
    }
    for name in alarms(sam):
        meaning, doing = rows[name]
        assert meaning.strip()
        assert doing.strip()
    assert [name for name in re.findall(r"^\| `([A-Z]\w+)` \|", told, re.MULTILINE) if name not in known_to(sam)] == []


def known_to(sam: dict[str, Any]) -> set[str]:
    """What the page may have a row for."""
    return {*alarms(sam), *sam["Parameters"]}


def test_widgets_stand_beside_one_another(sam: dict[str, Any]) -> None:
    body = json.loads(Stack(sam).properties("Dashboard")["DashboardBody"])
    places = [(one["x"], one["y"]) for one in body["widgets"]]
    assert len(set(places)) == len(places)
    assert all(one["x"] + one["width"] <= 24 for one in body["widgets"])
    assert len({one["title"] for one in dashboard(sam)}) == len(places)
