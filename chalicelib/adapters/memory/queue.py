"""The task queue in this process."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.keys import new_id
from chalicelib.domain.tasks import Task, to_text
from chalicelib.ports import Clock, DeadLetter, Delivery
from chalicelib.settings import QueueSettings


@dataclass
class _Message:
    """`due` is when it may be given out, in seconds since 1970; `receipt` stands while somebody holds it."""

    text: str
    due: float
    attempts: int = 0
    receipt: str = ""


class InMemoryTaskQueue:
    """`ports.TaskQueue`."""

    def __init__(self, clock: Clock, settings: QueueSettings | None = None) -> None:
        self._clock = clock
        self._settings = settings or QueueSettings()
        self._lock = threading.Lock()
        self._live: dict[str, _Message] = {}
        self._dead: dict[str, _Message] = {}

    def probe(self) -> dict[str, Any]:
        with self._lock:
            now = self._now()
            taken = sum(bool(message.receipt) and message.due > now for message in self._live.values())
            waiting = len(self._live) - taken
            return {"driver": "in-memory", "waiting": waiting, "taken": taken, "dead": len(self._dead)}

    def send(self, tasks: Sequence[Task], delay_seconds: float = 0) -> None:
        self.put([to_text(task) for task in tasks], delay_seconds)

    def put(self, texts: Sequence[str], delay_seconds: float = 0) -> None:
        """Queue texts as they are, be they no tasks."""
        with self._lock:
            for text in texts:
                self._live[new_id("msg")] = _Message(text, self._now() + delay_seconds)

    def receive(self, limit: int) -> list[Delivery]:
        with self._lock:
            now = self._now()
            due = [(id_, message) for id_, message in self._live.items() if message.due <= now]
            for id_, message in due:
                if message.attempts >= self._settings.attempts:
                    self._bury(id_)
            live = [(id_, message) for id_, message in due if id_ in self._live]
            return [self._given(id_, message) for id_, message in live[:limit]]

    def _given(self, id_: str, message: _Message) -> Delivery:
        message.attempts += 1
        message.due = self._now() + self._settings.visibility_seconds
        message.receipt = new_id("rcp")
        last = message.attempts >= self._settings.attempts
        return Delivery(id_, message.text, message.attempts, last, message.receipt)

    def done(self, deliveries: Sequence[Delivery]) -> None:
        with self._lock:
            for delivery in deliveries:
                if self._held(delivery):
                    del self._live[delivery.id]

    def retry(self, deliveries: Sequence[Delivery], delay_seconds: float) -> None:
        with self._lock:
            for delivery in deliveries:
                if message := self._held(delivery):
                    message.receipt, message.due = "", self._now() + delay_seconds
                    if message.attempts >= self._settings.attempts:
                        self._bury(delivery.id)

    def dead_letters(self, limit: int) -> list[DeadLetter]:
        with self._lock:
            return [DeadLetter(id_, dead.text, dead.attempts) for id_, dead in list(self._dead.items())[:limit]]

    def redrive(self) -> int:
        with self._lock:
            dead, self._dead = self._dead, {}
            self._live |= {id_: _Message(message.text, self._now()) for id_, message in dead.items()}
            return len(dead)

    def _held(self, delivery: Delivery) -> _Message | None:
        message = self._live.get(delivery.id)
        return message if message and message.receipt == delivery.receipt else None

    def _bury(self, id_: str) -> None:
        self._dead[id_] = self._live.pop(id_)

    def _now(self) -> float:
        return self._clock().timestamp()
