"""`vitto export-docs`: into a folder, one organization's, resumable, and saying what it did."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from chalicelib.adapters.docs_folder import NOTES
from chalicelib.adapters.memory.docs import InMemoryDocsTarget
from chalicelib.bootstrap import Container
from chalicelib.domain.scope import Scope
from chalicelib.errors import Conflict, InvalidInput
from tests.building import chain, container, row
from vitto_tools.cli import export_docs as command
from vitto_tools.cli.__main__ import app


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Container:
    """What the command acts on: acme with a space, its own scope and a user."""
    made = container()
    monkeypatch.setattr(command, "services", lambda: made)
    places: tuple[tuple[Scope, str], ...] = (
        (Scope.SPACE, "ops"),
        (Scope.ORGANIZATION, "acme"),
        (Scope.USER, "ana"),
    )
    rows = [row(f"fact of {id_}", id=f"mem_{id_}", scope=scope, scope_id=id_, vectors=False) for scope, id_ in places]
    made.ports.store.insert(rows)
    return made


def run(*arguments: str, code: int = 0) -> list[str]:
    """What the command prints, without the bar."""
    result = CliRunner().invoke(app, ["export-docs", *arguments])
    assert result.exit_code == code, result.output
    return [line for line in result.output.splitlines() if line.strip()]


def files(folder: Path) -> set[str]:
    """What is in the tree."""
    found = (path.relative_to(folder) for path in folder.rglob("*.md"))
    return {path.as_posix() for path in found if NOTES not in path.parts}


def test_the_tree_is_written_and_what_it_is_said(services: Container, tmp_path: Path) -> None:
    said = run("--to", str(tmp_path))
    tree = {"organization/facts.md", "organization/index.md", "spaces/ops/facts.md", "spaces/ops/index.md"}
    assert files(tmp_path) == tree
    assert said[0].startswith("organization/acme: 2 files, 1 memories, ")
    assert said[-1].startswith(f"{tmp_path}: 4 files, 2 memories, ")
    assert said[-1].endswith(" tokens in 2 scopes; 4 sent, 0 removed, 0 failed")
    assert run("--to", str(tmp_path), "--users")[-1].endswith("in 3 scopes; 2 sent, 0 removed, 0 failed")
    assert files(tmp_path) == tree | {"users/ana/facts.md", "users/ana/index.md"}


def test_only_its_own_files_are_removed(services: Container, tmp_path: Path) -> None:
    run("--to", str(tmp_path))
    (tmp_path / "spaces" / "ops" / "mine.md").write_text("mine")
    services.ports.store.purge(chain("acme", spaces=("ops",)), "mem_ops")
    assert run("--to", str(tmp_path))[-1].endswith("2 removed, 0 failed")
    assert files(tmp_path) == {"organization/facts.md", "organization/index.md", "spaces/ops/mine.md"}


def test_a_folder_belongs_to_the_organization_that_was_there_first(services: Container, tmp_path: Path) -> None:
    services.ports.store.insert([row("theirs", org_id="rival", scope=Scope.SPACE, scope_id="ops", vectors=False)])
    assert "2 organizations" in run("--to", str(tmp_path), code=1)[-1]
    run("--to", str(tmp_path), "--organization", "acme")
    result = CliRunner().invoke(app, ["export-docs", "--to", str(tmp_path), "--organization", "rival"])
    assert isinstance(result.exception, Conflict)
    assert "theirs" not in "".join(path.read_text() for path in tmp_path.rglob("*.md"))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--scope-id", "ops"), InvalidInput),
        (("--scope", "space", "--users"), InvalidInput),
        ((), Conflict),
    ],
)
def test_what_is_wrong_ends_the_command_with_a_message(
    services: Container, arguments: tuple[str, ...], error: type[Any]
) -> None:
    assert isinstance(CliRunner().invoke(app, ["export-docs", *arguments]).exception, error)


def test_without_a_folder_it_goes_to_the_target_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    target = InMemoryDocsTarget()
    made = container(docs_target=target)
    monkeypatch.setattr(command, "services", lambda: made)
    made.ports.store.insert([row("fact", scope=Scope.SPACE, scope_id="ops", vectors=False)])
    run("--scope", "space", "--scope-id", "ops")
    assert target.files["acme"].keys() == {"spaces/ops/facts.md", "spaces/ops/index.md"}
