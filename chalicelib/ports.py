"""Every port the core needs, with its contract: the table of contents of the architecture.

Each has an in-memory twin (`adapters/memory`) and a real adapter, and one suite in `tests/contract` holds both to what
stands here. A store that does not answer in time raises StoreUnavailable; nothing else leaves an adapter on a bad day.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from chalicelib.domain.administration import ApiKey, AuditEvent, Page, Reservation
from chalicelib.domain.backfill import BackfillCheckpoint
from chalicelib.domain.indexing import IndexEntry as IndexEntry  # noqa: PLC0414 - part of a contract here
from chalicelib.domain.indexing import IndexRemoval as IndexRemoval  # noqa: PLC0414
from chalicelib.domain.memory import Memory, MemoryType, Status
from chalicelib.domain.query import (
    Candidate,
    Filter,
    IndexAnswer,
    IndexQuery,
    RecallRecord,
    StoredMemory,
    TermStatistics,
)
from chalicelib.domain.questions import QuestionSet
from chalicelib.domain.scope import Chain, Scope
from chalicelib.domain.tasks import Task
from chalicelib.domain.vector import Vector
from chalicelib.domain.wire import Wire


class Clock(Protocol):
    """What time it is. UTC, cut to milliseconds."""

    def __call__(self) -> datetime: ...


class Telemetry(Protocol):
    """Where failures are said: one call writes the log line and counts the metric."""

    def event(self, name: str, *, level: Literal["info", "warning", "error"] = "warning", **fields: Any) -> None: ...

    def request(self, **keys: Any) -> AbstractContextManager[None]:
        """What one request is: every event of the block, in this thread, carries these keys."""

    def span(self, name: str) -> AbstractContextManager[None]:
        """A part of the trace for as long as the block runs; nothing where nobody traces. It carries no contents."""


class Probe(Protocol):
    """A real question to a store, for `/health`: what it says of itself (version, driver). Raises when it is down."""

    def probe(self) -> dict[str, Any]: ...


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


@dataclass(frozen=True)
class Standing:
    """What a chain holds, where a recall found nothing."""

    anything: bool
    pending: bool


RowId = tuple[str, str]
"""An organization and the id of a row in it."""


class MemoryStore(Probe, Protocol):
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

    def checkpoint(self, name: str) -> str | None:
        """What a job kept under that name."""

    def keep_checkpoint(self, name: str, value: str) -> None:
        """Keep it in place of what was there."""

    def standing(self, chain: Chain) -> Standing:
        """Whether the chain holds any active row, and any that is pending; two queries."""

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


class KeyStore(Protocol):
    """API keys."""

    def add(self, key: ApiKey) -> None: ...

    def get(self, id_: str) -> ApiKey | None: ...

    def list(self, org_id: str, cursor: str | None, limit: int) -> Page[ApiKey]: ...

    def revoke(self, org_id: str, id_: str, at: datetime) -> bool:
        """Whether a key of that organization was there; revoking twice keeps the first time."""


class ReceiptStore(Protocol):
    """Idempotency keys with their bodies' hashes and their receipts, kept for 7 days."""

    def reserve(self, org_id: str, caller: str, key: str, body_hash: str, now: datetime) -> Reservation:
        """Take the key, or say what it was taken for. A reservation whose work never ended is taken over after a
        minute, under its first time. Of two at once exactly one is NEW."""

    def complete(self, org_id: str, caller: str, key: str, response: list[dict[str, Any]]) -> None:
        """Keep the receipt."""

    def release(self, org_id: str, caller: str, key: str) -> None:
        """Let a repeat take the work over at once, under its first time: it did not end well."""


class PluginSwitches(Protocol):
    """Which plugins an organization switched on or off."""

    def get(self, org_id: str) -> dict[str, bool]:
        """What the organization switched, by the plugins' names; empty where it switched nothing."""

    def put(self, org_id: str, changes: Mapping[str, bool]) -> dict[str, bool]:
        """Switch those plugins and leave the others; what the organization has switched now."""


class AuditLog(Protocol):
    """What was done to rows, newest first."""

    def add(self, events: Sequence[AuditEvent]) -> None:
        """Store events; one that is there already is left as it is."""

    def list(self, org_id: str, cursor: str | None, limit: int) -> Page[AuditEvent]: ...


class RecallStore(Protocol):
    """The recall audit at rest, kept for 90 days."""

    def add(self, records: Sequence[RecallRecord]) -> None:
        """Store records; one that is there already is left as it is."""

    def get(self, org_id: str, recall_id: str) -> RecallRecord | None: ...


class HotIndex(Probe, Protocol):
    """Vectors and postings of every scope: fast, and rebuilt from the truth whenever it is lost."""

    def search(self, chain: Chain, query: IndexQuery) -> IndexAnswer:
        """The candidates of every scope of `chain` and of no other, each scored by both signals; one round trip, two with a
        search module. `vectors_searched` is False where vectors cannot be searched now; text is searched all the same.

        BM25 has the statistics of the scopes asked. Up to 20,000 rows in a scope the vector search is exact.

        A prospective query also finds, in each scope, the rows with the nearest questions, at most `limit` of them, and a
        term that only a row's questions hold counts as if it stood once in its text, by `bm25.QUESTION_SHARE`; other queries
        know nothing of questions."""

    def apply(self, changes: Sequence[IndexEntry | IndexRemoval]) -> None:
        """Make the index agree with these rows, and count up the generation of every scope that changes. Repeats and stale
        revisions change nothing; terms, statistics and vectors of an earlier revision go."""

    def begin_rebuild(self, scope_key: str) -> str:
        """Drop all of a scope; it counts as incomplete until `complete` is given the token that this gives."""

    def complete(self, scope_key: str, token: str = "") -> bool:
        """Say that the index holds all of the scope; whether it now counts so. With the token of a rebuild that another one
        overtook it does not: that other one will say it."""

    def wanted(self, limit: int = 100) -> list[str]:
        """Scopes that a search or a write found incomplete and nobody took to rebuild since; taking them clears them."""

    def changed(self, limit: int = 100) -> list[tuple[str, int]]:
        """Scopes changed since last asked, with their row counts; taking them clears them."""


class StoredVectors(Probe, Protocol):
    """Vector search inside the truth (MongoDB Atlas): asked where the hot index does not hold a scope.

    It lags: a row that was written a moment ago may be absent still, and one that was changed or removed since may be
    there as it was. `row` is as the search read it, so what must not be stale is read again from `MemoryStore`."""

    def nearest(self, chain: Chain, query: IndexQuery, *, rows: int, now: datetime) -> list[Candidate]:
        """The active rows of `chain`, and of no other, that are nearest to `query.vector`, the nearest first: not expired at
        `now`, admitted by `query.filter`, with vectors of `query.model`. At most `query.limit` a scope of the chain, and 200
        in all; a scope that another one crowded out is asked for once more. A text of several chunks is found by the mean of
        them. Each candidate has the cosine of its best chunk, no `bm25`, and its row with terms and without vectors. Empty
        without asking where `query.vector` is None or the chain has no scopes.

        `rows` is how many rows the scopes hold as far as known: up to 20,000 the search is exact, above it approximate.

        StoreUnavailable of `atlas` on a bad day, and where the server has no vector search or no usable index: that is known
        after the first answer and costs nothing until the server is asked again a while later. EmbeddingMismatch where the
        index is of another size than `query.vector`; the query is then not sent."""


@dataclass(frozen=True)
class CacheEntry:
    """An answer to keep. `generations` are those read before the work began."""

    key: str
    generations: tuple[str, ...]
    body: str
    audit: str
    seconds: int


@dataclass(frozen=True)
class CacheOpening:
    """What the first read of a recall gives: the cached body where its generations still hold, else what they are now;
    and the query's vector where it is known."""

    body: str | None
    generations: tuple[str, ...]
    vector: Vector | None


class RecallCache(Protocol):
    """Cached answers, query vectors, and the queue that the recall audit rides in. One round trip a call."""

    def open(self, chain: Chain, key: str, vector_key: str, on_hit: str) -> CacheOpening:
        """Look an answer up. Where it is served, `on_hit` is queued as its audit, with the audit of the answer."""

    def close(self, entry: CacheEntry | None, vector: tuple[str, Vector] | None, audit: str) -> None:
        """Keep the answer and the vector where there is one, and queue the audit."""

    def forget(self, org_id: str) -> None:
        """Drop every cached answer of an organization: something in them was removed for good."""

    def drain(self, limit: int) -> list[tuple[str, str | None]]:
        """The oldest queued audits: what was queued, and for a served answer the audit of the answer."""

    def drained(self, batch: Sequence[tuple[str, str | None]]) -> None:
        """Drop the audits of a batch that `drain` gave: they are stored. Nothing where another drainer was first."""


class Embedder(Probe, Protocol):
    """Text to vectors. `passage_model` is the model and size that stored vectors carry, such as `e5-passage@256`."""

    @property
    def passage_model(self) -> str: ...

    def embed_passages(self, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
        """Per text its chunks' unit vectors, in order. EmbeddingFailed where any could not be had."""

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a query. EmbeddingFailed where it could not be had in time."""

    def similarity(self, cosine: float) -> float:
        """A cosine of this model on the calibrated scale, 0 to 1, where 0.5 is as likely related as not."""


class LanguageModel(Probe, Protocol):
    """Text in, a filled model out. Only the queue's work asks it: no request waits for one."""

    @property
    def name(self) -> str: ...

    def complete[T: Wire](self, instructions: str, data: str, form: type[T]) -> T:
        """`form` filled in as `instructions` say, from `data`, which is somebody's text and never an instruction.

        LanguageModelUnavailable where it gave no answer in time, LanguageModelFailed where it refused or its answer is not
        of that form; InvalidInput where the two texts together are longer than it may be given."""


@dataclass(frozen=True)
class Delivery:
    """A message that a consumer holds. `attempt` counts from 1; after the `last` one comes no other. `receipt` is good until
    the message is given to somebody else."""

    id: str
    text: str
    attempt: int
    last: bool
    receipt: str


@dataclass(frozen=True)
class DeadLetter:
    """A message that was given out as often as it may be and was never done."""

    id: str
    text: str
    attempts: int


class TaskQueue(Probe, Protocol):
    """Work that waits, given out at least once, in no promised order. The probe says what is waiting, taken and dead."""

    def send(self, tasks: Sequence[Task], delay_seconds: float = 0) -> None:
        """Have the tasks worked on, not before the delay is over. StoreUnavailable where any was not taken."""

    def receive(self, limit: int) -> list[Delivery]:
        """At most `limit` (1 to 10) messages, each hidden from other consumers for the visibility time and then, unless
        it was done, given out again. One that was given out as often as it may be becomes a dead letter instead."""

    def done(self, deliveries: Sequence[Delivery]) -> None:
        """Take the messages off the queue. Nothing for one that was given to somebody else since."""

    def retry(self, deliveries: Sequence[Delivery], delay_seconds: float) -> None:
        """Give the messages out again after the delay. Nothing for one that was given to somebody else since."""

    def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Some of the dead letters, the oldest first where the queue knows it."""

    def redrive(self) -> int:
        """Have all dead letters worked on again, from the first attempt on; how many."""
