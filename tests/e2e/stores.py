"""Everything that MongoDB and Redis hold, as text: for proving that something is in none of it."""

from collections.abc import Iterator
from typing import Any

import redis

from chalicelib.adapters.mongo.connection import MongoConnection

_READ: dict[str, tuple[str | int, ...]] = {
    "string": ("GET",),
    "hash": ("HGETALL",),
    "list": ("LRANGE", 0, -1),
    "set": ("SMEMBERS",),
    "zset": ("ZRANGE", 0, -1),
    "vectorset": ("VRANDMEMBER", 1_000_000),
}


class Stores:
    """Both servers."""

    def __init__(self, mongo: MongoConnection, redis_url: str) -> None:
        self._mongo = mongo
        self._redis: Any = redis.Redis.from_url(redis_url, protocol=2)

    def close(self) -> None:
        """Let go of Redis."""
        self._redis.close()

    def places_of(self, *texts: str) -> list[str]:
        """Where any of `texts` stands, in whichever case: `mongo:<collection>`, or `redis:<key>` in name or value."""
        wanted = [text.lower() for text in texts]
        return [place for place, held in self._everything() if any(text in held for text in wanted)]

    def memory(self, id_: str) -> dict[str, Any] | None:
        """The document of a memory as it is stored."""
        return self._mongo.database.get_collection("memories").find_one({"id": id_})

    def documents(self, org: str) -> list[str]:
        """Every document of an organization as text, and every key and value of Redis that names it."""
        whole = self._everything()
        return [f"{place} {held}" for place, held in whole if org.lower() in held]

    def _everything(self) -> Iterator[tuple[str, str]]:
        for name in self._mongo.database.list_collection_names():
            for document in self._mongo.database.get_collection(name).find():
                yield f"mongo:{name}", repr(document).lower()
        names = sorted(set(self._redis.scan_iter(count=1000)))
        kinds = self._replies([("TYPE", name) for name in names])
        reads = {n: _READ[k.decode()] for n, k in zip(names, kinds, strict=True) if k != b"none"}  # some expired since
        values = self._replies([(command, name, *rest) for name, (command, *rest) in reads.items()])
        for name, value in zip(reads, values, strict=True):
            place = f"redis:{name.decode(errors='replace')}"
            yield place, f"{place} {_text(value)}".lower()

    def _replies(self, commands: list[tuple[Any, ...]]) -> list[Any]:
        pipeline = self._redis.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        return list(pipeline.execute())


def _text(value: Any) -> str:
    if isinstance(value, list | tuple | set):
        return " ".join(_text(item) for item in value)
    if isinstance(value, dict):
        return _text([part for pair in value.items() for part in pair])
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
