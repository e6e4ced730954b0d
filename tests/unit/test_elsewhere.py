"""The recipes for other platforms: the code in them runs as it is printed, and the commands in them exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from packaging.requirements import Requirement
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from chalicelib.bootstrap import Container
from tests.building import caller
from vitto_tools.cli.__main__ import app as vitto

ROOT = Path(__file__).parents[2]
ELSEWHERE = (ROOT / "docs" / "elsewhere.md").read_text(encoding="utf-8")
PAGES = ("elsewhere.md", "operations.md", "deploy.md")


@pytest.fixture
def main(serving: Container) -> Any:
    """The module of the recipe for functions, as it is printed."""
    (code,) = re.findall(r"```python\n(.*?)```", ELSEWHERE, re.DOTALL)
    made = ModuleType("main")
    exec(compile(code, "main.py", "exec"), made.__dict__)
    return made


def asked(path: str, **how: Any) -> Request:
    """A request as the platform's framework hands it over."""
    return Request(EnvironBuilder(path, base_url="http://localhost", **how).get_environ())


def test_the_function_for_routes_answers_health_and_refuses_strangers(main: Any) -> None:
    health = main.serve(asked("/health"))
    assert (health.status_code, json.loads(health.get_data())["status"]) == (200, "ok")
    stranger = main.serve(asked("/engine/memories/recall", method="POST", json={"query": "where does Ana live?"}))
    assert stranger.status_code == 401
    assert json.loads(stranger.get_data())["error"]["code"] == "unauthenticated"


def test_the_function_for_the_schedule_does_what_the_queue_holds_and_every_job(main: Any, serving: Container) -> None:
    embedder: Any = serving.ports.embedder
    embedder.fail = True
    serving.remember.remember(caller(), [{"content": "Ana lives in Porto"}], key=None, single=True)
    embedder.fail = False
    serving.ports.clock.forward(minutes=1)  # type: ignore[attr-defined]
    summary = main.work(asked("/", method="POST"))
    assert summary["failed"] == []
    assert serving.ports.store.count_pending() == 0


def test_the_requirements_without_hashes_are_the_same_versions() -> None:
    (script,) = re.findall(r"sed (-e .*?) requirements-server\.txt", ELSEWHERE)
    assert script == r"-e 's/ *\\$//' -e '/^ *--hash/d'"
    hashed = (ROOT / "requirements-server.txt").read_text().splitlines()
    lines = [re.sub(r" *\\$", "", line) for line in hashed if not re.match(r" *--hash", line)]
    wanted = [Requirement(line) for line in lines if line and not line.lstrip().startswith("#")]
    assert {"pymongo", "gunicorn", "chalice"} <= {one.name for one in wanted}
    assert all(str(one.specifier).startswith("==") for one in wanted)


def commands(group: Any, before: str = "") -> Iterator[str]:
    """Every command by its words."""
    for name, command in getattr(group, "commands", {}).items():
        yield f"{before}{name}"
        yield from commands(command, f"{before}{name} ")


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_names_exists(page: str) -> None:
    known = set(commands(typer.main.get_command(vitto)))
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"(?:scripts/|`)vitto ([a-z-]+(?: [a-z-]+)?)", text)
    assert named
    assert [one for one in named if one not in known and one.partition(" ")[0] not in known] == []
    subcommands = {one.partition(" ")[0] for one in known if " " in one}
    assert [one for one in named if one.partition(" ")[0] in subcommands and one not in known] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_file_of_the_checkout_that_a_page_names_is_there(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = set(re.findall(r"\b((?:infra|scripts|chalicelib)/[\w./-]*\w)", text))
    assert named
    assert [one for one in named if not (ROOT / one).exists()] == []


def test_modules_that_are_run_are_there() -> None:
    named = set(re.findall(r"-m[ ,](chalicelib[\w.]+)", ELSEWHERE))
    assert named == {"chalicelib.entrypoints.worker"}
    assert "--args=-m,chalicelib.entrypoints.worker,--once" in ELSEWHERE
