"""The ways in which the product can be put together, and counters of what its stores are asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pymongo.monitoring import CommandListener, CommandStartedEvent, CommandSucceededEvent

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.mongo.administration import MongoAuditLog, MongoKeyStore, MongoRecallStore
from chalicelib.adapters.mongo.backfill import MongoBackfillStore
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.identity import MongoSoulStore, MongoUserGenomeStore
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.mongo.oldvectors import OldVectors
from chalicelib.adapters.mongo.plugins import MongoPluginSwitches
from chalicelib.adapters.mongo.questions import MongoQuestionStore
from chalicelib.adapters.mongo.receipts import MongoReceiptStore
from chalicelib.adapters.mongo.session_genomes import MongoSessionGenomeStore
from chalicelib.adapters.mongo.sessions import MongoSessionStore
from chalicelib.adapters.mongo.upkeep import MongoIndexes, MongoOldRows
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.bootstrap import Container, Ports, system_clock
from chalicelib.domain.query import IndexAnswer, IndexQuery
from chalicelib.domain.scope import Chain
from chalicelib.settings import RecallSettings, Settings
from tests.conftest import SIZE

PATIENT = Settings(recall=RecallSettings(seconds=28))
"""The embedded MongoDB on a busy machine takes its time."""
UNTIMED = {"hello", "ping", "endSessions", "buildInfo"}


def services(mongo: MongoConnection, redis: RedisConnection | None, **overrides: Any) -> Container:
    """The product over real stores, with the terms embedder; without Redis where None is given."""
    ports = Ports(
        store=MongoMemoryStore(mongo),
        keys=MongoKeyStore(mongo),
        receipts=MongoReceiptStore(mongo),
        audit=MongoAuditLog(mongo),
        recalls=MongoRecallStore(mongo),
        questions=MongoQuestionStore(mongo),
        switches=MongoPluginSwitches(mongo),
        sessions=MongoSessionStore(mongo),
        genomes=MongoSessionGenomeStore(mongo),
        souls=MongoSoulStore(mongo),
        user_genomes=MongoUserGenomeStore(mongo),
        hot=RedisHotIndex(redis) if redis else None,
        vectors=None,
        cache=RedisRecallCache(redis, 3600) if redis else None,
        embedder=TermEmbedder(),
        backfills=MongoBackfillStore(mongo, OldVectors(TermEmbedder().passage_model)),
        old_rows=MongoOldRows(mongo),
        indexes=MongoIndexes(mongo, SIZE),
        telemetry=RecordedTelemetry(),
        clock=system_clock,
    )
    return Container(PATIENT, replace(ports, **overrides))


def uncached(made: Container) -> Container:
    """The same without cached answers, so that every recall asks the tiers."""
    recall = made.settings.recall.model_copy(update={"cache_seconds": 0})
    return Container(made.settings.model_copy(update={"recall": recall}), made.ports)


def answering_anything(made: Container) -> Container:
    """The same with every hit, however little it has to do with the query."""
    recall = made.settings.recall.model_copy(update={"abstain_below": 0.0, "floor": 0.0})
    return Container(made.settings.model_copy(update={"recall": recall}), made.ports)


class OneSignal(RedisHotIndex):
    """The hot index with one of its two tiers alone."""

    def __init__(self, connection: RedisConnection, signal: str) -> None:
        super().__init__(connection)
        self._signal = signal

    def search_many(self, asked: Sequence[tuple[Chain, IndexQuery]]) -> list[IndexAnswer]:
        return super().search_many([(chain, self._alone(query)) for chain, query in asked])

    def _alone(self, query: IndexQuery) -> IndexQuery:
        return {"vectors": replace(query, terms=()), "text": replace(query, vector=None)}[self._signal]


class CountedRedis(RedisConnection):
    """Counts its round trips."""

    trips = 0

    def run(self, calls: Any, *, bulk: bool = False) -> list[Any]:
        self.trips += 1
        return super().run(calls, bulk=bulk)

    def command(self, *arguments: Any) -> Any:
        self.trips += 1
        return super().command(*arguments)


@dataclass
class CommandCounter(CommandListener):
    """Counts the commands that go to MongoDB and the documents that come back."""

    names: list[str] = field(default_factory=list)
    documents: int = 0

    def started(self, event: CommandStartedEvent) -> None:
        if event.command_name not in UNTIMED:
            self.names.append(event.command_name)

    def succeeded(self, event: CommandSucceededEvent) -> None:
        cursor = event.reply.get("cursor", {})
        self.documents += len(cursor.get("firstBatch", ())) + len(cursor.get("nextBatch", ()))

    def failed(self, event: Any) -> None:
        """A failed command was counted when it started."""

    def reset(self) -> None:
        """Begin again."""
        self.names.clear()
        self.documents = 0


def contents(answer: dict[str, Any]) -> list[str]:
    """The contents of an answer's hits, in order."""
    return [hit["memory"]["content"] for hit in answer["hits"]]


def skipped(answer: dict[str, Any]) -> set[str]:
    """The tiers that an answer says it went without."""
    return {tier["tier"] for tier in answer["tiers"] if tier.get("skipped")}


def remember(made: Container, caller: Any, *texts: str, **fields: Any) -> list[dict[str, Any]]:
    """Remember texts in the caller's user scope, or where `fields` say."""
    items: Sequence[dict[str, Any]] = [{"content": text} | fields for text in texts]
    return made.remember.remember(caller, list(items), key=None, single=False)


def rebuild_all(made: Container) -> None:
    """Rebuild every scope whose index is wanted. The Redis is one for all modules, and one turn takes a hundred, which
    may all be what others left."""
    while made.maintenance.rebuild_wanted():
        continue
