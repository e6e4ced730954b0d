"""What a store that is dead, hanging or slow costs a recall: the first, those while its breaker is open, and the way back.

The stores are real and stand behind a proxy that makes the trouble; Atlas' vector search, which cannot run here, is the
tests' strict double, and embeddings come from the tests' HTTP server, since a model on two cores is a trouble of its own.
Limits are those that ship, but for MongoDB's reads and a recall's whole time: the embedded server is one Python process.
"""

import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import create_indexes
from chalicelib.adapters.mongo.searchindex import create_search_index
from chalicelib.adapters.mongo.storedvectors import MongoStoredVectors
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.bootstrap import Container, Ports, build_ports
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import RecallQuery
from chalicelib.errors import StoreUnavailable
from chalicelib.settings import Settings
from tests.atlas_double import AtlasDouble
from tests.embedding_server import embedding_server
from vitto_tools.bench.locomo import Conversation, conversations
from vitto_tools.bench.report import Report
from vitto_tools.local import servers
from vitto_tools.local.trouble import Trouble, TroubledServer

MEMORIES = 100
WELL = 30
BATCH = 50
SLOW_SECONDS = 0.05
OPEN = 10
WAIT_SECONDS = 90
CALLER = Caller("bench", "ana", frozenset({Role.MEMBER}), (), (), "bench")
TROUBLES = (Trouble.DEAD, Trouble.HANGING, Trouble.SLOW)


@dataclass
class Stand:
    """The product over troubled stores."""

    services: Container
    stores: dict[str, TroubledServer]
    atlas: AtlasDouble
    questions: list[str]
    asked: int = 0

    def recall(self) -> tuple[float, str]:
        """The next question: milliseconds, and what the answer lacked, or which store had none."""
        text = self.questions[self.asked % len(self.questions)]
        self.asked += 1
        began = time.perf_counter()
        try:
            answer = self.services.recall.recall(CALLER, RecallQuery(query=f"{text} {self.asked}"))
            lacks = ", ".join(one["part"] for one in answer["degraded"]) or "nothing"
        except StoreUnavailable as error:
            lacks = f"no answer: {error.store}"
        return (time.perf_counter() - began) * 1000, lacks

    def whole(self) -> float:
        """Recall until nothing is lacking; the milliseconds that it took."""
        began = time.perf_counter()
        while (lacks := self.recall()[1]) != "nothing":
            if time.perf_counter() - began > WAIT_SECONDS:
                raise RuntimeError(f"every store is well again, and answers still lack {lacks}")
            time.sleep(0.02)
        return (time.perf_counter() - began) * 1000

    def trouble(self, store: str, trouble: Trouble) -> None:
        """Make a store so."""
        if store != "atlas":
            self.stores[store].trouble = trouble
            return
        seconds = {Trouble.HANGING: 60.0, Trouble.SLOW: SLOW_SECONDS}
        self.atlas.hang_seconds = seconds.get(trouble, 0.0)
        self.atlas.refusal = 8000 if trouble is Trouble.DEAD else None  # Atlas' own refusal


def run(report: Report) -> None:
    """Fill `report`."""
    with _stand(report) as stand:
        rows: list[list[object]] = []
        for store in ("redis", "embedding", "mongo"):
            rows += [_measured(report, stand, store, trouble) for trouble in TROUBLES]
        stand.trouble("redis", Trouble.DEAD)  # only then is MongoDB's own search asked
        rows += [_measured(report, stand, "atlas", trouble, base="redis") for trouble in TROUBLES]
        heads = ("store", "trouble", "limit", "well p50", "1st", "2nd", "3rd", "open p50", "open/well", "back", "lacks")
        report.table("milliseconds of one recall", heads, rows)


def _measured(report: Report, stand: Stand, store: str, trouble: Trouble, base: str = "") -> list[object]:
    settled: Callable[[], object] = (lambda: _until_degraded_alike(stand)) if base else stand.whole
    settled()
    well = statistics.median(stand.recall()[0] for _ in range(WELL))
    stand.trouble(store, trouble)
    firsts, lacks = zip(*(stand.recall() for _ in range(3)), strict=True)
    rested = [stand.recall()[0] for _ in range(OPEN)]
    stand.trouble(store, Trouble.NONE)
    began = time.perf_counter()
    settled()
    back = (time.perf_counter() - began) * 1000
    name = f"failures.{store}.{trouble}"
    for figure, value in (
        ("well.p50_ms", well),
        ("first_ms", firsts[0]),
        ("open.p50_ms", statistics.median(rested)),
        ("open_over_well", statistics.median(rested) / well),
        ("back_ms", back),
    ):
        report.note(f"{name}.{figure}", value)
    limit = _limits(stand.services.settings)[store] * 1000
    middle = statistics.median(rested)
    return [store, trouble.value, limit, well, *firsts, middle, middle / well, back, lacks[0]]


def _until_degraded_alike(stand: Stand) -> None:
    """Recall until Atlas is asked again; Redis stays away."""
    began = time.perf_counter()
    while "atlas" in stand.recall()[1]:
        if time.perf_counter() - began > WAIT_SECONDS:
            raise RuntimeError("a search that is well again is still not used")
        time.sleep(0.02)


def _limits(settings: Settings) -> dict[str, float]:
    """Seconds that one call of each tier may take."""
    mongo = settings.mongo
    return {
        "redis": settings.redis.seconds,
        "embedding": settings.embedding.query_seconds,
        "mongo": mongo.select_seconds + mongo.read_seconds,
        "atlas": mongo.select_seconds + mongo.search_seconds,
    }


@contextlib.contextmanager
def _stand(report: Report) -> Iterator[Stand]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports = {name: servers.free_port() for name in ("mongo", "redis")}
        for server in (
            servers.mongo(ports["mongo"], folder / "mongo"),
            servers.redis(ports["redis"], None),
        ):
            stack.callback(servers.start(server, folder / f"{server.name}.log").stop)
        ports["embedding"] = urlsplit(stack.enter_context(embedding_server()).url).port or 0
        stores = {name: TroubledServer(port, SLOW_SECONDS) for name, port in ports.items()}
        for store in stores.values():
            stack.callback(store.close)
        services, atlas = _services(stores)
        stack.callback(_mongo_of(services.ports).client.close)
        talk = conversations()[0]
        _load(report, services, talk)
        yield Stand(services, stores, atlas, [question.text for question in talk.questions])


def _services(stores: dict[str, TroubledServer]) -> tuple[Container, AtlasDouble]:
    at = {name: f"{servers.HOST}:{store.port}" for name, store in stores.items()}
    settings = Settings.from_environment(
        {
            "VITTO_MONGO_URI": f"mongodb://{at['mongo']}/?directConnection=true",
            "VITTO_MONGO_READ_SECONDS": "2",
            "VITTO_MONGO_WRITE_SECONDS": "15",
            "VITTO_RECALL_SECONDS": "6",
            "VITTO_RECALL_CACHE_SECONDS": "0",
            "VITTO_RECALL_QUERY_CACHE_SECONDS": "0",
            "VITTO_REDIS_URL": f"redis://{at['redis']}/0",
            "VITTO_EMBEDDING_BASE_URL": f"http://{at['embedding']}/v1",
            "VITTO_EMBEDDING_MODEL": "e5-passage",
            "VITTO_EMBEDDING_QUERY_MODEL": "e5-query",
            "VITTO_EMBEDDING_PASSAGE_SECONDS": "110",
        }
    )
    ports = build_ports(settings, telemetry=RecordedTelemetry())
    connection = _mongo_of(ports)
    create_indexes(connection.database)
    atlas = AtlasDouble(connection)
    create_search_index(atlas, settings.embedding.dimensions)
    return Container(settings, replace(ports, vectors=MongoStoredVectors(atlas))), atlas


def _mongo_of(ports: Ports) -> MongoConnection:
    connection: Any = ports.store._connection  # type: ignore[attr-defined]  # noqa: SLF001 - the double stands beside it
    assert isinstance(connection, MongoConnection)
    return connection


def _load(report: Report, services: Container, talk: Conversation) -> None:
    turns = talk.turns[:MEMORIES]
    with report.progress(f"remembering {len(turns)} turns", len(turns)) as advance:
        for start in range(0, len(turns), BATCH):
            batch = turns[start : start + BATCH]
            items: list[Mapping[str, Any]] = [
                {"content": f"{turn.speaker}: {turn.text}", "eventTime": turn.at.isoformat()} for turn in batch
            ]
            services.remember.remember(CALLER, items, key=None, single=False)
            advance(len(batch))
    for scope in CALLER.chain.keys:
        services.maintenance.rebuild(scope)
