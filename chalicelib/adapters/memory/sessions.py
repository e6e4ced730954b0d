"""Sessions in this process, with the promises of the real stores."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.memory import Embedding
from chalicelib.domain.session import KeptMessage, Session, still_to_append
from chalicelib.ports.sessions import SessionChange


class InMemorySessionStore:
    """`ports.SessionStore`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._sessions: dict[tuple[str, str], Session] = {}
        self._messages: dict[str, list[KeptMessage]] = {}

    def open(self, session: Session) -> Session:
        with self._lock:
            return self._sessions.setdefault((session.org_id, session.id), session)

    def get(self, org_id: str, id_: str) -> Session | None:
        return self._sessions.get((org_id, id_))

    def by_key(self, session_key: str) -> Session | None:
        with self._lock:
            return next((one for one in self._sessions.values() if one.key == session_key), None)

    def keys(self) -> Iterator[str]:
        with self._lock:
            yield from [one.key for one in self._sessions.values()]

    def change(self, session: Session, change: SessionChange) -> Session | None:
        with self._lock:
            standing = self.by_key(session.key)
            if standing is None:
                return None
            changed = _changed(standing, change)
            self._sessions[session.org_id, session.id] = changed
            return changed

    def append(self, session: Session, drafts: Sequence[KeptMessage]) -> list[KeptMessage]:
        with self._lock:
            messages = self._messages.setdefault(session.key, [])
            there = {one.message.id: one for one in messages}
            for draft in still_to_append(drafts, there):
                messages.append(draft.placed(len(messages)))
                there[draft.message.id] = messages[-1]
            return [there[draft.message.id] for draft in drafts]

    def _kept(self, session_key: str) -> list[KeptMessage]:
        with self._lock:
            return list(self._messages.get(session_key, ()))

    def latest(self, session: Session, limit: int, *, from_position: int = 0) -> list[SessionMessage]:
        return [one.message for one in self.latest_kept(session, limit, from_position=from_position)]

    def latest_kept(self, session: Session, limit: int, *, from_position: int = 0) -> list[KeptMessage]:
        found = [replace(one, embedding=None) for one in self._kept(session.key)[from_position:]]
        return found[-limit:]

    def between(self, session: Session, start: int, limit: int) -> list[SessionMessage]:
        return [one.message for one in self.kept_from(session, start, limit)]

    def at(self, session: Session, positions: Sequence[int]) -> list[KeptMessage]:
        wanted = set(positions)
        return [replace(one, embedding=None) for one in self._kept(session.key) if one.message.position in wanted]

    def kept(self, session: Session, ids: Sequence[str]) -> list[KeptMessage]:
        wanted = set(ids)
        return [one for one in self._kept(session.key) if one.message.id in wanted]

    def kept_from(self, session: Session, start: int, limit: int) -> list[KeptMessage]:
        return self._kept(session.key)[start : start + limit]

    def with_words(self, session: Session, words: Sequence[tuple[str, ...]], limit: int) -> list[KeptMessage]:
        found: dict[int, KeptMessage] = {}
        messages = self._kept(session.key)
        for word in words:
            holding = [one for one in reversed(messages) if any(term in one.counts for term in word)]
            found |= {one.message.position: one for one in holding[:limit]}
        return list(found.values())

    def embed(self, session_key: str, embeddings: Mapping[int, Embedding]) -> None:
        with self._lock:
            messages = self._messages.get(session_key, [])
            for position, embedding in embeddings.items():
                if position < len(messages):
                    messages[position] = replace(messages[position], embedding=embedding)

    def settle(self, session_key: str, ids: Sequence[str]) -> None:
        with self._lock:
            messages = self._messages.get(session_key, [])
            messages[:] = [replace(one, pending_since=None) if one.message.id in ids else one for one in messages]

    def pending(self, before: datetime, limit: int) -> list[tuple[str, tuple[str, ...]]]:
        found: dict[str, list[str]] = {}
        with self._lock:
            kept = [(key, one) for key, messages in self._messages.items() for one in messages]
        waiting = [(one.pending_since, key, one) for key, one in kept if one.pending_since]
        for _, key, one in [each for each in sorted(waiting, key=lambda each: each[:2]) if each[0] < before][:limit]:
            found.setdefault(key, []).append(one.message.id)
        return [(key, tuple(ids)) for key, ids in found.items()]

    def remove(self, session: Session) -> bool:
        with self._lock:
            if self.by_key(session.key) is None:
                return False
            del self._sessions[session.org_id, session.id]
            return True

    def erase(self, session_key: str) -> int:
        with self._lock:
            return len(self._messages.pop(session_key, ()))


def _changed(session: Session, change: SessionChange) -> Session:
    values: dict[str, object] = {}
    if change.joined and change.joined not in session.members:
        values["members"] = (*session.members, change.joined)
    if change.snapshot and change.snapshot.user_id not in {one.user_id for one in session.snapshots}:
        values["snapshots"] = (*session.snapshots, change.snapshot)
    if change.extract:
        values["extract"] = change.extract
    if change.last_budget is not None:
        values["last_budget"] = change.last_budget
    if change.resumed:
        values["ended_at"] = None
    if change.ended_at:
        values["ended_at"] = session.ended_at or change.ended_at
    return session.model_copy(update=values)


class InMemorySessionGenomeStore:
    """`ports.SessionGenomeStore`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._genomes: dict[str, ConversationGenome] = {}

    def load(self, session_key: str) -> ConversationGenome | None:
        return self._genomes.get(session_key)

    def put(self, session_key: str, genome: ConversationGenome, expected_version: int) -> bool:
        with self._lock:
            standing = self._genomes.get(session_key)
            if (standing.version if standing else 0) != expected_version:
                return False
            self._genomes[session_key] = genome
            return True

    def remove(self, session_key: str) -> bool:
        with self._lock:
            return self._genomes.pop(session_key, None) is not None
