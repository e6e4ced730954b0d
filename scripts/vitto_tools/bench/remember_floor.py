"""The floor of `scripts/bench remember`: the bare store calls that no write can do without."""

import time
from collections.abc import Sequence
from typing import Any

from chalicelib.adapters.mongo.documents import to_document
from chalicelib.adapters.mongo.indexes import MEMORIES
from chalicelib.adapters.redis import keys
from chalicelib.bootstrap import mongo_connection
from chalicelib.domain import bm25
from chalicelib.domain.query import StoredMemory
from chalicelib.settings import Settings
from vitto_tools.bench.loading import MODEL
from vitto_tools.bench.stack import Stack


class Floor:
    """The look for the same contents, the insert that a majority has in its journal, and in one pipeline the rows, their
    postings and their vectors in the index; all of it undone afterwards."""

    def __init__(self, stack: Stack) -> None:
        settings = Settings.from_environment(stack.environment)
        import redis  # noqa: PLC0415 - beside the product's own connection, bare

        self._redis = redis.Redis.from_url(settings.redis.url, protocol=2)
        self._rows = mongo_connection(settings).database.get_collection(MEMORIES)

    def seconds(self, rows: Sequence[StoredMemory]) -> float:
        """The time of those calls for rows that are not there."""
        documents = [to_document(row) for row in rows]
        pipeline = self._stored(rows)
        same = {"contentKey": {"$in": [document["contentKey"] for document in documents]}, "live": True}
        began = time.perf_counter()
        list(self._rows.find(same, {"contentKey": 1, "id": 1}))
        self._rows.insert_many(documents, ordered=False)
        pipeline.execute()
        took = time.perf_counter() - began
        self._rows.delete_many({"_id": {"$in": [document["_id"] for document in documents]}})
        self._gone(rows).execute()
        return took

    def compact(self) -> None:
        """Have Redis write what it holds in place of how it came to it, which a next start would do all over."""
        self._redis.bgrewriteaof()
        while self._redis.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.1)

    def _stored(self, rows: Sequence[StoredMemory]) -> Any:
        pipeline = self._redis.pipeline(transaction=False)
        for row in rows:
            scope, id_ = row.memory.scope_ref.key, row.memory.id
            assert row.memory.embedding
            pipeline.hset(keys.rows(scope), id_, row.memory.content)
            for term, count in row.counts.items():
                pipeline.zadd(keys.postings(scope) + term, {id_: bm25.impact(count, row.length)})
            vector = row.memory.embedding.vectors[0]
            stored = ("VADD", keys.vectors(scope, MODEL), "FP32", vector, f"{id_}#0", "Q8")
            pipeline.execute_command(*stored)  # type: ignore[no-untyped-call]
        return pipeline

    def _gone(self, rows: Sequence[StoredMemory]) -> Any:
        pipeline = self._redis.pipeline(transaction=False)
        for row in rows:
            scope, id_ = row.memory.scope_ref.key, row.memory.id
            pipeline.hdel(keys.rows(scope), id_)
            for term in row.counts:
                pipeline.zrem(keys.postings(scope) + term, id_)
            pipeline.execute_command("VREM", keys.vectors(scope, MODEL), f"{id_}#0")  # type: ignore[no-untyped-call]
        return pipeline
