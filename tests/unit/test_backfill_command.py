"""`vitto backfill`: every organization to its end, or one, and what it says."""

import pytest
from typer.testing import CliRunner

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.bootstrap import Container
from chalicelib.errors import EmbeddingFailed
from tests.building import container, row
from vitto_tools.cli import backfill as command
from vitto_tools.cli.__main__ import app


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Container:
    """What the command acts on: two organizations with rows that lack vectors."""
    made = container()
    rows = [row(f"fact {n} of {org}", org_id=org, vectors=False) for org in ("acme", "rival") for n in range(60)]
    made.ports.store.insert(rows)
    monkeypatch.setattr(command, "services", lambda: made)
    return made


def run(*arguments: str) -> list[str]:
    """What the command prints, without the bar."""
    result = CliRunner().invoke(app, ["backfill", *arguments])
    assert result.exit_code == 0, result.output
    return [line for line in result.output.splitlines() if line.strip()]


def test_every_organization_is_filled_to_the_end_and_then_there_is_nothing_to_do(services: Container) -> None:
    said = [f"{org}: 60 of 60 rows, 0 of them cut from longer vectors" for org in ("acme", "rival")]
    assert run()[-2:] == said
    assert services.backfill.organizations() == []
    assert run()[-1] == "every row has its vectors"


def test_one_organization_alone(services: Container) -> None:
    run("--organization", "acme")
    assert services.backfill.organizations() == ["rival"]


def test_an_embedder_that_is_down_ends_the_command_with_what_is_wrong(services: Container) -> None:
    assert isinstance(services.ports.embedder, TermEmbedder)
    services.ports.embedder.fail = True
    result = CliRunner().invoke(app, ["backfill"])
    assert isinstance(result.exception, EmbeddingFailed)
    assert services.backfill.progress("acme").left == 60
