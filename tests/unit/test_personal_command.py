"""`vitto erase`: a person erased with the stores' own credentials, and the receipt checked."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from typer.testing import CliRunner

from chalicelib.bootstrap import Container
from chalicelib.domain.erasure import Person
from chalicelib.settings import ErasureSettings, Settings
from tests.building import NOW, in_memory_ports
from tests.personal import fill
from vitto_tools.cli import personal as command
from vitto_tools.cli.__main__ import app
from vitto_tools.importing import person
from vitto_tools.importing.conversion import Circumstances, Record


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Container:
    """What the command acts on: ana and bob in two organizations."""
    made = Container(Settings(erasure=ErasureSettings(grace_seconds=0)), in_memory_ports())
    for org in ("acme", "other"):
        fill(made.ports, org)
    monkeypatch.setattr(command, "services", lambda: made)
    return made


def run(arguments: Sequence[str], code: int = 0) -> Any:
    """What the command prints."""
    result = CliRunner().invoke(app, ["erase", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return json.loads(result.output[result.output.index("{") :])


def test_a_person_is_erased_to_the_end_and_the_receipt_holds_when_checked(services: Container) -> None:
    said = run(["ana", "--organization", "acme"])
    assert (said["state"], said["leftTotal"], said["requestedBy"]) == ("finished", 0, "vitto erase")
    assert said["counts"]["memories"] == {"removed": 3, "changed": 0}
    assert services.personal.check.left(Person("other", "ana"), None, lambda: False).total > 0
    again = run(["ana", "--organization", "acme", "--check"])
    assert (again["id"], again["leftTotal"]) == (said["id"], 0)


def test_a_check_that_finds_something_fails(services: Container) -> None:
    run(["ana", "--organization", "acme"])
    fill(services.ports, "acme")
    assert run(["ana", "--organization", "acme", "--check"], code=1)["leftTotal"] > 0


def test_lines_of_an_export_become_memories_and_the_others_are_counted() -> None:
    kept: dict[str, Any] = {
        "id": "mem_1",
        "orgId": "acme",
        "scope": "user",
        "scopeId": "ana",
        "userId": "ana",
        "type": "fact",
    }
    kept |= {"content": "I live in Porto", "status": "active", "revision": 3, "tags": ["home"], "importance": 0.7}
    kept |= dict.fromkeys(("eventTime", "createdAt", "updatedAt"), "2026-03-01T12:00:00Z")
    kept |= {"claims": [{"subject": "ana", "attribute": "residence", "value": "Porto"}]}
    given = kept | {"claims": [{"subject": "the cat", "attribute": "name", "value": "Tom"}]}
    lines = [{"type": "memory", "memory": one} for one in (kept, given, kept | {"status": "archived"})]
    lines.append({"type": "key", "key": {}})
    made = person.convert([Record(f"line {n}", line) for n, line in enumerate(lines, 1)], Circumstances(NOW))
    found, with_claims = (item.body for item in made.items)
    assert found == {
        "content": "I live in Porto",
        "type": "fact",
        "tags": ["home"],
        "importance": 0.7,
        "eventTime": "2026-03-01T12:00:00Z",
    }
    assert with_claims["claims"] == given["claims"]
    assert [one.reason for one in made.left_out] == ["archived memory", "key: is no memory of the person's own"]
    (wrong,) = person.convert([Record("line 1", {"content": "no export"})], Circumstances(NOW)).left_out
    assert (wrong.where, wrong.invalid) == ("line 1", True)
