"""Many clients at once through the WSGI server, beside one client alone: errors, and how many more answers a second."""

import http.client
import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from urllib.parse import urlsplit

from vitto_tools.bench.client import unlike_others
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack

CLIENTS = 32
SECONDS = 5.0
ROUNDS = 3  # one client and many alternate, so that both see the same machine
CACHED_QUESTIONS = 20
LIMIT = 10
PATH = "/engine/memories/recall"
TIMEOUT_SECONDS = 60
WHOLE = re.compile(
    rb'"degraded": ?\[\]'
)  # answers are searched, not parsed: the clients share the cores with the servers


@dataclass(frozen=True)
class Tally:
    """Answers of one part of a run, and what was none."""

    answers: int
    seconds: float
    errors: list[str]

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds


@dataclass(frozen=True)
class Asking:
    """A kind of request: the bodies that a client sends, endless, and what an answer that counts matches."""

    name: str
    bodies: Callable[[int], Iterator[bytes]]
    mark: re.Pattern[bytes]


def measure(report: Report, stack: Stack, key: str, user: str, questions: Sequence[str]) -> None:
    """Print and note rates and errors, of answers from the cache and of others. The vectors of `questions` are known to the
    service before: embedding is not what is measured."""
    headers = {"Authorization": f"Bearer {key}", "Vitto-User": user, "Content-Type": "application/json"}
    ask = _Asker(stack.url, headers)
    bodies = [json.dumps({"query": question, "limit": LIMIT}).encode() for question in questions]
    ask.once(bodies)
    kinds = (
        Asking("uncached", lambda client: _uncached(questions, client), re.compile(rb'"cached": ?false')),
        Asking("cached", lambda client: _turning(bodies[:CACHED_QUESTIONS], client), re.compile(rb'"cached": ?true')),
    )
    rows = [_row(report, kind, *_alternating(ask, kind, bodies[:CACHED_QUESTIONS])) for kind in kinds]
    report.note("throughput.errors", sum(int(str(row[4])) for row in rows))
    heads = ["recalls", "one client, /s", f"{CLIENTS} clients, /s", "ratio", "errors", "such as"]
    report.table(f"throughput through the WSGI server, 2 processes, {CLIENTS} clients at once", heads, rows)


def _row(report: Report, kind: Asking, one: Sequence[Tally], many: Sequence[Tally]) -> list[str | float | int]:
    """The table's row of one kind, with its figures noted."""
    alone, together = (median(part.rate for part in parts) for parts in (one, many))
    failed = [error for part in (*one, *many) for error in part.errors]
    if not alone:
        raise RuntimeError(f"one client alone was given no answer: {failed[:1]}")
    ratio = together / alone
    report.note(f"throughput.{kind.name}.one_per_second", alone)
    report.note(f"throughput.{kind.name}.many_per_second", together)
    report.note(f"throughput.{kind.name}_ratio", ratio)
    return [kind.name, alone, together, ratio, len(failed), failed[0] if failed else ""]


def _alternating(ask: "_Asker", kind: Asking, warm: Sequence[bytes]) -> tuple[list[Tally], list[Tally]]:
    one: list[Tally] = []
    many: list[Tally] = []
    for _ in range(ROUNDS):
        for tallies, clients in ((one, 1), (many, CLIENTS)):
            ask.once(warm)  # cached answers live a minute at most
            tallies.append(ask.together(kind, clients))
    return one, many


def _uncached(questions: Sequence[str], client: int) -> Iterator[bytes]:
    """Questions that no answer is cached for: each with a minimum score of its own, that no hit is under."""
    base = unlike_others()
    for number in itertools.count():
        question = questions[(client * 7 + number) % len(questions)]
        score = base + (client * 1_000_000 + number + 1) / 10**18
        yield json.dumps({"query": question, "limit": LIMIT, "minScore": score}).encode()


def _turning(bodies: Sequence[bytes], client: int) -> Iterator[bytes]:
    """The same bodies over and over, from another place for each client."""
    start = client % len(bodies)
    return itertools.cycle([*bodies[start:], *bodies[:start]])


class _Asker:
    """Clients that ask as fast as they are answered, each over a connection of its own."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self._address = urlsplit(url)
        self._headers = headers

    def once(self, bodies: Sequence[bytes]) -> None:
        """Ask each body, so that its answer and its vector are known: again where a store rests after what came before."""
        connection, until = self._connection(), time.monotonic() + TIMEOUT_SECONDS
        for body in bodies:
            while error := self._asked(connection, body)[1]:
                if time.monotonic() > until:
                    raise RuntimeError(error)
                time.sleep(0.5)
        connection.close()

    def together(self, kind: Asking, clients: int) -> Tally:
        """What so many clients are answered in some seconds."""
        barrier = threading.Barrier(clients)
        began = time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            parts = list(pool.map(lambda client: self._work(kind, client, barrier), range(clients)))
        right, errors = zip(*parts, strict=True)
        return Tally(sum(right), time.perf_counter() - began, [error for some in errors for error in some])

    def _work(self, kind: Asking, client: int, barrier: threading.Barrier) -> tuple[int, list[str]]:
        """How many answers of that kind one client was given, and what was no whole answer."""
        connection, bodies = self._connection(), kind.bodies(client)
        right, errors = 0, []
        barrier.wait(TIMEOUT_SECONDS)
        until = time.perf_counter() + SECONDS
        while time.perf_counter() < until:
            answer, error = self._asked(connection, next(bodies))
            errors += [error] if error else []
            right += not error and bool(kind.mark.search(answer))
        connection.close()
        return right, errors

    def _connection(self) -> http.client.HTTPConnection:
        assert self._address.hostname is not None
        return http.client.HTTPConnection(self._address.hostname, self._address.port, timeout=TIMEOUT_SECONDS)

    def _asked(self, connection: http.client.HTTPConnection, body: bytes) -> tuple[bytes, str]:
        """The answer, and what is wrong with it; empty where it is a whole one."""
        try:
            connection.request("POST", PATH, body, self._headers)
            reply = connection.getresponse()
            answer = reply.read()
        except OSError as error:
            connection.close()
            return b"", f"{type(error).__name__}: {error}"
        if reply.status != http.client.OK or not WHOLE.search(answer):
            return answer, f"{reply.status} {answer[:200].decode(errors='replace')}"
        return answer, ""
