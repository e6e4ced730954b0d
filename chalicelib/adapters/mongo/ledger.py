"""What MongoDB keeps of a scope as a whole: the statistics of its terms, and the mark that an index missed a write."""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator

from pymongo import UpdateOne

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import MEMORIES, SCOPES
from chalicelib.domain.memory import Status
from chalicelib.domain.query import TermStatistics
from chalicelib.domain.scope import Chain
from chalicelib.domain.termselection import frequent_terms


class ScopeLedger:
    """The part of `ports.MemoryStore` about scopes."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._scopes = connection.database.get_collection(SCOPES)
        self._scanned = connection.database.get_collection(MEMORIES)

    def statistics(self, chain: Chain) -> TermStatistics:
        """The sum of the scopes' snapshots."""
        frequencies: Counter[str] = Counter()
        rows = 0
        with self._connection.reading():
            for document in self._scopes.find({"_id": {"$in": list(chain.keys)}}):
                rows += document.get("rows", 0)
                frequencies.update(dict(zip(document.get("terms", ()), document.get("frequencies", ()), strict=True)))
        return TermStatistics(rows, dict(frequencies))

    def take_statistics(self, scope_key: str) -> None:
        """Stream the terms of the scope's active rows and keep the frequent ones."""
        counted: Counter[str] = Counter()
        rows = 0
        query = {"scopeKey": scope_key, "status": Status.ACTIVE.value}
        with self._connection.scanning():
            for document in self._scanned.find(query, {"terms": 1}):
                rows += 1
                counted.update(document.get("terms", ()))
        kept = frequent_terms(counted, rows)
        snapshot = {"rows": rows, "terms": list(kept), "frequencies": list(kept.values())}
        with self._connection.writing():
            self._scopes.update_one({"_id": scope_key}, {"$set": snapshot}, upsert=True)

    def scope_keys(self) -> Iterator[str]:
        """Every scope that holds a row."""
        with self._connection.scanning():
            found = [document["_id"] for document in self._scanned.aggregate([{"$group": {"_id": "$scopeKey"}}])]
        yield from found

    def mark_for_repair(self, scope_keys: Iterable[str]) -> str:
        """Give each scope a fresh mark."""
        token = uuid.uuid4().hex
        marks = [UpdateOne({"_id": k}, {"$set": {"repair": token}}, upsert=True) for k in sorted(set(scope_keys))]
        if marks:
            with self._connection.writing():
                self._scopes.bulk_write(marks, ordered=False)
        return token

    def marked_for_repair(self, limit: int = 100) -> list[tuple[str, str]]:
        """Scopes with their marks."""
        with self._connection.reading():
            marked = self._scopes.find({"repair": {"$exists": True}}, {"repair": 1}).limit(limit)
            return [(document["_id"], document["repair"]) for document in marked]

    def repaired(self, scope_key: str, token: str) -> None:
        """Take the mark away where it is still the one given."""
        with self._connection.writing():
            self._scopes.update_one({"_id": scope_key, "repair": token}, {"$unset": {"repair": ""}})
