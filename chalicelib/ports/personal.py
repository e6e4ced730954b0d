"""What is kept of persons, in all stores, for giving it out and for taking it away; and the receipts that stay of that."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol

from chalicelib.domain.erasure import ErasureRecord, Person, Step, Tombstone
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.session import Session

Line = tuple[str, dict[str, Any]]
"""The position behind a thing, and the thing as JSON has it, without what is only made of it (vectors, terms, hashes)."""


class PersonalRecords(Protocol):
    """What the truth keeps of a person, kind by kind. A step looks at `limit` rows at most and says from where the next one
    goes on, so that none takes long and a process that was killed is gone on from; nothing of another organization or of
    another user is ever touched."""

    @property
    def erased(self) -> Sequence[str]:
        """The kinds that `erase` takes."""

    @property
    def counted(self) -> Sequence[str]:
        """The kinds that `left` takes: all that may hold something of a person."""

    @property
    def exported(self) -> Sequence[str]:
        """The kinds that `lines` takes."""

    def erase(self, person: Person, kind: str, pseudonym: str, after: str | None, limit: int) -> Step:
        """Remove what is the person's alone, and put the pseudonym where they stand in what stays."""

    def left(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        """Count what holds something of the person, in `Step.removed`. Changes nothing."""

    def lines(self, person: Person, kind: str, after: str | None, limit: int) -> tuple[Iterable[Line], str | None]:
        """Things of that kind, read as they are asked for, and the position behind the last row that was looked at; None at
        the end."""

    def shared_memories(
        self, person: Person, after: str | None, limit: int
    ) -> tuple[list[tuple[str, StoredMemory]], str | None]:
        """Memories of shared scopes that name the person (`pseudonyms.named_in`), of any status, with terms and vectors,
        each with the position behind it."""

    def sessions(self, person: Person, after: str | None, limit: int) -> tuple[list[tuple[str, Session]], str | None]:
        """Sessions that the person owns, belongs to, or is described in, each with the position behind it."""

    def leave(self, session: Session, person: Person, pseudonym: str, limit: int) -> int:
        """Take the person out of a session that stays for others: it passes to the first other member where it was theirs,
        and of each of at most `limit` of their messages only its place stays; how many messages."""

    def people(self, org_id: str, limit: int) -> set[str]:
        """The ids of all users of an organization that something is kept of, `limit` rows read at a time."""

    def organizations(self) -> set[str]:
        """Every organization that has rows."""


class PersonalTraces(Protocol):
    """What the fast store keeps under a person's name: their part of the index, work that waits, the recall audit on its way
    to the truth, vectors of queries. The same rules as for `PersonalRecords`."""

    @property
    def erased(self) -> Sequence[str]:
        """The kinds that `erase` takes."""

    @property
    def counted(self) -> Sequence[str]:
        """The kinds that `left` takes."""

    def erase(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        """Remove what is there under the person's name."""

    def left(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        """Count it. What is kept of queries says not whose they were, and is not counted."""


class ErasureLedger(Protocol):
    """The receipts of erasures and the tombstones, which are never removed."""

    def salt(self, org_id: str) -> str:
        """The key of the organization's digests, made at the first call."""

    def of(self, person: Person) -> ErasureRecord | None:
        """What is kept of that person's erasures."""

    def keep(self, record: ErasureRecord) -> bool:
        """Put the record in place of the one of the version before it; whether that was there. The first has 1."""

    def adopt(self, record: ErasureRecord) -> bool:
        """Keep a finished record of another time of this store, where none of the person is there or an earlier one; whether
        it is kept now."""

    def unfinished(self, limit: int) -> list[ErasureRecord]:
        """Records that something is to be done for, the one longest untouched first."""

    def take(self, record: ErasureRecord, holder: str, now: datetime, until: datetime) -> bool:
        """Have the work on a record to oneself until that time, or longer by taking it again; whether one has it."""

    def tombstones(self, since: datetime) -> list[Tombstone]:
        """Those of every erasure that is not finished, and of those that were changed at that time or later."""

    def every(self, after: str | None, limit: int) -> tuple[list[ErasureRecord], str | None]:
        """All records, in a fixed order that `after` pages through."""
