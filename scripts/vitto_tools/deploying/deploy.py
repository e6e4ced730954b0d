"""`scripts/deploy STAGE`, step by step. Each step may be run again: the same checkout and parameters change nothing."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vitto_tools.deploying import smoke
from vitto_tools.deploying.account import Account
from vitto_tools.deploying.errors import DeployFailed
from vitto_tools.deploying.invoking import Invoker, LambdaInvoker, follow
from vitto_tools.deploying.preparing import Bucket, check_secrets, parameter_list
from vitto_tools.deploying.stack import Resource, Say, Stack
from vitto_tools.packaging import template as templates
from vitto_tools.packaging.build import ARCHIVE

ENDPOINT = "EndpointURL"
"""The output that Chalice's template gives the API's address by."""
_FUNCTION = "AWS::Lambda::Function"


@dataclass(frozen=True)
class Wanted:
    """What is to be deployed, and what of it is left out. `url` is where the API is asked, where that is not the stack's own
    address, such as a domain."""

    stage: str
    package: Path
    parameters: Mapping[str, str] = field(default_factory=dict)
    bucket: str | None = None
    url: str | None = None
    checks_secrets: bool = True
    migrates: bool = True
    smokes: bool = True


def deploy(account: Account, wanted: Wanted, say: Say, invoker: Invoker | None = None) -> list[str]:
    """Bring a package into the account; what there is then, line by line. DeployFailed names what stands in the way."""
    stack = Stack(account, wanted.stage, say)
    template = templates.read(wanted.package / templates.NAME)
    before = stack.parameters()
    parameters = parameter_list(template, wanted.parameters, before)
    if wanted.checks_secrets:
        for line in check_secrets(account, template, {**before, **wanted.parameters}):
            say(f"secret {line}")
    url = _uploaded(account, wanted, template, say)
    say(f"{stack.name}: working out what changes")
    if not stack.apply(url, parameters):
        say(f"{stack.name}: no changes")
    _prepare_stores(invoker or LambdaInvoker(account, wanted.stage), wanted, say)
    outputs = stack.outputs()
    address = wanted.url or outputs.get(ENDPOINT)
    if wanted.smokes:
        if not address:
            raise DeployFailed(f"the stack has no output {ENDPOINT}: give --url, or --no-smoke")
        smoke.health(address, say)
        smoke.round_trip(address, invoker or LambdaInvoker(account, wanted.stage), say)
    return [f"{stack.name} in {account.region}", *_made(outputs, stack.resources())]


def _uploaded(account: Account, wanted: Wanted, template: dict[str, Any], say: Say) -> str:
    """Put the package and its template, which names it, into the bucket; where CloudFormation finds the template."""
    bucket = Bucket(account, wanted.bucket)
    if bucket.make():
        say(f"bucket {bucket.name} made: private, encrypted")
    content = (wanted.package / ARCHIVE).read_bytes()
    key = bucket.upload(content, wanted.stage, ".zip")
    say(f"s3://{bucket.name}/{key} ({len(content) / 1_000_000:.1f} MB)")
    for resource in template["Resources"].values():
        if resource["Type"] == templates.FUNCTION:
            resource["Properties"]["CodeUri"] = {"Bucket": bucket.name, "Key": key}
    text = json.dumps(template, sort_keys=True).encode()
    return bucket.url(bucket.upload(text, wanted.stage, ".json"))


def _prepare_stores(invoker: Invoker, wanted: Wanted, say: Say) -> None:
    """Indexes and the migration, by the deployed function, which reaches the stores. Rows that had to be left are said."""
    _run(invoker, "indexes", say, lambda told: f"{told['indexes']} indexes are there")
    if wanted.migrates:
        left = _run(invoker, "migrate", say, lambda told: f"{told['migrated']} rows of before were migrated")
        for problem in left["problems"]:
            say(f"left as it is: {problem}")


def _run(invoker: Invoker, command: str, say: Say, told: Callable[[Any], str]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for answer in follow(invoker, command, {}):
        say(told(answer["progress"]))
    progress: dict[str, Any] = answer["progress"]
    return progress


def _made(outputs: Mapping[str, str], resources: list[Resource]) -> list[str]:
    """What the stack gives out, its functions, and how much of everything else there is."""
    functions = [f"  function {one.name:<16} {one.id}" for one in resources if one.type == _FUNCTION]
    others = Counter(one.type for one in resources if one.type != _FUNCTION)
    counted = ", ".join(f"{count} {kind.removeprefix('AWS::')}" for kind, count in sorted(others.items()))
    return [*(f"  {name} {value}" for name, value in sorted(outputs.items())), *functions, f"  {counted}"]
