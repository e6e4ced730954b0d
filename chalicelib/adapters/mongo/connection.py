"""The client of this process and the one way through which every command goes: bounded, and with one error."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from typing import Any

import pymongo
from bson.codec_options import CodecOptions
from pymongo import MongoClient
from pymongo.database import Database
from pymongo.errors import (
    BulkWriteError,
    ConnectionFailure,
    DuplicateKeyError,
    ExecutionTimeout,
    NetworkTimeout,
    PyMongoError,
    WTimeoutError,
)
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from chalicelib.errors import StoreUnavailable
from chalicelib.settings import MongoSettings

Document = dict[str, Any]
_DOWN = (ConnectionFailure, NetworkTimeout, ExecutionTimeout, WTimeoutError)
DUPLICATE_KEY = 11000
_IDLE_MS = 60_000  # a connection idle for longer may have been dropped on the way without a word
_HEARTBEAT_MS = 500  # facts.md: the topology knows of a dead server in 0.1 s, of its return in 0.3 s


class MongoConnection:
    """One small pool a process. Writes are `w=majority` and journaled, reads `majority`.

    What a dead store costs: a read on a connection that breaks fails at once, since the driver's repeat would wait for a
    server as long as the read may take; a server that is known to be gone is looked for `select_seconds`, no longer.
    """

    def __init__(self, settings: MongoSettings, **options: Any) -> None:
        self._settings = settings
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
            connectTimeoutMS=select_ms,
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
    def reading(self) -> Iterator[None]:
        """Bound what is inside as a read."""
        with _one_error():
            self._look_for_server()
            with pymongo.timeout(self._settings.read_seconds):
                yield

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Bound what is inside as a vector search, whose bad days are those of `atlas`. An OperationFailure passes: what the
        server refuses says what it has."""
        with _one_error("atlas"):
            self._look_for_server()
            with pymongo.timeout(self._settings.search_seconds):
                yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Bound what is inside as a write. DuplicateKeyError and a BulkWriteError of such pass, they are answers."""
        with _one_error():
            yield

    @contextmanager
    def scanning(self) -> Iterator[None]:
        """What is inside reads whole scopes and takes as long as it takes; a server that dies meanwhile ends it."""
        with _one_error():
            yield

    def _look_for_server(self) -> None:
        """Wait for a server outside a read's own time limit, which would stretch the search for one to itself."""
        if not self.client.topology_description.has_writable_server():
            self.client.admin.command("ping")

    def probe(self) -> dict[str, Any]:
        """The server's version."""
        with self.reading():
            return {"version": self.client.server_info()["version"]}


@contextmanager
def _one_error(store: str = "mongo") -> Iterator[None]:
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
        if isinstance(error, _DOWN) or error.timeout:
            raise StoreUnavailable(store, type(error).__name__) from error
        raise
