"""Rows of before and indexes, in this process."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.errors import DuplicateContent
from chalicelib.ports import MemoryStore


class InMemoryOldRows:
    """`ports.OldRows` beside any `MemoryStore`, which has no place for rows that are not of today."""

    def __init__(self, store: MemoryStore, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self._store = store
        self._rows = {row["_id"]: dict(row) for row in rows}

    def waiting(self) -> list[Any]:
        return sorted(self._rows, key=lambda identity: (type(identity).__name__, identity))

    def documents(self, identities: Sequence[Any]) -> list[dict[str, Any]]:
        return [dict(self._rows[identity]) for identity in identities if identity in self._rows]

    def put(self, old: Mapping[str, Any], row: StoredMemory) -> None:
        memory = row.memory
        if not self._store.fetch(Chain(memory.org_id, (memory.scope_ref,)), [memory.id]):
            (same,) = self._store.insert([row])
            if same:
                raise DuplicateContent("the same content is live in this scope already", id=same)
        self._rows.pop(old["_id"], None)


class NoIndexes:
    """`ports.StoreIndexes` of a truth that needs none."""

    def make(self) -> list[str]:
        return []
