"""API keys, audit events and the recall audit on MongoDB."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from pymongo import UpdateOne
from pymongo.errors import BulkWriteError

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.indexes import AUDIT, KEYS, RECALLS
from chalicelib.adapters.paging import decode, page
from chalicelib.domain.administration import ApiKey, AuditEvent, Page
from chalicelib.domain.keys import key
from chalicelib.domain.query import RecallRecord
from chalicelib.domain.wire import Wire


def _document(row: Wire, identity: str, **times: datetime | None) -> Document:
    fields = row.model_dump(mode="json", by_alias=True, exclude_none=True)
    return fields | {name: time for name, time in times.items() if time} | {"_id": identity}


def _fields(document: Document) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "_id"}


def _newest_first(org_id: str, time_field: str, cursor: str | None) -> Document:
    query: Document = {"orgId": org_id}
    if cursor:
        time, identity = decode(cursor)
        query["$or"] = [{time_field: {"$lt": time}}, {time_field: time, "_id": {"$lt": identity}}]
    return query


class MongoKeyStore:
    """`ports.KeyStore`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._keys = connection.database.get_collection(KEYS)

    def add(self, api_key: ApiKey) -> None:
        document = _document(api_key, api_key.id, createdAt=api_key.created_at, expiresAt=api_key.expires_at)
        with self._connection.writing():
            self._keys.insert_one(document | {"secretHash": api_key.secret_hash})

    def get(self, id_: str) -> ApiKey | None:
        with self._connection.reading():
            document = self._keys.find_one({"_id": id_})
        return ApiKey.model_validate(_fields(document)) if document else None

    def list(self, org_id: str, cursor: str | None, limit: int) -> Page[ApiKey]:
        query = _newest_first(org_id, "createdAt", cursor)
        with self._connection.reading():
            found = list(self._keys.find(query).sort([("createdAt", -1), ("_id", -1)]).limit(limit + 1))
        keys = [ApiKey.model_validate(_fields(d)) for d in found]
        return page(keys, limit, [(d["createdAt"], d["_id"]) for d in found])

    def revoke(self, org_id: str, id_: str, at: datetime) -> bool:
        with self._connection.writing():
            self._keys.update_one(
                {"_id": id_, "orgId": org_id, "revokedAt": {"$exists": False}}, {"$set": {"revokedAt": at}}
            )
            return self._keys.count_documents({"_id": id_, "orgId": org_id}, limit=1) == 1


class MongoAuditLog:
    """`ports.AuditLog`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._events = connection.database.get_collection(AUDIT)

    def add(self, events: Sequence[AuditEvent]) -> None:
        documents = [_document(e, key(e.org_id, "audit", e.id), at=e.at) for e in events]
        if documents:
            with self._connection.writing(), suppress(BulkWriteError):  # of ids that are there already
                self._events.insert_many(documents, ordered=False)

    def list(self, org_id: str, cursor: str | None, limit: int) -> Page[AuditEvent]:
        query = _newest_first(org_id, "at", cursor)
        with self._connection.reading():
            found = list(self._events.find(query).sort([("at", -1), ("_id", -1)]).limit(limit + 1))
        events = [AuditEvent.model_validate(_fields(d)) for d in found]
        return page(events, limit, [(d["at"], d["_id"]) for d in found])


class MongoRecallStore:
    """`ports.RecallStore`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._recalls = connection.database.get_collection(RECALLS)

    def add(self, records: Sequence[RecallRecord]) -> None:
        writes = [
            UpdateOne({"_id": document["_id"]}, {"$setOnInsert": _fields(document)}, upsert=True)
            for document in (_document(r, key(r.org_id, "recall", r.recall_id), at=r.at) for r in records)
        ]
        if writes:
            with self._connection.writing():
                self._recalls.bulk_write(writes, ordered=False)

    def get(self, org_id: str, recall_id: str) -> RecallRecord | None:
        with self._connection.reading():
            document = self._recalls.find_one({"_id": key(org_id, "recall", recall_id)})
        return RecallRecord.model_validate(_fields(document)) if document else None
