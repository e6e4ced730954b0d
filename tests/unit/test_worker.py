"""The worker as one run: the queue emptied, each job once, and what failed told to who started it."""

import json
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.queue import InMemoryTaskQueue
from chalicelib.bootstrap import Container
from chalicelib.domain.memory import ArchivedReason, Status
from chalicelib.domain.tasks import RebuildScope
from chalicelib.entrypoints import jobs
from chalicelib.entrypoints.jobs import JOBS, RETENTION
from chalicelib.entrypoints.worker import drain_event, main
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Delivery
from tests.building import TestClock, caller, container, no_questions, row
from tests.contract.retention_steps import days_ago, held

ANA = caller("acme", "ana")


class DownQueue(InMemoryTaskQueue):
    """A queue that does not answer."""

    def receive(self, *_: Any) -> list[Delivery]:
        raise StoreUnavailable("sqs", "no answer")


class Context:
    """What a function platform tells of an invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """How long it has."""
        return 25_000


def waiting(serving: Container) -> int:
    """How many messages wait."""
    assert serving.ports.queue
    return int(serving.ports.queue.probe()["waiting"])


def ended(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """Exit code and summary of a run."""
    with pytest.raises(SystemExit) as exit_:
        main(["--once"])
    assert isinstance(exit_.value.code, int)
    return exit_.value.code, json.loads(capsys.readouterr().out)


def test_one_run_empties_the_queue_and_runs_each_job(serving: Container, capsys: pytest.CaptureFixture[str]) -> None:
    assert serving.ports.queue
    serving.ports.queue.send([RebuildScope(scope_key=f"acme/user/{number}") for number in range(150)])
    code, summary = ended(capsys)
    assert (code, summary["failed"]) == (0, [])
    assert summary["tasks"] == {"done": 150, "failed": 0, "died": 0}
    assert set(summary["jobs"]) == {job.name for job in (*JOBS, *RETENTION)} - {"drain_queue"}
    assert waiting(serving) == 0


def test_the_worker_sweeps_once_a_month_and_purges_whenever_it_is_due(capsys: pytest.CaptureFixture[str]) -> None:
    clock = TestClock()
    made = container(clock=clock)
    bootstrap.use(made)
    try:
        found = []
        for days in (91, 92, 93):
            gone = row(
                f"{days}", status=Status.ARCHIVED, archived_reason=ArchivedReason.FORGOTTEN, archived_at=days_ago(8)
            )
            made.ports.store.insert([held("acme", days, f"rumour {days}"), gone])
            done = ended(capsys)[1]["jobs"]
            found.append((done["sweep"], done["purge"]))
            clock.forward(days=16)
        assert found == [(1, 1), (0, 1), (2, 1)]
    finally:
        bootstrap.use(None)


def test_a_sweep_that_its_slice_cut_off_is_gone_on_with_in_the_next_turn(
    serving: Container, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serving.ports.store.insert([held("acme", 91)])
    monkeypatch.setattr(jobs, "SLICE_SECONDS", -1)
    assert ended(capsys)[1]["jobs"]["sweep"] == 0
    monkeypatch.setattr(jobs, "SLICE_SECONDS", 60)
    assert ended(capsys)[1]["jobs"]["sweep"] == 1


def test_a_run_in_which_a_job_fails_says_which_and_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    bootstrap.use(container(queue=DownQueue(TestClock())))
    try:
        code, summary = ended(capsys)
        assert (code, summary["failed"]) == (1, ["drain_queue"])
        with pytest.raises(RuntimeError, match="drain_queue"):
            drain_event({}, None)
    finally:
        bootstrap.use(None)


def test_a_message_that_comes_again_fails_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    embedder, clock = TermEmbedder(), TestClock()
    made = container(embedder=embedder, clock=clock, switches=no_questions())
    bootstrap.use(made)
    try:
        embedder.fail = True
        made.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)
        clock.forward(seconds=6)  # the message is due, the schedule not yet
        code, summary = ended(capsys)
        assert (code, summary["tasks"]) == (0, {"done": 0, "failed": 1, "died": 0})
    finally:
        bootstrap.use(None)


@pytest.mark.parametrize("context", [None, Context()])
def test_an_event_does_the_same(serving: Container, context: Context | None) -> None:
    assert serving.ports.queue
    serving.ports.queue.send([RebuildScope(scope_key="acme/user/ana")] * 3)
    assert drain_event({"source": "schedule"}, context)["tasks"]["done"] == 3
    assert waiting(serving) == 0


def test_an_unknown_argument_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--twice"])
    assert exit_.value.code == 2
    assert "--twice" in capsys.readouterr().err
