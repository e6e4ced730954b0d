"""A memory: the whole data model of `product.md`, also the fields that admission, consolidation and review fill."""

import hashlib
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from chalicelib.domain.administration import AuditEvent
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.text.cleaning import normal_form
from chalicelib.domain.vector import Vector
from chalicelib.domain.wire import UtcTime, Wire

MAX_CONTENT_BYTES = 16 * 1024  # spec/api.md "Limits"
RESTORABLE_DAYS = 7  # spec/product.md "Retention"
REMOVED_AT = datetime.fromtimestamp(0, UTC)
"""When a row that is being removed for good counts as forgotten: so long ago that nobody restores it."""


class MemoryType(StrEnum):
    """What kind of thing is remembered."""

    FACT = "fact"
    DECISION = "decision"
    PREFERENCE = "preference"
    CORRECTION = "correction"
    OBSERVATION = "observation"
    ISSUE = "issue"
    TASK = "task"
    PROCEDURE = "procedure"
    EVENT = "event"
    GOAL = "goal"
    CONSTRAINT = "constraint"
    REFERENCE = "reference"
    CONVERSATION = "conversation"


TIMED_TYPES = frozenset({MemoryType.EVENT, MemoryType.OBSERVATION, MemoryType.CONVERSATION})
"""Types of which the same content at another time is another memory."""


class Status(StrEnum):
    """`active` is recalled, `quarantined` waits for review, `archived` is out of the way."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    ARCHIVED = "archived"


class QuarantineReason(StrEnum):
    """Why a row waits for review. What waits for `injection` is let in by a person alone."""

    SCORE = "score"
    INJECTION = "injection"
    PLUGIN = "plugin"


class ArchivedReason(StrEnum):
    """Why a row was archived."""

    FORGOTTEN = "forgotten"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    SHIPPED = "shipped"


class IndexState(StrEnum):
    """`indexed`: every index agrees with the row. `pending`: the worker still has to make it so."""

    INDEXED = "indexed"
    PENDING = "pending"


class LinkKind(StrEnum):
    """What one memory is to another."""

    SUPERSEDES = "supersedes"
    EVIDENCE = "evidence"
    RELATES = "relates"
    CONTRADICTS = "contradicts"


class Link(Wire):
    """A directed link to a memory, or to a message as evidence."""

    kind: LinkKind
    target: str = Field(min_length=1, max_length=128)


class Attachment(Wire):
    """Something the memory points at. The URL is never fetched."""

    type: str = Field(min_length=1, max_length=64)
    url: str = Field(min_length=1, max_length=2048)
    description: str = Field(default="", max_length=1000)


class Claim(Wire):
    """What a text says of something, where it says it plainly: Ana | lives in | Porto."""

    subject: str = Field(min_length=1, max_length=200)
    attribute: str = Field(min_length=1, max_length=200)
    value: str = Field(min_length=1, max_length=500)


class Origin(Wire):
    """Where in a conversation a memory was said, and by whom."""

    session_id: str | None = Field(default=None, min_length=1, max_length=128)
    message_id: str | None = Field(default=None, min_length=1, max_length=128)
    speaker: str | None = Field(default=None, min_length=1, max_length=128)


class Revision(Wire):
    """An earlier state of what an edit can change."""

    revision: int
    content: str
    summary: str | None = None
    tags: tuple[str, ...] = ()
    edited_by: str
    edited_at: UtcTime


class Embedding(Wire):
    """The vectors of a memory: one a chunk, in the order of the text, each unit length and of `dimensions`."""

    model: str
    dimensions: int
    vectors: tuple[Vector, ...]


class Yield(Wire):
    """That another memory takes this one's place once it is there: which, since when, and at which revision of this one."""

    to: str
    at: UtcTime
    revision: int


class Memory(Wire):
    """One memory as it is stored. `scope_ref` is where it lives, `revision` rises with every change of the row."""

    id: str
    org_id: str
    scope: Scope
    scope_id: str
    user_id: str
    type: MemoryType
    content: str
    summary: str | None = None
    tags: tuple[str, ...] = ()
    key_entities: tuple[str, ...] = ()
    importance: float = Field(default=0.5, ge=0, le=1)
    overridable: bool = True
    status: Status = Status.ACTIVE
    archived_reason: ArchivedReason | None = None
    archived_at: UtcTime | None = None
    archived_before: ArchivedReason | None = Field(default=None, description="why, before it was forgotten")
    quarantine_reason: str | None = Field(default=None, description="kept when it is promoted, for an undo")
    quarantined_at: UtcTime | None = Field(default=None, description="since when, where it was not so from the start")
    promoted_by: str | None = Field(default=None, description="who ended its quarantine; `system` is the sweep")
    source: str | None = None
    origin: Origin | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    claims: tuple[Claim, ...] = ()
    claims_found: bool = Field(default=False, exclude=True)  # in the text, whose changes they follow; nobody gave them
    event_time: UtcTime
    created_at: UtcTime
    updated_at: UtcTime
    edited_at: UtcTime | None = Field(default=None, description="when content, summary or tags last changed")
    edited_by: str | None = None
    admitted_at: UtcTime | None = None
    expires_at: UtcTime | None = None
    revision: int = 1
    history: tuple[Revision, ...] = ()
    admission: dict[str, Any] | None = None
    embedding: Embedding | None = Field(default=None, exclude=True)
    index_state: IndexState = IndexState.PENDING
    links: tuple[Link, ...] = ()
    outcome: str | None = None
    attachments: tuple[Attachment, ...] = ()
    yields: tuple[Yield, ...] = Field(default=(), exclude=True)  # see `succession`
    untold: AuditEvent | None = Field(default=None, exclude=True)  # of the last decision, until it is in the audit

    @property
    def scope_ref(self) -> ScopeRef:
        """The scope that holds the memory."""
        return ScopeRef(self.org_id, self.scope, self.scope_id)

    @property
    def is_live(self) -> bool:
        """Whether its content may not be stored in its scope again."""
        return self.status is not Status.ARCHIVED

    def is_expired(self, now: datetime) -> bool:
        """Whether its time has run out."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def is_forgotten(self) -> bool:
        """Whether only restore may find it."""
        return self.archived_reason is ArchivedReason.FORGOTTEN

    @property
    def is_being_removed(self) -> bool:
        """Whether it was decided to remove the row for good, which whoever finds it finishes."""
        return self.is_forgotten and self.archived_at == REMOVED_AT

    @property
    def held_since(self) -> datetime:
        """Since when a quarantined row waits: where nothing says it, since its text was last changed, or it was stored."""
        return self.quarantined_at or self.edited_at or self.created_at

    @property
    def is_held_for_injection(self) -> bool:
        """Whether it was quarantined for trying to instruct the assistant."""
        return (self.quarantine_reason or "").partition(":")[0] == QuarantineReason.INJECTION

    @property
    def indexed_text(self) -> str:
        """The text that terms and vectors are made of.

        Who said it, when, and what the attached pictures show belong to it: measured on LoCoMo, +5.9 points of
        recall@10 for BM25 alone (shared facts). The date is there where the event has a time of its own.
        """
        speaker = f"{self.origin.speaker}: " if self.origin and self.origin.speaker else ""
        date = f"({self.event_time:%-d %B %Y}) " if self.event_time != self.created_at else ""
        captions = "".join(f" [{attachment.description}]" for attachment in self.attachments if attachment.description)
        return f"{date}{speaker}{self.content}{captions}"


def content_key(memory: Memory) -> str:
    """Hash under which the same content in one scope is one row; of timed types the event time is part.

    The scope is part of it too: one field finds a hundred rows of any scopes, where a pair of fields would need an index
    that not every server uses for lists."""
    text = f"{memory.scope_ref.key}\n{normal_form(memory.content)}"
    if memory.type in TIMED_TYPES:
        text += f"\n{memory.event_time.isoformat()}"
    return hashlib.sha256(text.encode()).hexdigest()


HISTORY_FIELDS: tuple[Literal["content", "summary", "tags"], ...] = ("content", "summary", "tags")
"""What an edit pushes to `history` when it changes."""
