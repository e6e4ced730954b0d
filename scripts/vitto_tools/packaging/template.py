"""The template: Chalice's, with what `infra/template.json` adds, read back and checked."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vitto_tools.packaging.errors import PackageRefused

NAME = "sam.json"
_CHALICE = "from chalice.cli import main; main()"  # neither of the two has a module to run
_CFN_LINT = "from cfnlint.runner import main; main()"
FUNCTION = "AWS::Serverless::Function"
_NO_ACCOUNT = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_EC2_METADATA_DISABLED": "true"}
"""Chalice wants a region to be named, and uses none."""


@dataclass(frozen=True)
class Function:
    """A function as the template declares it."""

    name: str
    handler: str
    timeout: int
    memory: int
    role: str
    sources: tuple[str, ...]

    @property
    def started_by(self) -> str:
        """Its schedule or queue, HTTP, or whoever invokes it."""
        return ", ".join(self.sources) or ("HTTP" if self.handler == "app.app" else "invoked")


def run_chalice(project: Path, stage: str, extras: Path, out: Path) -> None:
    """Have Chalice package `project`, its template merged with `extras`."""
    options = ("--stage", stage, "--template-format", "json", "--merge-template", str(extras))
    command = (sys.executable, "-c", _CHALICE, "--project-dir", str(project), "package", *options, str(out))
    environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONDONTWRITEBYTECODE": "1", **_NO_ACCOUNT}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PackageRefused(f"chalice package failed:\n{done.stdout}{done.stderr}".rstrip())


def functions_of(template: dict[str, Any]) -> list[Function]:
    """The functions of a template, by name."""
    return [
        _function(name, resource["Properties"])
        for name, resource in sorted(template["Resources"].items())
        if resource["Type"] == FUNCTION
    ]


def _function(name: str, said: dict[str, Any]) -> Function:
    sources = [_source(event) for event in said.get("Events", {}).values()]
    role = said["Role"]["Fn::GetAtt"][0]
    return Function(name, said["Handler"], said["Timeout"], said["MemorySize"], role, tuple(sources))


def _source(event: dict[str, Any]) -> str:
    return str(event["Properties"].get("Schedule", event["Type"]))


def function_lines(functions: Iterable[Function]) -> list[str]:
    """The functions for people to read."""
    return [
        f"{one.handler:<20} {one.memory:>5} MB {one.timeout:>4} s  {one.role:<22} {one.started_by}" for one in functions
    ]


def lint(template: Path) -> None:
    """PackageRefused with what cfn-lint finds, be it a warning."""
    command = (sys.executable, "-c", _CFN_LINT, "--non-zero-exit-code", "informational", str(template))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PackageRefused(f"cfn-lint finds in the template:\n{done.stdout}{done.stderr}".rstrip())


def read(template: Path) -> dict[str, Any]:
    """The template as it was written."""
    made: dict[str, Any] = json.loads(template.read_text())
    return made
