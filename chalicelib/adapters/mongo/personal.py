"""What MongoDB keeps of persons. Everything is gone through in pages by `_id`, with the few fields that tell whose it is."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import batched
from typing import Any
from urllib.parse import unquote

from pymongo import ReplaceOne
from pymongo.errors import BulkWriteError

from chalicelib.adapters.mongo import indexes
from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.documents import from_document
from chalicelib.adapters.mongo.personal_kinds import KINDS, Kind, messages_of_organization, of_organization
from chalicelib.adapters.mongo.personal_lines import EXPORTED, Told
from chalicelib.adapters.mongo.sessions import session_of
from chalicelib.domain.erasure import ERASED_TEXT, Person, Step
from chalicelib.domain.keys import new_id
from chalicelib.domain.pseudonyms import SYSTEM, named_in, names_in, replaced
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.session import Session
from chalicelib.errors import InvalidInput
from chalicelib.ports.personal import Line

_VECTORS = {"embedding_256": 0, "embeddingChunks": 0, "embedding": 0, "terms": 0, "termCounts": 0}
WHOLE_AT_ONCE = 20
_PLACE = {"orgId": 1, "sessionKey": 1, "position": 1, "at": 1}
_NAMING = (
    (indexes.MEMORIES, "memory", ("userId", "editedBy", "promotedBy", "history.editedBy", "scope", "scopeId")),
    (indexes.SESSIONS, "session", ("owner", "members", "snapshots.userId")),
    (indexes.MESSAGES, "session", ("author",)),
    (indexes.USER_GENOMES, "user_genome", ("userId",)),
    (indexes.RECALLS, "recall", ("userId",)),
    (indexes.AUDIT, "audit", ("actor", "details")),
)
"""Where people are named, and in which fields."""
_Page = tuple[list[Document], str | None]


class MongoPersonalRecords:
    """`ports.PersonalRecords`."""

    erased: Sequence[str] = (*KINDS, "messages")
    counted: Sequence[str] = (*KINDS, "sessions", "messages", "shared_memories")
    exported: Sequence[str] = tuple(EXPORTED)

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection

    def erase(self, person: Person, kind: str, pseudonym: str, after: str | None, limit: int) -> Step:
        if kind == "messages":
            documents, end = self._messages(person, after, limit)
            return Step(changed=self._emptied(documents, pseudonym), after=end)
        found, rows = KINDS[kind], self._collection(KINDS[kind].collection)
        documents, end = self._page(found, person, after, limit)
        about = [document for document in documents if found.about(document, person)]
        gone = [document["_id"] for document in about if found.goes(document, person)]
        kept = [document["_id"] for document in about if not found.goes(document, person)]
        with self._connection.scanning():
            removed = rows.delete_many({"_id": {"$in": gone}}).deleted_count if gone else 0
            whole = list(rows.find({"_id": {"$in": kept}})) if kept else []
            changes = [ReplaceOne({"_id": one["_id"]}, _without(one, person, pseudonym)) for one in whole]
            changed = rows.bulk_write(changes, ordered=False).matched_count if changes else 0
        return Step(removed, changed, end)

    def left(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        if kind == "sessions":
            sessions, end = self.sessions(person, after, limit)
            return Step(len(sessions), after=end)
        if kind == "shared_memories":
            rows, end = self.shared_memories(person, after, limit)
            return Step(len(rows), after=end)
        if kind == "messages":
            documents, end = self._messages(person, after, limit)
            return Step(len(documents), after=end)
        found = KINDS[kind]
        documents, end = self._page(found, person, after, limit)
        return Step(sum(found.about(document, person) for document in documents), after=end)

    def lines(self, person: Person, kind: str, after: str | None, limit: int) -> tuple[Iterator[Line], str | None]:
        told = EXPORTED[kind]
        documents, end = self._page(told, person, after, limit)
        return self._told(told, [one["_id"] for one in documents if told.about(one, person)], after), end

    def _told(self, told: Told, wanted: Sequence[str], after: str | None) -> Iterator[Line]:
        """The lines of these rows, a few read at a time: any may be of megabytes."""
        for some in batched(wanted, WHOLE_AT_ONCE, strict=False):
            with self._connection.scanning():
                rows = self._collection(told.collection).find({"_id": {"$in": some}}, told.without or None)
                found = {document["_id"]: document for document in rows}
            yield from ((_behind(found[id_], after), told.line(found[id_])) for id_ in some if id_ in found)

    def shared_memories(
        self, person: Person, after: str | None, limit: int
    ) -> tuple[list[tuple[str, StoredMemory]], str | None]:
        within = of_organization("memory")(person)
        documents, end = self._pages(indexes.MEMORIES, within, _VECTORS, after, limit)
        shared = [document for document in documents if document.get("scopeKey") != person.scope_key]
        named = [d["_id"] for d in shared if named_in(from_document(d).memory, person.user_id)]
        with self._connection.scanning():
            rows = self._collection(indexes.MEMORIES).find({"_id": {"$in": named}}) if named else ()
            return sorted(((d["_id"], from_document(d)) for d in rows), key=lambda one: one[0]), end

    def sessions(self, person: Person, after: str | None, limit: int) -> tuple[list[tuple[str, Session]], str | None]:
        within = of_organization("session")(person)
        documents, end = self._pages(indexes.SESSIONS, within, None, after, limit)
        found = [(document["_id"], session_of(document)) for document in documents]
        return [(at, session) for at, session in found if session and _is_of(session, person)], end

    def leave(self, session: Session, person: Person, pseudonym: str, limit: int) -> int:
        others = [name for name in (session.owner, *session.members) if name != person.user_id]
        change = {"$set": {"owner": others[0] if others else pseudonym, "members": others[1:]}}
        pulled = {"$pull": {"snapshots": {"userId": person.user_id}}}
        with self._connection.writing():
            self._collection(indexes.SESSIONS).update_one({"sessionKey": session.key}, change | pulled)
        query = {"sessionKey": session.key, "author": person.user_id}
        with self._connection.scanning():
            documents = list(self._collection(indexes.MESSAGES).find(query, _PLACE).limit(limit))
        return self._emptied(documents, pseudonym)

    def people(self, org_id: str, limit: int) -> set[str]:
        person, found = Person(org_id, ""), set[str]()
        for collection, kind, fields in _NAMING:
            for document in self._all(collection, of_organization(kind)(person), fields, limit):
                found |= set(names_in(document))
        for document in self._all(indexes.KEYS, {"orgId": org_id}, ("userId", "createdBy"), limit):
            found |= set(names_in(document))
        for document in self._all(indexes.RECEIPTS, of_organization("receipt")(person), ("caller",), limit):
            found.add(unquote(str(document["caller"]).rpartition("/")[2]))
        return found - {SYSTEM}

    def organizations(self) -> set[str]:
        with self._connection.scanning():
            names = (indexes.MEMORIES, indexes.SESSIONS, indexes.KEYS, indexes.AUDIT)
            return {org for name in names for org in self._collection(name).distinct("orgId")}

    def _messages(self, person: Person, after: str | None, limit: int) -> _Page:
        within, name = messages_of_organization(person), indexes.MESSAGES
        documents, end = self._pages(name, within, {"author": 1, **_PLACE}, after, limit)
        return [document for document in documents if document.get("author") == person.user_id], end

    def _emptied(self, documents: Sequence[Document], pseudonym: str) -> int:
        """Put an empty message in the place of each: positions stay dense, which all readers of a session build on. Where
        the place was taken between the two commands by another message, none is needed."""
        rows = self._collection(indexes.MESSAGES)
        if documents:
            with self._connection.scanning(), suppress(BulkWriteError):
                rows.delete_many({"_id": {"$in": [document["_id"] for document in documents]}})
                rows.insert_many([_empty(document, pseudonym) for document in documents], ordered=False)
        return len(documents)

    def _collection(self, name: str) -> Any:
        return self._connection.database.get_collection(name)

    def _page(self, kind: Kind, person: Person, after: str | None, limit: int) -> _Page:
        """A page of what a kind goes through: of one of its parts, whose number stands before the position."""
        part, position = _part(kind, after)
        within, fields = kind.within(person) | kind.parts[part], dict.fromkeys(("_id", *kind.fields), 1)
        documents, end = self._pages(kind.collection, within, fields, position or None, limit)
        if end is not None:
            return documents, f"{part}:{end}"
        return documents, f"{part + 1}:" if part + 1 < len(kind.parts) else None

    def _pages(self, name: str, within: Document, projection: Document | None, after: str | None, limit: int) -> _Page:
        bounds = within.get("_id", {})
        bounds = bounds if isinstance(bounds, dict) else {"$eq": bounds}
        query = within | {"_id": bounds | ({"$gt": after} if after is not None else {})}
        if not query["_id"]:
            del query["_id"]
        with self._connection.scanning():
            found = list(self._collection(name).find(query, projection).sort("_id", 1).limit(limit).batch_size(limit))
        return found, found[-1]["_id"] if len(found) == limit else None

    def _all(self, name: str, within: Document, fields: Sequence[str], limit: int) -> Iterator[Document]:
        after: str | None = None
        while True:
            documents, after = self._pages(name, within, dict.fromkeys(fields, 1), after, limit)
            yield from documents
            if after is None:
                return


def _part(kind: Kind, after: str | None) -> tuple[int, str]:
    """The number of a part and the position in it. InvalidInput where a caller made it up."""
    part, _, position = (after or "0:").partition(":")
    if not part.isdecimal() or int(part) >= len(kind.parts):
        raise InvalidInput("cursor", "is not a cursor of this list")
    return int(part), position


def _behind(document: Document, after: str | None) -> str:
    return f"{(after or '0:').partition(':')[0]}:{document['_id']}"


def _is_of(session: Session, person: Person) -> bool:
    described = (one.user_id for one in session.snapshots)
    return person.user_id in {session.owner, *session.members, *described}


def _without(document: Document, person: Person, pseudonym: str) -> Document:
    changed: Document = replaced(document, person.user_id, pseudonym)
    return changed | {"_id": document["_id"], "orgId": document["orgId"]}


def _empty(document: Document, pseudonym: str) -> Document:
    id_ = new_id("msg")
    kept = {name: document[name] for name in ("orgId", "sessionKey", "position", "at") if name in document}
    said = {"id": id_, "role": "user", "author": pseudonym, "text": ERASED_TEXT, "extract": False}
    return kept | said | {"_id": f"{document['sessionKey']}/{id_}", "terms": [], "termCounts": [], "length": 0}
