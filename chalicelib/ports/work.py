"""The queue of work that no request waits for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from chalicelib.domain.tasks import Task
from chalicelib.ports.services import Probe


@dataclass(frozen=True)
class Delivery:
    """A message that a consumer holds. `attempt` counts from 1; after the `last` one comes no other. `receipt` is good until
    the message is given to somebody else."""

    id: str
    text: str
    attempt: int
    last: bool
    receipt: str


@dataclass(frozen=True)
class DeadLetter:
    """A message that was given out as often as it may be and was never done."""

    id: str
    text: str
    attempts: int


class TaskQueue(Probe, Protocol):
    """Work that waits, given out at least once, in no promised order. The probe says what is waiting, taken and dead."""

    def send(self, tasks: Sequence[Task], delay_seconds: float = 0) -> None:
        """Have the tasks worked on, not before the delay is over. StoreUnavailable where any was not taken."""

    def receive(self, limit: int) -> list[Delivery]:
        """At most `limit` (1 to 10) messages, each hidden from other consumers for the visibility time and then, unless
        it was done, given out again. One that was given out as often as it may be becomes a dead letter instead."""

    def done(self, deliveries: Sequence[Delivery]) -> None:
        """Take the messages off the queue. Nothing for one that was given to somebody else since."""

    def retry(self, deliveries: Sequence[Delivery], delay_seconds: float) -> None:
        """Give the messages out again after the delay. Nothing for one that was given to somebody else since."""

    def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Some of the dead letters, the oldest first where the queue knows it."""

    def redrive(self) -> int:
        """Have all dead letters worked on again, from the first attempt on; how many."""
