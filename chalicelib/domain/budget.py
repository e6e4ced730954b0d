"""The time that a piece of work may take, and which stores have failed it already; it goes along with the work.

Like `pymongo.timeout` it is ambient: whoever begins the work sets it, and every adapter asks how much is left of it, so
that no port carries it. Budgets nest, and an inner one never reaches beyond the outer. Outside of any there is no limit.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True)
class _Budget:
    until: float
    failures: dict[str, str] = field(default_factory=dict)


_current: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budget(seconds: float) -> Iterator[None]:
    """What is inside has `seconds`, or what is left of the budget around it where that is less."""
    outer = _current.get()
    until = time.monotonic() + seconds
    inner = _Budget(min(until, outer.until), outer.failures) if outer else _Budget(until)
    token = _current.set(inner)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def aside(seconds: float) -> Iterator[None]:
    """Like `budget`, for what the work can do without: a store that fails inside has not failed the work around it."""
    outer = _current.get()
    until = time.monotonic() + seconds
    inner = _Budget(min(until, outer.until), dict(outer.failures)) if outer else _Budget(until)
    token = _current.set(inner)
    try:
        yield
    finally:
        _current.reset(token)


def time_left() -> float:
    """Seconds left; infinite outside of any budget, negative when it is spent."""
    current = _current.get()
    return current.until - time.monotonic() if current else math.inf


def note_failure(store: str, reason: str) -> None:
    """Remember for the rest of this work that `store` failed it, and why it did first."""
    if current := _current.get():
        current.failures.setdefault(store, reason)


def failure_of(store: str) -> str | None:
    """Why `store` has failed this work before; None where it has not."""
    current = _current.get()
    return current.failures.get(store) if current else None
