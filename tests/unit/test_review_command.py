"""`vitto review`, `diff`, `sweep`, `purge`: what they ask, what they print, and what they leave alone."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from chalicelib.bootstrap import Container
from chalicelib.domain.memory import ArchivedReason, Status
from tests.building import NOW, container, memory, row
from tests.contract.retention_steps import days_ago, held
from vitto_tools.cli import review as command
from vitto_tools.cli.__main__ import app


class Asked:
    """An API that keeps what it was asked and gives what it was told to."""

    def __init__(self, *answers: Any) -> None:
        self.calls: list[tuple[str, str, dict[str, Any]]] = []
        self._answers = list(answers)

    def call(self, method: str, path: str, **options: Any) -> Any:
        """The next answer."""
        self.calls.append((method, path, json.loads(json.dumps(options))))
        return self._answers.pop(0)


def asking(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> Asked:
    """Have the command speak to such an API."""
    api = Asked(*answers)
    monkeypatch.setattr(command, "api", lambda: api)
    monkeypatch.setattr(command.console, "_width", 250)
    return api


def run(*arguments: str) -> str:
    """What a command prints."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def page(*contents: str, cursor: str | None = None) -> dict[str, Any]:
    """A page of quarantined memories as the API gives it."""
    fields: dict[str, Any] = {"status": Status.QUARANTINED, "quarantine_reason": "score", "quarantined_at": days_ago(3)}
    rows = [memory(text, id=f"mem_{text}", **fields) for text in contents]
    return {"memories": [json.loads(m.model_dump_json(by_alias=True)) for m in rows], "cursor": cursor}


def test_quarantined_memories_are_listed_over_all_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    api = asking(monkeypatch, page("[red]tea[/red]", cursor="c1"), page("two"))
    said = run("review", "list")
    assert [(path, call["params"].get("cursor")) for _, path, call in api.calls] == [
        ("/engine/memories", None),
        ("/engine/memories", "c1"),
    ]
    assert all(call["params"]["status"] == "quarantined" for _, _, call in api.calls)
    assert "[red]tea[/red]" in said, "what a memory says is shown and not obeyed"
    assert "2026-02-26" in said
    assert "mem_two" in said


def test_an_admin_lists_the_whole_organization(monkeypatch: pytest.MonkeyPatch) -> None:
    api = asking(monkeypatch, page())
    run("review", "list", "--all")
    assert api.calls[0][1] == "/engine/admin/memories"


@pytest.mark.parametrize(
    ("arguments", "path", "headers"),
    [
        (("promote", "mem_1"), "promote", None),
        (("reject", "mem_1", "--revision", "3"), "reject", {"If-Match": '"3"'}),
        (("undo", "mem_1"), "undo-promote", None),
        (("promote", "a/b"), "promote", None),
    ],
)
def test_a_decision_is_asked_for_by_id(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], path: str, headers: dict[str, str] | None
) -> None:
    api = asking(monkeypatch, {"id": arguments[1]})
    assert json.loads(run("review", *arguments)) == {"id": arguments[1]}
    id_ = arguments[1].replace("/", "%2F")
    assert api.calls == [("POST", f"/engine/memories/{id_}/{path}", {"headers": headers})]


def difference(**changed: Any) -> dict[str, Any]:
    """A difference as the API gives it."""
    same = {"before": "x", "after": "x", "changed": False, "parts": [{"kind": "same", "text": "x"}]}
    tags = {"before": [], "after": [], "changed": False, "added": [], "removed": []}
    return {"id": "mem_1", "from": 1, "to": 2, "content": same, "summary": same, "tags": tags} | changed


def test_a_difference_is_shown_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [{"kind": "same", "text": "in "}, {"kind": "removed", "text": "Porto"}, {"kind": "added", "text": "[b]"}]
    content = {"before": "in Porto", "after": "in [b]", "changed": True, "parts": parts}
    tags = {"before": ["old"], "after": ["new"], "changed": True, "added": ["new"], "removed": ["old"]}
    api = asking(monkeypatch, difference(content=content, tags=tags))
    assert run("diff", "mem_1", "1", "2").split("\n")[:3] == ["content in Porto[b]", "tags -old", "tags +new"]
    assert api.calls == [("GET", "/engine/memories/mem_1/diff", {"params": {"from": 1, "to": 2}})]


def test_no_difference_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    api = asking(monkeypatch, difference(), difference())
    assert "are the same" in run("diff", "mem_1", "1")
    assert api.calls[0][2] == {"params": {"from": 1}}
    assert json.loads(run("diff", "mem_1", "1", "--json"))["to"] == 2


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Container:
    """The stores of the command: one row to be swept, one to be purged."""
    made = container()
    gone = row("gone", status=Status.ARCHIVED, archived_reason=ArchivedReason.FORGOTTEN, archived_at=days_ago(8))
    made.ports.store.insert([held("acme", 91), gone])
    monkeypatch.setattr(command, "services", lambda: made)
    return made


@pytest.mark.parametrize(("name", "count"), [("sweep", "deleted"), ("purge", "purged")])
def test_a_run_prints_its_report_and_a_dry_one_changes_nothing(services: Container, name: str, count: str) -> None:
    dry = json.loads(run(name, "--dry-run"))
    assert (dry[count], dry["done"], dry["dryRun"], dry["finished"]) == (1, 0, True, True)
    assert services.ports.audit.list("acme", None, 10).items == ()
    wet = json.loads(run(name))
    assert (wet[count], wet["done"], wet["dryRun"]) == (1, 1, False)
    (event,) = services.ports.audit.list("acme", None, 10).items
    assert event.at == NOW
