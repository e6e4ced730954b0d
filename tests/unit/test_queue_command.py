"""`vitto queue`: counts, dead letters without contents, redrive."""

import pytest
from typer.testing import CliRunner

from chalicelib.adapters.memory.queue import InMemoryTaskQueue
from chalicelib.domain.tasks import IndexRows
from chalicelib.settings import QueueSettings
from tests.building import TestClock, container
from vitto_tools.cli import queue as command
from vitto_tools.cli.__main__ import app

TASK = IndexRows(scope_key="acme/user/ana", ids=("mem_1",))
NO_TASK = "what Ana said to nobody else"


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> InMemoryTaskQueue:
    """The queue that the command acts on: one message waits, two are dead."""
    clock = TestClock()
    queue = InMemoryTaskQueue(clock, QueueSettings(attempts=1))
    queue.put([NO_TASK])
    queue.send([TASK])
    queue.receive(10)
    clock.forward(hours=1)
    queue.receive(10)
    queue.send([TASK])
    monkeypatch.setattr(command, "services", lambda: container(queue=queue))
    return queue


def run(*arguments: str) -> str:
    """What the command prints."""
    result = CliRunner().invoke(app, ["queue", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.usefixtures("queue")
def test_counts_are_shown() -> None:
    assert run("show").split() == ["in-memory:", "1", "waiting,", "0", "taken", "dead:", "2"]


def test_dead_letters_are_listed_by_id_kind_and_attempts_and_never_by_what_they_hold(queue: InMemoryTaskQueue) -> None:
    said = run("dead")
    for letter in queue.dead_letters(10):
        assert letter.id in said
    assert [line.split()[1:] for line in said.splitlines()[1:]] == [["unreadable", "1"], ["index_rows", "1"]]
    assert not any(word in said for word in ("Ana", "acme", "mem_1"))
    assert len(run("dead", "--limit", "1").splitlines()) == 2


def test_dead_letters_wait_again_after_a_redrive(queue: InMemoryTaskQueue) -> None:
    assert run("redrive").startswith("2 ")
    said = queue.probe()
    assert (said["waiting"], said["dead"]) == (3, 0)


def test_without_a_queue_the_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "services", lambda: container(queue=None))
    result = CliRunner().invoke(app, ["queue", "show"])
    assert result.exit_code == 1
    assert "no queue is configured" in result.stderr
