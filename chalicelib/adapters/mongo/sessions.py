"""Sessions on MongoDB. Two unique indexes hold the order of messages, however many clients append at once: one of the
message's id within its session, which is the `_id`, and one of its position.

A batch is inserted in order behind the last message; whoever finds a position taken looks again and goes on behind it.
"""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.documents import vector_binary, vector_of
from chalicelib.adapters.mongo.indexes import MESSAGES, SESSIONS
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.keys import key
from chalicelib.domain.memory import Embedding
from chalicelib.domain.session import KeptMessage, Session, still_to_append
from chalicelib.errors import StoreUnavailable
from chalicelib.ports.sessions import SessionChange

ATTEMPTS = 100  # each lost one means that another client's message went in
LONGEST_PAUSE = 0.02
_NOTHING: Document = {}
_VECTORS: Document = {"vectors": 0}
_SAID: Document = {"terms": 0, "termCounts": 0, "length": 0} | _VECTORS
"""What is left out where only what was said is read."""
_FIELDS = tuple((name, info.alias or name) for name, info in SessionMessage.model_fields.items())


class MongoSessionStore:
    """`ports.SessionStore`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._sessions = connection.database.get_collection(SESSIONS)
        self._messages = connection.database.get_collection(MESSAGES)

    def open(self, session: Session) -> Session:
        if standing := self.get(session.org_id, session.id):
            return standing
        with self._connection.writing():
            try:
                self._sessions.insert_one(_session_document(session))
            except DuplicateKeyError:
                pass
            else:
                return session
        standing = self.get(session.org_id, session.id)
        if standing is None:  # begun by another client and deleted again, all meanwhile
            raise StoreUnavailable("mongo", "the session is being deleted")
        return standing

    def get(self, org_id: str, id_: str) -> Session | None:
        with self._connection.reading():
            return session_of(self._sessions.find_one({"_id": _session_id(org_id, id_)}))

    def by_key(self, session_key: str) -> Session | None:
        with self._connection.reading():
            return session_of(self._sessions.find_one({"sessionKey": session_key}))

    def keys(self) -> Iterator[str]:
        with self._connection.scanning():
            found = [document["sessionKey"] for document in self._sessions.find({}, {"sessionKey": 1, "_id": 0})]
        yield from found

    def change(self, session: Session, change: SessionChange) -> Session | None:
        query = {"_id": _session_id(session.org_id, session.id), "sessionKey": session.key}
        with self._connection.writing():
            if update := _update(change):
                self._sessions.update_one(query, update)
            if one := change.snapshot:
                fresh = query | {"snapshots.userId": {"$ne": one.user_id}}
                self._sessions.update_one(fresh, {"$push": {"snapshots": one.model_dump(by_alias=True)}})
            if change.ended_at:
                self._sessions.update_one(query | {"endedAt": None}, {"$set": {"endedAt": change.ended_at}})
        with self._connection.reading():
            return session_of(self._sessions.find_one(query))

    def append(self, session: Session, drafts: Sequence[KeptMessage]) -> list[KeptMessage]:
        for attempt in range(ATTEMPTS):
            there = {one.message.id: one for one in self.kept(session, [draft.message.id for draft in drafts])}
            fresh = still_to_append(drafts, there)
            if not fresh:
                return [there[draft.message.id] for draft in drafts]
            placed = self._placed(session, fresh)
            if self._insert(session, placed):
                there |= {one.message.id: one for one in placed}
                return [there[draft.message.id] for draft in drafts]
            time.sleep(random.uniform(0, min(LONGEST_PAUSE, 0.001 * (attempt + 1))))  # noqa: S311 - no secret
        raise StoreUnavailable("mongo", "too many clients append to this session at once")

    def _placed(self, session: Session, fresh: Sequence[KeptMessage]) -> list[KeptMessage]:
        last = self.latest(session, 1)
        start = last[0].position + 1 if last else 0
        return [draft.placed(position) for position, draft in enumerate(fresh, start)]

    def _insert(self, session: Session, placed: Sequence[KeptMessage]) -> bool:
        """Whether all went in; those before the first that did not are in."""
        documents = [_message_document(session, one) for one in placed]
        try:
            with self._connection.writing():  # what is no duplicate becomes StoreUnavailable in there
                self._messages.insert_many(documents, ordered=True)
        except (BulkWriteError, DuplicateKeyError):
            return False
        return True

    def latest(self, session: Session, limit: int, *, from_position: int = 0) -> list[SessionMessage]:
        query = {"sessionKey": session.key, "position": {"$gte": from_position}}
        return [one.message for one in reversed(self._find(query, limit, order=-1))]

    def latest_kept(self, session: Session, limit: int, *, from_position: int = 0) -> list[KeptMessage]:
        query = {"sessionKey": session.key, "position": {"$gte": from_position}}
        return self._find(query, limit, order=-1, without=_VECTORS)[::-1]

    def between(self, session: Session, start: int, limit: int) -> list[SessionMessage]:
        query = {"sessionKey": session.key, "position": {"$gte": start}}
        return [one.message for one in self._find(query, limit)]

    def at(self, session: Session, positions: Sequence[int]) -> list[KeptMessage]:
        query = {"sessionKey": session.key, "position": {"$in": list(positions)}}
        return self._find(query, len(positions), without=_VECTORS) if positions else []

    def kept(self, session: Session, ids: Sequence[str]) -> list[KeptMessage]:
        query = {"_id": {"$in": [_message_id(session.key, id_) for id_ in ids]}}
        return self._find(query, len(ids), without=_NOTHING) if ids else []

    def kept_from(self, session: Session, start: int, limit: int) -> list[KeptMessage]:
        return self._find({"sessionKey": session.key, "position": {"$gte": start}}, limit, without=_NOTHING)

    def with_words(self, session: Session, words: Sequence[tuple[str, ...]], limit: int) -> list[KeptMessage]:
        found: dict[int, KeptMessage] = {}
        for word in words:
            query = {"sessionKey": session.key, "terms": {"$in": list(word)}}
            found |= {one.message.position: one for one in self._find(query, limit, order=-1, without=_NOTHING)}
        return list(found.values())

    def _find(self, query: Document, limit: int, *, order: int = 1, without: Document = _SAID) -> list[KeptMessage]:
        with self._connection.reading():
            cursor = self._messages.find(query, without or None).sort("position", order)
            return [_kept(document) for document in cursor.limit(limit).batch_size(limit + 1)]

    def embed(self, session_key: str, embeddings: Mapping[int, Embedding]) -> None:
        changes = [
            UpdateOne({"sessionKey": session_key, "position": position}, {"$set": {"vectors": _vectors(embedding)}})
            for position, embedding in embeddings.items()
        ]
        if changes:
            with self._connection.writing():
                self._messages.bulk_write(changes, ordered=False)

    def settle(self, session_key: str, ids: Sequence[str]) -> None:
        query = {"_id": {"$in": [_message_id(session_key, id_) for id_ in ids]}}
        with self._connection.writing():
            self._messages.update_many(query, {"$unset": {"pendingSince": ""}})

    def pending(self, before: datetime, limit: int) -> list[tuple[str, tuple[str, ...]]]:
        found: dict[str, list[str]] = {}
        fields = {"sessionKey": 1, "id": 1}
        with self._connection.scanning():
            waiting = self._messages.find({"pendingSince": {"$lt": before}}, fields).sort("pendingSince", 1)
            for document in waiting.limit(limit):
                found.setdefault(document["sessionKey"], []).append(document["id"])
        return [(session_key, tuple(ids)) for session_key, ids in found.items()]

    def remove(self, session: Session) -> bool:
        query = {"_id": _session_id(session.org_id, session.id), "sessionKey": session.key}
        with self._connection.writing():
            return self._sessions.delete_one(query).deleted_count == 1

    def erase(self, session_key: str) -> int:
        with self._connection.scanning():
            return self._messages.delete_many({"sessionKey": session_key}).deleted_count


def _session_id(org_id: str, id_: str) -> str:
    return key(org_id, "session", id_)


def _message_id(session_key: str, id_: str) -> str:
    return f"{session_key}/{key(id_)}"


def _session_document(session: Session) -> Document:
    return {
        "_id": _session_id(session.org_id, session.id),
        "sessionKey": session.key,
        "orgId": session.org_id,
        "id": session.id,
        "incarnation": session.incarnation,
        "owner": session.owner,
        "spaceId": session.space_id,
        "universeId": session.universe_id,
        "extract": session.extract,
        "lastBudget": session.last_budget,
        "members": list(session.members),
        "snapshots": [one.model_dump(by_alias=True) for one in session.snapshots],
        "createdAt": session.created_at,
        "endedAt": session.ended_at,
    }


def session_of(document: Document | None) -> Session | None:
    """The session of a document."""
    known = {info.alias or name for name, info in Session.model_fields.items()}
    if document is None:
        return None
    return Session.model_validate({name: value for name, value in document.items() if name in known})


def _update(change: SessionChange) -> Document:
    values: dict[str, Any] = {}
    if change.extract:
        values["extract"] = change.extract
    if change.last_budget is not None:
        values["lastBudget"] = change.last_budget
    if change.resumed:
        values["endedAt"] = None
    update: Document = {"$set": values} if values else {}
    return update | ({"$addToSet": {"members": change.joined}} if change.joined else {})


def _message_document(session: Session, kept: KeptMessage) -> Document:
    message = kept.message
    document = {alias: value for name, alias in _FIELDS if (value := getattr(message, name)) is not None}
    document |= {
        "_id": _message_id(session.key, message.id),
        "orgId": session.org_id,
        "sessionKey": session.key,
        "extract": kept.extract,
        "terms": list(kept.counts),
        "termCounts": list(kept.counts.values()),
        "length": kept.length,
    }
    return document | ({"pendingSince": kept.pending_since} if kept.pending_since else {})


def _vectors(embedding: Embedding) -> Document:
    chunks = [vector_binary(vector) for vector in embedding.vectors]
    return {"model": embedding.model, "dimensions": embedding.dimensions, "chunks": chunks}


def _kept(document: Document) -> KeptMessage:
    message = SessionMessage.model_validate({alias: document[alias] for _, alias in _FIELDS if alias in document})
    stored, embedding = document.get("vectors"), None
    if stored:
        chunks = tuple(vector_of(chunk) for chunk in stored["chunks"])
        embedding = Embedding(model=stored["model"], dimensions=stored["dimensions"], vectors=chunks)
    return KeptMessage(
        message=message,
        counts=dict(zip(document.get("terms", ()), document.get("termCounts", ()), strict=False)),
        length=document.get("length", 0),
        extract=document["extract"],
        pending_since=document.get("pendingSince"),
        embedding=embedding,
    )
