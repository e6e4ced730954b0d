"""A stack of CloudFormation: changed by change sets, followed by its events, taken away."""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from vitto_tools.deploying.account import STACK, Account, told
from vitto_tools.deploying.errors import DeployFailed

POLL_SECONDS = 2.0
_CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
_NO_CHANGES = ("didn't contain changes", "No updates are to be performed")
_CONSEQUENCES = ("cancelled", "canceled")  # of the failure of another resource
_NEVER_MADE = {"REVIEW_IN_PROGRESS", "DELETE_COMPLETE"}
Say = Callable[[str], None]


@dataclass(frozen=True)
class Resource:
    """Something that a stack made."""

    name: str
    type: str
    id: str


class Stack:
    """The stack of a stage."""

    def __init__(self, account: Account, stage: str, say: Say, wait: Callable[[float], None] = time.sleep) -> None:
        self.name = STACK.format(stage=stage)
        self._stage = stage
        self._client = account.cloudformation
        self._say = say
        self._wait = wait
        self._seen: set[str] = set()
        self._failed: list[str] = []

    def described(self) -> dict[str, Any] | None:
        """What CloudFormation says of it; None where there is none."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 - commands that need no AWS start without

        try:
            with told():
                found = self._client.describe_stacks(StackName=self.name)["Stacks"]
        except DeployFailed as error:
            if isinstance(error.__cause__, ClientError) and "does not exist" in str(error):
                return None
            raise
        return dict(found[0])

    def parameters(self) -> dict[str, str]:
        """Those that it has now; none where there is no stack."""
        said = (self.described() or {}).get("Parameters", [])
        return {one["ParameterKey"]: one["ParameterValue"] for one in said}

    def outputs(self) -> dict[str, str]:
        """What it gives out."""
        said = (self.described() or {}).get("Outputs", [])
        return {one["OutputKey"]: one["OutputValue"] for one in said}

    def resources(self) -> list[Resource]:
        """What it made."""
        with told():
            pages = self._client.get_paginator("list_stack_resources").paginate(StackName=self.name)
            found = [one for page in pages for one in page["StackResourceSummaries"]]
        return [
            Resource(one["LogicalResourceId"], one["ResourceType"], one["PhysicalResourceId"])
            for one in found
            if one.get("PhysicalResourceId")
        ]

    def retained(self) -> list[Resource]:
        """What stays when it is deleted, as its template says."""
        with told():
            template = self._client.get_template(StackName=self.name, TemplateStage="Processed")["TemplateBody"]
        kept = {name for name, said in template["Resources"].items() if said.get("DeletionPolicy") == "Retain"}
        return [one for one in self.resources() if one.name in kept]

    def apply(self, url: str, parameters: list[dict[str, Any]]) -> bool:
        """Make it, or change it, as the template at `url` says; whether there was anything to do. DeployFailed names the
        resource that could not be made and why."""
        exists = self._ready_for_change()
        self._note_events()
        name = f"deploy-{hashlib.sha256(f'{url}{time.time_ns()}'.encode()).hexdigest()[:16]}"
        if not self._asked(name, "UPDATE" if exists else "CREATE", url, parameters) or not self._is_change(name):
            return False
        with told():
            self._client.execute_change_set(StackName=self.name, ChangeSetName=name)
        self._follow(self.name)
        return True

    def _asked(self, name: str, kind: str, url: str, parameters: list[dict[str, Any]]) -> bool:
        """Ask for a change set; False where CloudFormation sees at once that nothing would change."""
        try:
            with told():
                self._client.create_change_set(
                    StackName=self.name,
                    ChangeSetName=name,
                    ChangeSetType=kind,
                    TemplateURL=url,
                    Parameters=parameters,
                    Capabilities=_CAPABILITIES,
                    Tags=[{"Key": "vitto-memory:stage", "Value": self._stage}],
                )
        except DeployFailed as error:
            if any(words in str(error) for words in _NO_CHANGES):
                return False
            raise
        return True

    def _ready_for_change(self) -> bool:
        """Whether there is a stack. One that was never completed is taken away first; one that is being changed is left."""
        status = str((self.described() or {}).get("StackStatus", "DELETE_COMPLETE"))
        if status == "ROLLBACK_COMPLETE":
            self._say(f"{self.name} could not be made before and is taken away first")
            self.delete()
            return False
        if status in _NEVER_MADE:
            return False
        if status.endswith("_IN_PROGRESS"):
            raise DeployFailed(f"{self.name} is {status}: somebody else is at it; try again when that is over")
        if status.endswith("_FAILED"):
            raise DeployFailed(f"{self.name} is {status}: put it right in CloudFormation first, or destroy the stage")
        return True

    def _is_change(self, name: str) -> bool:
        """Wait until CloudFormation has worked the change out. One without changes is taken away again."""
        while True:
            with told():
                said = self._client.describe_change_set(StackName=self.name, ChangeSetName=name)
            if said["Status"] == "CREATE_COMPLETE":
                return True
            if said["Status"] == "FAILED":
                with told():
                    self._client.delete_change_set(StackName=self.name, ChangeSetName=name)
                reason = said.get("StatusReason", "")
                if any(words in reason for words in _NO_CHANGES):
                    return False
                raise DeployFailed(f"the change of {self.name} cannot be worked out: {reason}")
            self._wait(POLL_SECONDS)

    def delete(self) -> None:
        """Take it away, but for what is retained. DeployFailed names what could not be."""
        found = self.described()
        if found is None:
            return
        self._note_events()
        with told():
            self._client.delete_stack(StackName=self.name)
        self._follow(found["StackId"], gone=True)

    def _follow(self, stack: str, *, gone: bool = False) -> None:
        """Say each event until the stack stands still."""
        while True:
            self._tell(stack)
            with told():
                status = self._status(stack, gone=gone)
            if not status.endswith("_IN_PROGRESS"):
                break
            self._wait(POLL_SECONDS)
        self._tell(stack)
        well = {"DELETE_COMPLETE"} if gone else {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
        if status not in well:
            why = "\n  ".join(self._failed) or "its events say why"
            raise DeployFailed(f"{self.name} is {status}:\n  {why}")

    def _status(self, stack: str, *, gone: bool) -> str:
        from botocore.exceptions import ClientError  # noqa: PLC0415 - see `described`

        try:
            return str(self._client.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"])
        except (ClientError, IndexError):
            if gone:
                return "DELETE_COMPLETE"
            raise

    def _tell(self, stack: str) -> None:
        for event in self._new_events(stack):
            status, reason = event["ResourceStatus"], event.get("ResourceStatusReason", "")
            line = f"{event['LogicalResourceId']} {status}" + (f": {reason}" if reason else "")
            self._say(line)
            if status.endswith("_FAILED") and not any(word in reason for word in _CONSEQUENCES):
                self._failed.append(line)

    def _note_events(self) -> None:
        """Take what happened until now as told."""
        with suppress(DeployFailed):
            for _ in self._new_events(self.name):
                pass
        self._failed.clear()

    def _new_events(self, stack: str) -> Iterator[dict[str, Any]]:
        with told():
            pages = self._client.get_paginator("describe_stack_events").paginate(StackName=stack)
            fresh = []
            for page in pages:
                unseen = [one for one in page["StackEvents"] if one["EventId"] not in self._seen]
                fresh += unseen
                if len(unseen) < len(page["StackEvents"]):
                    break
        for event in reversed(fresh):
            self._seen.add(event["EventId"])
            yield event
