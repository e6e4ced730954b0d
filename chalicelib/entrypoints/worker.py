"""The worker of runtimes that are not Lambda: `python -m chalicelib.entrypoints.worker`, until SIGTERM or SIGINT.

With `--once` it empties the queue, runs each job once and ends: for platforms that start a task on a schedule or an event.
"""

import argparse
import json
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from chalicelib.bootstrap import container
from chalicelib.entrypoints.jobs import DRAIN_QUEUE, JOBS, RETENTION, Rota
from chalicelib.errors import VittoError
from chalicelib.write.tasks import Drained

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

IDLE_SECONDS = 0.5
RESERVE_SECONDS = 10.0  # what an invocation keeps for the jobs that follow the queue
DRAIN_SECONDS = 600.0
DRAIN_AT_MOST = 100_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Work until told to stop; what is under way is finished. Exit code 1 where `--once` met a job that failed."""
    parser = argparse.ArgumentParser(prog="worker", description=__doc__.partition("\n")[0])
    parser.add_argument("--once", action="store_true", help="empty the queue, run each job once, and end")
    if parser.parse_args(arguments).once:
        summary = work_once(container())
        print(json.dumps(summary))
        sys.exit(1 if summary["failed"] else 0)
    _work(container())


def drain_event(event: Any, context: Any) -> dict[str, Any]:  # noqa: ARG001 - a platform calls it so
    """The same as `--once` for platforms that call a function; the summary. RuntimeError names the jobs that failed, since
    nothing else tells such a platform."""
    left = getattr(context, "get_remaining_time_in_millis", None)
    seconds = max(0.0, left() / 1000 - RESERVE_SECONDS) if left else DRAIN_SECONDS
    summary = work_once(container(), seconds)
    if summary["failed"]:
        raise RuntimeError(f"failed: {', '.join(summary['failed'])}")
    return summary


def work_once(services: "Container", seconds: float = DRAIN_SECONDS) -> dict[str, Any]:
    """Work on what the queue holds, for so many seconds at most, then run each job. What was done, and which jobs failed."""
    failed: list[str] = []
    drained = Drained()
    try:
        drained = services.consumer.drain(DRAIN_AT_MOST, seconds)
    except VittoError as error:
        failed.append(DRAIN_QUEUE.name)
        services.ports.telemetry.event("job_failing", level="error", job=DRAIN_QUEUE.name, reason=error.message)
    rota = Rota(services, tuple(job for job in (*JOBS, *RETENTION) if job is not DRAIN_QUEUE))
    jobs = rota.once()
    services.after_response.settle()
    return {"tasks": asdict(drained), "jobs": jobs, "failed": [*failed, *rota.failing]}


def _work(services: "Container") -> None:
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    rota = Rota(services, (*JOBS, *RETENTION))
    queue = "configured" if services.ports.queue else "none: pending rows wait for the schedules"
    services.ports.telemetry.event("worker_started", level="info", queue=queue)
    while not stop.wait(IDLE_SECONDS):
        rota.turn()
    services.after_response.settle()
    services.ports.telemetry.event("worker_stopped", level="info")


if __name__ == "__main__":
    main()
