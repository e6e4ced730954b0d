"""The client of this process and the one way through which every command goes: bounded, and with one error."""

from collections.abc import Iterator
from contextlib import contextmanager
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
_HEARTBEAT_MS = 500  # facts.md: the topology knows of a dead server in 0.1 s, of its return in 0.3 s


class MongoConnection:
    """One small pool a process. Writes are `w=majority` and journaled, reads `majority`."""

    def __init__(self, settings: MongoSettings, **options: Any) -> None:
        self._settings = settings
        select_ms = int(settings.select_seconds * 1000)
        self.client: MongoClient[Document] = MongoClient(
            settings.uri,
            maxPoolSize=settings.pool_size,
            minPoolSize=0,
            connect=False,
            serverSelectionTimeoutMS=select_ms,
            connectTimeoutMS=select_ms,
            waitQueueTimeoutMS=int(settings.write_seconds * 1000),
            heartbeatFrequencyMS=_HEARTBEAT_MS,
            appname="vitto-memory",
            **options,
        )
        self.database: Database[Document] = self.client.get_database(
            settings.database,
            write_concern=WriteConcern(w="majority", j=True),
            read_concern=ReadConcern("majority"),
            codec_options=CodecOptions(tz_aware=True),
        )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Bound what is inside as a read."""
        with self._bounded(self._settings.read_seconds):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Bound what is inside as a write. DuplicateKeyError and BulkWriteError pass, they are answers."""
        with self._bounded(self._settings.write_seconds):
            yield

    @contextmanager
    def scanning(self) -> Iterator[None]:
        """What is inside reads whole scopes and takes as long as it takes; a server that dies meanwhile ends it."""
        with self._bounded(None):
            yield

    @contextmanager
    def _bounded(self, seconds: float | None) -> Iterator[None]:
        try:
            with pymongo.timeout(seconds):
                yield
        except (DuplicateKeyError, BulkWriteError):
            raise
        except PyMongoError as error:
            if isinstance(error, _DOWN) or error.timeout:
                raise StoreUnavailable("mongo", type(error).__name__) from error
            raise

    def probe(self) -> dict[str, Any]:
        """The server's version."""
        with self.reading():
            return {"version": self.client.server_info()["version"]}
