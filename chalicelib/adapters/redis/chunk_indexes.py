"""The search module's indexes over stored chunks, one a number of dimensions: made where missing, and known to be whole.

An index that was made anew takes in the chunks that are there in the background, and answers meanwhile with those it has.
A marker says so to every process until one of them has seen that it is done.
"""

import time
from enum import Enum, auto
from typing import Any

from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.chunk_queries import create_index
from chalicelib.adapters.redis.connection import Attempt, RedisConnection

_WAITS = 5
_WAIT_SECONDS = 0.01  # a small index is filled within milliseconds; a search has no time to wait for a large one
_UNFINISHED = (b"indexing", b"backfill_in_progress")  # RediSearch, valkey-search: 1 until everything is taken in


class _State(Enum):
    MISSING = auto()
    FILLING = auto()
    WHOLE = auto()


class ChunkIndexes:
    """The indexes of one server."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection
        self._prepared: set[int] = set()

    def prepare(self, size: int) -> None:
        """Make the index where this process sees it missing for the first time. A server that refuses takes in chunks
        all the same, and indexes them once a search could make it."""
        if size not in self._prepared and self._state(size) is _State.MISSING:
            self._make(size)
        self._prepared.add(size)

    def ready(self, size: int) -> bool:
        """Whether the index holds every chunk of that size; one that is missing is made."""
        state = self._state(size)
        if state is _State.MISSING:
            self._make(size)
            state = self._state(size)
        for _ in range(_WAITS):
            if state is not _State.FILLING:
                break
            time.sleep(_WAIT_SECONDS)
            state = self._state(size)
        if state is _State.WHOLE:
            self._connection.command("DEL", keys.filling(size))
        return state is _State.WHOLE

    def _make(self, size: int) -> None:
        """Refused where another process was first, or where the server does not allow it; what then is shows its state."""
        self._connection.run([("SET", keys.filling(size), 1), create_index(size)])

    def _state(self, size: int) -> _State:
        from redis.exceptions import ResponseError  # noqa: PLC0415 - see adapters.redis.connection

        (info,) = self._connection.run([Attempt("FT.INFO", keys.chunk_index(size))])
        if isinstance(info, ResponseError):
            return _State.MISSING
        said: dict[bytes, Any] = dict(zip(info[::2], info[1::2], strict=False))
        return _State.FILLING if any(int(said.get(name, 0)) for name in _UNFINISHED) else _State.WHOLE
