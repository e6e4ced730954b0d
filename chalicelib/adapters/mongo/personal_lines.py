"""What of MongoDB a person gets of what is kept of them: one line a thing, without what is only made of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chalicelib.adapters.mongo import indexes
from chalicelib.adapters.mongo.connection import Document
from chalicelib.adapters.mongo.documents import from_document
from chalicelib.adapters.mongo.personal_kinds import KINDS, About, Kind, of_organization
from chalicelib.domain.erasure import Person
from chalicelib.domain.scope import Scope

_INTERNAL = frozenset(
    {"_id", "orgId", "sessionKey", "scopeKey", "terms", "termCounts", "length", "vectors", "secretHash"}
)
_INTERNAL |= {"lease", "incarnation", "pendingSince", "snapshots", "bodyHash"}


@dataclass(frozen=True, kw_only=True)
class Told(Kind):
    """A kind of thing as it is given out: `line` makes it, of a document `without` some fields."""

    line: Callable[[Document], dict[str, Any]]
    without: Mapping[str, int] = field(default_factory=dict)


def _memory(document: Document) -> dict[str, Any]:
    memory = from_document(document).memory
    return memory.model_dump(mode="json", by_alias=True, exclude_none=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _plain(inner) for name, inner in value.items() if name not in _INTERNAL}
        return {name: inner for name, inner in kept.items() if inner is not None}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return None if isinstance(value, bytes) else value


def _receipt(document: Document) -> dict[str, Any]:
    said = document.get("response")
    return {"at": document["at"].isoformat(), "receipts": json.loads(said) if said else []}


def _session_genome(document: Document) -> dict[str, Any]:
    genome: dict[str, Any] = json.loads(document["genome"])
    return genome


def _user_genome(document: Document) -> dict[str, Any]:
    found: dict[str, Any] = _plain(document["genome"])
    return found


def _message(document: Document) -> dict[str, Any]:
    found: dict[str, Any] = _plain(document)
    return found | {"incarnation": document["sessionKey"].rpartition("/")[2]}


def _session(document: Document) -> dict[str, Any]:
    found: dict[str, Any] = _plain(document)
    return found | {"incarnation": document["incarnation"]}


def _in_session(document: Document, person: Person) -> bool:
    return person.user_id in {document.get("owner"), *document.get("members", ())}


def _is_theirs_alone(document: Document, person: Person) -> bool:
    found: bool = json.loads(document["genome"]).get("userId") == person.user_id
    return found


def _written_for_others(document: Document, person: Person) -> bool:
    own = (document.get("scope"), document.get("scopeId")) == (Scope.USER.value, person.user_id)
    return document.get("userId") == person.user_id and not own


def _like(
    kind: str,
    line: Callable[[Document], dict[str, Any]],
    about: About | None = None,
    without: Mapping[str, int] | None = None,
) -> Told:
    base = KINDS[kind]
    fields = (base.collection, base.within, base.fields, about or base.about, base.goes, base.parts)
    return Told(*fields, line=line, without=without or {})


def _of(
    collection: str, kind: str, fields: tuple[str, ...], about: About, line: Callable[[Document], dict[str, Any]]
) -> Told:
    return Told(collection, of_organization(kind), fields, about, about, line=line)


_WITHOUT_VECTORS = {"embedding_256": 0, "embeddingChunks": 0, "embedding": 0, "terms": 0, "termCounts": 0}

EXPORTED: Mapping[str, Told] = {
    "memory": _like("memories", _memory, without=_WITHOUT_VECTORS),
    "shared_memory": Told(
        indexes.MEMORIES,
        of_organization("memory"),
        ("userId", "scope", "scopeId"),
        _written_for_others,
        _written_for_others,
        line=_memory,
        without=_WITHOUT_VECTORS,
    ),
    "question": _like(
        "questions",
        lambda d: {"memoryId": d["memoryId"], "author": d["author"], "questions": [q["text"] for q in d["questions"]]},
    ),
    "session": _of(indexes.SESSIONS, "session", ("owner", "members"), _in_session, _session),
    "message": _of(
        indexes.MESSAGES,
        "session",
        ("author",),
        lambda d, p: d.get("author") == p.user_id,
        _message,
    ),
    "session_genome": _of(indexes.SESSION_GENOMES, "session", ("genome",), _is_theirs_alone, _session_genome),
    "user_genome": _like("user_genomes", _user_genome),
    "receipt": _like("receipts", _receipt),
    "recall": _like("recalls", _plain),
    "key": _like("keys", _plain, KINDS["keys"].goes),
    "audit_event": _like("audit", _plain),
}
"""In the order in which they are given out."""
