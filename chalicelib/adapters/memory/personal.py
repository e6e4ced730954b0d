"""What the twins keep of persons, seen as the real stores' is. A step takes a kind whole: nothing here is large."""
# ruff: noqa: SLF001, ARG002 - it looks behind the ports of the other twins, as the real one does; and see above

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.adapters.memory.administration import (
    InMemoryAuditLog,
    InMemoryKeyStore,
    InMemoryRecallStore,
    InMemoryReceiptStore,
)
from chalicelib.adapters.memory.cache import InMemoryRecallCache
from chalicelib.adapters.memory.docs import InMemoryDocsLedger
from chalicelib.adapters.memory.erasures import InMemoryErasureLedger
from chalicelib.adapters.memory.identity import InMemorySoulStore, InMemoryUserGenomeStore
from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.memory.questions import InMemoryQuestionStore
from chalicelib.adapters.memory.queue import InMemoryTaskQueue
from chalicelib.adapters.memory.sessions import InMemorySessionGenomeStore, InMemorySessionStore
from chalicelib.domain.erasure import ERASED_TEXT, Person, Step
from chalicelib.domain.keys import new_id
from chalicelib.domain.pseudonyms import named_in, replaced
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import ScopeRef
from chalicelib.domain.session import KeptMessage, Session
from chalicelib.domain.wire import Wire
from chalicelib.ports.personal import Line

Rows = dict[Any, Any]


@dataclass(frozen=True)
class _Kind:
    """A dictionary of a twin, which of it is about a person, which of that is theirs alone, and the rest without them."""

    rows: Callable[[], Rows]
    about: Callable[[Any, Any, Person], bool]
    goes: Callable[[Any, Any, Person], bool] = lambda _name, _row, _person: True
    line: Callable[[Any, Any], dict[str, Any]] | None = None


@dataclass(frozen=True)
class Twins:
    """The twins that hold something of persons."""

    store: InMemoryMemoryStore
    keys: InMemoryKeyStore
    receipts: InMemoryReceiptStore
    audit: InMemoryAuditLog
    recalls: InMemoryRecallStore
    questions: InMemoryQuestionStore
    sessions: InMemorySessionStore
    genomes: InMemorySessionGenomeStore
    souls: InMemorySoulStore
    user_genomes: InMemoryUserGenomeStore
    erasures: InMemoryErasureLedger
    docs_ledger: InMemoryDocsLedger


class InMemoryPersonalRecords:
    """`ports.PersonalRecords`."""

    def __init__(self, twins: Twins) -> None:
        self._twins = twins
        self._kinds = _kinds(twins)

    @property
    def erased(self) -> Sequence[str]:
        return (*self._kinds, "messages")

    @property
    def counted(self) -> Sequence[str]:
        return (*self._kinds, "messages", "sessions", "shared_memories")

    @property
    def exported(self) -> Sequence[str]:
        return (
            "memory",
            "shared_memory",
            "question",
            "session",
            "message",
            "session_genome",
            "user_genome",
            "receipt",
            "recall",
            "key",
            "audit_event",
        )

    def erase(self, person: Person, kind: str, pseudonym: str, after: str | None, limit: int) -> Step:
        if kind == "messages":
            return Step(changed=sum(self._emptied(key, person, pseudonym) for key in self._session_keys(person)))
        found, removed, changed = self._kinds[kind], 0, 0
        rows = found.rows()
        for name, row in [(n, r) for n, r in rows.items() if found.about(n, r, person)]:
            if found.goes(name, row, person):
                del rows[name]
                removed += 1
            else:
                rows[name] = _without(row, person, pseudonym)
                changed += 1
        return Step(removed, changed)

    def left(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        if kind == "sessions":
            return Step(len(self.sessions(person, None, limit)[0]))
        if kind == "shared_memories":
            return Step(len(self.shared_memories(person, None, limit)[0]))
        if kind == "messages":
            return Step(len(self._own_messages(person)))
        found = self._kinds[kind]
        return Step(sum(found.about(name, row, person) for name, row in found.rows().items()))

    def lines(self, person: Person, kind: str, after: str | None, limit: int) -> tuple[list[Line], str | None]:
        made = sorted(self._lines(person, kind))
        found = [line for line in made if after is None or line[0] > after][:limit]
        return found, found[-1][0] if len(found) == limit else None

    def _lines(self, person: Person, kind: str) -> list[Line]:
        twins = self._twins
        if kind == "shared_memory":
            shared = self.shared_memories(person, None, 0)[0]
            return [(at, _wired(r.memory)) for at, r in shared if r.memory.user_id == person.user_id]
        if kind == "session":
            own = self.sessions(person, None, 0)[0]
            return [(s.id, _wired(s) | {"incarnation": s.incarnation}) for _, s in own if _belongs(s, person)]
        if kind == "message":
            return [
                (f"{key}/{one.message.position:09}", _wired(one.message) | {"incarnation": key.rpartition("/")[2]})
                for key, one in self._own_messages(person)
            ]
        if kind == "session_genome":
            kept = ((key, twins.genomes.load(key)) for key in self._session_keys(person))
            return [(key, _wired(genome)) for key, genome in kept if genome and genome.user_id == person.user_id]
        found = self._kinds[_KIND_OF[kind]]
        told = found.goes if kind == "key" else found.about
        rows = found.rows()
        return [(str(n), (found.line or _line)(n, r)) for n, r in rows.items() if told(n, r, person)]

    def shared_memories(
        self, person: Person, after: str | None, limit: int
    ) -> tuple[list[tuple[str, StoredMemory]], str | None]:
        rows = [row for row in self._twins.store._rows.values() if row.memory.org_id == person.org_id]
        others = [row for row in rows if row.memory.scope_ref.key != person.scope_key]
        named = sorted(
            ((row.memory.id, row) for row in others if named_in(row.memory, person.user_id)), key=lambda one: one[0]
        )
        return [one for one in named if after is None or one[0] > after], None

    def sessions(self, person: Person, after: str | None, limit: int) -> tuple[list[tuple[str, Session]], str | None]:
        rows = [one for (org, _), one in self._twins.sessions._sessions.items() if org == person.org_id]
        described = {one.id for one in rows if one.snapshot_of(person.user_id)}
        found = sorted(
            ((one.id, one) for one in rows if _belongs(one, person) or one.id in described), key=lambda one: one[0]
        )
        return [one for one in found if after is None or one[0] > after], None

    def leave(self, session: Session, person: Person, pseudonym: str, limit: int) -> int:
        others = [name for name in (session.owner, *session.members) if name != person.user_id]
        change = {
            "owner": others[0] if others else pseudonym,
            "members": tuple(others[1:]),
            "snapshots": tuple(one for one in session.snapshots if one.user_id != person.user_id),
        }
        self._twins.sessions._sessions[session.org_id, session.id] = session.model_copy(update=change)
        return self._emptied(session.key, person, pseudonym)

    def people(self, org_id: str, limit: int) -> set[str]:
        twins = self._twins
        memories = [row.memory for row in twins.store._rows.values() if row.memory.org_id == org_id]
        sessions = [one for (org, _), one in twins.sessions._sessions.items() if org == org_id]
        return {m.user_id for m in memories} | {name for s in sessions for name in (s.owner, *s.members)}

    def organizations(self) -> set[str]:
        return {row.memory.org_id for row in self._twins.store._rows.values()}

    def _session_keys(self, person: Person) -> list[str]:
        first = ScopeRef.from_key(person.scope_key).key.partition("/")[0]
        return [key for key in self._twins.sessions._messages if key.partition("/")[0] == first]

    def _own_messages(self, person: Person) -> list[tuple[str, KeptMessage]]:
        kept = self._twins.sessions._messages
        found = [(key, one) for key in self._session_keys(person) for one in kept[key]]
        return [(key, one) for key, one in found if one.message.author == person.user_id]

    def _emptied(self, session_key: str, person: Person, pseudonym: str) -> int:
        messages = self._twins.sessions._messages.get(session_key, [])
        theirs = [one.message.author == person.user_id for one in messages]
        messages[:] = [
            _empty(one, pseudonym) if is_theirs else one for one, is_theirs in zip(messages, theirs, strict=True)
        ]
        return sum(theirs)


_KIND_OF = {
    "memory": "memories",
    "question": "questions",
    "user_genome": "user_genomes",
    "receipt": "receipts",
    "recall": "recalls",
    "key": "keys",
    "audit_event": "audit",
}


def _kinds(twins: Twins) -> Mapping[str, _Kind]:
    def in_organization(_: Any, row: Any, person: Person) -> bool:
        return bool(row.org_id == person.org_id and row.user_id == person.user_id)

    def named(_: Any, row: Any, person: Person) -> bool:
        return bool(row.org_id == person.org_id) and replaced(_wired(row), person.user_id, "") != _wired(row)

    return {
        "keys": _Kind(
            lambda: twins.keys._keys,
            lambda _, row, p: row.org_id == p.org_id and p.user_id in {row.user_id, row.created_by},
            in_organization,
        ),
        "memories": _Kind(
            lambda: twins.store._rows,
            lambda _, row, p: row.memory.scope_ref.key == p.scope_key,
            line=lambda _, row: _wired(row.memory),
        ),
        "questions": _Kind(
            lambda: twins.questions._sets,
            lambda _, row, p: row.scope_key == p.scope_key,
            line=lambda _, row: {
                "memoryId": row.memory_id,
                "author": row.author.value,
                "questions": [one.text for one in row.questions],
            },
        ),
        "user_genomes": _Kind(
            lambda: twins.user_genomes._genomes,
            lambda name, _, p: name == (p.org_id, p.user_id),
        ),
        "receipts": _Kind(
            lambda: twins.receipts._receipts,
            lambda name, _, p: name[0] == p.org_id and p.is_caller(name[1]),
            line=lambda _, row: {"at": row[0].at.isoformat(), "receipts": row[0].response or []},
        ),
        "recalls": _Kind(lambda: twins.recalls._records, in_organization),
        "statistics": _Kind(lambda: twins.store._snapshots, lambda name, _, p: name == p.scope_key),
        "docs_manifests": _Kind(lambda: twins.docs_ledger._manifests, lambda name, _, p: name[1] == p.scope_key),
        "docs_runs": _Kind(
            lambda: twins.docs_ledger._checkpoints,
            lambda name, row, p: name[1] == p.org_id and row.names(ScopeRef.from_key(p.scope_key)),
        ),
        "souls": _Kind(
            lambda: twins.souls._souls,
            lambda name, row, p: name == p.org_id and row.updated_by == p.user_id,
            lambda *_: False,
        ),
        "audit": _Kind(lambda: twins.audit._events, named, lambda *_: False),
        "erasures": _Kind(
            lambda: twins.erasures._records,
            lambda name, row, p: name[0] == p.org_id and row.receipt.requested_by == p.user_id,
            lambda *_: False,
        ),
    }


def _wired(row: Wire) -> dict[str, Any]:
    return row.model_dump(mode="json", by_alias=True, exclude_none=True)


def _line(_: Any, row: Any) -> dict[str, Any]:
    return _wired(row)


def _without[W: Wire](row: W, person: Person, pseudonym: str) -> W:
    hidden = {
        name: getattr(row, name) for name, field in type(row).model_fields.items() if field.exclude
    }  # what no wire has
    said = replaced(json.loads(row.model_dump_json(by_alias=True)), person.user_id, pseudonym)
    return type(row).model_validate(said | hidden)


def _belongs(session: Session, person: Person) -> bool:
    return person.user_id in {session.owner, *session.members}


def _empty(kept: KeptMessage, pseudonym: str) -> KeptMessage:
    said = {"id": new_id("msg"), "role": "user", "author": pseudonym, "name": None, "text": ERASED_TEXT}
    message = kept.message.model_copy(update=said)
    return replace(KeptMessage(message), counts={}, length=0)


class InMemoryPersonalTraces:
    """`ports.PersonalTraces`."""

    erased: Sequence[str] = ("index", "tasks", "queries")
    counted: Sequence[str] = ("index", "tasks", "recall_audit")

    def __init__(self, hot: InMemoryHotIndex, queue: InMemoryTaskQueue | None, cache: InMemoryRecallCache) -> None:
        self._hot = hot
        self._queue = queue
        self._cache = cache

    def erase(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        found = self._found(person, kind)
        for rows, name in found:
            rows.pop(name)
        if kind == "index":
            for names in (self._hot._wanted, self._hot._changed, self._hot._complete):
                names.discard(person.scope_key)
        return Step(len(found))

    def left(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        if kind == "recall_audit":
            queued = [json.loads(said) for said, _ in self._cache._queue]
            return Step(sum((one["org_id"], one["user_id"]) == (person.org_id, person.user_id) for one in queued))
        return Step(len(self._found(person, kind)))

    def _found(self, person: Person, kind: str) -> list[tuple[Rows, Any]]:
        if kind == "index":
            named = self._hot._rows, self._hot._rebuilds
            gone = [(self._hot._gone, name) for name in self._hot._gone if name[0] == person.scope_key]
            return [*((rows, person.scope_key) for rows in named if person.scope_key in rows), *gone]
        if kind == "queries":
            first = f"{person.scope_key.partition('/')[0]}/"
            vectors = self._cache._vectors
            return [(vectors, name) for name in vectors if name.startswith(first)]
        queues = (self._queue._live, self._queue._dead) if self._queue else ()
        return [
            (messages, id_)
            for messages in queues
            for id_, message in messages.items()
            if _scope_of(message.text) == person.scope_key
        ]


def _scope_of(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value.get("scopeKey") if isinstance(value, dict) else None
