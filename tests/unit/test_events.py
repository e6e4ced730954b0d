"""The functions of schedules and the queue: a failure is said and reported, and none takes another with it."""

from contextlib import nullcontext
from typing import Any

import pytest

import app
from chalicelib import bootstrap
from chalicelib.bootstrap import Container
from chalicelib.domain.memory import ArchivedReason, Status
from chalicelib.domain.query import RecallQuery
from chalicelib.entrypoints.events import SPARE_MS, JobsFailed
from chalicelib.errors import Misconfigured, StoreUnavailable
from chalicelib.settings import QueueSettings
from tests.building import caller, row
from tests.contract.retention_steps import days_ago, held
from tests.lambda_context import LambdaContext, proxy_event, scheduled_event, sqs_event
from tests.unit.fake_secrets import AWS_KEY

ANA = caller("acme", "ana")
SCHEDULED = ("sweep", "backfill", "purge", "retry_pending")


class Tasks:
    """Runs what can be run, and keeps it."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def run(self, text: str) -> None:
        """Fail as told."""
        if text == "down":
            raise StoreUnavailable("mongo", "no answer")
        if text == "broken":
            raise RuntimeError(AWS_KEY)
        self.ran.append(text)


@pytest.fixture
def tasks(serving: Container) -> Tasks:
    """The tasks of the serving container."""
    made = Tasks()
    serving.__dict__["tasks"] = made
    return made


def events(services: Container) -> list[tuple[str, dict[str, Any]]]:
    """What telemetry was told."""
    told: list[tuple[str, dict[str, Any]]] = services.ports.telemetry.events  # type: ignore[attr-defined]
    return told


def failures(answer: dict[str, Any]) -> list[str]:
    """The messages that go back to the queue."""
    return [one["itemIdentifier"] for one in answer["batchItemFailures"]]


def failing(*_: Any, **__: Any) -> Any:
    """What a store does that is down."""
    raise StoreUnavailable("mongo", "no answer")


@pytest.mark.parametrize("name", [*SCHEDULED, "work_queue", "admin"])
def test_every_handler_is_deployed_as_a_function_of_app(name: str) -> None:
    functions: list[Any] = [*app.app.event_sources, *app.app.pure_lambda_functions]
    deployed = {function.name: function.handler_string for function in functions}
    assert deployed[name] == f"app.{name}"
    assert callable(getattr(app, name))


def test_messages_that_fail_go_back_and_the_others_do_not(serving: Container, tasks: Tasks) -> None:
    answer = app.work_queue(sqs_event(a="one", b="down", c="broken", d="two"), LambdaContext())
    assert failures(answer) == ["b", "c"]
    assert tasks.ran == ["one", "two"]
    assert [(name, said["message_id"], said["level"]) for name, said in events(serving)] == [
        ("work_failed", "b", "error"),
        ("work_failed", "c", "error"),
    ]
    assert "mongo is unavailable" in events(serving)[0][1]["reason"]
    assert AWS_KEY not in str(events(serving))


def test_a_batch_that_is_done_sends_nothing_back(tasks: Tasks) -> None:
    assert app.work_queue(sqs_event(a="one", b="two"), LambdaContext()) == {"batchItemFailures": []}
    assert tasks.ran == ["one", "two"]


def test_messages_that_there_is_no_time_for_go_back_unrun(serving: Container, tasks: Tasks) -> None:
    context = LambdaContext(remaining_ms=SPARE_MS + 1)

    def slow(text: str) -> None:
        context.remaining_ms = SPARE_MS - 1

    tasks.run = slow  # type: ignore[method-assign]
    answer = app.work_queue(sqs_event(a="one", b="two", c="three"), context)
    assert failures(answer) == ["b", "c"]
    assert [(name, said["messages"]) for name, said in events(serving)] == [("work_postponed", 2)]


def test_the_minutely_run_brings_everything_up_to_date(serving: Container) -> None:
    embedder: Any = serving.ports.embedder
    clock: Any = serving.ports.clock
    serving.ports.switches.put("acme", {"prospective_index": False})
    embedder.fail = True
    serving.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)
    first = serving.recall.recall(ANA, RecallQuery(query="where does Ana live?"))
    embedder.fail = False
    clock.forward(minutes=1)
    answer = app.retry_pending(scheduled_event("retry_pending"), LambdaContext())
    assert serving.ports.store.count_pending() == 0
    assert serving.ports.recalls.get("acme", first["recallId"]) is not None
    assert answer["jobs"]["drain_queue"] + answer["jobs"]["retry_pending"] == 1
    assert answer["done"] == sum(answer["jobs"].values())


def test_each_minute_the_rows_without_an_index_are_counted_whatever_became_of_them(serving: Container) -> None:
    embedder: Any = serving.ports.embedder
    telemetry: Any = serving.ports.telemetry
    embedder.fail = True
    serving.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)
    app.retry_pending(scheduled_event(), LambdaContext())
    assert telemetry.gauges == {"pending_rows": 1}
    embedder.fail = False
    serving.ports.clock.forward(minutes=1)  # type: ignore[attr-defined]
    app.retry_pending(scheduled_event(), LambdaContext())
    assert telemetry.gauges == {"pending_rows": 0}


def test_a_job_that_fails_is_said_and_raised_once_the_others_are_done(
    serving: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    refreshed: list[int] = []

    def refresh() -> int:
        refreshed.append(1)
        return 0

    monkeypatch.setattr(serving.recall_audit, "drain", failing)
    monkeypatch.setattr(serving.maintenance, "refresh_statistics", refresh)
    with pytest.raises(JobsFailed, match="drain_recall_audit"):
        app.retry_pending(scheduled_event(), LambdaContext())
    assert refreshed == [1]
    assert [(name, said["job"], said["level"]) for name, said in events(serving)] == [
        ("job_failing", "drain_recall_audit", "error")
    ]


def test_jobs_that_there_is_no_time_for_are_left_to_the_next_run(
    serving: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = LambdaContext()

    def slow() -> int:
        context.remaining_ms = SPARE_MS - 1
        return 7

    monkeypatch.setattr(serving.recall_audit, "drain", slow)
    assert app.retry_pending(scheduled_event(), context) == {"done": 7, "jobs": {"drain_recall_audit": 7}}
    ((name, said),) = events(serving)
    assert name == "jobs_postponed"
    assert "refresh_statistics" in said["jobs"]
    assert "drain_recall_audit" not in said["jobs"]


def test_where_sqs_starts_the_queues_work_no_job_takes_it_too(serving: Container) -> None:
    sqs = QueueSettings(sqs_url="https://sqs.eu-central-1.amazonaws.com/123456789012/work")
    assert "drain_queue" in app.retry_pending(scheduled_event(), LambdaContext())["jobs"]
    serving.settings = serving.settings.model_copy(update={"queue": sqs})
    assert "drain_queue" not in app.retry_pending(scheduled_event(), LambdaContext())["jobs"]


def given_rows(services: Container) -> None:
    """A memory to be swept and one to be purged."""
    gone = row("gone", status=Status.ARCHIVED, archived_reason=ArchivedReason.FORGOTTEN, archived_at=days_ago(8))
    services.ports.store.insert([held("acme", 91), gone])


def test_the_sweep_and_the_purge_answer_with_their_reports(serving: Container) -> None:
    given_rows(serving)
    swept = app.sweep(scheduled_event("sweep"), LambdaContext())
    assert (swept["done"], swept["deleted"], swept["finished"]) == (1, 1, True)
    purged = app.purge(scheduled_event("purge"), LambdaContext())
    assert (purged["done"], purged["purged"], purged["finished"]) == (1, 1, True)
    assert [name for name, _ in events(serving)] == ["sweep_finished", "purge_finished"]
    assert (events(serving)[0][1]["deleted"], events(serving)[1][1]["purged"]) == (1, 1)


def test_a_sweep_whose_time_is_up_fails_so_that_it_is_called_again(serving: Container) -> None:
    given_rows(serving)
    with pytest.raises(JobsFailed, match="time was up"):
        app.sweep(scheduled_event("sweep"), LambdaContext(remaining_ms=SPARE_MS - 1))
    assert [name for name, _ in events(serving)] == ["sweep_postponed"]
    assert app.sweep(scheduled_event("sweep"), LambdaContext())["deleted"] == 1


def test_a_purge_whose_time_is_up_leaves_the_rest_to_the_next_day(serving: Container) -> None:
    given_rows(serving)
    answer = app.purge(scheduled_event("purge"), LambdaContext(remaining_ms=SPARE_MS - 1))
    assert (answer["done"], answer["finished"]) == (0, False)
    assert app.purge(scheduled_event("purge"), LambdaContext())["done"] == 1


@pytest.mark.parametrize(("name", "read"), [("sweep", "quarantined"), ("purge", "forgotten")])
def test_a_sweep_or_a_purge_that_fails_is_said_and_raised(
    serving: Container, monkeypatch: pytest.MonkeyPatch, name: str, read: str
) -> None:
    monkeypatch.setattr(serving.ports.store, read, failing)
    with pytest.raises(StoreUnavailable):
        getattr(app, name)(scheduled_event(name), LambdaContext())
    assert [said for said, _ in events(serving)] == [f"{name}_stopped", "job_failing"]
    assert events(serving)[1][1]["job"] == name


@pytest.mark.parametrize("name", SCHEDULED)
def test_what_a_function_says_carries_its_invocation(serving: Container, name: str) -> None:
    context = LambdaContext(function_name=f"vitto-{name}")
    serving.maintenance.retry_pending = failing  # type: ignore[method-assign]
    with pytest.raises(JobsFailed) if name == "retry_pending" else nullcontext():
        getattr(app, name)(scheduled_event(name), context)
    ((_, said),) = events(serving)
    assert said["function_name"] == f"vitto-{name}"
    assert said["function_request_id"] == context.aws_request_id
    assert said["cold_start"] in {"True", "False"}
    assert serving.ports.telemetry.spans == [f"vitto-{name}"]  # type: ignore[attr-defined]


def test_the_keys_of_an_invocation_end_with_it(serving: Container) -> None:
    app.sweep(scheduled_event(), LambdaContext())
    serving.ports.telemetry.event("later")
    assert events(serving)[-1] == ("later", {"level": "warning"})


def test_a_request_is_observed_as_an_event_is(serving: Container) -> None:
    context = LambdaContext(function_name="api")
    assert app.app(proxy_event("GET", "/health"), context)["statusCode"] == 200
    assert serving.ports.telemetry.spans == ["api"]  # type: ignore[attr-defined]


def test_a_function_that_is_misconfigured_says_so_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap.use(None)
    monkeypatch.delenv("VITTO_MONGO_URI", raising=False)
    with pytest.raises(Misconfigured, match="VITTO_MONGO_URI"):
        app.sweep(scheduled_event(), LambdaContext())
    assert "VITTO_MONGO_URI" in capsys.readouterr().out
