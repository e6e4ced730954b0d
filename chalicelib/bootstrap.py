"""The composition root: the only place that builds adapters. One container a process, made at first use."""

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from chalicelib.adapters.aws_secrets import with_secrets
from chalicelib.adapters.breaker import Breaker
from chalicelib.adapters.mongo.administration import MongoAuditLog, MongoKeyStore, MongoRecallStore
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import create_indexes
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.mongo.plugins import MongoPluginSwitches
from chalicelib.adapters.mongo.receipts import MongoReceiptStore
from chalicelib.adapters.mongo.searchindex import create_search_index
from chalicelib.adapters.mongo.storedvectors import MongoStoredVectors
from chalicelib.adapters.openai_embedder import OpenAIEmbedder
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.adapters.sqs_queue import SqsTaskQueue
from chalicelib.adapters.telemetry import PowertoolsTelemetry
from chalicelib.adapters.traced import Traced
from chalicelib.domain.caller import Caller
from chalicelib.domain.wire import utc
from chalicelib.errors import Misconfigured
from chalicelib.plugins.aftermath import AfterResponse
from chalicelib.plugins.emotional_context import EmotionalContext
from chalicelib.plugins.hooks import Plugin
from chalicelib.plugins.manager import Plugins
from chalicelib.plugins.registry import Registry, load
from chalicelib.plugins.sessions import SessionHooks
from chalicelib.plugins.switches import Switchboard
from chalicelib.ports import (
    AuditLog,
    Clock,
    Embedder,
    HotIndex,
    KeyStore,
    MemoryStore,
    PluginSwitches,
    RecallCache,
    RecallStore,
    ReceiptStore,
    StoredVectors,
    TaskQueue,
    Telemetry,
)
from chalicelib.recall.audit import RecallAudit
from chalicelib.recall.hooks import RecallHooks
from chalicelib.recall.pipeline import RecallPipeline
from chalicelib.settings import Settings
from chalicelib.write.audit import Auditor
from chalicelib.write.deferral import Deferral
from chalicelib.write.editing import Editor
from chalicelib.write.hooks import RememberHooks
from chalicelib.write.indexing import Indexer
from chalicelib.write.maintenance import Maintenance
from chalicelib.write.pipeline import RememberPipeline
from chalicelib.write.preference_learning import PreferenceLearning
from chalicelib.write.tasks import TaskConsumer, TaskRunner
from chalicelib.write.versioning import MemoryVersioning, Versions


@dataclass(frozen=True)
class Ports:
    """The adapters. Tests give fakes for any of them."""

    store: MemoryStore
    keys: KeyStore
    receipts: ReceiptStore
    audit: AuditLog
    recalls: RecallStore
    switches: PluginSwitches
    hot: HotIndex | None
    cache: RecallCache | None
    embedder: Embedder
    telemetry: Telemetry
    clock: Clock
    vectors: StoredVectors | None = None
    queue: TaskQueue | None = None


def system_clock() -> datetime:
    """Now."""
    return utc(datetime.now(UTC))


class Container:
    """The services over a set of ports. Misconfigured where a plugin that the settings list cannot be had.

    `sleeps` says that this process stands still once it has answered, so that plugins after a response run before it."""

    def __init__(
        self, settings: Settings, ports: Ports, *, sleeps: bool = False, plugins: Sequence[Plugin] = ()
    ) -> None:
        self.settings = settings
        self.ports = ports
        switchboard = Switchboard(ports.switches, ports.clock, ports.telemetry)
        registry = Registry(self._built_in_plugins(), [*load(settings.plugins.listed), *plugins])
        self.plugins = Plugins(registry, switchboard, ports.telemetry, settings.plugins)
        self.after_response = AfterResponse(self.plugins, ports.telemetry, wait=sleeps)

    def _built_in_plugins(self) -> list[Plugin]:
        """The plugins that come with the product. Each lives beside what it wraps."""
        return [MemoryVersioning(), EmotionalContext(), PreferenceLearning(self._remember_learned)]

    def _remember_learned(self, caller: Caller, items: list[dict[str, Any]]) -> None:
        self.remember.remember(caller, [*items], key=None, single=False)

    @cached_property
    def session_hooks(self) -> SessionHooks:
        """Plugins around sessions."""
        return SessionHooks(self.plugins)

    @cached_property
    def versions(self) -> Versions:
        """What readers see of the history of memories."""
        return Versions(self.plugins)

    @cached_property
    def indexer(self) -> Indexer:
        """Makes rows findable."""
        p = self.ports
        return Indexer(store=p.store, hot=p.hot, embedder=p.embedder, telemetry=p.telemetry, clock=p.clock)

    @cached_property
    def auditor(self) -> Auditor:
        """Writes audit events."""
        return Auditor(self.ports.audit, self.ports.clock)

    @cached_property
    def deferral(self) -> Deferral:
        """What requests leave to the queue."""
        return Deferral(self.ports.queue, self.ports.telemetry)

    @cached_property
    def remember(self) -> RememberPipeline:
        """The write path."""
        p = self.ports
        return RememberPipeline(
            store=p.store,
            receipts=p.receipts,
            indexer=self.indexer,
            auditor=self.auditor,
            deferral=self.deferral,
            clock=p.clock,
            hooks=RememberHooks(self.after_response),
        )

    @cached_property
    def editor(self) -> Editor:
        """Single memories."""
        p = self.ports
        return Editor(
            store=p.store,
            hot=p.hot,
            cache=p.cache,
            indexer=self.indexer,
            auditor=self.auditor,
            deferral=self.deferral,
            clock=p.clock,
        )

    @cached_property
    def recall(self) -> RecallPipeline:
        """The read path."""
        p = self.ports
        return RecallPipeline(
            store=p.store,
            hot=p.hot,
            vectors=p.vectors,
            cache=p.cache,
            records=p.recalls,
            embedder=p.embedder,
            telemetry=p.telemetry,
            clock=p.clock,
            settings=self.settings.recall,
            hooks=RecallHooks(self.plugins, self.after_response),
        )

    @cached_property
    def recall_audit(self) -> RecallAudit:
        """What recalls did."""
        return RecallAudit(self.ports.recalls, self.ports.cache, self.ports.telemetry)

    @cached_property
    def maintenance(self) -> Maintenance:
        """What the worker does."""
        p = self.ports
        return Maintenance(store=p.store, hot=p.hot, indexer=self.indexer, telemetry=p.telemetry, clock=p.clock)

    @cached_property
    def tasks(self) -> TaskRunner:
        """What messages on the queue ask for."""
        return TaskRunner(self.maintenance)

    @cached_property
    def consumer(self) -> TaskConsumer:
        """Takes messages off the queue."""
        p = self.ports
        return TaskConsumer(queue=p.queue, runner=self.tasks, telemetry=p.telemetry, clock=p.clock)


def build_ports(settings: Settings, **overrides: Any) -> Ports:
    """The real adapters that `settings` name, with `overrides` in place of any of them."""
    made: dict[str, Any] = {"telemetry": PowertoolsTelemetry(_trace_header), "clock": system_clock} | overrides
    if not {"store", "keys", "receipts", "audit", "recalls", "switches"} <= overrides.keys():
        mongo = mongo_connection(settings, made["telemetry"])
        made = {
            "store": MongoMemoryStore(mongo),
            "keys": MongoKeyStore(mongo),
            "receipts": MongoReceiptStore(mongo),
            "audit": MongoAuditLog(mongo),
            "recalls": MongoRecallStore(mongo),
            "switches": MongoPluginSwitches(mongo),
            "vectors": MongoStoredVectors(mongo),
        } | made
    if not {"hot", "cache", "queue"} <= overrides.keys():
        breaker = Breaker("redis", settings.breaker, made["telemetry"])
        redis = RedisConnection(settings.redis, breaker) if settings.redis.url else None
        made = {
            "hot": RedisHotIndex(redis) if redis else None,
            "cache": RedisRecallCache(redis, settings.recall.query_cache_seconds) if redis else None,
            "queue": _queue(settings, redis, made["clock"], made["telemetry"]),
        } | made
    if "embedder" not in overrides:
        breaker = Breaker("embedding", settings.breaker, made["telemetry"])
        made["embedder"] = OpenAIEmbedder(settings.embedding, breaker=breaker)
    return Ports(**made)


def _queue(settings: Settings, redis: RedisConnection | None, clock: Clock, telemetry: Telemetry) -> TaskQueue | None:
    if settings.queue.sqs_url:
        return SqsTaskQueue(settings.queue, clock, Breaker("sqs", settings.breaker, telemetry))
    return RedisTaskQueue(redis, settings.queue) if redis else None


def _trace_header() -> str:
    """X-Ray's header of the present invocation, which Lambda sets anew for each; empty elsewhere."""
    return os.environ.get("_X_AMZN_TRACE_ID", "")


def traced(ports: Ports) -> Ports:
    """The same ports, each call to a store or the embedder a part of the trace."""
    named = {field.name: getattr(ports, field.name) for field in fields(ports)}
    stores = {name: port for name, port in named.items() if port is not None and name not in {"telemetry", "clock"}}
    return replace(ports, **{name: Traced(port, name, ports.telemetry) for name, port in stores.items()})


def settings_of(environment: Mapping[str, str]) -> Settings:
    """The settings that `environment` gives, secrets fetched from where it refers to."""
    return Settings.from_environment(with_secrets(environment, Settings.secret_variables()))


def mongo_connection(settings: Settings, telemetry: Telemetry | None = None) -> MongoConnection:
    """A connection to the MongoDB of `settings`; it connects at first use."""
    if not settings.mongo.uri:
        raise Misconfigured("VITTO_MONGO_URI is not set")
    breakers = (Breaker(store, settings.breaker, telemetry) for store in ("mongo", "atlas"))
    return MongoConnection(settings.mongo, *breakers)


def make_indexes(settings: Settings) -> list[str]:
    """Create MongoDB's indexes where they are missing; the names of all, and what became of the vector search's."""
    database = mongo_connection(settings).database
    return [*create_indexes(database), create_search_index(database, settings.embedding.dimensions)]


_lock = threading.Lock()
_container: Container | None = None


def container() -> Container:
    """The container of this process, made from the environment at first use."""
    global _container  # noqa: PLW0603 - one pool a process is the point (faults.md 36)
    if _container is None:
        with _lock:
            if _container is None:
                settings = settings_of(os.environ)
                ports = build_ports(settings)
                in_lambda = "AWS_LAMBDA_FUNCTION_NAME" in os.environ
                _container = Container(settings, traced(ports) if in_lambda else ports, sleeps=in_lambda)
    return _container


def use(replacement: Container | None) -> None:
    """Set the container of this process; tests do, with fakes, and take it away again with None."""
    global _container  # noqa: PLW0603 - as in `container`
    _container = replacement
