"""What users say in a session, offered to the write path: each message a candidate in its author's own scope, with the
message as evidence. Admission decides what becomes of it.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.keys import key
from chalicelib.domain.memory import MAX_CONTENT_BYTES, MemoryType
from chalicelib.domain.session import KeptMessage, Session
from chalicelib.domain.text.chunks import chunks
from chalicelib.errors import IdempotencyConflict
from chalicelib.ports import SessionStore

SOURCE = "session"
BEFORE = 4  # messages that admission is shown with a candidate
MOST_CHARACTERS = MAX_CONTENT_BYTES // 4  # of a candidate: what is longer comes in pieces
Remember = Callable[[Caller, list[Mapping[str, Any]], str], Any]
"""Remembers items for a caller, once under that name."""


class Extraction:
    """`remember` is the write path: cleaning, duplicates, admission, consolidation and plugins are its own."""

    def __init__(self, store: SessionStore, remember: Remember) -> None:
        self._store = store
        self._remember = remember

    def extract(self, session: Session, kept: Sequence[KeptMessage]) -> None:
        """Offer the messages that may be extracted, unless the session says otherwise now. A repeat gets the first
        receipts, whatever became of a memory since. The error of the write path where it could not work."""
        if session.extract == "off":
            return
        wanted = [one.message for one in kept if one.extract and one.message.author]
        around = self._around(session, wanted)
        for message in wanted:
            for name, item in _items(session, message, around):
                with contextlib.suppress(
                    IdempotencyConflict
                ):  # offered before, by a version that told more or less of it
                    self._remember(_author(session, message), [item], name)

    def _around(self, session: Session, messages: Sequence[SessionMessage]) -> dict[int, SessionMessage]:
        """The messages, and those before each, by their positions."""
        positions = {at for one in messages for at in range(max(0, one.position - BEFORE), one.position + 1)}
        return {one.message.position: one.message for one in self._store.at(session, sorted(positions))}


def _author(session: Session, message: SessionMessage) -> Caller:
    """Who said it, with no more than a member's own scope. `on_behalf_by` has the write audited under this name beside the
    user's."""
    assert message.author
    member = frozenset({Role.MEMBER})
    return Caller(session.org_id, message.author, member, credential=SOURCE, on_behalf_by=SOURCE)


def _items(
    session: Session, message: SessionMessage, around: Mapping[int, SessionMessage]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The candidates of a message, each with the name under which it is remembered once: one, unless it is very long."""
    earlier = [around[at] for at in range(message.position - BEFORE, message.position) if at in around]
    for number, text in enumerate(chunks(message.text, MOST_CHARACTERS)):
        name = key(session.key, message.id, str(number))
        yield (
            hashlib.sha256(name.encode()).hexdigest(),
            {
                "content": text,
                "type": MemoryType.CONVERSATION.value,
                "eventTime": message.at.isoformat(),
                "source": SOURCE,
                "origin": {"sessionId": session.id, "messageId": message.id, "speaker": message.author},
                "links": [{"kind": "evidence", "target": message.id}],
                "messages": [
                    {"speaker": one.author or one.role, "text": one.text[:MOST_CHARACTERS]} for one in earlier
                ],
            },
        )
