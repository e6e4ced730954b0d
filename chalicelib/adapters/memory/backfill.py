"""What the backfill reads and keeps, in this process."""

import threading
from collections.abc import Sequence
from datetime import UTC, datetime

from chalicelib.domain.backfill import BackfillCheckpoint
from chalicelib.domain.query import StoredMemory
from chalicelib.ports import MemoryStore

_PAGE = 1000
_EVER = datetime.fromtimestamp(0, UTC)


class InMemoryBackfillStore:
    """`ports.BackfillStore` over any `MemoryStore` that is small enough to be read whole."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._kept: dict[str, BackfillCheckpoint] = {}

    def lacking(self, org_id: str, model: str, *, after: str = "", limit: int = 50) -> list[StoredMemory]:
        found = [
            row for row in self._all() if row.memory.org_id == org_id and row.memory.is_live and row.memory.id > after
        ]
        without = [row for row in found if row.memory.embedding is None or row.memory.embedding.model != model]
        return sorted(without, key=lambda row: row.memory.id)[:limit]

    def _all(self) -> list[StoredMemory]:
        found: list[StoredMemory] = []
        while page := self._store.changed_since(_EVER, after=found[-1].memory if found else None, limit=_PAGE):
            found += page
        return found

    def organizations(self, model: str) -> list[str]:
        return sorted({org_id for org_id in {row.memory.org_id for row in self._all()} if self.lacking(org_id, model)})

    def count_lacking(self, org_id: str, model: str) -> int:
        return len(self.lacking(org_id, model, limit=len(self._all())))

    def fill(self, rows: Sequence[StoredMemory]) -> list[bool]:
        return [self._store.replace(row, row.memory.revision) for row in rows]

    def checkpoint(self, org_id: str) -> BackfillCheckpoint | None:
        return self._kept.get(org_id)

    def keep(self, checkpoint: BackfillCheckpoint) -> bool:
        org_id = checkpoint.progress.org_id
        with self._lock:
            before = self._kept.get(org_id)
            if checkpoint.version != (before.version if before else 0) + 1:
                return False
            self._kept[org_id] = checkpoint
            return True
