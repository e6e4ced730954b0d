"""The steps that tests of a memory store are made of: change a row, and read all that a reader is given."""

from collections.abc import Sequence
from typing import Any

from chalicelib.domain.memory import ArchivedReason, Status
from chalicelib.domain.query import Filter, StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.ports import Browse, MemoryStore
from tests.building import NOW, row

FORGOTTEN: dict[str, Any] = {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.FORGOTTEN, "archived_at": NOW}


def changed(stored: StoredMemory, **fields: Any) -> StoredMemory:
    """The next revision of a row with `fields` in place of any."""
    values = stored.memory.model_dump(exclude={"embedding"}) | {"revision": stored.memory.revision + 1} | fields
    return row(**values)


def fetched(store: MemoryStore, reader: Chain, *ids: str) -> dict[str, StoredMemory]:
    """The rows of those ids by id."""
    return {found.memory.id: found for found in store.fetch(reader, ids)}


def everything_read(store: MemoryStore, reader: Chain, ids: Sequence[str], words: str) -> set[str]:
    """Ids of all that any read gives `reader`."""
    terms = tuple((term,) for term in row(words).counts)
    found = [
        *store.fetch(reader, ids),
        *store.text_candidates(reader, terms, store.statistics(reader), Filter(), 100, now=NOW),
    ]
    listed = [memory for status in Status for memory in store.browse(reader, Browse(status=status)).items]
    return {stored.memory.id for stored in found} | {memory.id for memory in listed}
