"""The steps that tests of the truth's vector search are made of: store rows, wait for its index, ask for the nearest."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.query import Candidate, StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.ports import MemoryStore, StoredVectors
from tests.building import NOW, chain, index_query, row

CATCH_UP_SECONDS = 120


def at_once(_vectors: StoredVectors, _store: MemoryStore, _org: str) -> None:
    """The index knows what is stored when it is stored."""


def wait_for_the_index(vectors: StoredVectors, store: MemoryStore, org: str) -> None:
    """Return when the index knows what was stored in `org` until now: it takes writes in their order."""
    marker = row(f"a marker of {time.monotonic_ns()}", org_id=org, scope_id="marker")
    store.insert([marker])
    until = time.monotonic() + CATCH_UP_SECONDS
    while marker.memory.id not in nearest(vectors, chain(org, "marker"), marker.memory.content):
        assert time.monotonic() < until, "the index did not catch up"
        time.sleep(0.5)


@dataclass(frozen=True)
class VectorsUnderTest:
    """A vector search with the store whose rows it searches."""

    vectors: StoredVectors
    store: MemoryStore
    catch_up: Callable[[StoredVectors, MemoryStore, str], None] = at_once

    def put(self, *rows: StoredMemory) -> list[str]:
        """Store rows and let the index catch up; their ids."""
        assert self.store.insert(rows) == [None] * len(rows)
        self.catch_up(self.vectors, self.store, rows[0].memory.org_id)
        return [stored.memory.id for stored in rows]


def nearest(
    vectors: StoredVectors, reader: Chain, text: str, *, rows: int = 0, now: datetime = NOW, **fields: Any
) -> dict[str, Candidate]:
    """The nearest to `text`, by id, in their order."""
    found = vectors.nearest(reader, index_query(text, **fields), rows=rows, now=now)
    return {candidate.id: candidate for candidate in found}
