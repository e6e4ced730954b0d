"""The migration of a database: rows without a scope, in batches. A run that was killed is run again; a second one finds
nothing."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from pymongo.errors import DuplicateKeyError

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.documents import row_id, to_document
from chalicelib.adapters.mongo.indexes import MEMORIES
from chalicelib.domain.memory import ArchivedReason, Link, LinkKind, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.text.terms import index_terms
from chalicelib.errors import InvalidInput
from chalicelib.ports import Clock
from vitto_tools.migration.rows import VECTOR_FIELDS, Migrated, migrated

BATCH = 200
MOST_PROBLEMS = 20
_OF_BEFORE = {"$or": [{"scope": {"$exists": False}}, {"scope": None}, {"scopeKey": {"$exists": False}}]}
Document = dict[str, Any]


@dataclass
class Report:
    """What a run did: rows by what became of them, secrets by kind, fields left out, and rows that it had to leave."""

    rows: Counter[str] = field(default_factory=Counter)
    redacted: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @property
    def migrated(self) -> int:
        """How many rows have a scope now that had none."""
        return self.rows.total() - self.rows["problem"]

    def add(self, row: Migrated) -> None:
        """Count a row by the status that it has now."""
        self.rows[row.memory.status.value] += 1
        self.redacted.update(row.redacted)
        self.left_out.update(row.left_out)

    def leave(self, identity: object, why: str) -> None:
        """Count a row that stays as it is. Its contents are not told."""
        self.rows["problem"] += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(f"{identity}: {why}")


class Migration:
    """`organization` is whose a row is that names none."""

    def __init__(self, connection: MongoConnection, clock: Clock, organization: str | None = None) -> None:
        self._connection = connection
        self._clock = clock
        self._organization = organization
        self._rows = connection.database.get_collection(MEMORIES)

    def waiting(self) -> list[Any]:
        """The `_id` of every row of before."""
        with self._connection.scanning():
            return [document["_id"] for document in self._rows.find(_OF_BEFORE, {"_id": 1})]

    def run(self, waiting: Sequence[Any], progress: Callable[[int], None], *, dry: bool = False) -> Report:
        """Migrate those rows, or with `dry` only say what would become of them. `progress` is told of each batch."""
        report = Report()
        for identities in batched(waiting, BATCH, strict=False):
            with self._connection.scanning():
                documents = list(self._rows.find({"_id": {"$in": list(identities)}}))
            for document in documents:
                self._one(document, report, dry=dry)
            progress(len(identities))
        return report

    def _one(self, document: Document, report: Report, *, dry: bool) -> None:
        try:
            row = migrated(document, self._clock(), self._organization)
            if not dry:
                row = self._put(document, row)
        except InvalidInput as error:
            report.leave(document["_id"], f"{error.field}: {error.message}")
            return
        report.add(row)

    def _put(self, old: Document, row: Migrated) -> Migrated:
        """Store the row and take the old one away. Content that is live in the scope already is kept, and retired."""
        try:
            self._store(old, row)
        except DuplicateKeyError:
            row = self._retired(row)
            self._store(old, row)
        return row

    def _store(self, old: Document, row: Migrated) -> None:
        terms = index_terms(row.memory.indexed_text)
        kept = {name: old[name] for name in VECTOR_FIELDS if name in old}
        document = to_document(StoredMemory(row.memory, terms.counts, terms.length)) | kept
        identity = row_id(row.memory.org_id, row.memory.id)
        with self._connection.writing():
            # `_id` cannot change: the new row is there before the old one goes, and a run that died between repeats this
            mine = {"_id": identity, **_OF_BEFORE} if old["_id"] == identity else {"_id": identity}
            self._rows.replace_one(mine, document, upsert=old["_id"] != identity)
            if old["_id"] != identity:
                self._rows.delete_one({"_id": old["_id"]})

    def _retired(self, row: Migrated) -> Migrated:
        memory = row.memory
        with self._connection.reading():
            query = {"contentKey": to_document(StoredMemory(memory))["contentKey"], "live": True}
            other = self._rows.find_one(query, {"id": 1})
        links = (*memory.links, Link(kind=LinkKind.RELATES, target=other["id"])) if other else memory.links
        update = {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.MERGED, "archived_at": self._clock()}
        return Migrated(memory.model_copy(update=update | {"links": links}), row.redacted, row.left_out)
