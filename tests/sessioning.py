"""Builders of sessions and their messages."""

from typing import Any

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.keys import new_id
from chalicelib.domain.session import KeptMessage, Session, indexed_text
from chalicelib.domain.text.terms import index_terms
from tests.building import NOW


def session(org: str = "acme", id_: str = "s1", owner: str = "ana", **fields: Any) -> Session:
    """A session of ana's that was just begun."""
    values = {"id": id_, "org_id": org, "owner": owner, "created_at": NOW, "incarnation": new_id("ses")}
    return Session(**values | fields)


def draft(id_: str, text: str = "I live in Porto", **fields: Any) -> KeptMessage:
    """A message of ana's on its way in."""
    values: dict[str, Any] = {"id": id_, "position": 0, "role": "user", "author": "ana", "text": text, "at": NOW}
    kept: dict[str, Any] = {"extract": True, "pending_since": NOW}
    kept |= {name: fields.pop(name) for name in ("extract", "pending_since", "embedding") if name in fields}
    message = SessionMessage(**values | fields)
    terms = index_terms(indexed_text(message))
    return KeptMessage(message, terms.counts, terms.length, **kept)
