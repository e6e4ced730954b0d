"""A strict double of MongoDB's vector search, over rows that are really stored in the embedded server.

It stands where `MongoConnection` does. A search is held to the documented grammar (`atlas_grammar`) and is then executed
exactly: the filter by the server itself, the cosines over the vectors as they are stored, each document as it stands now.
What follows the search is executed for the stages that may follow it here: `$set` of the score, `$project`, `$limit`.

It can also be late, building, missing, hanging, without search, or answer garbage. It does not approximate, so a search
for candidates gives what an exact one gives; `asked` keeps the stages, for tests of which it was.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from pymongo import _csot
from pymongo.errors import ExecutionTimeout
from pymongo.operations import SearchIndexModel

from chalicelib.adapters.mongo.connection import MongoConnection
from tests.atlas_grammar import check, check_against, check_definition, check_stage, refuse, searches, vector

SEARCH_NOT_ENABLED = 31082
_INVALID_OPTIONS = 72
_INDEX_EXISTS = 68
_UNKNOWN_STAGE = 40324
_TIME_LIMIT = 50
_SCORE = {"$meta": "vectorSearchScore"}

Document = dict[str, Any]


class AtlasDouble:
    """The connection and the database. Its indexes are its own; a test that needs one makes it by the product's command."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self.indexes: dict[str, dict[str, Document]] = {}
        self.asked: list[Document] = []
        self.looked = 0
        self.has_search = True
        self.building = False
        self.failed = False
        self.before_create: Callable[[], object] = lambda: None
        self.hang_seconds = 0.0
        self.garbage: Iterable[Any] | None = None
        self.refusal: int | None = None
        self._late: dict[str, str] = {}

    @property
    def database(self) -> "AtlasDouble":
        """Itself: a double has one database."""
        return self

    def searching(self, *, probing: bool = False) -> AbstractContextManager[None]:
        """The real connection's time limit, its breaker and its one error."""
        return self._connection.searching(probing=probing)

    def get_collection(self, name: str, **options: Any) -> "SearchedCollection":
        """A collection that can be searched."""
        return SearchedCollection(self, name, options)

    def fall_behind(self, name: str) -> None:
        """Search a collection as it stands now from here on, until `catch_up`."""
        rows = list(self.stored(name).find())
        late = self.stored(f"{name}_late")
        late.delete_many({})
        if rows:
            late.insert_many(rows)
        self._late[name] = late.name

    def catch_up(self) -> None:
        """Search what is stored."""
        self._late.clear()

    def stored(self, name: str) -> Any:
        """The collection in the real server."""
        return self._connection.database.get_collection(name)

    def indexed(self, name: str) -> Any:
        """The collection as the search knows it."""
        return self.stored(self._late.get(name, name))

    def misbehave(self) -> None:
        """Hang or refuse, where it was told to."""
        if self.hang_seconds:
            left = _csot.remaining()
            time.sleep(self.hang_seconds if left is None else max(0.0, min(self.hang_seconds, left)))
            if left is not None and left < self.hang_seconds:
                raise ExecutionTimeout("operation exceeded time limit", _TIME_LIMIT)
        if not self.has_search:
            raise refuse("Using $search and $vectorSearch requires additional configuration.", SEARCH_NOT_ENABLED)
        if self.refusal is not None:
            raise refuse("the search was refused", self.refusal)


class SearchedCollection:
    """What the product calls of a collection."""

    def __init__(self, double: AtlasDouble, name: str, options: Mapping[str, Any]) -> None:
        self._double = double
        self._name = name
        self._read_concern = options.get("read_concern", double.stored(name).read_concern).level
        self._indexes = double.indexes.setdefault(name, {})

    def create_search_index(self, model: SearchIndexModel) -> str:
        """Make an index; it is ready at once unless the double is building."""
        self._double.misbehave()
        self._double.before_create()
        made = model.document
        check(made.get("type") == "vectorSearch", "the type of the index is vectorSearch")
        check_definition(made["definition"])
        if made["name"] in self._indexes:
            raise refuse(f"Index {made['name']} already exists", _INDEX_EXISTS)
        self._indexes[made["name"]] = dict(made["definition"])
        return str(made["name"])

    def update_search_index(self, name: str, definition: Mapping[str, Any]) -> None:
        """Give an index another definition."""
        self._double.misbehave()
        check(name in self._indexes, f"there is no index {name}")
        check_definition(definition)
        self._indexes[name] = dict(definition)

    def list_search_indexes(self, name: str | None = None) -> Iterator[Document]:
        """The indexes, or the one of that name."""
        self._double.misbehave()
        self._double.looked += 1
        status = "FAILED" if self._double.failed else "BUILDING" if self._double.building else "READY"
        state = {"type": "vectorSearch", "status": status, "queryable": status == "READY"}
        wanted = [(n, d) for n, d in self._indexes.items() if name in {None, n}]
        return iter([{"id": n, "name": n, "latestDefinition": d} | state for n, d in wanted])

    def aggregate(self, pipeline: Sequence[Document]) -> Iterator[Any]:
        """Run a pipeline; what is no search goes to the real server."""
        if not searches(pipeline):
            found: Iterator[Any] = self._double.stored(self._name).aggregate(pipeline)
            return found
        self._double.misbehave()
        if self._read_concern not in {None, "local"}:
            message = "Aggregation stage $vectorSearch cannot run with a readConcern other than 'local'"
            raise refuse(f"{message}. Current readConcern: {self._read_concern}", _INVALID_OPTIONS)
        stage = pipeline[0]["$vectorSearch"]
        check_stage(stage)
        self._double.asked.append(stage)
        if self._double.garbage is not None:
            return iter(self._double.garbage)
        return iter(_followed(self._searched(stage), pipeline[1:]))

    def _searched(self, stage: Document) -> list[tuple[float, Document]]:
        """Scores and documents. An index that is not there gives nothing, as documented; one that is building an error."""
        definition = self._indexes.get(stage["index"])
        if definition is None:
            return []
        check(not self._double.building, f"cannot query search index {stage['index']} while it is building")
        query, path = check_against(stage, definition), stage["path"]
        similarity = next(f["similarity"] for f in definition["fields"] if f["path"] == path)
        check(similarity == "cosine", "this double scores cosine similarity alone")
        scored = []
        for row in self._double.indexed(self._name).find(stage.get("filter", {}), {path: 1}):
            values = vector(row[path]) if path in row else []
            if len(values) == len(query):  # rows of another size are not in the index
                scored.append(((1 + _cosine(query, values)) / 2, row["_id"]))
        nearest = sorted(scored, key=lambda one: -one[0])[: stage["limit"]]
        known = {
            row["_id"]: row for row in self._double.stored(self._name).find({"_id": {"$in": [i for _, i in nearest]}})
        }
        return [(score, known[id_]) for score, id_ in nearest if id_ in known]


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    lengths = math.sqrt(math.sumprod(left, left) * math.sumprod(right, right))
    return math.sumprod(left, right) / lengths


def _followed(found: list[tuple[float, Document]], stages: Iterable[Document]) -> list[Document]:
    for stage in stages:
        ((name, wanted),) = stage.items()
        if name == "$limit":
            found = found[:wanted]
        elif name in {"$set", "$addFields"}:
            found = [(score, document | _computed(wanted, score)) for score, document in found]
        elif name == "$project":
            found = [(score, _projected(document, wanted)) for score, document in found]
        else:
            raise refuse(f"Unrecognized pipeline stage name: '{name}'", _UNKNOWN_STAGE)
    return [document for _, document in found]


def _computed(wanted: Document, score: float) -> Document:
    check(all(value == _SCORE for value in wanted.values()), "this double computes the score alone")
    return dict.fromkeys(wanted, score)


def _projected(document: Document, wanted: Document) -> Document:
    check(set(wanted.values()) == {0}, "this double projects by leaving fields out")
    return {name: value for name, value in document.items() if name not in wanted}
