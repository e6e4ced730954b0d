"""The work of schedules and of the worker: each job runs once, may be killed, and may be run again."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from chalicelib.bootstrap import Container
from chalicelib.errors import StoreUnavailable


@dataclass(frozen=True)
class Job:
    """A named piece of work and how often the worker does it, in seconds."""

    name: str
    every: float
    run: Callable[[Container], int]


def _retry_pending(services: Container) -> int:
    if services.ports.hot:
        services.ports.hot.probe()  # StoreUnavailable here, once, instead of once a batch
    return services.maintenance.retry_pending()


JOBS = (
    Job("drain_recall_audit", 1, lambda services: services.recall_audit.drain()),
    Job("rebuild_wanted", 1, lambda services: services.maintenance.rebuild_wanted()),
    Job("retry_pending", 3, _retry_pending),
    Job("refresh_statistics", 30, lambda services: services.maintenance.refresh_statistics()),
)


class Rota:
    """Runs each job when it is due. A store that is down is said once, and once more when it is back."""

    def __init__(self, services: Container, jobs: tuple[Job, ...] = JOBS) -> None:
        self._services = services
        self._jobs = jobs
        self._due = dict.fromkeys((job.name for job in jobs), 0.0)
        self._failing: set[str] = set()

    def turn(self) -> int:
        """Run what is due; how much work was done."""
        return sum(self._run(job) for job in self._jobs if time.monotonic() >= self._due[job.name])

    def _run(self, job: Job) -> int:
        telemetry = self._services.ports.telemetry
        try:
            done = job.run(self._services)
        except Exception as error:  # noqa: BLE001 - one job that fails must not stop the others
            if job.name not in self._failing:
                reason = error.message if isinstance(error, StoreUnavailable) else repr(error)
                telemetry.event("job_failing", level="error", job=job.name, reason=reason)
            self._failing.add(job.name)
            done = 0
        else:
            if job.name in self._failing:
                telemetry.event("job_recovered", level="info", job=job.name)
            self._failing.discard(job.name)
        self._due[job.name] = time.monotonic() + job.every
        return done
