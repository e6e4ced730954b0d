"""What a store needs from those who run it: rows of before made into rows of today, and its indexes."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from chalicelib.domain.query import StoredMemory

VECTOR_FIELDS = ("embedding", "embeddingModel", "embedding_256", "embeddingDimensions", "embeddingChunks")
"""What stays beside a row of before as it is: the backfill and the dual index read it."""


class OldRows(Protocol):
    """Rows that were written before scopes, as they stand there. A row of today is none of them."""

    def waiting(self) -> list[Any]:
        """The `_id` of every one, in an order that stays."""

    def documents(self, identities: Sequence[Any]) -> list[dict[str, Any]]:
        """Those of them that are there, in the order of `identities`."""

    def put(self, old: Mapping[str, Any], row: StoredMemory) -> None:
        """Have `row` stand in the place of `old`, whose VECTOR_FIELDS stay beside it. May be repeated where a call died in
        between. DuplicateContent, and nothing changed, where its content is live in another row of the scope, whose id is
        the detail `id` where it still is."""


class StoreIndexes(Protocol):
    """The indexes of the truth."""

    def make(self) -> list[str]:
        """Create those that are missing; the names of all, and what became of the vector search's. It may be repeated."""
