"""What the truth is asked for besides the active rows that match: rows that others lead to, and rows of the past."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chalicelib.domain.memory import ArchivedReason
from chalicelib.domain.query import Filter, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain


class RelatedReads(Protocol):
    """The part of `MemoryStore` that deep and cold recall ask. Nothing outside the chain, and no forgotten row, is given."""

    def related(
        self, chain: Chain, relations: Sequence[str], wanted: Filter, limit: int, *, now: datetime
    ) -> list[StoredMemory]:
        """At most `limit` active rows that have one of `relations` (see `domain.relations`), not expired at `now` and
        admitted by `wanted`, with terms and vectors; one query."""

    def archived(
        self,
        chain: Chain,
        words: Sequence[tuple[str, ...]],
        statistics: TermStatistics,
        *,
        reasons: Sequence[ArchivedReason],
        wanted: Filter,
        limit: int,
    ) -> list[StoredMemory]:
        """At most `limit` rows archived for one of `reasons` that hold one of the rare `words` and that `wanted` admits,
        with terms and vectors; one query."""

    def changed_after(self, chain: Chain, at: datetime, limit: int) -> list[StoredMemory]:
        """At most `limit` rows that were there at `at` and have had another revision later, by the time of their latest
        change: active and archived ones, expired or not, with terms and vectors; one query."""
