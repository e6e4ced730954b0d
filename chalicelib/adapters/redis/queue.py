"""The task queue on any Redis: one script a call, times by the server's own clock, which is one for all consumers."""

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import Arg, Call, RedisConnection
from chalicelib.domain.keys import new_id
from chalicelib.domain.tasks import Task, to_text
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import DeadLetter, Delivery
from chalicelib.settings import QueueSettings

MOST_QUEUED = 100_000  # waiting, taken and dead: a queue without a worker must not fill the server
DEAD_LETTER_DAYS = 14  # as long as SQS keeps a message at most
REDRIVEN_AT_ONCE = 500
_DAY_MS = 86_400_000
_WAITING, _TAKEN, _DEAD = (keys.queue(part) for part in ("waiting", "taken", "dead"))
_TEXTS, _ATTEMPTS, _RECEIPTS = (keys.queue(part) for part in ("texts", "attempts", "receipts"))


class RedisTaskQueue:
    """`ports.TaskQueue`. A queue that is full takes nothing more and says so."""

    def __init__(self, connection: RedisConnection, settings: QueueSettings, most: int = MOST_QUEUED) -> None:
        self._connection = connection
        self._settings = settings
        self._most = most

    def probe(self) -> dict[str, Any]:
        waiting, taken, dead = self._run("queue_count", [_WAITING, _TAKEN, _DEAD])
        return {"driver": "redis", "waiting": waiting, "taken": taken, "dead": dead}

    def send(self, tasks: Sequence[Task], delay_seconds: float = 0) -> None:
        self.put([to_text(task) for task in tasks], delay_seconds)

    def put(self, texts: Sequence[str], delay_seconds: float = 0) -> None:
        """Queue texts as they are, be they no tasks."""
        if not texts:
            return
        messages = [part for text in texts for part in (new_id("msg"), text)]
        if not self._run("queue_send", [_WAITING, _TEXTS], [self._most, _ms(delay_seconds), *messages]):
            raise StoreUnavailable("redis", f"its task queue is full with {self._most} messages")

    def receive(self, limit: int) -> list[Delivery]:
        attempts, receipt = self._settings.attempts, secrets.token_hex(8)
        hidden = _ms(self._settings.visibility_seconds)
        given = self._run(
            "queue_receive",
            [_WAITING, _TAKEN, _DEAD, _TEXTS, _ATTEMPTS, _RECEIPTS],
            [limit, hidden, attempts, receipt, DEAD_LETTER_DAYS * _DAY_MS],
        )
        return [
            Delivery(id_.decode(), _text(text), attempt, attempt >= attempts, receipt)
            for id_, text, attempt in zip(given[::3], given[1::3], given[2::3], strict=True)
        ]

    def done(self, deliveries: Sequence[Delivery]) -> None:
        self._run("queue_done", [_TAKEN, _TEXTS, _ATTEMPTS, _RECEIPTS], _held(deliveries))

    def retry(self, deliveries: Sequence[Delivery], delay_seconds: float) -> None:
        arguments: list[Arg] = [_ms(delay_seconds), self._settings.attempts, *_held(deliveries)]
        self._run("queue_retry", [_WAITING, _TAKEN, _DEAD, _ATTEMPTS, _RECEIPTS], arguments)

    def dead_letters(self, limit: int) -> list[DeadLetter]:
        ids = self._connection.command("ZRANGE", _DEAD, 0, limit - 1)
        if not ids:
            return []
        texts, attempts = self._connection.run([("HMGET", _TEXTS, *ids), ("HMGET", _ATTEMPTS, *ids)])
        read = zip(ids, texts, attempts, strict=True)
        return [DeadLetter(id_.decode(), _text(text), int(n or 0)) for id_, text, n in read if text is not None]

    def redrive(self) -> int:
        left = int(self.probe()["dead"])
        moved = 0
        while left > moved:
            found = self._run("queue_redrive", [_WAITING, _DEAD, _ATTEMPTS], [min(REDRIVEN_AT_ONCE, left - moved)])
            if not found:
                break
            moved += found
        return moved

    def _run(self, script: str, names: Sequence[str], arguments: Sequence[Arg] = ()) -> Any:
        (reply,) = self._connection.run([Call(script, names, arguments)])
        return reply


def _held(deliveries: Iterable[Delivery]) -> list[str]:
    return [part for delivery in deliveries for part in (delivery.id, delivery.receipt)]


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _text(value: bytes) -> str:
    return value.decode(errors="replace")
