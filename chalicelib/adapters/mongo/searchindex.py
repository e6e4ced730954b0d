"""The vector search index of the memories: the fields that a search may name, its definition, and what state it is in.

The table `FilterField` is the one declaration of those fields. The definition is written from it, and a search can name a
field only by it, so that no search asks for what the index does not hold.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import pymongo
from pymongo.errors import OperationFailure
from pymongo.operations import SearchIndexModel
from pymongo.read_concern import ReadConcern

from chalicelib.adapters.mongo.indexes import MEMORIES

INDEX_NAME = "memories_vectors"
VECTOR_PATH = "embedding_256"
SIMILARITY = "cosine"
NO_SEARCH = frozenset({31082, 115, 40324})
"""What a server without search answers: 31082 MongoDB without a search process, 115 the embedded server, 40324 one that is
older than the stage."""
_INDEX_EXISTS = 68
_MAKE_SECONDS = 30  # a cluster hands the command on to its control plane
_KIND = "vectorSearch"
FAILED = "FAILED"


class FilterField(StrEnum):
    """The fields that a search may filter by, as documents name them (`documents.py`)."""

    SCOPE = "scopeKey"
    STATUS = "status"
    MODEL = "embeddingModel"
    TYPE = "type"
    TAGS = "tags"
    EVENT_TIME = "eventTime"
    EXPIRES_AT = "expiresAt"


class Collection(Protocol):
    """What a vector search needs of a collection: pymongo's, or one that stands for it."""

    def aggregate(self, *args: Any, **kwargs: Any) -> Any:
        """Run a pipeline."""

    def list_search_indexes(self, *args: Any, **kwargs: Any) -> Any:
        """The search indexes, each as a document."""

    def create_search_index(self, *args: Any, **kwargs: Any) -> Any:
        """Begin to build one."""

    def update_search_index(self, *args: Any, **kwargs: Any) -> Any:
        """Begin to build one anew by another definition; the old one serves until it is there."""


class Database(Protocol):
    """What a vector search needs of a database."""

    def get_collection(self, *args: Any, **kwargs: Any) -> Any:
        """A collection of it."""


@dataclass(frozen=True)
class IndexState:
    """What the server says of the index. `fits` is whether it holds all that a search of this version names."""

    status: str
    queryable: bool
    dimensions: int | None
    fits: bool


def searched_rows(database: Database) -> Collection:
    """The memories, as they are searched. The search stages allow no read concern but `local`."""
    collection: Collection = database.get_collection(MEMORIES, read_concern=ReadConcern("local"))
    return collection


def definition(dimensions: int) -> dict[str, Any]:
    """The index for vectors of that size."""
    vector = {"type": "vector", "path": VECTOR_PATH, "numDimensions": dimensions, "similarity": SIMILARITY}
    return {"fields": [vector, *({"type": "filter", "path": field.value} for field in FilterField)]}


def index_state(rows: Collection) -> IndexState | None:
    """The state of the index; None where there is none. OperationFailure with a code of `NO_SEARCH` without search."""
    found = next(iter(rows.list_search_indexes(INDEX_NAME)), None)
    return None if found is None else _state(found)


def create_search_index(database: Database, dimensions: int) -> str:
    """Make the index where it is missing, or of another definition than `definition`; what became of it, in one line.

    The server builds it after this returns. A server without search is told of in that line and is no error."""
    with pymongo.timeout(_MAKE_SECONDS):
        try:
            status = _made(searched_rows(database), dimensions)
        except OperationFailure as error:
            if error.code not in NO_SEARCH:
                raise
            return f"{MEMORIES}.{INDEX_NAME}: not made, this server has no vector search"
    return f"{MEMORIES}.{INDEX_NAME}: {status}"


def _made(rows: Collection, dimensions: int) -> str:
    found = index_state(rows)
    if found is None:
        try:
            rows.create_search_index(SearchIndexModel(definition(dimensions), name=INDEX_NAME, type=_KIND))
        except OperationFailure as error:  # another process was first
            if error.code != _INDEX_EXISTS:
                raise
        return _told(index_state(rows))
    if not found.fits or found.dimensions != dimensions:
        rows.update_search_index(INDEX_NAME, definition(dimensions))
        return f"was of another definition, building (from {found.dimensions or 'no'} to {dimensions} dimensions)"
    return _told(found)


def _told(found: IndexState | None) -> str:
    if found is None or (not found.queryable and found.status != FAILED):
        return "building"
    return found.status


def _state(found: Mapping[str, Any]) -> IndexState:
    fields = _fields(found)
    vector = next((f for f in fields if f.get("type") == "vector" and f.get("path") == VECTOR_PATH), {})
    filters = {field.get("path") for field in fields if field.get("type") == "filter"}
    fits = vector.get("similarity") == SIMILARITY and set(FilterField) <= filters
    return IndexState(str(found.get("status")), bool(found.get("queryable")), vector.get("numDimensions"), fits)


def _fields(found: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    latest = found.get("latestDefinition")
    fields = latest.get("fields", ()) if isinstance(latest, Mapping) else ()
    return [field for field in fields if isinstance(field, Mapping)]
