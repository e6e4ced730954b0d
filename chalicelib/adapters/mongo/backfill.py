"""What the backfill reads and keeps, on MongoDB. It fills vectors in and leaves all else of a row as it is."""

from collections.abc import Sequence

from pymongo.errors import DuplicateKeyError

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.documents import embedding_change, from_document, row_id
from chalicelib.adapters.mongo.indexes import BACKFILLS, MEMORIES
from chalicelib.adapters.mongo.oldvectors import OldVectors
from chalicelib.domain.backfill import BackfillCheckpoint
from chalicelib.domain.keys import key
from chalicelib.domain.query import StoredMemory


class MongoBackfillStore:
    """`ports.BackfillStore`."""

    def __init__(self, connection: MongoConnection, old: OldVectors) -> None:
        self._connection = connection
        self._old = old
        self._rows = connection.database.get_collection(MEMORIES)
        self._kept = connection.database.get_collection(BACKFILLS)

    def lacking(self, org_id: str, model: str, *, after: str = "", limit: int = 50) -> list[StoredMemory]:
        query = _lacking(org_id, model) | {"_id": {"$gt": row_id(org_id, after)}}
        with self._connection.scanning():
            documents = list(self._rows.find(query).sort("_id", 1).limit(limit))
        return [from_document(document, self._old.of) for document in documents]

    def organizations(self, model: str) -> list[str]:
        query = {"live": True, "embeddingModel": {"$ne": model}}
        with self._connection.scanning():
            return sorted(self._rows.distinct("orgId", query))

    def count_lacking(self, org_id: str, model: str) -> int:
        with self._connection.scanning():
            return self._rows.count_documents(_lacking(org_id, model))

    def fill(self, rows: Sequence[StoredMemory]) -> list[bool]:
        return [self._fill(row) for row in rows]

    def _fill(self, row: StoredMemory) -> bool:
        memory = row.memory
        if memory.embedding is None:
            return False
        query = {"_id": row_id(memory.org_id, memory.id), "revision": memory.revision}
        with self._connection.writing():
            return self._rows.update_one(query, embedding_change(memory.embedding)).matched_count == 1

    def checkpoint(self, org_id: str) -> BackfillCheckpoint | None:
        with self._connection.reading():
            found = self._kept.find_one({"_id": _identity(org_id)})
        return None if found is None else BackfillCheckpoint.model_validate(found["checkpoint"])

    def keep(self, checkpoint: BackfillCheckpoint) -> bool:
        org_id = checkpoint.progress.org_id
        document: Document = {
            "orgId": org_id,
            "version": checkpoint.version,
            "checkpoint": checkpoint.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
        query = {"_id": _identity(org_id), "version": checkpoint.version - 1}
        with self._connection.writing():
            if checkpoint.version > 1:
                return self._kept.replace_one(query, document).matched_count == 1
            try:
                self._kept.insert_one({"_id": _identity(org_id)} | document)
            except DuplicateKeyError:
                return False
        return True


def _lacking(org_id: str, model: str) -> Document:
    return {"orgId": org_id, "live": True, "embeddingModel": {"$ne": model}}


def _identity(org_id: str) -> str:
    return key(org_id, "backfill")
