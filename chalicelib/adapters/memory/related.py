"""Rows of the in-memory store that others lead to, and rows of the past."""

from collections.abc import Callable, Sequence
from datetime import datetime

from chalicelib.adapters.memory.retention import RetentionReads
from chalicelib.domain.memory import ArchivedReason, Memory, Status
from chalicelib.domain.query import Filter, StoredMemory, TermStatistics
from chalicelib.domain.relations import relations_of
from chalicelib.domain.scope import Chain
from chalicelib.domain.termselection import rare_terms


class RelatedReads(RetentionReads):
    """`ports.RelatedReads`."""

    def related(
        self, chain: Chain, relations: Sequence[str], wanted: Filter, limit: int, *, now: datetime
    ) -> list[StoredMemory]:
        """As the port says."""
        sought = set(relations)
        rows = self._seen(chain, lambda m: m.status is Status.ACTIVE and not m.is_expired(now) and wanted.admits(m))
        return [row for row in rows if sought & set(relations_of(row.memory))][:limit]

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
        """As the port says."""
        terms = set(rare_terms(words, statistics, limit))
        rows = self._seen(chain, lambda m: m.status is Status.ARCHIVED and m.archived_reason in reasons)
        found = [row for row in rows if terms & set(row.counts) and wanted.admits(row.memory)]
        return [row for row in found if not row.memory.is_forgotten][:limit]

    def changed_after(self, chain: Chain, at: datetime, limit: int) -> list[StoredMemory]:
        """As the port says."""
        rows = self._seen(chain, lambda m: m.created_at <= at < m.updated_at and m.revision > 1)
        hidden = {Status.QUARANTINED}
        kept = [row for row in rows if row.memory.status not in hidden and not row.memory.is_forgotten]
        return sorted(kept, key=lambda row: (row.memory.updated_at, row.memory.id))[:limit]

    def _seen(self, chain: Chain, is_wanted: Callable[[Memory], bool]) -> list[StoredMemory]:
        rows = self._which(lambda memory: chain.holds(memory.scope_ref.key) and is_wanted(memory))
        return sorted(rows, key=lambda row: row.memory.id)
