"""Rows in MongoDB that others lead to, and rows of the past."""

from collections.abc import Callable, Sequence
from datetime import datetime

from chalicelib.adapters.mongo.conditions import conditions, filtered
from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.indexes import MEMORIES
from chalicelib.domain.memory import ArchivedReason, Status
from chalicelib.domain.query import Filter, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain
from chalicelib.domain.termselection import rare_terms


class RelatedReads:
    """`ports.RelatedReads`. `read` makes a row of a document."""

    def __init__(self, connection: MongoConnection, read: Callable[[Document], StoredMemory]) -> None:
        self._related_connection = connection
        self._related_rows = connection.database.get_collection(MEMORIES)
        self._read_related = read

    def related(
        self, chain: Chain, relations: Sequence[str], wanted: Filter, limit: int, *, now: datetime
    ) -> list[StoredMemory]:
        """As the port says."""
        query: Document = {"status": Status.ACTIVE.value, "relations": {"$in": list(relations)}}
        return self._found(chain, query | conditions(wanted, now), limit) if relations else []

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
        named = [reason.value for reason in reasons if reason is not ArchivedReason.FORGOTTEN]
        terms = list(rare_terms(words, statistics, limit))
        query: Document = {"status": Status.ARCHIVED.value, "archivedReason": {"$in": named}, "terms": {"$in": terms}}
        return self._found(chain, query | filtered(wanted), limit) if terms and named else []

    def changed_after(self, chain: Chain, at: datetime, limit: int) -> list[StoredMemory]:
        """As the port says."""
        query: Document = {
            "status": {"$in": [Status.ACTIVE.value, Status.ARCHIVED.value]},
            "archivedReason": {"$ne": ArchivedReason.FORGOTTEN.value},
            "revision": {"$gt": 1},
            "createdAt": {"$lte": at},
            "updatedAt": {"$gt": at},
        }
        return self._found(chain, query, limit, sort=[("updatedAt", 1), ("_id", 1)])

    def _found(
        self, chain: Chain, query: Document, limit: int, *, sort: Sequence[tuple[str, int]] = ()
    ) -> list[StoredMemory]:
        asked = query | {"scopeKey": {"$in": list(chain.keys)}}
        with self._related_connection.reading():
            cursor = self._related_rows.find(asked)
            cursor = cursor.sort(list(sort)) if sort else cursor
            return [self._read_related(document) for document in cursor.limit(limit).batch_size(limit)]
