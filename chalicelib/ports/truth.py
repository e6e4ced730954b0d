"""The truth: memories, and what is kept of rows that lack vectors and of their questions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from chalicelib.domain.administration import Page
from chalicelib.domain.backfill import BackfillCheckpoint
from chalicelib.domain.memory import Memory, MemoryType, Status
from chalicelib.domain.query import (
    Filter,
    StoredMemory,
    TermStatistics,
)
from chalicelib.domain.questions import QuestionSet
from chalicelib.domain.scope import Chain, Scope
from chalicelib.ports.related import RelatedReads
from chalicelib.ports.services import Probe


@dataclass(frozen=True)
class Browse:
    """Which rows to list: newest first. Every word of `words`, each given by its terms, must stand in the row."""

    status: Status | None = Status.ACTIVE
    type: MemoryType | None = None
    tag: str | None = None
    words: tuple[tuple[str, ...], ...] = ()
    limit: int = 50
    cursor: str | None = None
    scope: Scope | None = None
    scope_id: str | None = None


RowId = tuple[str, str]
"""An organization and the id of a row in it."""


class MemoryStore(Probe, RelatedReads, Protocol):
    """The truth. Every read takes a chain and gives nothing outside it."""

    def insert(self, rows: Sequence[StoredMemory]) -> list[str | None]:
        """Store new rows, each on its own. Per row None, or the id of the live row of the same scope and content that
        was there before (also when two writers race: exactly one of them gets None)."""

    def find_duplicates(self, rows: Sequence[Memory]) -> list[str | None]:
        """Per memory the id of the live row of its scope and content, or None. Changes nothing."""

    def fetch(self, chain: Chain, ids: Sequence[str], *, with_vectors: bool = False) -> list[StoredMemory]:
        """The rows of those ids in `chain` with their terms, in any order, whatever their status. Foreign and unknown ids
        are absent."""

    def replace(self, row: StoredMemory, expected_revision: int) -> bool:
        """Put `row` in place of the row of its id where that still has `expected_revision`; whether it did.

        DuplicateContent where its content is live in another row of the scope."""

    def purge(self, chain: Chain, id_: str) -> bool:
        """Remove a row for good; whether it was there."""

    def settle(self, indexed: Sequence[tuple[Memory, bool]]) -> None:
        """Mark each row `indexed` (True) or `pending`, where it still has the revision given; revision, updatedAt stay."""

    def browse(self, chain: Chain, wanted: Browse) -> Page[Memory]:
        """A page of rows. Forgotten rows are never listed. InvalidInput for a cursor that is none."""

    def browse_organization(self, org_id: str, wanted: Browse) -> Page[Memory]:
        """As `browse`, over every scope of an organization: for its admins."""

    def text_candidates(
        self,
        chain: Chain,
        words: Sequence[tuple[str, ...]],
        statistics: TermStatistics,
        wanted: Filter,
        limit: int,
        *,
        now: datetime,
    ) -> list[StoredMemory]:
        """At most `limit` active rows, not expired at `now`, that hold one of the rare `words`, each given by its terms (see
        `termselection`), and that `wanted` admits, with terms and vectors; one query, and a second for scopes that another
        crowded out."""

    def recent(self, chain: Chain, since: datetime, wanted: Filter, limit: int, *, now: datetime) -> list[StoredMemory]:
        """At most `limit` active rows that were changed at `since` or later, the latest first: not expired at `now`, and
        admitted by `wanted`, with terms and vectors; one query."""

    def statistics(self, chain: Chain) -> TermStatistics:
        """The last snapshot of the chain's scopes, zero and empty where none was taken; one query."""

    def take_statistics(self, scope_key: str) -> None:
        """Count the scope's active rows and its frequent terms, and keep them for `statistics`."""

    def pending(self, before: datetime, limit: int, *, after: Memory | None = None) -> list[StoredMemory]:
        """Rows of any status that were last changed before that time and are still `pending`, in a fixed order that `after`
        pages through, with their vectors."""

    def count_pending(self, limit: int = 1000) -> int:
        """How many rows are pending, at most `limit`."""

    def rows_of_scope(self, scope_key: str, *, after: str = "", limit: int = 200) -> list[StoredMemory]:
        """Active rows of one scope in the order of their ids, after the id `after`, with terms and vectors."""

    def scope_keys(self) -> Iterator[str]:
        """Every scope that holds a row."""

    def expired(self, after: datetime, until: datetime, limit: int) -> list[StoredMemory]:
        """Active rows whose time ran out after `after` and not after `until`, the earliest first."""

    def changed_since(self, since: datetime, *, after: Memory | None = None, limit: int = 200) -> list[StoredMemory]:
        """Rows of any status that were changed since then, in a fixed order that `after` pages through, with vectors."""

    def quarantined(self, until: datetime, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """Rows in quarantine since `until` or longer, in a fixed order that `after` pages through, with vectors."""

    def admitted(self, scope_key: str, since: datetime, *, after: str = "", limit: int = 200) -> list[StoredMemory]:
        """As `rows_of_scope`, of those that were admitted at `since` or later."""

    def forgotten(self, before: datetime, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """Rows that were forgotten before that time, in a fixed order that `after` pages through."""

    def untold(self, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """Rows with an `untold` event, in a fixed order that `after` pages through."""

    def yielding(self, limit: int, *, after: RowId | None = None) -> list[StoredMemory]:
        """Rows that carry the mark of a successor (`yields`), in a fixed order that `after` pages through, with vectors."""

    def checkpoint(self, name: str) -> str | None:
        """What a job kept under that name."""

    def keep_checkpoint(self, name: str, value: str) -> None:
        """Keep it in place of what was there."""

    def holds_any(self, chain: Chain) -> bool:
        """Whether the chain holds any active row."""

    def awaits_index(self, chain: Chain) -> bool:
        """Whether the chain holds an active row that is not indexed yet."""

    def mark_for_repair(self, scope_keys: Iterable[str]) -> str:
        """Remember that the indexes of these scopes missed a write; the token of the mark."""

    def marked_for_repair(self, limit: int = 100) -> list[tuple[str, str]]:
        """Scope keys with a token of the mark, which `repaired` wants back."""

    def repaired(self, scope_key: str, token: str) -> None:
        """Take the mark away, unless it was set again since."""


class QuestionStore(Protocol):
    """The prospective questions at rest: one set a memory, of one revision. Every call names its chain or scope."""

    def put(self, questions: QuestionSet) -> QuestionSet:
        """Store a set in place of the memory's earlier one, whole. What stands afterwards: where a set of the same revision
        and model, or one of a later revision, was there first, that one, and this is not stored."""

    def of(self, chain: Chain, ids: Sequence[str]) -> dict[str, QuestionSet]:
        """The sets of those memories in `chain`, by the memory's id, whatever their revision."""

    def of_scope(self, scope_key: str, *, after: str = "", limit: int = 200) -> list[str]:
        """The ids of the scope's memories that have a set, in order, after the id `after`."""

    def remove(self, chain: Chain, ids: Sequence[str], *, up_to: int | None = None) -> int:
        """Remove the sets of those memories in `chain`, where given only those of that revision or an earlier one; how
        many."""

    def erase(self, scope_key: str) -> int:
        """Remove every set of a scope; how many."""


class BackfillStore(Protocol):
    """Rows that lack vectors, seen by organization, and how far their backfill is. For work that no caller waits for."""

    def lacking(self, org_id: str, model: str, *, after: str = "", limit: int = 50) -> list[StoredMemory]:
        """Active and quarantined rows of the organization without vectors of `model`, in the order of their ids, after the
        id `after`, with the vectors that they do have, also those that stand in the field of before."""

    def organizations(self, model: str) -> list[str]:
        """Every organization with such rows, sorted."""

    def count_lacking(self, org_id: str, model: str) -> int:
        """How many rows those are."""

    def fill(self, rows: Sequence[StoredMemory]) -> list[bool]:
        """Store the vectors of each row, and nothing else of it, where it still has the revision given; whether it had."""

    def checkpoint(self, org_id: str) -> BackfillCheckpoint | None:
        """What was kept of the organization's latest run."""

    def keep(self, checkpoint: BackfillCheckpoint) -> bool:
        """Put the checkpoint in place of the one of the version before it; whether that was there. The first has 1."""
