"""The client of this process and the one way through which every command goes: bounded, and with one error."""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC
from typing import Any

import pymongo
from bson.codec_options import CodecOptions
from bson.errors import BSONError
from pymongo import MongoClient
from pymongo.database import Database
from pymongo.errors import (
    BulkWriteError,
    ConnectionFailure,
    DuplicateKeyError,
    ExecutionTimeout,
    NetworkTimeout,
    OperationFailure,
    ProtocolError,
    PyMongoError,
    WTimeoutError,
)
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from chalicelib.adapters.breaker import Breaker
from chalicelib.adapters.turns import Turns
from chalicelib.domain.budget import time_left
from chalicelib.errors import StoreUnavailable
from chalicelib.settings import MongoSettings

Document = dict[str, Any]
_STORE = "mongo"
SEARCH = "atlas"
_DOWN = (ConnectionFailure, NetworkTimeout, ExecutionTimeout, WTimeoutError, ProtocolError)
_SOONEST = 0.001  # to pymongo, a timeout of nothing is none
_REFUSED = frozenset({13, 18, 8000})  # not permitted, wrong credentials, Atlas' own refusal: it serves us nothing
DUPLICATE_KEY = 11000
_IDLE_MS = 60_000  # a connection idle for longer may have been dropped on the way without a word
_HEARTBEAT_MS = 500  # facts.md: the topology knows of a dead server in 0.1 s, of its return in 0.3 s


class MongoConnection:
    """One small pool a process. Writes are `w=majority` and journaled, reads `majority`.

    What a dead store costs: a read on a connection that breaks fails at once, since the driver's repeat would wait for a
    server as long as the read may take; a server that is known to be gone is looked for `select_seconds`, no longer.
    """

    def __init__(
        self,
        settings: MongoSettings,
        breaker: Breaker | None = None,
        search_breaker: Breaker | None = None,
        **options: Any,
    ) -> None:
        self.breaker = breaker or Breaker(_STORE)
        self.search_breaker = search_breaker or Breaker(SEARCH)
        self._settings = settings
        self._turns = Turns(_STORE, settings.pool_size)
        select_ms = int(settings.select_seconds * 1000)
        write_ms = int(settings.write_seconds * 1000)
        self.client: MongoClient[Document] = MongoClient(
            settings.uri,
            maxPoolSize=settings.pool_size,
            minPoolSize=0,
            maxIdleTimeMS=_IDLE_MS,
            connect=False,
            retryReads=False,
            serverSelectionTimeoutMS=select_ms,
            connectTimeoutMS=max(
                select_ms, write_ms
            ),  # the monitor gives its checks no longer, and ends every call with one
            socketTimeoutMS=write_ms,
            waitQueueTimeoutMS=write_ms,
            heartbeatFrequencyMS=_HEARTBEAT_MS,
            appname="vitto-memory",
            **options,
        )
        self.database: Database[Document] = self.client.get_database(
            settings.database,
            write_concern=WriteConcern(w="majority", j=True),
            read_concern=ReadConcern("majority"),
            codec_options=CodecOptions(tz_aware=True, tzinfo=UTC),
        )

    @contextmanager
    def reading(self, *, probing: bool = False) -> Iterator[None]:
        """Bound what is inside as a read."""
        s = self._settings
        seconds = s.select_seconds + s.read_seconds
        with self._turns.taken(), self.breaker.call(seconds, probing=probing), _one_error():
            self._look_for_server()
            with pymongo.timeout(max(_SOONEST, min(s.read_seconds, time_left()))):
                yield

    @contextmanager
    def searching(self, *, probing: bool = False) -> Iterator[None]:
        """Bound what is inside as a vector search, whose bad days are those of `atlas`. An OperationFailure passes: what the
        server refuses says what it has."""
        s = self._settings
        seconds = s.select_seconds + s.search_seconds
        with self._turns.taken(), self.search_breaker.call(seconds, probing=probing), _one_error(SEARCH):
            self._look_for_server()
            with pymongo.timeout(max(_SOONEST, min(s.search_seconds, time_left()))):
                yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Bound what is inside as a write. DuplicateKeyError and a BulkWriteError of such pass, they are answers."""
        s = self._settings
        seconds = s.select_seconds + s.write_seconds
        with self._turns.taken(), self.breaker.call(seconds), _one_error(), _no_longer_than_left(seconds):
            yield

    @contextmanager
    def scanning(self) -> Iterator[None]:
        """What is inside reads whole scopes and takes as long as it takes; a server that dies meanwhile ends it."""
        with self.breaker.call(math.inf), _one_error():
            yield

    def _look_for_server(self) -> None:
        """Wait for a server outside a read's own time limit, which would stretch the search for one to itself."""
        if not self.client.topology_description.has_writable_server():
            self.client.admin.command("ping")

    def probe(self) -> dict[str, Any]:
        """The server's version."""
        with self.reading(probing=True):
            return {"version": self.client.server_info()["version"]}


def _no_longer_than_left(seconds: float) -> AbstractContextManager[Any]:
    """The time that is left, where that is less than `seconds`; else the client's own limits hold: a limit around a bulk
    write ends it between its batches."""
    left = time_left()
    return pymongo.timeout(max(_SOONEST, left)) if left < seconds else nullcontext()


@contextmanager
def _one_error(store: str = _STORE) -> Iterator[None]:
    try:
        yield
    except DuplicateKeyError:
        raise
    except BulkWriteError as error:
        details = error.details or {}
        if details["writeConcernErrors"] or any(e["code"] != DUPLICATE_KEY for e in details["writeErrors"]):
            raise StoreUnavailable(store, "a bulk write did not go through") from error
        raise
    except PyMongoError as error:
        refused = isinstance(error, OperationFailure) and error.code in _REFUSED
        if isinstance(error, _DOWN) or error.timeout or refused:
            raise StoreUnavailable(store, type(error).__name__) from error
        raise
    except BSONError as error:
        raise StoreUnavailable(store, "it answered something that is no document") from error
