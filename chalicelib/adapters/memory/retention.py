"""The rows of the in-memory store, and what it gives the sweep and the purge of them."""

import threading
from collections.abc import Callable, Sequence
from datetime import datetime

from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.ports import RowId


class RetentionReads:
    """The part of `ports.MemoryStore` about what retention decides."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._rows: dict[RowId, StoredMemory] = {}
        self._checkpoints: dict[str, str] = {}

    def quarantined(self, until: datetime, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """As the port says."""
        wanted = self._which(lambda memory: memory.status is Status.QUARANTINED and memory.held_since <= until)
        return paged(wanted, after, limit)

    def admitted(self, scope_key: str, since: datetime, *, after: str = "", limit: int = 200) -> list[StoredMemory]:
        """As the port says."""
        active = self._which(lambda memory: memory.scope_ref.key == scope_key and memory.status is Status.ACTIVE)
        rows = [row for row in active if row.memory.admitted_at and row.memory.admitted_at >= since]
        return paged([row for row in rows if row.memory.id > after], None, limit)

    def forgotten(self, before: datetime, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """As the port says."""
        rows = self._which(lambda m: m.is_forgotten and m.archived_at is not None and m.archived_at < before)
        return paged(rows, after, limit)

    def untold(self, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """As the port says."""
        return paged(self._which(lambda memory: memory.untold is not None), after, limit)

    def yielding(self, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """As the port says."""
        return paged(self._which(lambda memory: bool(memory.yields)), after, limit)

    def _which(self, is_wanted: Callable[[Memory], bool]) -> list[StoredMemory]:
        with self._lock:
            return [row for row in self._rows.values() if is_wanted(row.memory)]

    def checkpoint(self, name: str) -> str | None:
        """As the port says."""
        return self._checkpoints.get(name)

    def keep_checkpoint(self, name: str, value: str) -> None:
        """As the port says."""
        self._checkpoints[name] = value


def paged(rows: Sequence[StoredMemory], after: RowId | None, limit: int) -> list[StoredMemory]:
    """The first `limit` of `rows` by organization and id, after those of `after`."""
    left = [row for row in rows if after is None or (row.memory.org_id, row.memory.id) > after]
    return sorted(left, key=lambda row: (row.memory.org_id, row.memory.id))[:limit]
