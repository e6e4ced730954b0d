"""Cached answers, query vectors and the queue of the recall audit on Redis; one round trip a call."""

import json
import secrets
import time
from collections.abc import Sequence

from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import Arg, Call, RedisConnection
from chalicelib.domain.keys import key as key_of
from chalicelib.domain.scope import Chain
from chalicelib.ports import CacheEntry, CacheOpening

_RANDOM_START = 1 << 48
MOST_QUEUED = 40_000  # audits that wait for a worker, about 200 MB; a queue without a worker must not fill the server


class RedisRecallCache:
    """`ports.RecallCache`."""

    def __init__(self, connection: RedisConnection, query_vector_seconds: int) -> None:
        self._connection = connection
        self._query_vector_seconds = query_vector_seconds

    def open(self, chain: Chain, key: str, vector_key: str, on_hit: str, words: Sequence[str] = ()) -> CacheOpening:
        names = [keys.answer(key), keys.query_vector(vector_key), keys.AUDIT_QUEUE]
        names += [keys.generation(scope) for scope in chain.keys]
        names += [keys.speakers(scope) for scope in chain.keys]
        starts = [secrets.randbelow(_RANDOM_START) for _ in chain.keys]
        arguments: list[Arg] = [on_hit, len(starts), *starts, *words]
        ((body, vectors, generations, spoken),) = self._connection.run([Call("open", names, arguments)])
        return CacheOpening(
            body.decode() if body else None,
            tuple(generation.decode() for generation in generations),
            bytes(vectors) if vectors else None,
            tuple(word.decode() for word in spoken),
        )

    def close(self, entry: CacheEntry | None, vectors: tuple[str, bytes] | None, audit: str) -> None:
        calls: list[Call | tuple[Arg, ...]] = [
            ("RPUSH", keys.AUDIT_QUEUE, json.dumps([audit], ensure_ascii=False)),
            ("LTRIM", keys.AUDIT_QUEUE, -MOST_QUEUED, -1),
        ]
        if vectors and self._query_vector_seconds:
            calls.append(("SET", keys.query_vector(vectors[0]), vectors[1], "EX", self._query_vector_seconds))
        if entry:
            name = keys.answer(entry.key)
            stored = ("generations", ",".join(entry.generations), "body", entry.body, "audit", entry.audit)
            calls += [("HSET", name, *stored), ("EXPIRE", name, entry.seconds), *_listed(entry)]
        self._connection.run(calls)

    def forget(self, org_id: str) -> None:
        listed = keys.answers(key_of(org_id))
        names = [name.decode() for name in self._connection.command("ZRANGE", listed, 0, -1)]
        self._connection.run(
            [("UNLINK", listed, *names[start : start + 500]) for start in range(0, len(names) or 1, 500)]
        )

    def drain(self, limit: int) -> list[tuple[str, str | None]]:
        queued = [json.loads(item) for item in self._connection.command("LRANGE", keys.AUDIT_QUEUE, 0, limit - 1)]
        return [(item[0], item[1] if len(item) > 1 else None) for item in queued]

    def drained(self, batch: Sequence[tuple[str, str | None]]) -> None:
        if batch:
            self._connection.run([Call("drained", [keys.AUDIT_QUEUE], [batch[0][0], len(batch)])])


def _listed(entry: CacheEntry) -> list[tuple[Arg, ...]]:
    """What lists an answer among its organization's, and takes those off the list that have ended."""
    now = int(time.time())
    listed = keys.answers(entry.key.partition("/")[0])
    return [
        ("ZADD", listed, now + entry.seconds, keys.answer(entry.key)),
        ("ZREMRANGEBYSCORE", listed, "-inf", now - 1),
        ("EXPIRE", listed, 2 * entry.seconds + 1),
    ]
