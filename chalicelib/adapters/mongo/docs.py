"""What the docs export reads and keeps, on MongoDB: claims, manifests and checkpoints stand in one collection."""

from collections.abc import Mapping
from typing import Any

from pymongo.errors import DuplicateKeyError

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.documents import from_document, row_id
from chalicelib.adapters.mongo.indexes import DOCS_EXPORTS, MEMORIES
from chalicelib.adapters.mongo.oldvectors import OLD_PATH
from chalicelib.domain.docs import DocsCheckpoint, DocsSelection, ScopeManifest, kind_range
from chalicelib.domain.keys import key
from chalicelib.domain.memory import Memory, MemoryType, Status
from chalicelib.domain.scope import Scope, ScopeRef

_LEFT_OUT = ("embedding_256", "embeddingChunks", OLD_PATH, "terms", "termCounts", "history", "admission")
_ACTIVE = {"status": Status.ACTIVE.value}


class MongoDocsSource:
    """`ports.DocsSource`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._rows = connection.database.get_collection(MEMORIES)

    def scopes(self, org_id: str, kind: Scope, *, after: str = "", limit: int = 100) -> list[str]:
        low, high = kind_range(org_id, kind, after)
        query = {"scopeKey": {"$gt": low, "$lt": high}, **_ACTIVE}
        with self._connection.scanning():
            return sorted(self._rows.distinct("scopeKey", query))[:limit]

    def types(self, scope_key: str) -> list[MemoryType]:
        with self._connection.scanning():
            found = set(self._rows.distinct("type", {"scopeKey": scope_key, **_ACTIVE}))
        return [kind for kind in MemoryType if kind.value in found]

    def rows(self, scope_key: str, kind: MemoryType, *, after: str = "", limit: int = 200) -> list[Memory]:
        first = row_id(ScopeRef.from_key(scope_key).org_id, after)
        query: Document = {"scopeKey": scope_key, **_ACTIVE, "type": kind.value, "_id": {"$gt": first}}
        with self._connection.scanning():
            documents = self._rows.find(query, dict.fromkeys(_LEFT_OUT, 0)).sort("_id", 1).limit(limit)
            return [from_document(document).memory for document in documents]

    def count(self, org_id: str, selection: DocsSelection) -> int:
        query: Document = {"orgId": org_id, **_ACTIVE, "scope": {"$in": [kind.value for kind in selection.kinds]}}
        if selection.scope_id is not None:
            query["scopeId"] = selection.scope_id
        with self._connection.scanning():
            return self._rows.count_documents(query)


class MongoDocsLedger:
    """`ports.DocsLedger`. Every key begins with the organization, but for a claim's: that one is about who has it."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._kept = connection.database.get_collection(DOCS_EXPORTS)

    def claim(self, destination: str, org_id: str) -> bool:
        identity = key("", "docs", destination)  # no organization has an empty name
        with self._connection.writing():
            try:
                self._kept.insert_one({"_id": identity, "orgId": org_id})
            except DuplicateKeyError:
                found = self._kept.find_one({"_id": identity})
                return found is not None and found["orgId"] == org_id
        return True

    def manifest(self, destination: str, scope_key: str) -> ScopeManifest:
        with self._connection.reading():
            found = self._kept.find_one({"_id": _of_scope(destination, scope_key)})
        return ScopeManifest.model_validate(found["manifest"]) if found else ScopeManifest(scope_key=scope_key)

    def keep_manifest(self, destination: str, manifest: ScopeManifest) -> None:
        identity = _of_scope(destination, manifest.scope_key)
        with self._connection.writing():
            if manifest.files:
                said = manifest.model_dump(mode="json", by_alias=True)
                self._kept.replace_one({"_id": identity}, {"manifest": said}, upsert=True)
            else:
                self._kept.delete_one({"_id": identity})

    def manifests(
        self, destination: str, org_id: str, kind: Scope, *, after: str = "", limit: int = 100
    ) -> list[ScopeManifest]:
        low, high = (_of_scope(destination, bound, org_id) for bound in kind_range(org_id, kind, after))
        with self._connection.scanning():
            found = list(self._kept.find({"_id": {"$gt": low, "$lt": high}}).sort("_id", 1).limit(limit))
        return [ScopeManifest.model_validate(document["manifest"]) for document in found]

    def checkpoint(self, destination: str, org_id: str) -> DocsCheckpoint | None:
        with self._connection.reading():
            found = self._kept.find_one({"_id": _of_run(destination, org_id)})
        return None if found is None else DocsCheckpoint.model_validate(found["checkpoint"])

    def keep(self, destination: str, checkpoint: DocsCheckpoint) -> bool:
        identity = _of_run(destination, checkpoint.progress.org_id)
        said = checkpoint.model_dump(mode="json", by_alias=True, exclude_none=True)
        return self._put(identity, {"version": checkpoint.version, "checkpoint": said}, checkpoint.version - 1)

    def _put(self, identity: str, document: Mapping[str, Any], version: int) -> bool:
        with self._connection.writing():
            if version:
                query = {"_id": identity, "version": version}
                return self._kept.replace_one(query, document).matched_count == 1
            try:
                self._kept.insert_one({"_id": identity, **document})
            except DuplicateKeyError:
                return False
        return True


def _of_run(destination: str, org_id: str) -> str:
    return key(org_id, "docs", destination)


def _of_scope(destination: str, scope_key: str, org_id: str = "") -> str:
    """A scope's key is a part of it as it stands, so that they are in the order of those."""
    return f"{_of_run(destination, org_id or ScopeRef.from_key(scope_key).org_id)}/{scope_key}"
