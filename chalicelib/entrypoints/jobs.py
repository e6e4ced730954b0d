"""The work of schedules and of the worker: each job runs once, may be killed, and may be run again."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.entrypoints.tracing import trace
from chalicelib.errors import VittoError

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

LONGEST_WAIT = 30.0
BACKFILL_SECONDS = 5.0  # an hour; a run that an admin or the command began goes on by itself
SLICE_SECONDS = 3.0  # two of them fit into what `worker --once` reserves for the jobs after the queue
SWEPT_MONTH = "sweep of the month"


@dataclass(frozen=True)
class Job:
    """A named piece of work and how often the worker does it, in seconds."""

    name: str
    every: float
    run: "Callable[[Container], int]"


def _retry_pending(services: "Container") -> int:
    if services.ports.hot:
        services.ports.hot.probe()  # StoreUnavailable here, once, instead of once a batch
    return services.maintenance.retry_pending()


def _backfill(services: "Container") -> int:
    until = time.monotonic() + BACKFILL_SECONDS
    return services.backfill.work_on_all(lambda: time.monotonic() < until)


def _sweep(services: "Container") -> int:
    """The sweep of this month, a slice at a time until it is finished; several workers may be at it."""
    month = f"{services.ports.clock():%Y-%m}"
    if services.ports.store.checkpoint(SWEPT_MONTH) == month:
        return 0
    report = services.sweep.run(time_is_up=_slice())
    if report.finished:
        services.ports.store.keep_checkpoint(SWEPT_MONTH, month)
    return report.done


def _purge(services: "Container") -> int:
    return services.purge.run(time_is_up=_slice()).done


def _erase(services: "Container") -> int:
    return services.personal.erasing.work_on_all(_slice())


def _slice() -> Callable[[], bool]:
    """Whether so much time has passed that the other jobs of a worker should have their turn."""
    until = time.monotonic() + SLICE_SECONDS
    return lambda: time.monotonic() > until


DRAIN_QUEUE = Job("drain_queue", 1, lambda services: services.consumer.drain().done)
JOBS = (
    Job("drain_recall_audit", 1, lambda services: services.recall_audit.drain()),
    DRAIN_QUEUE,
    Job("rebuild_wanted", 1, lambda services: services.maintenance.rebuild_wanted()),
    Job("retry_pending", 3, _retry_pending),
    Job("republish_after_restart", 3, lambda services: services.maintenance.republish_after_restart()),
    Job("finish_successions", 5, lambda services: services.successions.finish()),
    Job("erase", 2, _erase),
    Job("settle_sessions", 10, lambda services: services.conversation.settler.settle_left()),
    Job("retire_expired", 5, lambda services: services.maintenance.retire_expired()),
    Job("backfill", 3600, _backfill),
    Job("report_pending", 60, lambda services: services.maintenance.report_pending()),
    Job("report_dead_letters", 60, lambda services: services.consumer.report_dead_letters()),
    Job("refresh_statistics", 60, lambda services: services.maintenance.refresh_statistics()),
)

RETENTION = (Job("sweep", 60, _sweep), Job("purge", 3600, _purge))
"""What on AWS has schedules of its own, and elsewhere is the worker's."""


class Rota:
    """Runs each job when it is due; one that fails ever less often. Failing is said once, and so is being well again."""

    def __init__(self, services: "Container", jobs: tuple[Job, ...] = JOBS) -> None:
        self._services = services
        self._jobs = jobs
        self._due = dict.fromkeys((job.name for job in jobs), 0.0)
        self._failing: dict[str, float] = {}

    def turn(self) -> int:
        """Run what is due; how much work was done."""
        return sum(self._run(job) for job in self._jobs if time.monotonic() >= self._due[job.name])

    def once(self) -> dict[str, int]:
        """Run every job, due or not; how much work each did. `failing` names those that failed."""
        return {job.name: self._run(job) for job in self._jobs}

    @property
    def failing(self) -> tuple[str, ...]:
        """The jobs that failed when they last ran."""
        return tuple(self._failing)

    def _run(self, job: Job) -> int:
        telemetry = self._services.ports.telemetry
        try:
            done = job.run(self._services)
        except Exception as error:  # noqa: BLE001 - one job that fails must not stop the others
            if job.name not in self._failing:
                reason = error.message if isinstance(error, VittoError) else trace(error)
                telemetry.event("job_failing", level="error", job=job.name, reason=reason)
            self._failing[job.name] = min(LONGEST_WAIT, 2 * self._failing.get(job.name, job.every))
            done = 0
        else:
            if job.name in self._failing:
                telemetry.event("job_recovered", level="info", job=job.name)
            self._failing.pop(job.name, None)
        self._due[job.name] = time.monotonic() + self._failing.get(job.name, job.every)
        return done
