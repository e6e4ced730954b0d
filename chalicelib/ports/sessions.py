"""Sessions at rest: their messages, of which none is ever discarded, and their genomes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.memory import Embedding
from chalicelib.domain.session import Extract, KeptMessage, Session, Snapshot


@dataclass(frozen=True)
class SessionChange:
    """What an append or an end changes of a session; what is None stays as it is. Appending begins an ended one anew. A
    user's first snapshot stays."""

    joined: str | None = None
    snapshot: Snapshot | None = None
    extract: Extract | None = None
    last_budget: int | None = None
    ended_at: datetime | None = None
    resumed: bool = False


class SessionStore(Protocol):
    """Sessions and their messages. A session is found by its organization and id alone, and everything of it under its key,
    which starts with the organization."""

    def open(self, session: Session) -> Session:
        """The session of that organization and id: the one given where there was none. Of two at once both get the same."""

    def get(self, org_id: str, id_: str) -> Session | None: ...

    def by_key(self, session_key: str) -> Session | None:
        """The session that is kept under that key; None where it was deleted."""

    def keys(self) -> Iterator[str]:
        """The key of every session that is there, in no order."""

    def change(self, session: Session, change: SessionChange) -> Session | None:
        """The session as it is after the change; None where it was deleted meanwhile. It ends once: the first time stays."""

    def append(self, session: Session, drafts: Sequence[KeptMessage]) -> list[KeptMessage]:
        """The messages as they are kept, in the order given, each at its position: those that the session has already
        as they were, the others behind all that it has. Positions are dense from 0; appends of several clients at once
        may stand between one another, each in its own order. Where it ends halfway a repeat makes it whole.

        Conflict where an id stands for other content; then nothing is appended."""

    def latest(self, session: Session, limit: int, *, from_position: int = 0) -> list[SessionMessage]:
        """At most `limit` of the latest messages from that position on, in their order."""

    def latest_kept(self, session: Session, limit: int, *, from_position: int = 0) -> list[KeptMessage]:
        """As `latest`, with terms and without vectors."""

    def between(self, session: Session, start: int, limit: int) -> list[SessionMessage]:
        """At most `limit` messages from position `start` on, in their order."""

    def at(self, session: Session, positions: Sequence[int]) -> list[KeptMessage]:
        """The messages at those positions, in their order, with terms and without vectors."""

    def kept(self, session: Session, ids: Sequence[str]) -> list[KeptMessage]:
        """Those of the messages that are there, in the order of their positions, with terms and vectors."""

    def kept_from(self, session: Session, start: int, limit: int) -> list[KeptMessage]:
        """As `between`, with terms and vectors."""

    def with_words(self, session: Session, words: Sequence[tuple[str, ...]], limit: int) -> list[KeptMessage]:
        """Messages that hold one of the words, each given by its terms, with terms and vectors: at most `limit` for each
        word, the latest first."""

    def embed(self, session_key: str, embeddings: Mapping[int, Embedding]) -> None:
        """Keep the vectors of messages by their positions."""

    def settle(self, session_key: str, ids: Sequence[str]) -> None:
        """Note that the worker has seen to these messages."""

    def pending(self, before: datetime, limit: int) -> list[tuple[str, tuple[str, ...]]]:
        """Sessions, by their keys, with ids of messages that wait for the worker since before that time: at most `limit`
        messages. A session may be gone."""

    def remove(self, session: Session) -> bool:
        """Make the session be there for nobody; whether it was there. What was kept of it is left for `erase`."""

    def erase(self, session_key: str) -> int:
        """Remove the messages that are kept under that key; how many."""


class SessionGenomeStore(Protocol):
    """The genome of each session, by the session's key."""

    def load(self, session_key: str) -> ConversationGenome | None: ...

    def put(self, session_key: str, genome: ConversationGenome, expected_version: int) -> bool:
        """Keep `genome` where the one that is kept has the version expected, 0 where none is kept; whether it did."""

    def remove(self, session_key: str) -> bool:
        """Remove the genome; whether there was one."""
