"""What MongoDB gives the sweep, the purge and whoever finishes their work: rows whose time is over, or that are marked."""

from datetime import datetime

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.documents import from_document, row_id
from chalicelib.adapters.mongo.indexes import CHECKPOINTS, MEMORIES
from chalicelib.domain.memory import ArchivedReason, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import ScopeRef
from chalicelib.ports import RowId


class RetentionReads:
    """The part of `ports.MemoryStore` about what retention decides."""

    def __init__(self, connection: MongoConnection) -> None:
        self._reached = connection
        self._kept = connection.database.get_collection(MEMORIES)
        self._checkpoints = connection.database.get_collection(CHECKPOINTS)

    def quarantined(self, until: datetime, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """By the first of the times that `Memory.held_since` goes through that a row has."""
        absent = {"$exists": False}
        since: list[Document] = [
            {"quarantinedAt": {"$lte": until}},
            {"quarantinedAt": absent, "editedAt": {"$lte": until}},
            {"quarantinedAt": absent, "editedAt": absent, "createdAt": {"$lte": until}},
        ]
        return self._batch({"status": Status.QUARANTINED.value, "$or": since}, after, limit)

    def admitted(self, scope_key: str, since: datetime, *, after: str = "", limit: int = 200) -> list[StoredMemory]:
        """In the order of ids, as `rows_of_scope`."""
        query: Document = {"scopeKey": scope_key, "status": Status.ACTIVE.value, "admittedAt": {"$gte": since}}
        return self._batch(query, (ScopeRef.from_key(scope_key).org_id, after), limit)

    def forgotten(self, before: datetime, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """By `archivedAt`."""
        query: Document = {"archivedReason": ArchivedReason.FORGOTTEN.value, "archivedAt": {"$lt": before}}
        return self._batch(query, after, limit)

    def untold(self, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """Few at any time: those of a decision under way or cut off."""
        return self._batch({"untold": {"$exists": True}}, after, limit)

    def yielding(self, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """Few at any time, as `untold`."""
        return self._batch({"yields": {"$exists": True}}, after, limit)

    def _batch(self, query: Document, after: RowId | None, limit: int) -> list[StoredMemory]:
        if after:
            query["_id"] = {"$gt": row_id(*after)}
        with self._reached.scanning():
            return [from_document(d) for d in self._kept.find(query).sort("_id", 1).limit(limit)]

    def checkpoint(self, name: str) -> str | None:
        """None where nothing was kept."""
        with self._reached.reading():
            document = self._checkpoints.find_one({"_id": name})
        return str(document["value"]) if document else None

    def keep_checkpoint(self, name: str, value: str) -> None:
        """One document a name."""
        with self._reached.writing():
            self._checkpoints.update_one({"_id": name}, {"$set": {"value": value}}, upsert=True)
