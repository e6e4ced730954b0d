"""Adapters by the settings: the only place that builds them.

They, and with them the drivers, are imported where they are built: a start does not pay for what its settings do not call
for, and importing the application not for any.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from chalicelib.domain.matryoshka import named
from chalicelib.domain.wire import utc
from chalicelib.errors import Misconfigured
from chalicelib.ports import (
    AuditLog,
    BackfillStore,
    Clock,
    Embedder,
    HotIndex,
    KeyStore,
    LanguageModel,
    MemoryStore,
    OldRows,
    PluginSwitches,
    QuestionStore,
    RecallCache,
    RecallStore,
    ReceiptStore,
    SessionGenomeStore,
    SessionStore,
    SoulStore,
    StoredVectors,
    StoreIndexes,
    TaskQueue,
    Telemetry,
    UserGenomeStore,
)
from chalicelib.settings import Settings

if TYPE_CHECKING:
    from chalicelib.adapters.breaker import Breaker
    from chalicelib.adapters.mongo.connection import MongoConnection
    from chalicelib.adapters.redis.connection import RedisConnection


@dataclass(frozen=True)
class Ports:
    """The adapters. Tests give fakes for any of them."""

    store: MemoryStore
    keys: KeyStore
    receipts: ReceiptStore
    audit: AuditLog
    recalls: RecallStore
    questions: QuestionStore
    switches: PluginSwitches
    sessions: SessionStore
    genomes: SessionGenomeStore
    souls: SoulStore
    user_genomes: UserGenomeStore
    hot: HotIndex | None
    cache: RecallCache | None
    embedder: Embedder
    telemetry: Telemetry
    clock: Clock
    backfills: BackfillStore
    old_rows: OldRows
    indexes: StoreIndexes
    vectors: StoredVectors | None = None
    queue: TaskQueue | None = None
    language_model: LanguageModel | None = None


IN_MONGO = frozenset(
    {
        "store",
        "keys",
        "receipts",
        "audit",
        "recalls",
        "switches",
        "backfills",
        "questions",
        "sessions",
        "genomes",
        "souls",
        "user_genomes",
        "old_rows",
        "indexes",
    }
)
"""The ports without which no container is, all of them on MongoDB."""


def system_clock() -> datetime:
    """Now."""
    return utc(datetime.now(UTC))


def build_ports(settings: Settings, **overrides: Any) -> Ports:
    """The real adapters that `settings` name, with `overrides` in place of any of them."""
    made: dict[str, Any] = {"telemetry": _telemetry(), "clock": system_clock} | overrides
    if not overrides.keys() >= IN_MONGO:
        made = _mongo_ports(settings, mongo_connection(settings, made["telemetry"])) | made
    if not {"hot", "cache", "queue"} <= overrides.keys():
        redis = _redis_connection(settings, made["telemetry"]) if settings.redis.url else None
        made = {
            **(_redis_ports(settings, redis) if redis else {"hot": None, "cache": None}),
            "queue": _queue(settings, redis, made["clock"], made["telemetry"]),
        } | made
    if "embedder" not in overrides:
        made["embedder"] = _embedder(settings, made["telemetry"])
    if settings.language_model.model and "language_model" not in overrides:
        made["language_model"] = _language_model(settings, made["telemetry"])
    return Ports(**made)


def _telemetry() -> Telemetry:
    from chalicelib.adapters.telemetry import PowertoolsTelemetry  # noqa: PLC0415 - see the module

    return PowertoolsTelemetry(_trace_header)


def _mongo_ports(settings: Settings, mongo: "MongoConnection") -> dict[str, Any]:
    from chalicelib.adapters.mongo import (  # noqa: PLC0415 - see the module
        administration,
        backfill,
        identity,
        memories,
        oldvectors,
        plugins,
        questions,
        receipts,
        session_genomes,
        sessions,
        storedvectors,
        upkeep,
    )

    embedding = settings.embedding
    old = oldvectors.OldVectors(named(embedding.passage_model, embedding.dimensions), dual=embedding.use_dual_index)
    return {
        "store": memories.MongoMemoryStore(mongo, old),
        "backfills": backfill.MongoBackfillStore(mongo, old),
        "keys": administration.MongoKeyStore(mongo),
        "receipts": receipts.MongoReceiptStore(mongo),
        "audit": administration.MongoAuditLog(mongo),
        "recalls": administration.MongoRecallStore(mongo),
        "switches": plugins.MongoPluginSwitches(mongo),
        "souls": identity.MongoSoulStore(mongo),
        "user_genomes": identity.MongoUserGenomeStore(mongo),
        "vectors": storedvectors.MongoStoredVectors(mongo),
        "questions": questions.MongoQuestionStore(mongo),
        "sessions": sessions.MongoSessionStore(mongo),
        "genomes": session_genomes.MongoSessionGenomeStore(mongo),
        "old_rows": upkeep.MongoOldRows(mongo),
        "indexes": upkeep.MongoIndexes(mongo, embedding.dimensions),
    }


def _embedder(settings: Settings, telemetry: Telemetry) -> Embedder:
    from chalicelib.adapters.openai_embedder import OpenAIEmbedder  # noqa: PLC0415 - see the module

    return OpenAIEmbedder(settings.embedding, breaker=_breaker("embedding", settings, telemetry))


def _language_model(settings: Settings, telemetry: Telemetry) -> LanguageModel:
    from chalicelib.adapters.openai_language_model import STORE, OpenAILanguageModel  # noqa: PLC0415 - see the module

    return OpenAILanguageModel(settings.language_model, _breaker(STORE, settings, telemetry))


def _breaker(store: str, settings: Settings, telemetry: Telemetry | None) -> "Breaker":
    from chalicelib.adapters.breaker import Breaker  # noqa: PLC0415 - see the module

    return Breaker(store, settings.breaker, telemetry)


def _redis_connection(settings: Settings, telemetry: Telemetry) -> "RedisConnection":
    from chalicelib.adapters.redis.connection import RedisConnection  # noqa: PLC0415 - see the module

    return RedisConnection(settings.redis, _breaker("redis", settings, telemetry))


def _redis_ports(settings: Settings, redis: "RedisConnection") -> dict[str, Any]:
    from chalicelib.adapters.redis.cache import RedisRecallCache  # noqa: PLC0415 - see the module
    from chalicelib.adapters.redis.index import RedisHotIndex  # noqa: PLC0415 - see the module

    return {"hot": RedisHotIndex(redis), "cache": RedisRecallCache(redis, settings.recall.query_cache_seconds)}


def _queue(settings: Settings, redis: "RedisConnection | None", clock: Clock, telemetry: Telemetry) -> TaskQueue | None:
    if settings.queue.sqs_url:
        from chalicelib.adapters.sqs_queue import SqsTaskQueue  # noqa: PLC0415 - see the module

        return SqsTaskQueue(settings.queue, clock, _breaker("sqs", settings, telemetry))
    if redis is None:
        return None
    from chalicelib.adapters.redis.queue import RedisTaskQueue  # noqa: PLC0415 - see the module

    return RedisTaskQueue(redis, settings.queue)


def _trace_header() -> str:
    """X-Ray's header of the present invocation, which Lambda sets anew for each; empty elsewhere."""
    return os.environ.get("_X_AMZN_TRACE_ID", "")


def traced(ports: Ports) -> Ports:
    """The same ports, each call to a store or the embedder a part of the trace."""
    from chalicelib.adapters.traced import Traced  # noqa: PLC0415 - see the module

    named = {field.name: getattr(ports, field.name) for field in fields(ports)}
    stores = {name: port for name, port in named.items() if port is not None and name not in {"telemetry", "clock"}}
    return replace(ports, **{name: Traced(port, name, ports.telemetry) for name, port in stores.items()})


def settings_of(environment: Mapping[str, str]) -> Settings:
    """The settings that `environment` gives, secrets fetched from where it refers to."""
    from chalicelib.adapters.aws_secrets import with_secrets  # noqa: PLC0415 - see the module

    return Settings.from_environment(with_secrets(environment, Settings.secret_variables()))


def mongo_connection(settings: Settings, telemetry: Telemetry | None = None) -> "MongoConnection":
    """A connection to the MongoDB of `settings`; it connects at first use."""
    from chalicelib.adapters.mongo.connection import MongoConnection  # noqa: PLC0415 - see the module

    if not settings.mongo.uri:
        raise Misconfigured("VITTO_MONGO_URI is not set")
    breakers = (_breaker(store, settings, telemetry) for store in ("mongo", "atlas"))
    return MongoConnection(settings.mongo, *breakers)


def make_indexes(settings: Settings) -> list[str]:
    """Create MongoDB's indexes where they are missing; the names of all, and what became of the vector search's."""
    from chalicelib.adapters.mongo.upkeep import MongoIndexes  # noqa: PLC0415 - see the module

    return MongoIndexes(mongo_connection(settings), settings.embedding.dimensions).make()
