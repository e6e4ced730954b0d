"""The functions that AWS starts by schedule and by queue, and the one that admins invoke. Each runs once, may be killed, and
may be run again.

A failure is said and then raised, or reported by message, so that AWS counts it and tries again. Shortly before a function's
time is up it takes no new work, and says so; the next run goes on.
"""

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chalice.app import Blueprint, CloudWatchEvent, SQSEvent

from chalicelib.bootstrap import container
from chalicelib.entrypoints.jobs import DRAIN_QUEUE, JOBS, Job
from chalicelib.entrypoints.tracing import trace
from chalicelib.errors import VittoError

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

blueprint = Blueprint("app")  # the module of the handlers: by any other name they would be deployed without app.py
QUEUE = "arn:aws:sqs:eu-central-1:000000000000:work"
"""Stands for the queue that `infra/template.json` declares, and that it puts in its place."""
BATCH = 10
CONCURRENCY = 5  # each is a container with a pool of its own, and the cluster has so many connections
SPARE_MS = 5000
"""What the last piece of work may still take, and saying that time is up."""

BACKFILL_BATCH_MS = 20_000
"""What a batch of embeddings may take, with the embedder's repeats."""

MOST_CLAIMED = 200
Done = dict[str, Any]


class JobsFailed(Exception):
    """Some jobs of a run failed, which the message names; the others were done."""


@blueprint.schedule("cron(0 3 1 * ? *)", description="Quarantine sweep, 03:00 on the 1st")
def sweep(event: CloudWatchEvent) -> Done:
    """Look at memories that are in quarantine for a month. JobsFailed where time was up: AWS then calls again, which goes on
    where this stopped."""
    services = _services()
    report = _said("sweep", services, lambda: services.sweep.run(time_is_up=lambda: _time_is_up(event.context)))
    if not report.finished:
        raise JobsFailed("sweep: time was up; the next call goes on")
    return report.body()


@blueprint.schedule("cron(0 2 * * ? *)", description="Embedding backfill, daily")
def backfill(event: CloudWatchEvent) -> Done:
    """Give memories the vectors that they lack, as long as there is time for another batch; the next run goes on."""
    services = _services()

    def has_time() -> bool:
        return _ms_left(event.context) > BACKFILL_BATCH_MS

    done = _run(Job("backfill", 0, lambda made: made.backfill.work_on_all(has_time)), services)
    if done is None:
        raise JobsFailed("backfill")
    services.ports.telemetry.event("backfilled", level="info", rows=done)
    return {"done": done}


@blueprint.schedule("cron(0 4 * * ? *)", description="Purge of forgotten memories, daily")
def purge(event: CloudWatchEvent) -> Done:
    """Remove memories that were forgotten more than 7 days ago. Receipts and the recall audit leave by themselves."""
    services = _services()
    purged = _said("purge", services, lambda: services.purge.run(time_is_up=lambda: _time_is_up(event.context)))
    return purged.body()


@blueprint.schedule("rate(1 minute)", description="Pending rows, recall audit, indexes, statistics")
def retry_pending(event: CloudWatchEvent) -> Done:
    """Do once what the worker of other runtimes does all the time. JobsFailed names the jobs that failed."""
    services = _services()
    jobs = _jobs(services)
    done: dict[str, int] = {}
    failed: list[str] = []
    for number, job in enumerate(jobs):
        if _time_is_up(event.context):
            left = [job.name for job in jobs[number:]]
            services.ports.telemetry.event("jobs_postponed", jobs=", ".join(left))
            break
        count = _run(job, services)
        if count is None:
            failed.append(job.name)
        else:
            done[job.name] = count
    if failed:
        raise JobsFailed(", ".join(failed))
    return {"done": sum(done.values()), "jobs": done}


@blueprint.on_sqs_message(queue_arn=QUEUE, batch_size=BATCH, maximum_concurrency=CONCURRENCY)
def work_queue(event: SQSEvent) -> Done:
    """Do the work that each message asks for; the ids of those that failed or were not come to go back to the queue."""
    services = _services()
    again: list[str] = []
    records = event.to_dict()["Records"]
    for number, record in enumerate(records):
        if _time_is_up(event.context):
            left = [str(one["messageId"]) for one in records[number:]]
            services.ports.telemetry.event("work_postponed", messages=len(left))
            again += left
            break
        if not _worked(services, record):
            again.append(str(record["messageId"]))
    return {"batchItemFailures": [{"itemIdentifier": id_} for id_ in again]}


@blueprint.lambda_function(name="admin")
def admin(event: Any, context: Any) -> Done:
    """Do a slice of what an admin asks for (see `admin.running`). An error of the product is an answer with `error`; any
    other is raised, so that AWS counts it. IAM says who may invoke it; whom the client claims to be is logged unverified."""
    from chalicelib.entrypoints.admin.running import performed, request_of  # noqa: PLC0415 - no other function needs it

    services, claims = _services(), _claimed(context)
    try:
        request = request_of(event)
        until = time.monotonic() + request.seconds
        organization = str(request.arguments.get("organization") or "")
        told = {"command": request.command, "claimed_by": claims, "organization": organization}
        services.ports.telemetry.event("admin_command", level="info", **told)
        return _said("admin", services, lambda: performed(services, request, lambda: _is_over(context, until)))
    except VittoError as error:
        services.ports.telemetry.event("admin_refused", reason=error.message, code=error.code, claimed_by=claims)
        return {"error": {"code": error.code, "message": error.message, "details": error.details}}


def _claimed(context: Any) -> str:
    """Whom the client says that it acts for."""
    custom = getattr(getattr(context, "client_context", None), "custom", None)
    said = custom.get("caller") if isinstance(custom, dict) else None
    return str(said)[:MOST_CLAIMED] if said else "nobody named"


def _is_over(context: Any, until: float) -> bool:
    return _time_is_up(context) or time.monotonic() > until


def _worked(services: "Container", record: dict[str, Any]) -> bool:
    try:
        services.tasks.run(record["body"])
    except Exception as error:  # noqa: BLE001 - one message that fails must not take the others with it
        told = {"message_id": record["messageId"], "reason": _reason(error)}
        services.ports.telemetry.event("work_failed", level="error", **told)
        return False
    return True


def _jobs(services: "Container") -> tuple[Job, ...]:
    """All jobs, but for the queue where it is SQS: that one starts `work_queue` itself."""
    return tuple(job for job in JOBS if not (job is DRAIN_QUEUE and services.settings.queue.sqs_url))


def _run(job: Job, services: "Container") -> int | None:
    """How much work a job did; None where it failed."""
    try:
        return job.run(services)
    except Exception as error:  # noqa: BLE001 - one job that fails must not stop the others
        services.ports.telemetry.event("job_failing", level="error", job=job.name, reason=_reason(error))
        return None


def _said[T](name: str, services: "Container", work: Callable[[], T]) -> T:
    """What the work gives; where it fails, that is said before it is raised."""
    try:
        return work()
    except Exception as error:
        services.ports.telemetry.event("job_failing", level="error", job=name, reason=_reason(error))
        raise


def _services() -> "Container":
    """The container; where a setting is wrong there is no telemetry to say it with."""
    try:
        return container()
    except VittoError as error:
        print(json.dumps({"level": "ERROR", "message": error.message}))
        raise


def _time_is_up(context: Any) -> bool:
    return _ms_left(context) < SPARE_MS


def _ms_left(context: Any) -> int:
    return int(context.get_remaining_time_in_millis())


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, VittoError) else trace(error)
