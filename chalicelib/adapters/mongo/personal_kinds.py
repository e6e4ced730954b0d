"""Where MongoDB keeps things about persons: every collection that may name one, how it is gone through, what of it is a
person's alone, and how they are taken out of the rest.

What is not here names nobody: `plugin_switches`, `backfills` and `checkpoints` are of organizations and jobs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chalicelib.adapters.mongo import indexes
from chalicelib.adapters.mongo.connection import Document
from chalicelib.domain.docs import DocsCheckpoint
from chalicelib.domain.erasure import Person
from chalicelib.domain.keys import key
from chalicelib.domain.memory import Status
from chalicelib.domain.pseudonyms import replaced
from chalicelib.domain.scope import ScopeRef

About = Callable[[Document, Person], bool]


@dataclass(frozen=True)
class Kind:
    """A kind of thing. `within` selects what is gone through, in the order of `_id`; `about` says which of that is about the
    person, from `fields`. `goes` says what of it is the person's alone; the rest has the pseudonym put in place. `parts` are
    what it is gone through one after the other by, where only so an index gives it in order."""

    collection: str
    within: Callable[[Person], Document]
    fields: tuple[str, ...]
    about: About
    goes: About
    parts: tuple[Document, ...] = ({},)


def of_organization(kind: str) -> Callable[[Person], Document]:
    """Everything whose `_id` begins with the organization and that word."""

    def within(person: Person) -> Document:
        start = key(person.org_id, kind)
        return {"_id": {"$gt": f"{start}/", "$lt": f"{start}0"}}  # 0 is what comes next after the stroke

    return within


def messages_of_organization(person: Person) -> Document:
    """The messages of every session."""
    return of_organization("session")(person)


def _always(_: Document, __: Person) -> bool:
    return True


def _never(_: Document, __: Person) -> bool:
    return False


def _field(name: str) -> About:
    return lambda document, person: bool(document.get(name) == person.user_id)


def _named_anywhere(document: Document, person: Person) -> bool:
    return bool(replaced(document, person.user_id, "") != document)


def _in_scope(person: Person) -> Document:
    return {"scopeKey": person.scope_key}


def _key_of_theirs(document: Document, person: Person) -> bool:
    return person.user_id in {document.get("userId"), document.get("createdBy")}


def _their_call(document: Document, person: Person) -> bool:
    return person.is_caller(str(document.get("caller", "")))


def _manifest_of_theirs(document: Document, person: Person) -> bool:
    return bool(document.get("manifest", {}).get("scopeKey") == person.scope_key)


def _run_that_names_them(document: Document, person: Person) -> bool:
    if "checkpoint" not in document:
        return False
    return DocsCheckpoint.model_validate(document["checkpoint"]).names(ScopeRef.from_key(person.scope_key))


_BY_STATUS: tuple[Document, ...] = tuple({"status": status.value} for status in Status)

KINDS: Mapping[str, Kind] = {
    "keys": Kind(
        indexes.KEYS, lambda p: {"orgId": p.org_id}, ("userId", "createdBy"), _key_of_theirs, _field("userId")
    ),
    "memories": Kind(indexes.MEMORIES, _in_scope, (), _always, _always, _BY_STATUS),
    "questions": Kind(indexes.QUESTIONS, _in_scope, (), _always, _always),
    "user_genomes": Kind(
        indexes.USER_GENOMES, lambda p: {"_id": key(p.org_id, "user_genome", p.user_id)}, (), _always, _always
    ),
    "receipts": Kind(indexes.RECEIPTS, of_organization("receipt"), ("caller",), _their_call, _always),
    "recalls": Kind(indexes.RECALLS, of_organization("recall"), ("userId",), _field("userId"), _always),
    "statistics": Kind(indexes.SCOPES, lambda p: {"_id": p.scope_key}, (), _always, _always),
    "docs_manifests": Kind(
        indexes.DOCS_EXPORTS, of_organization("docs"), ("manifest.scopeKey",), _manifest_of_theirs, _always
    ),
    "docs_runs": Kind(indexes.DOCS_EXPORTS, of_organization("docs"), ("checkpoint",), _run_that_names_them, _always),
    "souls": Kind(
        indexes.SOULS, lambda p: {"_id": key(p.org_id, "soul")}, ("soul.updatedBy",), _named_anywhere, _never
    ),
    "audit": Kind(
        indexes.AUDIT,
        of_organization("audit"),
        ("actor", "onBehalfBy", "target", "details"),
        _named_anywhere,
        _never,
    ),
    "erasures": Kind(
        indexes.ERASURES,
        of_organization("erasure"),
        ("record.receipt.requestedBy", "record.earlier.requestedBy"),
        _named_anywhere,
        _never,
    ),
}
