"""The memory store on MongoDB. Every filter is built from a chain, so no query can leave it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pymongo.errors import BulkWriteError, DuplicateKeyError

from chalicelib.adapters.mongo.conditions import conditions
from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.documents import from_document, row_id, to_document
from chalicelib.adapters.mongo.indexes import MEMORIES
from chalicelib.adapters.mongo.ledger import ScopeLedger
from chalicelib.adapters.mongo.oldvectors import OLD_PATH, OldVectors
from chalicelib.adapters.mongo.related import RelatedReads
from chalicelib.adapters.mongo.retention import RetentionReads
from chalicelib.adapters.paging import decode, page
from chalicelib.domain.administration import Page
from chalicelib.domain.memory import ArchivedReason, IndexState, Memory, Status, content_key
from chalicelib.domain.query import Filter, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.termselection import first_share, rare_terms
from chalicelib.errors import DuplicateContent, StoreUnavailable
from chalicelib.ports import Browse

_INSERT_ATTEMPTS = 20
_VECTORS = ("embedding_256", "embeddingChunks", OLD_PATH)
_TERMS = ("terms", "termCounts")


def _without(*names: str) -> dict[str, int]:
    return dict.fromkeys(names, 0)


class MongoMemoryStore(ScopeLedger, RetentionReads, RelatedReads):
    """`ports.MemoryStore`."""

    def __init__(self, connection: MongoConnection, old: OldVectors | None = None) -> None:
        """`old` is how vectors of before are read, for rows that have none of today's; None reads none."""
        ScopeLedger.__init__(self, connection)
        RetentionReads.__init__(self, connection)
        RelatedReads.__init__(self, connection, self._row)
        self._old = old or OldVectors("")
        self._rows = connection.database.get_collection(MEMORIES)

    def probe(self) -> dict[str, Any]:
        return self._connection.probe()

    def insert(self, rows: Sequence[StoredMemory]) -> list[str | None]:
        receipts: list[str | None] = [None] * len(rows)
        left = list(range(len(rows)))
        for _ in range(_INSERT_ATTEMPTS):
            left = self._refused(rows, left)
            existing = dict(zip(left, self.find_duplicates([rows[i].memory for i in left]), strict=True))
            for i, id_ in existing.items():  # its own id: the driver sent the insert twice
                receipts[i] = id_ if id_ != rows[i].memory.id else None
            left = [i for i in left if existing[i] is None]  # what refused it was archived before it could be named
            if not left:
                return receipts
        raise StoreUnavailable("mongo", "rows with the same content come and go")

    def _refused(self, rows: Sequence[StoredMemory], wanted: Sequence[int]) -> list[int]:
        """Store those of `rows`; which of them a unique index refused."""
        if not wanted:
            return []
        with self._connection.writing():
            try:
                self._rows.insert_many([to_document(rows[i]) for i in wanted], ordered=False)
            except BulkWriteError as error:
                return sorted(wanted[write["index"]] for write in error.details["writeErrors"])
        return []

    def find_duplicates(self, rows: Sequence[Memory]) -> list[str | None]:
        wanted = [content_key(memory) for memory in rows]
        if not wanted:
            return []
        query = {"contentKey": {"$in": sorted(set(wanted))}, "live": True}
        with self._connection.reading():
            found = {d["contentKey"]: d["id"] for d in self._rows.find(query, {"contentKey": 1, "id": 1})}
        return [found.get(content) for content in wanted]

    def fetch(self, chain: Chain, ids: Sequence[str], *, with_vectors: bool = False) -> list[StoredMemory]:
        query = {"_id": {"$in": [row_id(chain.org_id, id_) for id_ in ids]}}
        projection = None if with_vectors else _without(*_VECTORS)
        with self._connection.reading():
            documents = list(self._rows.find(query, projection).batch_size(len(ids) + 1))
        return [self._row(d) for d in documents if chain.holds(d["scopeKey"])]

    def replace(self, row: StoredMemory, expected_revision: int) -> bool:
        document = to_document(row)
        with self._connection.writing():
            try:
                result = self._rows.replace_one({"_id": document["_id"], "revision": expected_revision}, document)
            except DuplicateKeyError:
                raise DuplicateContent("the same content is live in this scope already") from None
        return result.matched_count == 1

    def purge(self, chain: Chain, id_: str) -> bool:
        query = {"_id": row_id(chain.org_id, id_), "scopeKey": {"$in": list(chain.keys)}}
        with self._connection.writing():
            return self._rows.delete_one(query).deleted_count == 1

    def settle(self, indexed: Sequence[tuple[Memory, bool]]) -> None:
        groups: dict[tuple[int, bool], list[str]] = {}
        for memory, done in indexed:
            groups.setdefault((memory.revision, done), []).append(row_id(memory.org_id, memory.id))
        for (revision, done), ids in groups.items():
            state = IndexState.INDEXED if done else IndexState.PENDING
            with self._connection.writing():
                self._rows.update_many(
                    {"_id": {"$in": ids}, "revision": revision}, {"$set": {"indexState": state.value}}
                )

    def _row(self, document: Document) -> StoredMemory:
        return from_document(document, self._old.served)

    def browse(self, chain: Chain, wanted: Browse) -> Page[Memory]:
        return self._browse({"scopeKey": {"$in": list(chain.keys)}}, wanted)

    def browse_organization(self, org_id: str, wanted: Browse) -> Page[Memory]:
        return self._browse({"orgId": org_id}, wanted)

    def _browse(self, query: Document, wanted: Browse) -> Page[Memory]:
        if wanted.status:
            query["status"] = wanted.status.value
        if wanted.status in {Status.ARCHIVED, None}:
            query["archivedReason"] = {"$ne": ArchivedReason.FORGOTTEN.value}
        if wanted.scope:
            query["scope"] = wanted.scope.value
        if wanted.scope_id is not None:
            query["scopeId"] = wanted.scope_id
        if wanted.type:
            query["type"] = wanted.type.value
        if wanted.tag is not None:
            query["tags"] = wanted.tag
        if wanted.words:
            query["$and"] = [{"terms": {"$in": list(word)}} for word in wanted.words]
        if wanted.cursor:
            time, identity = decode(wanted.cursor)
            query["$or"] = [{"createdAt": {"$lt": time}}, {"createdAt": time, "_id": {"$lt": identity}}]
        with self._connection.reading():
            cursor = self._rows.find(query, _without(*_VECTORS, *_TERMS)).sort([("createdAt", -1), ("_id", -1)])
            documents = list(cursor.limit(wanted.limit + 1))
        positions = [(d["createdAt"], d["_id"]) for d in documents]
        return page([self._row(d).memory for d in documents], wanted.limit, positions)

    def text_candidates(
        self,
        chain: Chain,
        words: Sequence[tuple[str, ...]],
        statistics: TermStatistics,
        wanted: Filter,
        limit: int,
        *,
        now: datetime,
    ) -> list[StoredMemory]:
        query = {"status": Status.ACTIVE.value, "terms": {"$in": list(rare_terms(words, statistics, limit))}}
        query |= conditions(wanted, now)

        def found(scopes: Sequence[str], most: int) -> list[Document]:
            with self._connection.reading():
                return list(self._rows.find(query | {"scopeKey": {"$in": list(scopes)}}).limit(most).batch_size(most))

        first = first_share(limit)
        documents = found(chain.keys, first)
        if len(documents) == first and (left := sorted(set(chain.keys) - {d["scopeKey"] for d in documents})):
            documents += found(left, limit - first)
        return [self._row(document) for document in documents]

    def recent(self, chain: Chain, since: datetime, wanted: Filter, limit: int, *, now: datetime) -> list[StoredMemory]:
        query = {"scopeKey": {"$in": list(chain.keys)}, "status": Status.ACTIVE.value, "updatedAt": {"$gte": since}}
        with self._connection.reading():
            cursor = self._rows.find(query | conditions(wanted, now)).sort("updatedAt", -1).limit(limit)
            return [self._row(document) for document in cursor.batch_size(limit)]

    def pending(self, before: datetime, limit: int, *, after: Memory | None = None) -> list[StoredMemory]:
        query: Document = {"indexState": IndexState.PENDING.value, "updatedAt": {"$lt": before}}
        return self._page(query, after, limit)

    def changed_since(self, since: datetime, *, after: Memory | None = None, limit: int = 200) -> list[StoredMemory]:
        return self._page({"updatedAt": {"$gte": since}}, after, limit)

    def _page(self, query: Document, after: Memory | None, limit: int) -> list[StoredMemory]:
        if after:
            query["_id"] = {"$gt": row_id(after.org_id, after.id)}
        with self._connection.scanning():
            return [self._row(d) for d in self._rows.find(query).sort("_id", 1).limit(limit)]

    def expired(self, after: datetime, until: datetime, limit: int) -> list[StoredMemory]:
        query = {"expiresAt": {"$gt": after, "$lte": until}, "status": Status.ACTIVE.value}
        with self._connection.scanning():
            return [self._row(d) for d in self._rows.find(query).sort("expiresAt", 1).limit(limit)]

    def holds_any(self, chain: Chain) -> bool:
        return self._is_one({"scopeKey": {"$in": list(chain.keys)}, "status": Status.ACTIVE.value})

    def awaits_index(self, chain: Chain) -> bool:
        # the few rows that are pending anywhere, by their own index: the status in a form that leads no planner elsewhere
        pending: Document = {"indexState": IndexState.PENDING.value, "status": {"$in": [Status.ACTIVE.value]}}
        return self._is_one(pending | {"scopeKey": {"$in": list(chain.keys)}})

    def _is_one(self, query: Document) -> bool:
        with self._connection.reading():
            return self._rows.find_one(query, {"_id": 1}) is not None

    def count_pending(self, limit: int = 1000) -> int:
        with self._connection.reading():
            return self._rows.count_documents({"indexState": IndexState.PENDING.value}, limit=limit)

    def rows_of_scope(self, scope_key: str, *, after: str = "", limit: int = 200) -> list[StoredMemory]:
        first = row_id(ScopeRef.from_key(scope_key).org_id, after)
        query: Document = {"scopeKey": scope_key, "status": Status.ACTIVE.value, "_id": {"$gt": first}}
        with self._connection.scanning():
            return [self._row(d) for d in self._rows.find(query).sort("_id", 1).limit(limit)]
