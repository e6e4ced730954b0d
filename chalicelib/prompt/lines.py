"""Messages as lines of a prompt's block: under the day they were said on, each with who said it."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from itertools import groupby

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.text.tokens import LONGEST_KEPT, estimate

CONTINUED = "\n  "  # a line within a message may not look like the line of another speaker


def line(message: SessionMessage) -> str:
    """One message: who said it, and its whole text."""
    return f"{' '.join(message.said_by.split())}: {CONTINUED.join(message.text.splitlines())}"


def heading(day: date) -> str:
    """What stands above the messages of a day."""
    return f"{day:%-d %B %Y}"


def lines(messages: Sequence[SessionMessage]) -> str:
    """The messages, in the order given, with a heading where the day changes."""
    found: list[str] = []
    day: date | None = None
    for message in messages:
        if message.at.date() != day:
            day = message.at.date()
            found.append(heading(day))
        found.append(line(message))
    return "\n".join(found)


def cost(message: SessionMessage) -> int:
    """The tokens of a message's line."""
    text = line(message)
    return _cost(text) if len(text) <= LONGEST_KEPT else estimate(f"{text}\n")


def heading_cost(day: date) -> int:
    """The tokens of a day's heading."""
    return _cost(heading(day))


def costs(messages: Sequence[SessionMessage]) -> int:
    """The tokens of `lines` of these, with the end of the last one."""
    days = [day for day, _ in groupby(messages, key=lambda message: message.at.date())]
    return sum(map(cost, messages)) + sum(map(heading_cost, days))


@lru_cache(maxsize=4096)
def _cost(text: str) -> int:
    return estimate(f"{text}\n")
