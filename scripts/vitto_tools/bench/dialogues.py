"""What a recall is measured on: memories in the order in which they were said, and questions with the messages that answer
them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

DATA = Path(os.environ.get("VITTO_BENCH_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))


@dataclass(frozen=True)
class Question:
    """A question with the ids of the messages that hold its answer; where it asks for what was updated, also which of them
    say the original, and which the update."""

    text: str
    category: int | str
    evidence: frozenset[str]
    originals: frozenset[str] = frozenset()
    updates: frozenset[str] = frozenset()


class Dialogue(Protocol):
    """What one user said with somebody, all of it in the scope of that user."""

    @property
    def name(self) -> str:
        """The user."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """What is asked of it."""

    def items(self) -> Iterator[dict[str, Any]]:
        """Its messages in order, as the API takes memories, each with its id in `origin.messageId`."""
