"""Keeps a set of servers running: starts them in order, starts again what crashed, stops them in reverse order."""

import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from vitto_tools.local.servers import Process, Server

FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 30.0
STEADY_SECONDS = 60.0
Say = Callable[[str], None]


USERS = frozenset({"api", "worker"})  # of the others, which they need until their last request


class Supervised:
    """One server with the process that runs it now."""

    def __init__(self, server: Server, log: Path) -> None:
        self.server = server
        self.log = log
        self.process: Process | None = None
        self._started = 0.0
        self._wait = FIRST_WAIT_SECONDS
        self._not_before = 0.0

    def start(self) -> None:
        """Start it, and wait until it serves."""
        self.process = Process(self.server, self.log)
        self._started = time.monotonic()
        self.process.wait_ready()

    def check(self, say: Say) -> bool:
        """Whether it had to be started again. A server that keeps crashing is tried ever less often."""
        if self.process is None or self.process.exit_code is None:
            return False
        now = time.monotonic()
        if self._not_before == 0:
            self._wait = FIRST_WAIT_SECONDS if now - self._started > STEADY_SECONDS else self._wait
            self._not_before = now + self._wait
            say(f"{self.server.name} ended with code {self.process.exit_code}; starting it again in {self._wait:.0f} s")
        if now < self._not_before:
            return False
        self._not_before = 0
        self._wait = min(self._wait * 2, LONGEST_WAIT_SECONDS)
        with contextlib.suppress(RuntimeError):  # it ended once more: the next check sees that
            self.start()
            say(f"{self.server.name} is back, process {self.process.pid}")
        return True


class Supervisor:
    """The servers of one product, in the order in which they need one another."""

    def __init__(self, logs: Path, say: Say) -> None:
        self._logs = logs
        self._say = say
        self._supervised: list[Supervised] = []

    def start(self, server: Server) -> None:
        """Start one more server, and say how long it took."""
        one = Supervised(server, self._logs / f"{server.name}.log")
        began = time.monotonic()
        try:
            one.start()
        except BaseException:
            if one.process:
                one.process.stop()
            raise
        self._supervised.append(one)
        self._say(f"{server.name:<10} ready in {time.monotonic() - began:.1f} s")

    @property
    def pids(self) -> dict[str, int]:
        """Process ids by name."""
        return {one.server.name: one.process.pid for one in self._supervised if one.process}

    def check(self) -> bool:
        """Look after all; whether a process id changed."""
        changed = False
        for one in self._supervised:
            changed |= one.check(self._say)
        return changed

    def stop(self) -> None:
        """Stop all: what uses the stores first, then the stores, each group at once."""
        running = [(one.server.name, one.process) for one in self._supervised if one.process]
        for group in (True, False):
            processes = [process for name, process in running if (name in USERS) is group]
            with ThreadPoolExecutor(max(1, len(processes))) as pool:
                list(pool.map(lambda process: process.stop(), processes))

    @property
    def servers(self) -> Sequence[Server]:
        """What is looked after."""
        return [one.server for one in self._supervised]
