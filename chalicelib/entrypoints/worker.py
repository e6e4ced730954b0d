"""The worker of runtimes that are not Lambda: `python -m chalicelib.entrypoints.worker`, until SIGTERM or SIGINT."""

import signal
import threading

from chalicelib.bootstrap import container
from chalicelib.entrypoints.jobs import Rota

IDLE_SECONDS = 0.5


def main() -> None:
    """Work until told to stop; what is under way is finished."""
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    services = container()
    rota = Rota(services)
    services.ports.telemetry.event("worker_started", level="info")
    while not stop.wait(IDLE_SECONDS):
        rota.turn()
    services.ports.telemetry.event("worker_stopped", level="info")


if __name__ == "__main__":
    main()
