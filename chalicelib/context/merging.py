"""When what users say in a session goes into their genomes: with every fifth of their messages, and when it ends."""

from collections.abc import Collection

from chalicelib.context.user_genomes import UserGenomes
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.session import Session
from chalicelib.ports import SessionStore

EVERY_INTERACTIONS = 5  # spec/context.md "User genome"
SLICE = 200  # messages read at once


class SessionMerger:
    """Merges sessions into the genomes of their users, each user's own messages into that user's alone. What is said in a
    session that is not extracted stays in it."""

    def __init__(self, store: SessionStore, genomes: UserGenomes) -> None:
        self._store = store
        self._genomes = genomes

    def keep_up(self, session: Session, users: Collection[str]) -> None:
        """Merge for those of `users` who said so much since they were last merged that it is due. A repeat changes
        nothing. Conflict and StoreUnavailable as merging has them."""
        for user in sorted(users):
            self._merge(session, user, EVERY_INTERACTIONS)

    def finish(self, session: Session) -> None:
        """Merge for everyone who belongs to the session what is not merged yet."""
        for user in (session.owner, *session.members):
            self._merge(session, user, 1)

    def _merge(self, session: Session, user: str, fewest: int) -> None:
        if session.extract == "off":
            return
        start = self._genomes.merged_to(session.org_id, user, session.key)
        unread: list[SessionMessage] = []
        while found := self._store.between(session, start, SLICE):
            unread += [message for message in found if message.role == "user" and message.author == user]
            start = found[-1].position + 1
        if len(unread) >= fewest:
            self._genomes.merge(session.org_id, user, session.key, unread)
