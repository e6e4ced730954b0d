"""The receipts of erasures and the tombstones on MongoDB: one document a person, found by the keyed hash of their id."""

from contextlib import suppress
from datetime import datetime

from pymongo.errors import DuplicateKeyError

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.indexes import ERASURES
from chalicelib.domain.erasure import ErasureRecord, Person, Tombstone, new_salt
from chalicelib.domain.keys import key

_TOMBSTONE = {"orgId": 1, "salt": 1, "digest": 1, "finished": 1, "changedAt": 1}


class MongoErasureLedger:
    """`ports.ErasureLedger`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._records = connection.database.get_collection(ERASURES)

    def salt(self, org_id: str) -> str:
        identity = key(org_id, "erasure_salt")
        if (found := self._salt(identity)) is not None:
            return found
        with self._connection.writing(), suppress(DuplicateKeyError):  # another process may make it meanwhile
            self._records.insert_one({"_id": identity, "orgId": org_id, "salt": new_salt()})
        return self._salt(identity) or ""

    def _salt(self, identity: str) -> str | None:
        with self._connection.reading():
            found = self._records.find_one({"_id": identity}, {"salt": 1})
        return str(found["salt"]) if found else None

    def of(self, person: Person) -> ErasureRecord | None:
        with self._connection.reading():
            salts = self._records.distinct("salt", {"orgId": person.org_id})
            ids = [_identity(person.org_id, person.digest(salt)) for salt in salts]
            found = self._records.find_one({"_id": {"$in": ids}}, sort=[("changedAt", -1)])
        return _record(found) if found else None

    def keep(self, record: ErasureRecord) -> bool:
        identity = _identity(record.receipt.org_id, record.digest)
        with self._connection.writing():
            if record.version > 1:
                query = {"_id": identity, "version": record.version - 1}
                return self._records.update_one(query, {"$set": _fields(record)}).matched_count == 1
            try:
                self._records.insert_one({"_id": identity} | _fields(record))
            except DuplicateKeyError:
                return False
        return True

    def adopt(self, record: ErasureRecord) -> bool:
        earlier = {"_id": _identity(record.receipt.org_id, record.digest), "changedAt": {"$lt": record.changed_at}}
        with self._connection.writing(), suppress(DuplicateKeyError):  # one that is there and no earlier stays
            self._records.update_one(earlier, {"$set": _fields(record)}, upsert=True)
            return True
        return False

    def unfinished(self, limit: int) -> list[ErasureRecord]:
        with self._connection.scanning():
            found = self._records.find({"finished": False}).sort("changedAt", 1).limit(limit)
            return [_record(document) for document in found]

    def take(self, record: ErasureRecord, holder: str, now: datetime, until: datetime) -> bool:
        free: list[Document] = [{"holder": holder}, {"heldUntil": {"$lte": now}}, {"heldUntil": {"$exists": False}}]
        query = {"_id": _identity(record.receipt.org_id, record.digest), "$or": free}
        with self._connection.writing():
            change = {"$set": {"holder": holder, "heldUntil": until}}
            return self._records.update_one(query, change).matched_count == 1

    def tombstones(self, since: datetime) -> list[Tombstone]:
        wanted: list[Document] = [{"finished": False}, {"changedAt": {"$gte": since}}]
        with self._connection.reading():
            found = list(self._records.find({"$or": wanted}, _TOMBSTONE))
        return [Tombstone(d["orgId"], d["salt"], d["digest"], d["finished"], d["changedAt"]) for d in found]

    def every(self, after: str | None, limit: int) -> tuple[list[ErasureRecord], str | None]:
        query = {"record": {"$exists": True}, "_id": {"$gt": after or ""}}
        with self._connection.scanning():
            found = list(self._records.find(query).sort("_id", 1).limit(limit))
        return [_record(d) for d in found], found[-1]["_id"] if len(found) == limit else None


def _identity(org_id: str, digest: str) -> str:
    return key(org_id, "erasure", digest)


def _fields(record: ErasureRecord) -> Document:
    return {
        "orgId": record.receipt.org_id,
        "salt": record.salt,
        "digest": record.digest,
        "finished": record.is_finished,
        "changedAt": record.changed_at,
        "version": record.version,
        "record": record.model_dump(mode="json", by_alias=True, exclude_none=True),
    }


def _record(document: Document) -> ErasureRecord:
    return ErasureRecord.model_validate(document["record"])
