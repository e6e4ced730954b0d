"""Deploying where it does not go well: what cannot be made is named with its reason, and what is under way is left alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from boto3.session import Session
from botocore.exceptions import ClientError

from vitto_tools.deploying.account import Account
from vitto_tools.deploying.errors import DeployFailed
from vitto_tools.deploying.evaluating import Evaluated
from vitto_tools.deploying.invoking import LambdaInvoker
from vitto_tools.deploying.preparing import parameter_list, parameters_of, refuse_odd_stage
from vitto_tools.deploying.stack import Stack
from vitto_tools.local.servers import ROOT
from vitto_tools.packaging.build import stages

NAME = "vitto-memory-it"
Event = tuple[str, str, str]


class CloudFormationDouble:
    """Its client, with a stack that goes through `statuses` once a change is under way, and says `events` with the first."""

    def __init__(self, before: str | None, statuses: list[str], events: list[Event] | None = None) -> None:
        self.status = before
        self.statuses = statuses
        self.coming = events or []
        self.events: list[Event] = [("Old", "CREATE_FAILED", "of an earlier time")]
        self.change: dict[str, Any] = {"Status": "CREATE_COMPLETE"}
        self.calls: list[str] = []

    def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803 - AWS's name
        """The next status."""
        if self.status is None:
            told = {"Error": {"Code": "ValidationError", "Message": f"Stack with id {StackName} does not exist"}}
            raise ClientError(told, "DescribeStacks")
        return {"Stacks": [{"StackName": StackName, "StackId": StackName, "StackStatus": self.status}]}

    def create_change_set(self, **asked: Any) -> None:
        """Take note."""
        self.calls.append(asked["ChangeSetType"])

    def describe_change_set(self, **_: Any) -> dict[str, Any]:
        """How far the change set is."""
        return self.change

    def delete_change_set(self, **_: Any) -> None:
        """Take note."""
        self.calls.append("delete change set")

    def execute_change_set(self, **_: Any) -> None:
        """Begin."""
        self.calls.append("execute")
        self.step()

    def delete_stack(self, **_: Any) -> None:
        """Begin."""
        self.calls.append("delete")
        self.step()

    def step(self, _: float = 0) -> None:
        """The next status, with what happened."""
        self.status = self.statuses.pop(0)
        self.events, self.coming = self.events + self.coming, []

    def get_paginator(self, _: str) -> "CloudFormationDouble":
        """Of the events."""
        return self

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        """The events, the latest first."""
        told = [
            {"EventId": str(number), "LogicalResourceId": name, "ResourceStatus": status, "ResourceStatusReason": why}
            for number, (name, status, why) in enumerate(self.events)
        ]
        return [{"StackEvents": told[::-1]}]


def stack(double: CloudFormationDouble, said: list[str]) -> Stack:
    """A stack over it; to wait is to go on."""
    account = Account(None, "123456789012", "arn:aws:iam::123456789012:user/ana", "eu-central-1")
    account.__dict__["cloudformation"] = double
    return Stack(account, "it", said.append, double.step)


def test_what_cannot_be_made_is_named_with_its_reason_and_consequences_are_not() -> None:
    events = [
        ("Work", "CREATE_FAILED", "the quota of queues is used up"),
        ("Sweep", "CREATE_FAILED", "Resource creation cancelled"),
    ]
    double = CloudFormationDouble(None, ["CREATE_IN_PROGRESS", "ROLLBACK_IN_PROGRESS", "ROLLBACK_COMPLETE"], events)
    said: list[str] = []
    with pytest.raises(DeployFailed) as raised:
        stack(double, said).apply("https://template", [])
    assert str(raised.value).splitlines() == [
        f"{NAME} is ROLLBACK_COMPLETE:",
        "  Work CREATE_FAILED: the quota of queues is used up",
    ]
    assert "Sweep CREATE_FAILED: Resource creation cancelled" in said
    assert not any("earlier time" in line for line in said)


def test_a_change_is_followed_to_its_end() -> None:
    double = CloudFormationDouble(
        "CREATE_COMPLETE",
        ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "UPDATE_COMPLETE"],
        [("Sweep", "UPDATE_COMPLETE", "")],
    )
    said: list[str] = []
    assert stack(double, said).apply("https://template", []) is True
    assert (double.calls, double.statuses) == (["UPDATE", "execute"], [])
    assert said == ["Sweep UPDATE_COMPLETE"]


def test_no_changes_are_no_failure_and_leave_no_change_set() -> None:
    double = CloudFormationDouble("UPDATE_COMPLETE", [])
    double.change = {"Status": "FAILED", "StatusReason": "The submitted information didn't contain changes."}
    assert stack(double, []).apply("https://template", []) is False
    assert double.calls == ["UPDATE", "delete change set"]


def test_a_change_that_cannot_be_worked_out_says_why() -> None:
    double = CloudFormationDouble("UPDATE_COMPLETE", [])
    double.change = {"Status": "FAILED", "StatusReason": "Transform failed: no such property"}
    with pytest.raises(DeployFailed, match="no such property"):
        stack(double, []).apply("https://template", [])


def test_a_stack_that_was_never_completed_is_taken_away_and_made_anew() -> None:
    double = CloudFormationDouble("ROLLBACK_COMPLETE", ["DELETE_COMPLETE", "CREATE_IN_PROGRESS", "CREATE_COMPLETE"])
    assert stack(double, []).apply("https://template", []) is True
    assert double.calls == ["delete", "CREATE", "execute"]


@pytest.mark.parametrize("status", ["UPDATE_IN_PROGRESS", "UPDATE_ROLLBACK_FAILED"])
def test_a_stack_that_somebody_is_at_or_that_is_broken_is_left_alone(status: str) -> None:
    double = CloudFormationDouble(status, [])
    with pytest.raises(DeployFailed, match=status):
        stack(double, []).apply("https://template", [])
    assert double.calls == []


def test_what_cannot_be_deleted_is_named() -> None:
    double = CloudFormationDouble("CREATE_COMPLETE", ["DELETE_FAILED"], [("Role", "DELETE_FAILED", "it is in use")])
    with pytest.raises(DeployFailed, match="Role DELETE_FAILED: it is in use"):
        stack(double, []).delete()


def test_a_stage_without_a_stack_cannot_be_reached() -> None:
    class Absent(CloudFormationDouble):
        def describe_stack_resource(self, **_: Any) -> Any:
            """There is none."""
            self.describe_stacks(NAME)

    account = Account(Session(region_name="eu-central-1"), "1", "arn", "eu-central-1")
    account.__dict__["cloudformation"] = Absent(None, [])
    with pytest.raises(DeployFailed, match=f"{NAME} does not exist"):
        LambdaInvoker(account, "it").invoke({})


@pytest.mark.parametrize("stage", ["", "-x", "x-", "a b", "a/b", "ä", "x" * 51])
def test_a_name_that_no_stack_can_carry_is_refused(stage: str) -> None:
    with pytest.raises(DeployFailed, match="letters, digits"):
        refuse_odd_stage(stage)


def test_parameters_come_from_a_file_and_from_the_command_which_wins(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text(json.dumps({"Secret": "a", "AllowedOrigin": "https://x"}))
    assert parameters_of(["Secret=b=c"], file) == {"Secret": "b=c", "AllowedOrigin": "https://x"}
    for wrong in ('["Secret"]', '{"Secret": 1}', "{"):
        file.write_text(wrong)
        with pytest.raises(DeployFailed, match=r"p\.json"):
            parameters_of([], file)
    with pytest.raises(DeployFailed, match="Key=Value"):
        parameters_of(["Secret"], None)


def test_what_is_not_given_stays_as_it_was_and_what_is_wanted_is_named() -> None:
    template = {"Parameters": {"Secret": {"Default": "x"}, "Subnets": {}, "Origin": {"Default": ""}}}
    before = {"Secret": "mine", "Subnets": "s-1", "Gone": "1"}
    assert parameter_list(template, {"Origin": "o"}, before) == [
        {"ParameterKey": "Origin", "ParameterValue": "o"},
        {"ParameterKey": "Secret", "UsePreviousValue": True},
        {"ParameterKey": "Subnets", "UsePreviousValue": True},
    ]
    with pytest.raises(DeployFailed, match="Subnets=…"):
        parameter_list(template, {}, {})
    with pytest.raises(DeployFailed, match="no parameter Orign; it has Origin, Secret, Subnets"):
        parameter_list(template, {"Orign": "o"}, before)


def test_the_keys_that_functions_look_for_follow_from_the_parameters() -> None:
    template = json.loads((ROOT / "infra" / "template.json").read_text())
    plain = Evaluated(template, {}).secrets()
    assert plain == {"vitto-memory": {"mongoUri", "redisUrl", "embeddingApiKey"}}
    assert "llmApiKey" in Evaluated(template, {"Secret": "mine", "LanguageModel": "small"}).secrets()["mine"]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ({"Fn::Equals": [{"Ref": "A"}, "1"]}, True),
        ({"Fn::Not": [{"Fn::Equals": [{"Ref": "A"}, "1"]}]}, False),
        ({"Fn::And": [{"Condition": "IsA"}, {"Fn::Equals": [{"Ref": "B"}, ""]}]}, True),
        ({"Fn::Or": [{"Fn::Not": [{"Condition": "IsA"}]}, {"Fn::Equals": [{"Ref": "B"}, "x"]}]}, False),
    ],
)
def test_conditions_hold_as_cloudformation_holds_them(condition: Any, holds: bool) -> None:
    template = {
        "Parameters": {"A": {"Default": "0"}, "B": {"Default": ""}},
        "Conditions": {"IsA": {"Fn::Equals": [{"Ref": "A"}, "1"]}, "Asked": condition},
        "Resources": {},
    }
    made = Evaluated(template, {"A": "1"})
    assert made.holds("Asked") is holds
    assert made.value({"Fn::If": ["Asked", "yes", {"Fn::Sub": "no ${A} ${AWS::Region}"}]}) == (
        "yes" if holds else "no 1 ${AWS::Region}"
    )


def test_without_credentials_or_a_region_it_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(DeployFailed, match="--region"):
        Account.here()
    with pytest.raises(DeployFailed, match="credentials"):
        Account.here("eu-central-1")


def test_the_stage_that_others_are_configured_like_is_declared() -> None:
    from vitto_tools.deploying.__main__ import LIKE

    assert LIKE in stages(ROOT)
