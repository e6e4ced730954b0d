"""A session: whose it is, who may see it, and its messages as they are kept.

Everything of a session is kept under `Session.key`, which is of one incarnation: a session that is deleted and begun again
under the same id shares nothing with what it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Literal

from pydantic import Field

from chalicelib.domain.caller import Caller
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.keys import key
from chalicelib.domain.memory import Embedding
from chalicelib.domain.scope import Chain
from chalicelib.domain.wire import UtcTime, Wire
from chalicelib.errors import Conflict

DEFAULT_BUDGET = 4000  # spec/context.md: until a context of another one was asked
MAX_MESSAGE_BYTES = 65_536  # spec/api.md "Limits"
MAX_MESSAGES = 100  # of one append
_KIND, _PARTS = "session", 3
Extract = Literal["on", "off"]


class Snapshot(Wire):
    """What was known of a user when they came into a session, as prompt text: it stands in the stable part of their prompts
    for as long as the session lasts."""

    user_id: str
    text: str


class Session(Wire):
    """A session. `members` are the users besides its owner who appended under a credential of its space or universe;
    `extract` says whether what users say in it becomes memories; `lastBudget` is the budget, in tokens, that its last
    context had. `incarnation` and `snapshots` are ours, and on no wire."""

    id: str
    org_id: str
    owner: str
    space_id: str | None = None
    universe_id: str | None = None
    extract: Extract = "on"
    last_budget: int = Field(default=DEFAULT_BUDGET, ge=1)
    members: tuple[str, ...] = ()
    created_at: UtcTime
    ended_at: UtcTime | None = None
    incarnation: str = Field(exclude=True)
    snapshots: tuple[Snapshot, ...] = Field(default=(), exclude=True)

    def snapshot_of(self, user_id: str) -> str:
        """What was known of a user when they came in; empty where nothing was."""
        return next((one.text for one in self.snapshots if one.user_id == user_id), "")

    @property
    def key(self) -> str:
        """Under what all of it is kept; it starts with the organization."""
        return session_key(self.org_id, self.incarnation)

    @property
    def chain(self) -> "SessionChain":
        """What an index is asked for its messages."""
        return SessionChain(self.org_id, (), self.key)


@dataclass(frozen=True)
class SessionChain(Chain):
    """The messages of one session as an index has them. It holds no scope that a credential grants, so that no memory is
    ever found through it, and no chain of a caller ever finds a message."""

    session_key: str = ""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key of the session."""
        return (self.session_key,)


def session_key(org_id: str, incarnation: str) -> str:
    """The key of a session; no scope has one like it."""
    return key(org_id, _KIND, incarnation)


def is_session_key(scope_key: str) -> bool:
    """Whether what an index calls a scope is a session."""
    parts = scope_key.split("/")
    return len(parts) == _PARTS and parts[1] == _KIND and all(parts)


def is_member(session: Session, caller: Caller) -> bool:
    """Whether the session is there for this caller: its owner, and the users who appended under a credential of its space or
    universe. For all others it does not exist."""
    return caller.org_id == session.org_id and caller.user_id in {session.owner, *session.members}


def may_join(session: Session, caller: Caller) -> bool:
    """Whether appending makes the caller a member: its credential grants the session's space or universe."""
    if caller.org_id != session.org_id:
        return False
    return session.space_id in caller.spaces or session.universe_id in caller.universes


@dataclass(frozen=True)
class KeptMessage:
    """A message with what is kept beside it: its terms, its vectors once it has some, whether what it says may become a
    memory, and since when the worker still has to see to it. A draft is at position 0 until it is appended."""

    message: SessionMessage
    counts: dict[str, int] = field(default_factory=dict)
    length: int = 0
    extract: bool = False
    pending_since: datetime | None = None
    embedding: Embedding | None = None

    def placed(self, position: int) -> "KeptMessage":
        """The same at its place in the session."""
        return replace(self, message=self.message.model_copy(update={"position": position}))

    def says_the_same(self, other: "KeptMessage") -> bool:
        """Whether both are the same words of the same speaker; a repeat may carry another time."""
        return _said(self.message) == _said(other.message)


def _said(message: SessionMessage) -> tuple[str, str | None, str | None, str]:
    return message.role, message.author, message.name, message.text


def still_to_append(drafts: Sequence[KeptMessage], there: Mapping[str, KeptMessage]) -> list[KeptMessage]:
    """The drafts, each id once, that the session does not have yet. Conflict names the first id that stands for other
    content, in the session or in the batch."""
    known, fresh = dict(there), list[KeptMessage]()
    for draft in drafts:
        id_ = draft.message.id
        if id_ not in known:
            known[id_] = draft
            fresh.append(draft)
        elif not known[id_].says_the_same(draft):
            raise Conflict(f"message {id_!r} is in this session with other content", messageId=id_)
    return fresh


def indexed_text(message: SessionMessage) -> str:
    """The text that a message's terms and vectors are made of: as with memories, who said it and when belong to it."""
    return f"({message.at:%-d %B %Y}) {message.said_by}: {message.text}"
