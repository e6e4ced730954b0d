"""The documents of a MongoDB database, out of it and back into it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import batched
from typing import Any

from pymongo.errors import BulkWriteError

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import ERASURES, create_indexes
from vitto_tools.backup.files import Document

BATCH = 500
Advanced = Callable[[int], None]
_DUPLICATE = 11000


def out_of(connection: MongoConnection, advanced: Advanced) -> Iterator[tuple[str, Document]]:
    """Every document of every collection, in the order of their ids."""
    for name in sorted(connection.database.list_collection_names()):
        if not name.startswith("system."):
            yield from _of(connection, name, advanced)


def _of(connection: MongoConnection, name: str, advanced: Advanced) -> Iterator[tuple[str, Document]]:
    """In pages, so that no cursor is held open for longer than a read takes."""
    after: Document = {}
    while True:
        with connection.scanning():
            page = list(connection.database.get_collection(name).find(after).sort("_id", 1).limit(BATCH))
        yield from ((name, document) for document in page)
        advanced(len(page))
        if len(page) < BATCH:
            return
        after = {"_id": {"$gt": page[-1]["_id"]}}


def holds(connection: MongoConnection) -> list[str]:
    """The collections that hold something, but for the receipts of erasures, which a restore leaves where they are."""
    names = sorted(set(connection.database.list_collection_names()) - {ERASURES})
    with connection.scanning():
        return [name for name in names if connection.database.get_collection(name).find_one({}, {"_id": 1})]


def emptied(connection: MongoConnection) -> None:
    """Remove everything, but for the receipts of erasures."""
    for name in holds(connection):
        with connection.scanning():
            connection.database.drop_collection(name)


def back_into(connection: MongoConnection, documents: Iterable[tuple[str, Document]], advanced: Advanced) -> int:
    """Store documents; how many are there now that were not. One whose id is there already stays as it is there: a receipt
    of an erasure is later in the living store than in any backup."""
    create_indexes(connection.database)
    stored = 0
    for some in batched(documents, BATCH, strict=False):
        for name in sorted({name for name, _ in some}):
            stored += _inserted(connection, name, [document for one, document in some if one == name])
        advanced(len(some))
    return stored


def _inserted(connection: MongoConnection, name: str, documents: list[Document]) -> int:
    rows: Any = connection.database.get_collection(name)
    refused = 0
    with connection.scanning(), suppress(BulkWriteError):
        try:
            rows.insert_many(documents, ordered=False)
        except BulkWriteError as error:
            refused = len(error.details["writeErrors"])
            raise
    return len(documents) - refused
