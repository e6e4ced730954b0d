"""`scripts/bench remember`: what a remember costs at 10,000 memories in one scope, alone and in batches of 100.

Beside it stand the bare store calls that no write can do without, on the same data in the same run."""

import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.vector import Vector
from chalicelib.ports import IndexRemoval
from chalicelib.write.drafts import Draft, draft
from vitto_tools.bench.baselines import embed
from vitto_tools.bench.loading import START, Load, fill
from vitto_tools.bench.locomo import Turn, conversations
from vitto_tools.bench.metrics import percentile
from vitto_tools.bench.remember_floor import Floor
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
PARTS = ("", ".mongo", ".redis", ".own", ".cpu", ".after", ".floor")
NAMES = tuple(f"{what}{part}" for what in ("single", "item") for part in PARTS)
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
        floor = Floor(stack)
        with _as_loaded(stack.services, floor):
            measured = _measure(stack, floor, turns, known)
    _print(report, measured)


def _turns(turns: Sequence[Turn], known: set[str]) -> list[Turn]:
    """As many as are written, each text once: turns that tell something, as what is worth a call does."""
    telling = [turn for turn in turns if "?" not in turn.text and len(turn.text) >= TELLING]
    different = {turn.indexed_text: turn for turn in telling if turn.indexed_text not in known}
    if len(different) < WARM + ROUNDS * (SINGLES + BATCH):
        raise RuntimeError(f"{len(different)} turns are too few to write")
    return list(different.values())[: WARM + ROUNDS * (SINGLES + BATCH)]


@contextmanager
def _as_loaded(services: Container, floor: Floor) -> Iterator[None]:
    """The scope as it was loaded, before and after: without what a run, also one that was killed, has written."""
    _take_out_what_was_written(services)
    try:
        yield
    finally:
        _take_out_what_was_written(services)
        floor.compact()


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


def _measure(stack: Stack, floor: Floor, turns: Sequence[Turn], vectors: dict[str, Vector]) -> Figures:
    """Milliseconds by what was measured; singles, batches and the floor alternate, so that all see the same machine."""
    spent = StoreTime()
    services = timed_services(stack.environment, KnownTexts(vectors), spent)
    measured: Figures = {name: [] for name in (*NAMES, "stored")}
    warming: Figures = {name: [] for name in (*NAMES, "stored")}
    left = iter(turns)
    gc.freeze()  # the texts and vectors of this bench are no garbage that a write should look through
    for _ in range(WARM):
        _timed(services, [next(left)], spent, warming)
    for _ in range(ROUNDS):
        alone, batch = [next(left) for _ in range(SINGLES)], [next(left) for _ in range(BATCH)]
        bare = _bare(services, alone), _bare(services, batch)
        for turn, row in zip(alone, bare[0], strict=True):
            _timed(services, [turn], spent, measured)
            measured["single.floor"].append(floor.seconds([row]) * 1000)
        _timed(services, batch, spent, measured)
        measured["item.floor"].append(floor.seconds(bare[1]) * 1000 / BATCH)
    return measured


def _bare(services: Container, turns: Sequence[Turn]) -> list[StoredMemory]:
    """The rows that the product would store, under other contents."""
    drafts = [draft(_writer(), _item(turn), services.ports.clock()) for turn in turns]
    rows = services.indexer.analysed([one.memory for one in drafts if isinstance(one, Draft)])
    other = [row.memory.model_copy(update={"content": f"{row.memory.content} (bare)"}) for row in rows]
    return [StoredMemory(memory, row.counts, row.length) for memory, row in zip(other, rows, strict=True)]


def _timed(services: Container, turns: Sequence[Turn], spent: StoreTime, measured: Figures) -> None:
    """Write the turns in one request, and keep the milliseconds an item."""
    items: list[Mapping[str, Any]] = [_item(turn) for turn in turns]
    name = "single" if len(items) == 1 else "item"
    spent.reset()
    cpu, began = time.thread_time(), time.perf_counter()
    receipts = services.remember.remember(_writer(), items, key=None, single=len(items) == 1)
    took, cpu = time.perf_counter() - began, time.thread_time() - cpu
    parts = {"": took, ".mongo": spent.mongo, ".redis": spent.redis, ".own": took - spent.seconds, ".cpu": cpu}
    services.after_response.settle()
    parts[".after"] = time.perf_counter() - began - took
    for part, seconds in parts.items():
        measured[name + part].append(seconds * 1000 / len(items))
    _check(receipts)
    measured["stored"] += [float(receipt["outcome"] == "stored") for receipt in receipts]


def _check(receipts: Sequence[dict[str, Any]]) -> None:
    for receipt in receipts:
        missing = receipt.get("admission", {}).get("missing")
        late = receipt.get("index", {}).get("state", "indexed") != "indexed"
        if missing or late or receipt["outcome"] in {"invalid", "skipped"}:
            raise RuntimeError(f"not what is to be measured: {receipt}")


def _print(report: Report, measured: Figures) -> None:
    stored = measured.pop("stored")
    p50 = {name: percentile(values, 0.5) for name, values in measured.items()}
    rows = [
        [name, p50[name], percentile(values, 0.95), p50[name] / p50[f"{name.partition('.')[0]}.floor"]]
        for name, values in measured.items()
    ]
    title = f"{LOAD.each:,} memories in the scope; an item is of a batch of {BATCH}"
    report.table(title, ["milliseconds", "p50", "p95", "times its floor"], rows)
    for part in PARTS:
        report.note(f"remember.10k{part}.p50_ms", p50[f"single{part}"])
        report.note(f"remember.10k.item{part}.p50_ms", p50[f"item{part}"])
    report.note("remember.10k.floor_ratio", p50["single"] / p50["single.floor"])
    report.note("remember.10k.item.floor_ratio", p50["item"] / p50["item.floor"])
    report.note("remember.10k.batch_ratio", p50["single"] / p50["item"])
    report.note("remember.10k.floor.batch_ratio", p50["single.floor"] / p50["item.floor"])
    report.note("remember.10k.stored_share", sum(stored) / len(stored))
