"""Builders of what tests need, with sensible values for what a test does not care about."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.adapters.memory.administration import (
    InMemoryAuditLog,
    InMemoryKeyStore,
    InMemoryRecallStore,
    InMemoryReceiptStore,
)
from chalicelib.adapters.memory.backfill import InMemoryBackfillStore
from chalicelib.adapters.memory.cache import InMemoryRecallCache
from chalicelib.adapters.memory.docs import InMemoryDocsLedger, InMemoryDocsSource
from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.erasures import InMemoryErasureLedger
from chalicelib.adapters.memory.identity import InMemorySoulStore, InMemoryUserGenomeStore
from chalicelib.adapters.memory.index import GenerationCounter, InMemoryHotIndex
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.memory.personal import InMemoryPersonalRecords, InMemoryPersonalTraces, Twins
from chalicelib.adapters.memory.plugins import InMemoryPluginSwitches
from chalicelib.adapters.memory.questions import InMemoryQuestionStore
from chalicelib.adapters.memory.queue import InMemoryTaskQueue
from chalicelib.adapters.memory.sessions import InMemorySessionGenomeStore, InMemorySessionStore
from chalicelib.adapters.memory.upkeep import InMemoryOldRows, NoIndexes
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.bootstrap import Container, Ports
from chalicelib.domain.administration import ApiKey, AuditEvent
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import Embedding, Memory, MemoryType
from chalicelib.domain.place import place_of
from chalicelib.domain.query import IndexQuery, RecallRecord, StoredMemory
from chalicelib.domain.scope import Chain, Scope
from chalicelib.domain.text.terms import index_terms, query_words
from chalicelib.domain.vector import dimensions
from chalicelib.domain.wire import epoch_ms
from chalicelib.ports import IndexEntry
from chalicelib.settings import Settings

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
EMBEDDER = TermEmbedder()


class TestClock:
    """A clock that stands until it is moved."""

    __test__ = False

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **parts: float) -> None:
        """Move on by a timedelta of `parts`."""
        self.now += timedelta(**parts)


def caller(
    org: str = "acme",
    user: str = "ana",
    *roles: Role,
    spaces: tuple[str, ...] = (),
    universes: tuple[str, ...] = (),
    on_behalf_by: str | None = None,
) -> Caller:
    """A verified caller; a member unless roles are given."""
    return Caller(org, user, frozenset(roles or (Role.MEMBER,)), spaces, universes, "test", on_behalf_by)


def memory(content: str = "Ana lives in Porto", **fields: Any) -> Memory:
    """A memory in ana's user scope of acme."""
    values = {
        "id": new_id("mem"),
        "org_id": "acme",
        "scope": Scope.USER,
        "scope_id": "ana",
        "user_id": "ana",
        "type": MemoryType.FACT,
        "content": content,
        "event_time": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Memory(**values | fields)


def row(content: str = "Ana lives in Porto", *, vectors: bool = True, **fields: Any) -> StoredMemory:
    """A memory as the write path would store it, with terms and a vector of the terms embedder."""
    made = memory(content, **fields)
    terms = index_terms(made.indexed_text)
    if vectors and "embedding" not in fields:
        (found,) = EMBEDDER.embed_passages([made.indexed_text])
        embedding = Embedding(model=EMBEDDER.passage_model, dimensions=dimensions(found[0]), vectors=found)
        made = made.model_copy(update={"embedding": embedding})
    return StoredMemory(made, terms.counts, terms.length)


def in_memory_ports(**overrides: Any) -> Ports:
    """The shipped twins of every port, with `overrides` in place of any."""
    clock = overrides.pop("clock", None) or TestClock()
    generations = GenerationCounter()
    made: dict[str, Any] = {
        "store": InMemoryMemoryStore(),
        "keys": InMemoryKeyStore(),
        "receipts": InMemoryReceiptStore(),
        "audit": InMemoryAuditLog(),
        "recalls": InMemoryRecallStore(),
        "hot": InMemoryHotIndex(generations),
        "vectors": None,
        "cache": InMemoryRecallCache(generations, clock),
        "embedder": TermEmbedder(),
        "telemetry": RecordedTelemetry(),
        "clock": clock,
        "queue": InMemoryTaskQueue(clock),
        "switches": InMemoryPluginSwitches(),
        "souls": InMemorySoulStore(),
        "user_genomes": InMemoryUserGenomeStore(),
        "questions": InMemoryQuestionStore(),
        "sessions": InMemorySessionStore(),
        "genomes": InMemorySessionGenomeStore(),
        "docs_ledger": InMemoryDocsLedger(),
    }
    made |= overrides
    over_store: dict[str, Any] = {
        "backfills": InMemoryBackfillStore(made["store"]),
        "old_rows": InMemoryOldRows(made["store"]),
        "indexes": NoIndexes(),
        "docs_source": InMemoryDocsSource(made["store"]),
    }
    return Ports(**over_store | _of_persons(made) | made)


def _of_persons(made: dict[str, Any]) -> dict[str, Any]:
    """The twins of what looks behind all others; nothing of a real store is seen by them."""
    erasures = made.get("erasures") or InMemoryErasureLedger()
    twins = {field.name: made[field.name] for field in fields(Twins) if field.name in made and field.name != "erasures"}
    traces = InMemoryPersonalTraces(made["hot"], made["queue"], made["cache"])
    return {
        "erasures": erasures,
        "people": InMemoryPersonalRecords(Twins(erasures=erasures, **twins)),
        "traces": traces if isinstance(made["hot"], InMemoryHotIndex) and made["cache"] else None,
    }


def no_questions(*orgs: str) -> InMemoryPluginSwitches:
    """Switches with which these organizations have no prospective questions written, so that no message asks for any."""
    switches = InMemoryPluginSwitches()
    for org in orgs or ("acme",):
        switches.put(org, {"prospective_index": False})
    return switches


def container(**overrides: Any) -> Container:
    """A container over the twins."""
    return Container(Settings(), in_memory_ports(**overrides))


AWKWARD_IDS = ("a/b", "a:b", "a{b}", "a%2Fb", "a%b", "a#0", "a b", "a*?[b]", "a\\b'\"", "a$.b", "名前-ü-😀", "vm:d:a")
"""Ids with every character that means something in some key, pattern or path."""


def chain(org: str, user: str = "ana", *, spaces: tuple[str, ...] = (), universes: tuple[str, ...] = ()) -> Chain:
    """What a member of `org` sees."""
    return caller(org, user, spaces=spaces, universes=universes).chain


def entry(stored: StoredMemory, **fields: Any) -> IndexEntry:
    """A stored row as the index is told of it, with `fields` in place of any."""
    made = stored.memory
    values: dict[str, Any] = {
        "scope_key": made.scope_ref.key,
        "id": made.id,
        "revision": made.revision,
        "model": made.embedding.model if made.embedding else EMBEDDER.passage_model,
        "vectors": made.embedding.vectors if made.embedding else (),
        "counts": stored.counts,
        "length": stored.length,
        "type": made.type,
        "tags": made.tags,
        "event_ms": epoch_ms(made.event_time),
        "place": place_of(made),
    }
    return IndexEntry(**values | fields)


def index_query(text: str, **fields: Any) -> IndexQuery:
    """What recall asks the index for `text`: a vector of the terms embedder and the terms."""
    values: dict[str, Any] = {
        "vector": EMBEDDER.embed_query(text),
        "model": EMBEDDER.passage_model,
        "terms": tuple(dict.fromkeys(term for word in query_words(text) for term in word)),
    }
    return IndexQuery(**values | fields)


def api_key(org: str, **fields: Any) -> ApiKey:
    """A key of ana."""
    values: dict[str, Any] = {
        "id": new_id("key"),
        "org_id": org,
        "name": "laptop",
        "secret_hash": "ab" * 32,
        "user_id": "ana",
        "roles": (Role.MEMBER,),
        "created_at": NOW,
        "created_by": "root",
    }
    return ApiKey(**values | fields)


def event(org: str, **fields: Any) -> AuditEvent:
    """An event of ana's doing."""
    values = {"id": new_id("evt"), "org_id": org, "at": NOW, "action": "forget", "actor": "ana"}
    return AuditEvent(**values | fields)


def record(org: str, **fields: Any) -> RecallRecord:
    """A recall of ana's."""
    values: dict[str, Any] = {
        "recall_id": new_id("rcl"),
        "org_id": org,
        "user_id": "ana",
        "at": NOW,
        "query": "where?",
        "scopes": (),
    }
    return RecallRecord(**values | fields)
