"""`vitto admin`: every command of the registry, with its arguments as options, followed to its end."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from chalicelib.bootstrap import Container
from chalicelib.entrypoints.admin.registry import COMMANDS
from tests.building import container, row
from vitto_tools.cli import admin as command
from vitto_tools.cli.__main__ import app
from vitto_tools.deploying.errors import DeployFailed
from vitto_tools.deploying.invoking import follow


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Container:
    """What the command acts on."""
    made = container()
    monkeypatch.setattr(command, "services", lambda: made)
    return made


def run(*arguments: str, code: int = 0) -> list[dict[str, Any]]:
    """The lines that a command prints."""
    result = CliRunner().invoke(app, ["admin", *arguments])
    assert result.exit_code == code, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_with_an_option_for_each_argument(name: str) -> None:
    said = CliRunner().invoke(app, ["admin", name, "--help"], env={"COLUMNS": "200"}).output
    for field in COMMANDS[name].arguments.model_fields:
        assert f"--{field.replace('_', '-')}" in said
    assert "--stage" in said


def test_a_key_is_made_and_is_listed_in_its_organization_alone(services: Container) -> None:
    made, last = run("keys-create", "--organization", "acme", "--user", "ana", "--role", "admin", "--role", "reviewer")
    assert made["key"].startswith("vk_")
    assert last == {"id": made["id"]}
    listed, _ = run("keys-list", "--organization", "acme")
    assert (listed["id"], listed["roles"]) == (made["id"], ["admin", "reviewer"])
    assert run("keys-list", "--organization", "other") == [{"listed": 0}]


def test_what_is_done_counts_for_the_organization_that_is_named(services: Container) -> None:
    services.ports.store.insert([row(vectors=False), row(vectors=False, org_id="other")])
    assert run("backfill", "--organization", "other") == [{"done": 1, "cut": 0, "failed": 0}]
    assert services.backfill.organizations() == ["acme"]


def test_a_flag_reaches_the_command(services: Container) -> None:
    assert run("purge", "--dry-run")[0]["dryRun"] is True
    assert run("purge")[0]["dryRun"] is False


@pytest.mark.usefixtures("services")
def test_an_error_and_work_that_failed_end_the_command_with_1(services: Container) -> None:
    result = CliRunner().invoke(app, ["admin", "keys-revoke", "--organization", "acme", "--id", "none"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no such key" in result.stderr
    embedder: Any = services.ports.embedder
    services.ports.store.insert([row(vectors=False)])
    embedder.fail = True
    assert run("backfill", code=1)[0]["failed"] == 1


def test_an_option_that_is_none_is_refused() -> None:
    assert CliRunner().invoke(app, ["admin", "purge", "--dryrun"]).exit_code == 2


class Scripted:
    """Answers what it was told to."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def invoke(self, payload: dict[str, Any]) -> dict[str, Any]:
        """The next one."""
        self.asked.append(payload)
        return self.answers.pop(0)


def answer(cursor: Any) -> dict[str, Any]:
    """Of a slice."""
    return {"finished": cursor is None, "failed": False, "progress": {}, "output": [], "cursor": cursor}


def test_a_command_is_invoked_with_the_cursor_it_gave_until_it_is_finished() -> None:
    scripted = Scripted(answer({"after": "a"}), answer({"after": "b"}), answer(None))
    assert len(list(follow(scripted, "reindex", {"embed": True}, 5))) == 3
    assert [one["cursor"] for one in scripted.asked] == [None, {"after": "a"}, {"after": "b"}]
    assert {json.dumps(one["arguments"]) for one in scripted.asked} == {'{"embed": true}'}


def test_an_error_in_a_later_slice_ends_it_by_its_message() -> None:
    scripted = Scripted(answer({"after": "a"}), {"error": {"code": "store_unavailable", "message": "mongo is away"}})
    with pytest.raises(DeployFailed, match="reindex: mongo is away"):
        list(follow(scripted, "reindex", {}))
