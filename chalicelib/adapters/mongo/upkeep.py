"""What those who run MongoDB do with it: rows of before replaced, indexes made."""

from collections.abc import Mapping, Sequence
from typing import Any

from pymongo.errors import DuplicateKeyError

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.documents import row_id, to_document
from chalicelib.adapters.mongo.indexes import MEMORIES, create_indexes
from chalicelib.adapters.mongo.searchindex import create_search_index
from chalicelib.domain.query import StoredMemory
from chalicelib.errors import DuplicateContent
from chalicelib.ports import VECTOR_FIELDS

_OF_BEFORE = {"$or": [{"scope": {"$exists": False}}, {"scope": None}, {"scopeKey": {"$exists": False}}]}


class MongoOldRows:
    """`ports.OldRows`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._rows = connection.database.get_collection(MEMORIES)

    def waiting(self) -> list[Any]:
        with self._connection.scanning():
            return [document["_id"] for document in self._rows.find(_OF_BEFORE, {"_id": 1}).sort("_id", 1)]

    def documents(self, identities: Sequence[Any]) -> list[dict[str, Any]]:
        with self._connection.scanning():
            found = {document["_id"]: document for document in self._rows.find({"_id": {"$in": list(identities)}})}
        return [found[identity] for identity in identities if identity in found]

    def put(self, old: Mapping[str, Any], row: StoredMemory) -> None:
        document = to_document(row) | {name: old[name] for name in VECTOR_FIELDS if name in old}
        identity = row_id(row.memory.org_id, row.memory.id)
        try:
            with self._connection.writing():
                self._replace(old["_id"], identity, document)
        except DuplicateKeyError:
            same = self._live_with(document["contentKey"])
            raise DuplicateContent("the same content is live in this scope already", id=same) from None

    def _replace(self, before: Any, identity: str, document: dict[str, Any]) -> None:
        """`_id` cannot change: the new row is there before the old one goes, and a run that died between repeats this."""
        mine = {"_id": identity, **_OF_BEFORE} if before == identity else {"_id": identity}
        self._rows.replace_one(mine, document, upsert=before != identity)
        if before != identity:
            self._rows.delete_one({"_id": before})

    def _live_with(self, content_key: str) -> str | None:
        with self._connection.reading():
            found = self._rows.find_one({"contentKey": content_key, "live": True}, {"id": 1})
        return str(found["id"]) if found else None


class MongoIndexes:
    """`ports.StoreIndexes`."""

    def __init__(self, connection: MongoConnection, dimensions: int) -> None:
        self._connection = connection
        self._dimensions = dimensions

    def make(self) -> list[str]:
        database = self._connection.database
        return [*create_indexes(database), create_search_index(database, self._dimensions)]
