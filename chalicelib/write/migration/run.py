"""The migration of a database: rows without a scope, in batches. A run that was killed is run again; a second one finds
nothing."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from chalicelib.domain.memory import ArchivedReason, Link, LinkKind, Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.text.terms import index_terms
from chalicelib.errors import DuplicateContent, InvalidInput
from chalicelib.ports import Clock, OldRows
from chalicelib.write.migration.rows import Migrated, migrated

BATCH = 200
MOST_PROBLEMS = 20


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

    @property
    def looked_at(self) -> int:
        """How many rows it came to, whatever became of them."""
        return self.rows.total()

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

    def __init__(self, rows: OldRows, clock: Clock, organization: str | None = None) -> None:
        self._rows = rows
        self._clock = clock
        self._organization = organization

    def waiting(self) -> list[Any]:
        """The `_id` of every row of before."""
        return self._rows.waiting()

    def run(
        self,
        waiting: Sequence[Any],
        progress: Callable[[int], None],
        *,
        dry: bool = False,
        report: Report | None = None,
        time_is_up: Callable[[], bool] = lambda: False,
    ) -> Report:
        """Migrate those rows, or with `dry` only say what would become of them, and add that to `report`. `progress` is told
        of each batch. It takes on no batch once `time_is_up`: then it has not looked at all of them."""
        report = Report() if report is None else report
        for identities in batched(waiting, BATCH, strict=False):
            if time_is_up():
                break
            for document in self._rows.documents(identities):
                self._one(document, report, dry=dry)
            progress(len(identities))
        return report

    def _one(self, document: Mapping[str, Any], report: Report, *, dry: bool) -> None:
        try:
            row = migrated(document, self._clock(), self._organization)
            if not dry:
                row = self._put(document, row)
        except InvalidInput as error:
            report.leave(document["_id"], error.message)
            return
        report.add(row)

    def _put(self, old: Mapping[str, Any], row: Migrated) -> Migrated:
        """Store the row and take the old one away. Content that is live in the scope already is kept, and retired."""
        try:
            self._rows.put(old, _stored(row.memory))
        except DuplicateContent as error:
            row = self._retired(row, error.details.get("id"))
            self._rows.put(old, _stored(row.memory))
        return row

    def _retired(self, row: Migrated, other: str | None) -> Migrated:
        memory = row.memory
        links = (*memory.links, Link(kind=LinkKind.RELATES, target=other)) if other else memory.links
        update = {"status": Status.ARCHIVED, "archived_reason": ArchivedReason.MERGED, "archived_at": self._clock()}
        return Migrated(memory.model_copy(update=update | {"links": links}), row.redacted, row.left_out)


def _stored(memory: Memory) -> StoredMemory:
    terms = index_terms(memory.indexed_text)
    return StoredMemory(memory, terms.counts, terms.length)
