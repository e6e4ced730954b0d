"""`scripts/bench remember`: what a remember costs at 10,000 memories in one scope, alone and in batches of 100.

Beside it stand the bare store calls that no write can do without, on the same data in the same run."""

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from chalicelib.adapters.mongo.documents import to_document
from chalicelib.adapters.mongo.indexes import MEMORIES
from chalicelib.adapters.redis import keys
from chalicelib.bootstrap import Container, mongo_connection
from chalicelib.domain import bm25
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.vector import Vector
from chalicelib.ports import IndexRemoval
from chalicelib.settings import Settings
from chalicelib.write.drafts import Draft, draft
from vitto_tools.bench.baselines import embed
from vitto_tools.bench.loading import MODEL, START, Load, fill
from vitto_tools.bench.locomo import Turn, conversations
from vitto_tools.bench.metrics import percentile
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack, running
from vitto_tools.bench.timing import KnownTexts, StoreTime, timed_services

ORGANIZATION = "remember"
LOAD = Load("10k", 1, 10_000)
LOADED = 8  # conversations in the scope; the turns that are written are of the two others
ROUNDS, SINGLES, BATCH = 5, 30, 100
WARM = 20
TELLING = 50  # characters
LOADED_UNTIL = START + timedelta(days=30)  # the load's rows were last changed before, what is written here after
NAMES = (
    "single",
    "single.mongo",
    "single.redis",
    "single.own",
    "item",
    "item.mongo",
    "item.redis",
    "item.own",
    "floor",
)
EXPECTED = "about 3 minutes, most of it loading 10,000 memories; a second run finds them there"
Figures = dict[str, list[float]]


def run(report: Report) -> None:
    """Print and note the figures."""
    report.say(f"remember: {EXPECTED}")
    data = conversations()
    texts = [turn.indexed_text for conversation in data[:LOADED] for turn in conversation.turns]
    turns = _turns([turn for conversation in data[LOADED:] for turn in conversation.turns], set(texts))
    with running("remember", worker=False) as stack:
        passages = embed(stack.embedding_url, "e5-passage", [*texts, *(turn.indexed_text for turn in turns)])
        fill(stack.services, ORGANIZATION, LOAD, texts, passages[: len(texts)], report)
        vectors = [row.astype("<f4").tobytes() for row in passages[len(texts) :]]
        known = dict(zip((turn.indexed_text for turn in turns), vectors, strict=True))
        with _as_loaded(stack.services):
            measured = _measure(stack, turns, known)
    _print(report, measured)


def _turns(turns: Sequence[Turn], known: set[str]) -> list[Turn]:
    """As many as are written, each text once: turns that tell something, as what is worth a call does."""
    telling = [turn for turn in turns if "?" not in turn.text and len(turn.text) >= TELLING]
    different = {turn.indexed_text: turn for turn in telling if turn.indexed_text not in known}
    if len(different) < WARM + ROUNDS * (SINGLES + BATCH):
        raise RuntimeError(f"{len(different)} turns are too few to write")
    return list(different.values())[: WARM + ROUNDS * (SINGLES + BATCH)]


@contextmanager
def _as_loaded(services: Container) -> Iterator[None]:
    """The scope as it was loaded, before and after: without what a run, also one that was killed, has written."""
    _take_out_what_was_written(services)
    try:
        yield
    finally:
        _take_out_what_was_written(services)


def _take_out_what_was_written(services: Container) -> None:
    chain = _writer().chain
    rows = services.ports.store.changed_since(LOADED_UNTIL, limit=2000)
    assert services.ports.hot is not None
    for row in rows:
        services.ports.store.purge(chain, row.memory.id)
    gone = [IndexRemoval(row.memory.scope_ref.key, row.memory.id, row.memory.revision) for row in rows]
    services.ports.hot.apply(gone)


def _writer() -> Caller:
    return Caller(ORGANIZATION, LOAD.user(0), frozenset({Role.MEMBER}))


def _item(turn: Turn) -> dict[str, Any]:
    """A turn as a caller remembers it; its indexed text is the one whose vector is known."""
    picture = [{"type": "image", "url": "about:blank", "description": turn.caption}] if turn.caption else []
    at = turn.at.isoformat()
    return {"content": turn.text, "origin": {"speaker": turn.speaker}, "eventTime": at, "attachments": picture}


def _measure(stack: Stack, turns: Sequence[Turn], vectors: dict[str, Vector]) -> Figures:
    """Milliseconds by what was measured; singles, batches and the floor alternate, so that all see the same machine."""
    spent = StoreTime()
    services = timed_services(stack.environment, KnownTexts(vectors), spent)
    floor = Floor(stack, services, vectors)
    measured: Figures = {name: [] for name in NAMES}
    left = iter(turns)
    gc.freeze()  # the texts and vectors of this bench are no garbage that a write should look through
    for _ in range(WARM):
        _timed(services, [next(left)], spent, {name: [] for name in NAMES}, "single")
    for _ in range(ROUNDS):
        alone = [next(left) for _ in range(SINGLES)]
        for turn in alone:
            _timed(services, [turn], spent, measured, "single")
        _timed(services, [next(left) for _ in range(BATCH)], spent, measured, "item")
        measured["floor"] += [floor.seconds(turn) * 1000 for turn in alone]
    return measured


def _timed(services: Container, turns: Sequence[Turn], spent: StoreTime, measured: Figures, name: str) -> None:
    """Write the turns in one request, and keep the milliseconds an item."""
    items = [_item(turn) for turn in turns]
    spent.reset()
    began = time.perf_counter()
    receipts = services.remember.remember(_writer(), list(items), key=None, single=len(items) == 1)
    took = time.perf_counter() - began
    parts = {"": took, ".mongo": spent.mongo, ".redis": spent.redis, ".own": took - spent.seconds}
    for part, seconds in parts.items():
        measured[name + part].append(seconds * 1000 / len(items))
    services.after_response.settle()
    _check(receipts)
    measured.setdefault("stored", []).extend(float(receipt["outcome"] == "stored") for receipt in receipts)


def _check(receipts: Sequence[dict[str, Any]]) -> None:
    for receipt in receipts:
        missing = receipt.get("admission", {}).get("missing")
        late = receipt.get("index", {}).get("state", "indexed") != "indexed"
        if missing or late or receipt["outcome"] in {"invalid", "skipped"}:
            raise RuntimeError(f"not what is to be measured: {receipt}")


class Floor:
    """The bare calls that a write cannot do without: the look for the same content, the insert that a majority has in its
    journal, and in one pipeline the row, its postings and its vector in the index."""

    def __init__(self, stack: Stack, services: Container, vectors: dict[str, Vector]) -> None:
        settings = Settings.from_environment(stack.environment)
        import redis  # noqa: PLC0415 - beside the product's own connection, bare

        self._redis = redis.Redis.from_url(settings.redis.url, protocol=2)
        self._rows = mongo_connection(settings).database.get_collection(MEMORIES)
        self._services = services
        self._vectors = vectors

    def seconds(self, turn: Turn) -> float:
        """The time of those calls for a memory of one turn."""
        row = self._row(turn)
        document = to_document(row)
        pipeline = self._pipeline(row, self._vectors[turn.indexed_text])
        same = {"contentKey": document["contentKey"], "live": True}
        began = time.perf_counter()
        self._rows.find_one(same, {"_id": 1})
        self._rows.insert_one(document)
        pipeline.execute()
        took = time.perf_counter() - began
        self._undone(row)
        return took

    def _row(self, turn: Turn) -> StoredMemory:
        """The row that the product would store, under another content."""
        drafted = draft(_writer(), _item(turn), self._services.ports.clock())
        assert isinstance(drafted, Draft)
        (row,) = self._services.indexer.analysed([drafted.memory])
        bare = row.memory.model_copy(update={"content": f"{turn.text} (bare)"})
        return StoredMemory(bare, row.counts, row.length)

    def _pipeline(self, row: StoredMemory, vector: Vector) -> Any:
        scope, id_ = row.memory.scope_ref.key, row.memory.id
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hset(keys.rows(scope), id_, row.memory.content)
        for term, count in row.counts.items():
            pipeline.zadd(keys.postings(scope) + term, {id_: bm25.impact(count, row.length)})
        stored = ("VADD", keys.vectors(scope, MODEL), "FP32", vector, f"{id_}#0", "Q8")
        pipeline.execute_command(*stored)  # type: ignore[no-untyped-call]
        return pipeline

    def _undone(self, row: StoredMemory) -> None:
        scope, id_ = row.memory.scope_ref.key, row.memory.id
        self._rows.delete_one({"_id": to_document(row)["_id"]})
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.hdel(keys.rows(scope), id_)
        for term in row.counts:
            pipeline.zrem(keys.postings(scope) + term, id_)
        pipeline.execute_command("VREM", keys.vectors(scope, MODEL), f"{id_}#0")  # type: ignore[no-untyped-call]
        pipeline.execute()


def _print(report: Report, measured: Figures) -> None:
    stored = measured.pop("stored")
    report.note("remember.10k.stored_share", sum(stored) / len(stored))
    p50 = {name: percentile(values, 0.5) for name, values in measured.items()}
    rows = [[name, p50[name], percentile(values, 0.95), p50[name] / p50["floor"]] for name, values in measured.items()]
    report.table(
        f"{LOAD.each:,} memories in the scope, batches of {BATCH}",
        ["milliseconds", "p50", "p95", "times the floor"],
        rows,
    )
    for part in ("", ".mongo", ".redis", ".own"):
        report.note(f"remember.10k{part}.p50_ms", p50[f"single{part}"])
        report.note(f"remember.10k.item{part}.p50_ms", p50[f"item{part}"])
    report.note("remember.10k.floor.p50_ms", p50["floor"])
    report.note("remember.10k.floor_ratio", p50["single"] / p50["floor"])
    report.note("remember.10k.batch_ratio", p50["single"] / p50["item"])
