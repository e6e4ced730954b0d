"""Commands of an admin, followed from slice to slice until they are finished, wherever they run."""

import base64
import json
from collections.abc import Iterator
from typing import Any, Protocol

from chalicelib.entrypoints.admin.running import SLICE_SECONDS
from vitto_tools.deploying.account import STACK, Account, told
from vitto_tools.deploying.errors import DeployFailed

FUNCTION = "Admin"
"""The function's name in the template."""
Object = dict[str, Any]


class Invoker(Protocol):
    """Has a slice of a command done."""

    def invoke(self, payload: Object) -> Object:
        """The answer to a payload, as `entrypoints.admin.running` describes both. DeployFailed where there is none."""


class LambdaInvoker:
    """`Invoker` for a deployed stage."""

    def __init__(self, account: Account, stage: str) -> None:
        self._account = account
        self._stage = stage
        self._function = ""

    def invoke(self, payload: Object) -> Object:
        context = json.dumps({"custom": {"caller": self._account.arn}})
        client = self._account.functions(float(payload.get("seconds", SLICE_SECONDS)))
        with told():
            reply = client.invoke(
                FunctionName=self._name(),
                Payload=json.dumps(payload).encode(),
                ClientContext=base64.b64encode(context.encode()).decode(),
            )
            answer = json.loads(reply["Payload"].read())
        if reply.get("FunctionError"):
            said = f"{answer.get('errorType', 'Error')}: {answer.get('errorMessage', '')}"
            raise DeployFailed(f"the function failed: {said}; its log says more, and the same command goes on")
        return dict(answer)

    def _name(self) -> str:
        if not self._function:
            stack = STACK.format(stage=self._stage)
            with told():
                found = self._account.cloudformation.describe_stack_resource(
                    StackName=stack, LogicalResourceId=FUNCTION
                )
            self._function = str(found["StackResourceDetail"]["PhysicalResourceId"])
        return self._function


def follow(invoker: Invoker, command: str, arguments: Object, seconds: float = SLICE_SECONDS) -> Iterator[Object]:
    """The answers to a command, slice by slice; the last one is finished. DeployFailed with the error that ended it."""
    cursor = None
    while True:
        payload = {"command": command, "arguments": arguments, "cursor": cursor, "seconds": seconds}
        answer = invoker.invoke(payload)
        if error := answer.get("error"):
            raise DeployFailed(f"{command}: {error['message']}")
        yield answer
        if answer["finished"]:
            return
        cursor = answer["cursor"]
