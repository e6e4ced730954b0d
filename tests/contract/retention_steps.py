"""The steps that tests of sweep, purge and review are made of: rows of an age, a process that dies, what became of rows."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.administration import AuditEvent
from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.ports import MemoryStore
from tests.building import NOW, container, row

CLAIM = "Ana lives in Porto near the river"
SAME_IN_OTHER_WORDS = "near the river in Porto lives Ana today"
UNRELATED = "deployments happen on Fridays"
HELD: dict[str, Any] = {"status": Status.QUARANTINED, "quarantine_reason": "score"}


def days_ago(days: float) -> datetime:
    """That long before now."""
    return NOW - timedelta(days=days)


def held(org: str, days: float, content: str = CLAIM, **fields: Any) -> StoredMemory:
    """A row in quarantine for that long, which was written a year ago."""
    values = HELD | {"created_at": days_ago(365), "quarantined_at": days_ago(days)}
    return row(content, org_id=org, **values | fields)


def admitted(org: str, days: float, content: str = SAME_IN_OTHER_WORDS, **fields: Any) -> StoredMemory:
    """An active row that was admitted that long ago."""
    return row(content, org_id=org, admitted_at=days_ago(days), **fields)


def over(store: MemoryStore, **overrides: Any) -> Container:
    """The services over a store, everything else a twin of its own."""
    return container(store=store, **overrides)


def present(store: MemoryStore, stored: StoredMemory) -> Memory | None:
    """The row as it is now; None where it is gone."""
    ref = stored.memory.scope_ref
    found = store.fetch(Chain(ref.org_id, (ref,)), [stored.memory.id])
    return found[0].memory if found else None


def after_times(times: int) -> Callable[[], bool]:
    """Whether time is up, which it is once that was asked so often."""
    asked = iter([False] * times)
    return lambda: next(asked, True)


class Killed(BaseException):
    """What ends a process, which nothing catches."""


def killed_at(patch: pytest.MonkeyPatch, services: Container, write: int) -> None:
    """Have the process die before its write of that number, counted from 0, to whichever store."""
    left = iter(range(write))

    def dying(target: Any, name: str) -> None:
        real = getattr(target, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if next(left, None) is None:
                raise Killed
            return real(*args, **kwargs)

        patch.setattr(target, name, call)

    for name in ("insert", "replace", "purge", "mark_for_repair", "repaired", "settle", "keep_checkpoint"):
        dying(services.ports.store, name)
    dying(services.ports.audit, "add")
    dying(services.ports.hot, "apply")
    dying(services.ports.cache, "forget")


def events(services: Container, org: str) -> list[AuditEvent]:
    """The audit of an organization, the oldest first."""
    return list(reversed(services.ports.audit.list(org, None, 200).items))


def told(services: Container, org: str) -> list[tuple[str, str | None]]:
    """Action and target of the events, sorted."""
    return sorted((event.action, event.target) for event in events(services, org))
